package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// Fault is a rule that makes requests fail. Set one with [Sandbox.Fail].
type Fault struct {
	number int
	setAt  string // in a test
	op     string // "*" is every operation
	words  []string
	off    bool

	when []func(*http.Request) bool
	turn func(n int) bool // whether the nth matching request is hit; nil hits all
	seen int
	hits int

	turns, responses, cuts int // how many options say which requests, which response and how the connection ends

	instead  *response // of the service's response
	applied  bool      // and yet it did its work
	drop     drop
	reset    bool
	latency  time.Duration
	stall    time.Duration
	truncate func(length int64) int64 // nil is off
	oversize int64
	edits    []func(*response)
	again    int  // how often the service gets the request once more
	cap      *int // of the totals of a page; zero is not decided yet
}

// noFault is that of a request to which nothing is done.
var noFault = new(Fault)

// drop says where the connection is cut.
type drop int

const (
	dropNever  drop = iota
	dropRefuse      // before it began
	dropBefore      // before anything was done
	dropAfter       // when everything was done
)

// FaultOption says which requests a fault affects, or what it does to them.
type FaultOption func(*Fault) error

// Fail makes an operation fail: "lists.rows" for example, or "*" for all. Options say what happens, and when; the default is every
// time. If several faults match a request, the one set first is used.
//
// A mistake in the rule is reported at once. A fault that never fired is reported when the test ends.
func (sb *Sandbox) Fail(opName string, opts ...FaultOption) *Fault {
	f, err := newFault(opName, opts)
	if err := errors.Join(sb.checkTarget(opName), err); err != nil {
		sb.misuse("Fail(%q): %v", opName, err)
		return f
	}
	sb.addFault(f)
	return f
}

func newFault(opName string, opts []FaultOption) (*Fault, error) {
	f := &Fault{op: opName}
	for _, opt := range opts {
		if err := opt(f); err != nil {
			return f, err
		}
	}
	return f, f.check()
}

func (sb *Sandbox) addFault(f *Fault) {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	f.number, f.setAt = len(sb.faults)+1, callSite()
	sb.faults = append(sb.faults, f)
}

func (sb *Sandbox) checkTarget(opName string) error {
	if opName == "*" {
		return nil
	}
	o, ok := op.ByName(opName)
	switch {
	case !ok:
		return fmt.Errorf("no operation has the name %q: docs/operations.md lists them", opName)
	case sb.pattern(o) == "":
		return errors.New("the path of this operation is undocumented: set one with WithRoute")
	}
	return nil
}

func (f *Fault) check() error {
	responds := f.instead != nil
	alters := len(f.edits) > 0 || f.truncate != nil || f.stall > 0 || f.oversize > 0 || f.cap != nil
	if f.reset && f.drop == dropNever {
		f.drop = dropBefore
	}
	switch {
	case f.turns > 1:
		return errors.New("two options say which requests are affected")
	case f.responses > 1:
		return errors.New("two options set the response")
	case f.cuts > 1:
		return errors.New("two options say how the connection ends")
	case !responds && !alters && f.drop == dropNever && f.latency == 0:
		return errors.New("the fault does nothing")
	case f.drop != dropNever && (responds || alters):
		return errors.New("a cut connection has no response, so no option may change it")
	case f.again > 0 && responds:
		return errors.New("Resent is for the service's own responses")
	case f.applied && !responds:
		return errors.New("Applied needs a response in place of the service's")
	case f.drop == dropRefuse && f.reset:
		return errors.New("a refused connection cannot be reset")
	}
	return nil
}

// Hits returns how often the fault fired.
func (sb *Sandbox) Hits(f *Fault) int {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return f.hits
}

// Switch turns a fault off, or on again. While it is off, it affects and counts nothing, and need not fire.
func (sb *Sandbox) Switch(f *Fault, on bool) {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	f.off = !on
}

// Clear removes all faults. Those that have not fired are not reported.
func (sb *Sandbox) Clear() {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	sb.faults = nil
}

// String says what the fault does.
func (f *Fault) String() string {
	if f == noFault {
		return ""
	}
	words := strings.Join(f.words, ", ")
	if f.number == 0 { // of EveryFailure
		return f.op + ": " + words
	}
	return fmt.Sprintf("fault %d, %s: %s", f.number, f.op, words)
}

// fits finds the faults whose conditions a request meets. Conditions are code of the test, which must not run under the lock.
func (sb *Sandbox) fits(o *op.Op, r *http.Request, body []byte) []*Fault {
	sb.mu.Lock()
	candidates := kept(sb.faults, func(f *Fault) bool { return !f.off })
	sb.mu.Unlock()
	return kept(candidates, func(f *Fault) bool { return f.matches(o, r, body) })
}

func (f *Fault) matches(o *op.Op, r *http.Request, body []byte) bool {
	if f.op != "*" && (o == nil || o.Name != f.op) {
		return false
	}
	for _, when := range f.when {
		seen := r.Clone(r.Context())
		seen.Body = io.NopCloser(bytes.NewReader(body))
		if !when(seen) {
			return false
		}
	}
	return true
}

// trip counts the request for every matching fault and returns the one that affects it.
func (sb *Sandbox) trip(fitting []*Fault) (hit *Fault) {
	for _, f := range fitting {
		f.seen++
		if hit != nil || f.turn != nil && !f.turn(f.seen) {
			continue
		}
		hit = f
		f.hits++
	}
	return hit
}

// serves reports whether the service applies the request.
func (f *Fault) serves() bool {
	return (f.instead == nil || f.applied) && (f.drop == dropNever || f.drop == dropAfter)
}

// response is the fault's response. Unless it is [Applied], the rules never see the request: nothing is applied, counted or billed.
func (f *Fault) response(c *call) response {
	a := *f.instead
	a.header = a.header.Clone()
	if a.header == nil {
		a.header = http.Header{}
	}
	if a.header.Get("Content-Type") == "" && a.body == nil && a.code != "" {
		a.body = envelope(a.code, "Injected by "+f.String()+".", "", c.id)
		a.header.Set("Content-Type", "application/json")
	}
	f.transform(&a)
	return a
}

func (f *Fault) transform(a *response) {
	if f == noFault {
		return
	}
	a.header.Set("X-Sandbox-Fault", strconv.Itoa(f.number))
	for _, edit := range f.edits {
		edit(a)
	}
}
