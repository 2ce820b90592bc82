package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// call is one request while the rules handle it, under the lock of the sandbox.
type call struct {
	sb       *Sandbox
	ws       *workspace
	key      *key
	op       *op.Op
	endpoint endpoint
	req      *http.Request
	query    url.Values
	sent     []byte // the body
	body     fields // the same, of an operation that takes JSON
	in       input  // its fields, or the query
	now      time.Time
	id       string
	header   http.Header // of the response
	cap      *int        // see Fault

	effects []string
	spent   int64
}

// handler is the rule of one operation: decode, check, effect, response. The ids in the path have been checked. What refuses the request
// ends it: stop and deny do not return to the handler.
type handler func(*call) response

// endpoint is how the sandbox serves one operation. It stands in the file of its surface. Assumptions are in assumptions.txt.
type endpoint struct {
	handle handler
	json   bool     // it takes a JSON object
	takes  []taking // of its query, or of its body
	path   []string // the parameters that an undocumented path needs
}

// response is the response before a fault changes it.
type response struct {
	status int
	code   string // of an error
	header http.Header
	body   []byte
}

// effect changes the state. Everything that can be checked has been checked before.
func (c *call) effect(change func(), format string, args ...any) {
	change()
	c.ws.version++
	c.effects = append(c.effects, fmt.Sprintf(format, args...))
}

// decode checks the ids in the path, and opens the body.
func (c *call) decode() {
	for _, name := range slices.Concat(c.endpoint.path, op.Parameters(c.op.Path)) {
		if !isID(c.req.PathValue(name)) {
			stop(invalid(name, wantID))
		}
	}
	if c.in = queryInput(c.query); c.endpoint.json {
		c.body = c.object()
		c.in = bodyInput(c.body)
	}
	c.check(c.in, c.endpoint.takes)
}

// refusal is a response in the error envelope. It ends a handler.
type refusal struct {
	code    string
	message string
	param   string
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func (r *refusal) response(c *call) response {
	known, _ := op.CodeByName(r.code)
	return response{status: known.Statuses[0], code: r.code, body: envelope(r.code, r.message, r.param, c.id)}
}

// refuse makes the refusal of a request, and perhaps of one of its parameters.
func refuse(code, message string, param ...string) error {
	return &refusal{code, message, strings.Join(param, "")}
}

func invalid(param, message string) error {
	return refuse("VALIDATION_FAILED", param+" "+message+".", param)
}

// deny ends the request.
func deny(code, message string, param ...string) { stop(refuse(code, message, param...)) }

// stop ends the request if there is an error.
func stop(err error) {
	if err != nil {
		panic(err)
	}
}

// must is what was found, or the end of the request.
func must[T any](found T, err error) T {
	stop(err)
	return found
}
