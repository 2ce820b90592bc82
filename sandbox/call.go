package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// call is one request on its way through the rules. It lives under the lock of the sandbox.
type call struct {
	sb     *Sandbox
	ws     *workspace
	key    *key
	op     *op.Op
	req    *http.Request
	query  url.Values
	body   []byte
	now    time.Time
	id     string
	header http.Header // of the answer
	before *books      // nil until the request has been let in

	effects []string
	spent   int64
	assumed []string // ids of rules
}

// handler is the rule of one operation: decode, check, effect, answer.
type handler func(*call) (answer, error)

// answer is what goes back.
type answer struct {
	status int
	code   string // of an error
	header http.Header
	body   []byte
}

type object = map[string]any

func reply(status int, v any) (answer, error) {
	body, err := json.Marshal(v)
	return answer{status: status, body: body}, err
}

// uses records that the answer depends on a rule.
func (c *call) uses(rules ...*Rule) {
	for _, r := range rules {
		if r.Provenance == Assumed && !r.Ambient && !slices.Contains(c.assumed, r.ID) {
			c.assumed = append(c.assumed, r.ID)
		}
	}
}

// refused reports whether Strict refuses the call for what it has used so far.
func (c *call) refused() bool { return c.sb.strict && len(c.assumed) > 0 }

// effect changes the state. Everything that can be checked has been checked before.
func (c *call) effect(change func(), format string, args ...any) {
	if c.refused() {
		return
	}
	change()
	c.ws.version++
	c.effects = append(c.effects, fmt.Sprintf(format, args...))
}

// list finds the list that the path names.
func (c *call) list() (*list, error) {
	id, err := c.listID()
	if err != nil {
		return nil, err
	}
	return c.listByID(id)
}

func (c *call) listByID(id string) (*list, error) {
	if l := c.ws.list(id); l != nil {
		return l, nil
	}
	return nil, refuse("LIST_NOT_FOUND", "No list has this id.")
}

func (c *call) listID() (string, error) { return c.pathID("listId") }

// pathID reads an id in the path, which is checked before anything else.
func (c *call) pathID(name string) (string, error) {
	id := c.req.PathValue(name)
	if !isID(id) {
		c.uses(rulePathID)
		return "", invalid(name, "has to be 24 hexadecimal digits")
	}
	return id, nil
}

// refusal is an answer in the error envelope.
type refusal struct {
	status  int // zero is the first documented one of the code
	code    string
	message string
	param   string
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func refuse(code, message string) error { return &refusal{code: code, message: message} }

func invalid(param, message string) error {
	return &refusal{code: "VALIDATION_FAILED", message: param + " " + message + ".", param: param}
}

func (r *refusal) answer(c *call) answer {
	status := r.status
	if status == 0 && r.code == "INSUFFICIENT_CREDITS" {
		status = c.sb.short
	}
	if known, ok := op.CodeByName(r.code); ok && status == 0 {
		status = known.Statuses[0]
	}
	return answer{status: status, code: r.code, body: envelope(r.code, r.message, r.param, c.id)}
}

type wireError struct {
	Code      string  `json:"code"`
	Message   string  `json:"message"`
	Param     *string `json:"param"`
	DocURL    *string `json:"doc_url"`
	RequestID *string `json:"request_id"`
}

func envelope(code, message, param, requestID string) []byte {
	e := wireError{Code: code, Message: message}
	if param != "" {
		e.Param = &param
	}
	if requestID != "" {
		e.RequestID = &requestID
		link := docsURL + strings.ToLower(code)
		e.DocURL = &link
	}
	body, err := json.Marshal(map[string]wireError{"error": e})
	if err != nil {
		panic(err) // strings always encode
	}
	return body
}

// checks collects everything that is wrong with a request.
type checks struct {
	param    string // the first offender
	messages []string
}

func (v *checks) fail(param, format string, args ...any) {
	if len(v.messages) == 0 {
		v.param = param
	}
	v.messages = append(v.messages, param+" "+fmt.Sprintf(format, args...))
}

func (v *checks) err() error {
	if len(v.messages) == 0 {
		return nil
	}
	return &refusal{code: "VALIDATION_FAILED", message: strings.Join(v.messages, "; ") + ".", param: v.param}
}

// number reads an integer of at least 1 from the query. A largest of zero is no bound.
func (v *checks) number(q url.Values, name string, largest, fallback int) int {
	if !q.Has(name) {
		return fallback
	}
	n, err := strconv.Atoi(q.Get(name))
	switch {
	case err != nil:
		v.fail(name, "has to be an integer")
	case n < 1:
		v.fail(name, "has to be at least 1")
	case largest > 0 && n > largest:
		v.fail(name, "has to be at most %d", largest)
	}
	return n
}

// text reads a string with bounds, in characters, from the query. Without one it is empty.
func (v *checks) text(q url.Values, name string, longest int) string {
	s := q.Get(name)
	if q.Has(name) {
		v.length(name, s, longest)
	}
	return s
}

func (v *checks) length(name, s string, longest int) {
	if n := runes(s); n < 1 || n > longest {
		v.fail(name, "has to be 1 to %d characters long", longest)
	}
}

// choice reads one of several values from the query. Without one it is empty.
func (v *checks) choice(q url.Values, name string, choices ...string) string {
	s := q.Get(name)
	if q.Has(name) && !slices.Contains(choices, s) {
		v.fail(name, "has to be one of %s", strings.Join(choices, ", "))
	}
	return s
}
