// Package firstcontact asks a service what it is like. It sends GET requests that change nothing and cost nothing, each free read and
// what tells more about pages, order and errors, and asks a sandbox the same. Where the responses are of another kind, it says so: the
// sandbox is what this project has read in the description of the API, and has assumed.
//
// It keeps types, and names that a programmer gave, never a value of the workspace. It guesses nothing: what it cannot tell, it says so,
// and why. With -write, it also makes up to six lists, and measures what the verdicts of the client rest on: see write.go.
package firstcontact

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/service"
	network "example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// Run is one run: what the sandbox and the service respond to the plan.
type Run struct {
	want, got *interview
	found     bool // a response to a valid request that can be used
	report    Report
}

// Start checks the address, and asks the sandbox.
func Start(baseURL, token string, transport http.RoundTripper) (*Run, error) {
	if _, err := prospectkit.New(baseURL, token); err != nil {
		return nil, service.Explain(err)
	}
	return &Run{
		want: rehearse(), got: newInterview(baseURL, token, transport, 1),
		report: Report{Format: Format, Differs: []Finding{}, Untold: []Untold{}},
	}, nil
}

// rehearse asks a sandbox that has something of everything.
var rehearse = sync.OnceValue(func() *interview {
	state := fixture.Build(fixture.Config{Seed: 1, ContactLists: 3, CompanyLists: 2, Rows: 60})
	main := &state.Workspaces[0]
	main.Lists = append(main.Lists, sandbox.List{Name: "being filled", CompletionStatus: "(undocumented)"})
	main.Agents = append(main.Agents, sandbox.Agent{Name: "legacy", Status: "paused", ListID: main.Lists[1].ID})
	sb := sandbox.New(nil, sandbox.Seed(state), sandbox.NoLimits())
	const all = 1000
	v := newInterview(sb.BaseURL(), sb.Token(), sb.Transport(), all)
	for i := range plan {
		_ = v.ask(context.Background(), i)
	}
	return v
})

// NewTransport returns the transport of the command: a connection for each request, so that net/http repeats none.
func NewTransport() http.RoundTripper {
	t := network.NewTransport()
	t.DisableKeepAlives = true
	return t
}

// Sent returns how many requests were sent. It may be called while the run works.
func (r *Run) Sent() int { return int(r.got.sent.Load()) }

// Ask sends the requests of the plan. If the context ends before, a report tells what was found so far.
func (r *Run) Ask(ctx context.Context) error {
	var first error
	for i := range plan {
		r.got.why[i] = "the run ended before it was asked"
		if ctx.Err() != nil {
			continue
		}
		err := r.got.ask(ctx, i)
		owner, e := r.got.to[0], r.got.to[i]
		switch {
		case i == 0 && e == nil:
			first = fmt.Errorf("the service cannot be reached: %w", err)
		case i == 0:
			first = &prospectkit.Error{Status: e.status, Code: prospectkit.Code(e.code())}
		}
		r.found = r.found || e.succeeded() && e.value != nil && r.want.to[i].succeeded()
		if last := i == len(plan)-1; !r.found && ctx.Err() == nil && (i == 0 && owner.is(401) || i == 1 && !owner.is(403) || last) {
			return service.Explain(first)
		}
	}
	return ctx.Err()
}
