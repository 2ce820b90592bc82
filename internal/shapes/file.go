package shapes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/shapes/names"
)

// Format is the format that this package reads and writes.
const Format = names.Format

// File is what was seen of a service. Its JSON is the same for the same content.
type File struct {
	Format     string                `json:"format"`
	Operations map[string]*Operation `json:"operations"`
	Errors     Errors                `json:"errors"`
	Headers    map[string]*Header    `json:"headers"` // by their documented names
	Others     []string              `json:"otherHeaders,omitempty"`
	Windows    map[string]*Window    `json:"windows,omitempty"` // by surface
	Failures   *Failures             `json:"failures,omitempty"`

	Behavior map[string][]string `json:"behavior,omitempty"` // differences by check, none if it held; of what has no shape
}

// Operation is what was seen of one.
type Operation struct {
	Route   string            `json:"route,omitempty"`       // method and path template that respond
	Missing bool              `json:"missing,omitempty"`     // no endpoint was found
	Status  int               `json:"status,omitempty"`      // of its success
	Type    string            `json:"contentType,omitempty"` // unless it is application/json
	Moves   map[string]string `json:"moved,omitempty"`       // see [Comparison]
	Absent  []string          `json:"absent,omitempty"`      // what is documented or assumed, and never came
	Body    *Shape            `json:"body,omitempty"`

	Unsuccessful *Response `json:"unsuccessful,omitempty"` // to every request; a status of 0: there was no response
	Paging       *Paging   `json:"paging,omitempty"`
	Ignored      []string  `json:"ignored,omitempty"` // documented query parameters that change nothing
}

// Paging is how pages differ from what is documented.
type Paging struct {
	FromZero  bool `json:"fromZero,omitempty"`  // the first page is asked for with pageNum=0
	ShowsZero bool `json:"showsZero,omitempty"` // the first page shows pageNum 0
	Default   int  `json:"default,omitempty"`   // elements of a page without limit
	Largest   int  `json:"largest,omitempty"`   // elements of a page that was seen to work, where limit=1000 does not
	Refused   bool `json:"refused,omitempty"`   // more than that is refused instead of cut
	AnyLimit  bool `json:"anyLimit,omitempty"`  // a limit over 1000 is accepted
}

// Failures is how many requests got a 5xx by chance: the same request was successful before or after.
type Failures struct {
	Requests int `json:"requests"`
	Failed   int `json:"failed"`
	Status   int `json:"status"`
}

// Errors is what was seen of unsuccessful responses.
type Errors struct {
	Type   string               `json:"contentType,omitempty"` // as of an operation
	Moves  map[string]string    `json:"moved,omitempty"`
	Absent []string             `json:"absent,omitempty"`
	Body   *Shape               `json:"body,omitempty"`
	Codes  map[string]*Response `json:"codes,omitempty"` // by the documented code
}

// Response is what came for a documented error.
type Response struct {
	Status int    `json:"status"`
	Code   string `json:"code,omitempty"`
}

// Header says how a header is written, and on which responses it is. A header that was never seen has no name.
type Header struct {
	Name      string `json:"name,omitempty"`
	Successes string `json:"successes,omitempty"` // always, sometimes, never; empty if none was seen
	Errors    string `json:"errors,omitempty"`
	Text      bool   `json:"text,omitempty"` // values are no integers; those of Retry-After are dates

	Without []string `json:"without,omitempty"` // operations whose successes do not have it, if others have
}

// How often something was seen.
const (
	Always = "always"
	Partly = "sometimes"
	Never  = "never"
)

// Window is what was seen of the rate limits of a surface.
type Window struct {
	Limits  []int `json:"limits"`            // values of the limit
	Seconds int   `json:"seconds,omitempty"` // length of the shortest window, if it is not the documented one
	Instant bool  `json:"instant,omitempty"` // the reset is an instant instead of seconds from now

	Milliseconds bool `json:"milliseconds,omitempty"` // so is the reset counted
}

// New returns a file without content.
func New() *File {
	return &File{
		Format: Format, Operations: map[string]*Operation{}, Headers: map[string]*Header{}, Windows: map[string]*Window{}, Behavior: map[string][]string{},
	}
}

// Parse reads a file.
func Parse(data []byte) (*File, error) {
	if _, err := names.Parse(data); err != nil {
		return nil, err
	}
	f := New()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(f); err != nil {
		return nil, fmt.Errorf("no file of shapes: %w", err)
	}
	return f, nil
}

// Encode writes the file.
func (f *File) Encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(f); err != nil {
		panic(err) // strings, numbers and maps always encode
	}
	return b.Bytes()
}

// Since is a difference between two files.
type Since struct {
	Operation string `json:"operation,omitempty"`
	Text      string `json:"text"`
}

// Compare says what a file shows that an older one did not show. What was merely not seen this time is no difference:
// an empty list has no fields, and the headers describe now one documented window, now another.
func Compare(before, now *File) []Since {
	var all []Since
	add := func(operation string, texts ...string) {
		for _, text := range texts {
			all = append(all, Since{operation, text})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Operations)) {
		if old := before.Operations[name]; old != nil {
			add(name, old.changes(now.Operations[name])...)
		}
	}
	add("errors", bodyChanges(before.Errors.Body, now.Errors.Body)...)
	if kind := now.Errors.Type; kind != before.Errors.Type && (kind != "" || now.Errors.Body != nil) {
		add("errors", "the content type is "+cmp.Or(kind, "application/json"))
	}
	for _, code := range slices.Sorted(maps.Keys(now.Errors.Codes)) {
		r, old := now.Errors.Codes[code], before.Errors.Codes[code]
		if old != nil && *old != *r {
			add("errors", fmt.Sprintf("%s was %d %s, and is %d %s", code, old.Status, old.Code, r.Status, r.Code))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Headers)) {
		for _, text := range before.Headers[name].changes(now.Headers[name]) {
			add("headers", name+" "+text)
		}
	}
	for _, check := range slices.Sorted(maps.Keys(now.Behavior)) {
		if old, told := before.Behavior[check]; told && len(old) == 0 {
			add(check, now.Behavior[check]...)
		}
	}
	for _, name := range now.Others {
		if !slices.Contains(before.Others, name) {
			add("headers", name+" is new")
		}
	}
	for _, surface := range slices.Sorted(maps.Keys(now.Windows)) {
		add("limits", before.Windows[surface].changes(surface, now.Windows[surface])...)
	}
	return all
}

// changes says how the rate limits of a surface differ.
func (w *Window) changes(surface string, now *Window) (all []string) {
	if w == nil {
		return nil
	}
	limits := op.DocumentedLimits[op.Surface(surface)]
	documented := func(limit int) bool { return limit == limits.PerMinute || limit == limits.PerDay }
	for _, limit := range now.Limits {
		usual := documented(limit) && slices.ContainsFunc(w.Limits, documented)
		if len(w.Limits) > 0 && !slices.Contains(w.Limits, limit) && !usual {
			all = append(all, fmt.Sprintf("the limit of %s was %v, and is %d", surface, w.Limits, limit))
		}
	}
	if now.Seconds != 0 && w.Seconds == 0 {
		all = append(all, fmt.Sprintf("the window of %s has another length", surface))
	}
	if now.Instant != w.Instant || now.Milliseconds != w.Milliseconds {
		all = append(all, fmt.Sprintf("the reset of %s is %s", surface, now.reset()))
	}
	return all
}

func (w *Window) reset() string {
	switch {
	case w.Instant:
		return "an instant"
	case w.Milliseconds:
		return "milliseconds from now"
	}
	return "seconds from now"
}

// outcome is what every request gets, or nothing if that was not seen.
func (o *Operation) outcome() string {
	switch r := o.Unsuccessful; {
	case o.Status != 0:
		return strconv.Itoa(o.Status)
	case r == nil:
		return ""
	case r.Status == 0:
		return "nothing at all"
	default:
		return fmt.Sprintf("%d to every request", r.Status)
	}
}

func (o *Operation) changes(now *Operation) []string {
	var all []string
	switch {
	case now.Missing && !o.Missing:
		all = append(all, "has no endpoint any more")
	case now.Route != "" && o.Missing:
		all = append(all, "has an endpoint now: "+now.Route)
	case now.Route != "" && o.Route != "" && now.Route != o.Route:
		all = append(all, fmt.Sprintf("has moved from %s to %s", o.Route, now.Route))
	}
	if was, is := o.outcome(), now.outcome(); was != "" && is != "" && was != is {
		all = append(all, fmt.Sprintf("responded with %s, and responds with %s", was, is))
	}
	if now.Type != o.Type && (now.Type != "" || now.Body != nil) {
		all = append(all, "responds with "+cmp.Or(now.Type, "application/json"))
	}
	return append(all, bodyChanges(o.Body, now.Body)...)
}

func bodyChanges(before, now *Shape) []string {
	if before == nil || now == nil {
		return nil
	}
	c := Comparison{older: true}
	c.Compare(before, now)
	all := c.Differences
	for i := range all {
		all[i] = strings.Replace(all[i], "undocumented", "new", 1)
	}
	return all
}

func (h *Header) changes(now *Header) []string {
	if h == nil || now == nil {
		return nil
	}
	var all []string
	usual := strings.EqualFold(h.Name, now.Name) && now.Name == http.CanonicalHeaderKey(now.Name)
	if h.Name != "" && now.Name != "" && h.Name != now.Name && !usual {
		all = append(all, fmt.Sprintf("was written %s, and is written %s", h.Name, now.Name))
	}
	if now.Text && !h.Text && h.Name != "" {
		all = append(all, "is no integer any more")
	}
	for _, part := range [][3]string{{"successes", h.Successes, now.Successes}, {"errors", h.Errors, now.Errors}} {
		if part[1] != "" && part[2] != "" && part[1] != part[2] && (part[1] != Partly || part[2] != Always) {
			all = append(all, fmt.Sprintf("was %s on %s, and is %s", part[1], part[0], part[2]))
		}
	}
	return all
}

// Note keeps what came for a documented error. If requests differ, the documented response counts, or else the first. A
// success is no response to an error: it says nothing about other requests that are refused with the same code.
func (e *Errors) Note(documented, seen Response) {
	if seen.Status < http.StatusBadRequest {
		return
	}
	if e.Codes[documented.Code] == nil || seen == documented {
		made(&e.Codes)[documented.Code] = &seen
	}
}
