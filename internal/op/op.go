// Package op holds the facts of every operation and error code that the service document names, written once, as data.
//
// The client takes retry safety, rate surface, safety modes, paths and error context from here; the sandbox takes its
// routes; the generator takes the documentation. The package imports nothing of ours and has no behaviour beyond
// expanding a path.
package op

import (
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Surface is a pool of requests: each has its own minute and day window, shared by the whole workspace.
type Surface string

// The surfaces. The last four have no documented limits: what is known of them comes from response headers.
const (
	Lists         Surface = "lists"
	Campaigns     Surface = "campaigns"
	Account       Surface = "account"
	Search        Surface = "search"
	SavedSearches Surface = "saved-searches"
	Agents        Surface = "agents"
	Contacts      Surface = "contacts"
	Companies     Surface = "companies"
	Imports       Surface = "imports"
	Reference     Surface = "reference"
)

// Window limits of a surface, in requests. Zero means that the document shows none.
type Window struct{ PerMinute, PerDay int }

// Windows are the documented limits.
var Windows = map[Surface]Window{
	Lists:         {120, 10_000},
	Campaigns:     {30, 1_000},
	Account:       {120, 10_000},
	Search:        {20, 1_000},
	SavedSearches: {60, 5_000},
	Agents:        {30, 2_000},
	Contacts:      {},
	Companies:     {},
	Imports:       {},
	Reference:     {},
}

// Scope is the permission a key needs.
type Scope string

// The documented scopes. ScopeAny marks what every valid key may call.
const (
	ScopeAny       Scope = "any"
	ScopeLists     Scope = "lists"
	ScopeCampaigns Scope = "campaigns"
	ScopeSearch    Scope = "search"
	ScopeContacts  Scope = "contacts"
	ScopeAgents    Scope = "agents"
	ScopeCompanies Scope = "companies"
)

// Class says what a repetition of the call may do. It decides what is retried.
type Class string

// The classes, from harmless to dangerous.
const (
	Read           Class = "read"             // changes nothing, costs nothing
	MeteredRead    Class = "metered-read"     // changes nothing, costs credits
	Idempotent     Class = "idempotent"       // the same call again leaves the same state
	GuardedByName  Class = "guarded-by-name"  // a second one is refused because the name is taken
	GuardedByState Class = "guarded-by-state" // a second one is refused because the state has moved
	Unsafe         Class = "unsafe"           // a second one may happen a second time
)

// Effect says whether a call has a consequence outside the resource it names.
type Effect string

// Assumed means that the document does not say; the client then behaves as if it said yes.
const (
	No      Effect = "no"
	Yes     Effect = "yes"
	Assumed Effect = "assumed"
)

// Possible reports whether the effect has to be reckoned with.
func (e Effect) Possible() bool { return e != No }

// Provenance says how far the document shows the operation.
type Provenance string

// The provenances.
const (
	Documented     Provenance = "documented"      // method and path are printed
	AssumedPath    Provenance = "assumed"         // path by analogy; a harmless or repeatable call
	CallerSupplied Provenance = "caller-supplied" // no path is shown, and a wrong guess could do harm
)

// Op is one operation: a row of the table.
type Op struct {
	Name         string // stable: span names, fault names, docs
	Method       string
	Path         string // a net/http.ServeMux pattern without the method; empty when the caller supplies it
	Scope        Scope
	Surface      Surface
	Class        Class
	Spends       Effect // credits
	Sends        Effect // messages to prospects
	Writes       Effect // into systems outside the service, a CRM
	Provenance   Provenance
	Codes        []string      // documented for this operation, beside the five every operation may answer
	Likely       []string      // fit by what the error table says of them, but the document does not tie them to this operation
	Timeout      time.Duration // of one attempt
	Shape        Shape
	Entity       string        // the key that wraps the answer, if it is wrapped
	Verify       string        // how an unknown outcome is resolved, or why it cannot be; empty for reads
	VisibleAfter time.Duration // how long after the call a change may still not show
	Summary      string        // one phrase for the catalogue
}

// Shape says how much of request and response the document shows.
type Shape string

// The shapes.
const (
	Typed   Shape = "typed"   // fields are shown
	Partial Shape = "partial" // some fields are shown, the rest is raw
	Raw     Shape = "raw"     // nothing is shown: raw in, raw out
)

// Route is the method and path as documentation prints them.
func (o *Op) Route() string {
	if o.Path == "" {
		return strings.TrimSpace(o.Method + " (path not shown)")
	}
	return o.Method + " " + o.Path
}

// Safe reports whether a lost answer leaves nothing to worry about.
func (o *Op) Safe() bool { return o.Class == Read }

// Write reports whether the call may change something.
func (o *Op) Write() bool { return o.Class != Read && o.Class != MeteredRead }

// Expand fills the template's parameters in order, each escaped so that it stays one path element.
// It reports false when the number of arguments does not fit the template.
func Expand(template string, args ...string) (string, bool) {
	return ExpandBelow("", template, args...)
}

// ExpandBelow is Expand behind a path that is escaped already.
func ExpandBelow(base, template string, args ...string) (string, bool) {
	if !strings.Contains(template, "{") {
		return base + template, len(args) == 0
	}
	var b strings.Builder
	b.Grow(len(base) + len(template) + 24*len(args))
	b.WriteString(base)
	rest := template
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String(), len(args) == 0
		}
		_, tail, closed := strings.Cut(after, "}")
		if !closed || len(args) == 0 || args[0] == "" {
			return "", false // an empty element would name another route
		}
		b.WriteString(escapeElement(args[0]))
		args, rest = args[1:], tail
	}
}

// escapeElement escapes one path element. Dot elements are escaped too: a server or proxy would resolve them away.
func escapeElement(s string) string {
	switch s {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(s)
}

// ValidPath reports whether a path, or a template of one, can be sent as it is: it has no query, no
// empty or dot element, and no parameter that is less than an element.
func ValidPath(p string) bool {
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "?#\\ \x7f") || strings.Contains(p, "//") ||
		strings.ContainsFunc(p, func(r rune) bool { return r < ' ' }) {
		return false
	}
	plain, err := url.PathUnescape(p) // a proxy may resolve escaped dots, too
	if err != nil || !utf8.ValidString(plain) {
		return false
	}
	for element := range strings.SplitSeq(plain, "/") {
		if element == "." || element == ".." {
			return false
		}
	}
	for element := range strings.SplitSeq(p, "/") {
		name, opened := strings.CutPrefix(element, "{")
		name, closed := strings.CutSuffix(name, "}")
		if strings.ContainsAny(name, "{}") || opened != closed || opened && name == "" {
			return false // a parameter is a whole element
		}
	}
	return true
}
