package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
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

// uses records that the answer depends on a rule. What is read outside of a request depends on none.
func (c *call) uses(rules ...*Rule) {
	if c == nil {
		return
	}
	for _, r := range rules {
		if !r.Ambient && !slices.Contains(c.assumed, r.ID) {
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

// first is the first of several reasons to refuse a request, which may be nil. Of two, the document does not show which comes first.
func (c *call) first(reasons ...error) error {
	var told error
	for _, reason := range reasons {
		switch {
		case reason == nil:
		case told == nil:
			told = reason
		default:
			c.uses(ruleOrder)
		}
	}
	return told
}

// found notes under which id something was found that is called otherwise.
func (c *call) found(id, sent string) {
	if id != sent {
		c.uses(ruleIDCase)
	}
}

// pathID reads an id in the path, which is checked before anything else.
func (c *call) pathID(name string) (string, error) {
	id := c.req.PathValue(name)
	if !isID(id) {
		c.uses(rulePathID)
		return "", invalid(name, wantID)
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
