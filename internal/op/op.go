// Package op holds the facts about every documented operation and error code, once, as data.
//
// The client, the sandbox and the generator of the documentation read the same table. The package
// imports nothing of ours. Beside the data it only finds rows, and expands and checks paths.
package op

import (
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Surface is a part of the API with its own rate limits, shared by the whole workspace.
type Surface string

// The surfaces. The limits of the last four are undocumented.
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

// Limits are the limits of a surface, in requests. Zero is undocumented.
type Limits struct{ PerMinute, PerDay int }

// DocumentedLimits are the limits of each surface.
var DocumentedLimits = map[Surface]Limits{
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

// Class says what repeating a call may do. Reads, paid reads and writes are retried by different
// rules. No class adds a retry of a write. Class and effects decide whether a caller may allow one.
type Class string

// The classes, the safest first.
const (
	Read           Class = "read"             // changes nothing, costs nothing
	PaidRead       Class = "paid-read"        // changes nothing, may cost credits
	Idempotent     Class = "idempotent"       // repeating it leaves the same state
	GuardedByName  Class = "guarded-by-name"  // a second call is refused because the name is taken
	GuardedByState Class = "guarded-by-state" // a second call is refused because the state has changed
	Unsafe         Class = "unsafe"           // repeating it may repeat the effect
)

// Effect says whether a call has an effect beyond its resource.
type Effect string

// Assumed means that it is undocumented but may be, and counts as a yes. No means that the API description says so
// or does not hint at the effect.
const (
	No      Effect = "no"
	Yes     Effect = "yes"
	Assumed Effect = "assumed"
)

// Possible reports whether a call may have the effect.
func (e Effect) Possible() bool { return e != No }

// Provenance says how far an operation is documented.
type Provenance string

// The provenances.
const (
	Documented     Provenance = "documented"      // method and path are documented
	AssumedPath    Provenance = "assumed"         // the path is assumed by analogy; a call to a wrong one does no harm
	CallerSupplied Provenance = "caller-supplied" // no path is documented, and a call to a wrong one could do harm
)

// Op is one operation: a row of the table. What a row leaves out, def fills.
type Op struct {
	Name          string // stable: span names, fault names, docs
	Method        string
	Path          string // a net/http.ServeMux pattern without the method; empty when the caller supplies it
	Scope         Scope
	Surface       Surface
	Class         Class
	Spends        Effect // credits; this and the two below are No unless a row says otherwise
	Sends         Effect // messages to prospects
	WritesOutside Effect // into systems outside the service, a CRM
	Free          string // the words of the API description by which Spends is No; empty: it only does not hint at a cost
	NoBody        bool   // the API description says so
	Provenance    Provenance

	// Codes are documented for it, beside the five that Client.Call names: in its section, in its table of states, or in a condition of the
	// error table that can mean no other operation. Likely are others that fit by that table.
	Codes, Likely []string

	Timeout     time.Duration // of one attempt
	Shape       Shape
	RawResponse bool   // nothing of the response is documented, although something of the request is
	Entity      string // the key that wraps the response, if there is one; "data" only if its own section shows it, against the convention that pages alone have it

	// Confirms says of a write, Yes or No, whether it succeeds although the body of its success is lost: Yes if the method can fill in every
	// documented field of the result without it, such as the state that the call gives.
	Confirms Effect

	Resolves     bool          // of a write: a documented read shows its effect, and the function look... beside the method reads it
	Verify       string        // what shows an unknown outcome, or why nothing does; empty for free reads
	VisibleAfter time.Duration // a change may take this long after the call to show (assumed: no such time is documented)
	Background   bool          // documented to work on after its response: a change may show at any time
	Summary      string        // one phrase for the catalogue
}

// Shape says how much of request and response is documented.
type Shape string

// The shapes.
const (
	Typed   Shape = "typed"   // the fields
	Partial Shape = "partial" // some fields, the rest is raw
	Raw     Shape = "raw"     // nothing: raw in, raw out
)

// Route returns method and path for the documentation.
func (o *Op) Route() string {
	if o.Path == "" {
		return strings.TrimSpace(o.Method + " (path undocumented)")
	}
	return o.Method + " " + o.Path
}

// FreeRead reports whether the call changes nothing and costs nothing: it can be retried whatever
// happened to the first.
func (o *Op) FreeRead() bool { return o.Class == Read }

// Write reports whether the call may change something.
func (o *Op) Write() bool { return o.Class != Read && o.Class != PaidRead }

// Expand fills the parameters of a template in order, each escaped to be one path element, and appends it to a path that is
// escaped already. It reports false if the number of arguments does not fit.
func Expand(base, template string, args ...string) (string, bool) {
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

// Leads reports whether a path may be one of a template: with anything as an id, in any case, with or without a slash at its end,
// and with anything after a dot, which some servers take for a format.
func Leads(template, path string) bool {
	path, template = strings.Trim(path, "/"), strings.Trim(template, "/")
	for {
		element, rest, more := strings.Cut(path, "/")
		wanted, others, longer := strings.Cut(template, "/")
		name, _, _ := strings.Cut(element, ".")
		if more != longer || (!strings.HasPrefix(wanted, "{") || element == "") && !strings.EqualFold(name, wanted) {
			return false
		}
		if !more {
			return true
		}
		path, template = rest, others
	}
}

// NextParameter returns the name of the first parameter of a template, and the rest of the template.
func NextParameter(template string) (name, rest string) {
	_, rest, _ = strings.Cut(template, "{")
	name, rest, _ = strings.Cut(rest, "}")
	return name, rest
}

// Parameters returns the names of the parameters of a template.
func Parameters(template string) (names []string) {
	for name, rest := NextParameter(template); name != ""; name, rest = NextParameter(rest) {
		names = append(names, name)
	}
	return names
}

// escapeElement escapes one path element, including dot elements, which a server or proxy would
// resolve.
func escapeElement(s string) string {
	switch s {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(s)
}

// ValidRoute reports whether a path, or a template of one, is a valid one of nothing but what documented paths need: servers and
// proxies strip the rest, or decode it once more, and take the path for another.
func ValidRoute(p string) bool {
	return ValidPath(p) && !strings.ContainsFunc(p, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/-_.~{}", r)
	})
}

// ValidPath reports whether a path, or a template of one, can be sent as it is: it has no query, no
// empty or dot element, and parameters are whole elements.
func ValidPath(p string) bool {
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "?#\\ \x7f") || strings.Contains(p, "//") ||
		strings.ContainsFunc(p, func(r rune) bool { return r < ' ' }) {
		return false
	}
	plain, err := url.PathUnescape(p) // a proxy may also resolve escaped dots
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
