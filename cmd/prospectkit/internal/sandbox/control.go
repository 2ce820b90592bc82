package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/faultspec"
	"example.com/prospectkit/sandbox"
)

// host keeps the current sandbox. A reset replaces it.
type host struct {
	cfg     config
	seed    sandbox.State
	clock   sandbox.Clock
	stderr  io.Writer
	current atomic.Pointer[instance]
}

// instance is one sandbox, from its start to the next reset. It is the test of its sandbox: mistakes, broken invariants, and faults that
// never fired are printed for the user.
type instance struct {
	*sandbox.Sandbox
	api    http.Handler
	stderr io.Writer
	ended  func()

	acting sync.Mutex
	mu     sync.Mutex
	acts   bool
	wrong  []string // what somebody did who acts
	faults []givenFault
}

// givenFault is a fault as it was written.
type givenFault struct {
	spec  string
	fault *sandbox.Fault
}

func newHost(cfg config, stderr io.Writer) (*host, error) {
	seed, err := cfg.load()
	if err != nil {
		return nil, err
	}
	clock, err := clockOf(cfg.clock)
	if err != nil {
		return nil, err
	}
	h := &host{cfg: cfg, seed: seed, clock: clock, stderr: stderr}
	return h, h.reset()
}

// reset makes a new sandbox from the seed and the flags. The clock continues: time never goes back.
func (h *host) reset() error {
	opts := append([]sandbox.Option{sandbox.Seed(h.seed), sandbox.WithClock(h.clock)}, h.cfg.options...)
	if h.cfg.credits >= 0 {
		opts = append(opts, sandbox.Credits(h.cfg.credits))
	}
	if h.cfg.allowRemote {
		opts = append(opts, sandbox.AllowRemote())
	}
	next := &instance{stderr: h.stderr}
	if err := next.act(func() { next.Sandbox = sandbox.New(next, opts...) }); err != nil {
		return err
	}
	next.api = next.Handler()
	for _, spec := range h.cfg.faults {
		if err := next.addFault(spec); err != nil {
			return fmt.Errorf("-fault %s: %w", spec, err)
		}
	}
	h.current.Store(next)
	return nil
}

// Helper does nothing.
func (box *instance) Helper() {}

// Cleanup keeps what is to be called at the end.
func (box *instance) Cleanup(f func()) { box.ended = f }

// Errorf prints for the user, unless somebody who acts is told.
func (box *instance) Errorf(format string, args ...any) {
	box.mu.Lock()
	defer box.mu.Unlock()
	if box.acts {
		first, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n") // later lines often follow from it
		box.wrong = append(box.wrong, strings.TrimPrefix(first, "sandbox: "))
		return
	}
	fmt.Fprintf(box.stderr, format+"\n", args...)
}

// act uses the sandbox, and returns what is wrong with that.
func (box *instance) act(use func()) error {
	box.acting.Lock()
	defer box.acting.Unlock()
	set := func(acts bool) (wrong []string) {
		box.mu.Lock()
		defer box.mu.Unlock()
		wrong, box.wrong, box.acts = box.wrong, nil, acts
		return wrong
	}
	set(true)
	use()
	if wrong := set(false); len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

func (box *instance) addFault(spec string) error {
	f, err := faultspec.Parse(spec)
	if err != nil {
		return err
	}
	var fault *sandbox.Fault
	if err := box.act(func() { fault = box.Fail(f.Operation, f.Options...) }); err != nil {
		return err
	}
	box.mu.Lock()
	defer box.mu.Unlock()
	box.faults = append(box.faults, givenFault{spec, fault})
	return nil
}

const controlPath = "/_sandbox/"

// routes separates the control plane, which is for this machine only, from the API, which gets its paths unchanged: a mux would clean them.
func (h *host) routes() http.Handler {
	control := http.NewCrossOriginProtection().Handler(h.control())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _, _ := net.SplitHostPort(r.RemoteAddr)
		switch {
		case !strings.HasPrefix(r.URL.Path, controlPath):
			h.current.Load().api.ServeHTTP(w, r)
		case check.IsLoopback((&url.URL{Host: r.Host}).Hostname()) && check.IsLoopback(from): // and no web page by a name of its own
			control.ServeHTTP(w, r)
		default:
			http.Error(w, "the control plane works on this machine only, under 127.0.0.1, [::1] or localhost", http.StatusForbidden)
		}
	})
}

// ask is a request to the control plane, in a workspace: the one that ?workspace names, or the first one.
type ask struct {
	*http.Request
	*host
	box *instance
	ws  *sandbox.Tenant
}

type handler func(a ask) (response any, err error)

// control serves the control plane. It needs no token.
func (h *host) control() http.Handler {
	mux := http.NewServeMux()
	help := map[string]string{}
	for _, route := range []struct {
		pattern, help string
		handle        handler
	}{
		{"GET /_sandbox/{$}", "this help; where something is of a workspace, ?workspace=NAME is another than the first", func(ask) (any, error) { return help, nil }},
		{"GET /_sandbox/state", "the state, as -seed takes it", func(a ask) (any, error) { return a.box.Snapshot(), nil }},
		{"POST /_sandbox/reset", "reset to the seed and the flags; the clock continues", func(a ask) (any, error) { return map[string]any{}, a.reset() }},
		{"GET /_sandbox/faults", "the faults and how often each fired", getFaults},
		{"POST /_sandbox/faults", `inject one: {"fault": "lists.rows:nth=3:status=429:retry-after=2"}`, postFault},
		{"DELETE /_sandbox/faults", "remove all faults", deleteFaults},
		{"POST /_sandbox/clock", `move a manual clock, by ten years at most: {"advance": "24h"}`, postClock},
		{"GET /_sandbox/journal", "the requests so far; ?last=N for the newest", getJournal},
		{"GET /_sandbox/calls", "of each operation: how many requests arrived, and how many the service processed", getCalls},
		{"GET /_sandbox/ledger", "the credits", func(a ask) (any, error) {
			return map[string]any{"balance": a.ws.Balance(), "entries": some(a.ws.Ledger())}, nil
		}},
		{"GET /_sandbox/outbox", "what the service would have sent", func(a ask) (any, error) { return map[string]any{"outbox": some(a.ws.Outbox())}, nil }},
		{"POST /_sandbox/lists", "as a teammate: add a list with its rows, as the state has them", teammate(func(tx *sandbox.Tx, _ ask, l sandbox.List) any { return tx.CreateList(l) })},
		{"POST /_sandbox/lists/{id}/rows", "as a teammate: add an array of rows", teammate(func(tx *sandbox.Tx, a ask, rows []sandbox.Row) any { return tx.AddRows(a.PathValue("id"), rows...) })},
		{"DELETE /_sandbox/lists/{id}/rows", "as a teammate: remove an array of ids of rows", teammate(func(tx *sandbox.Tx, a ask, ids []string) any {
			tx.RemoveRows(a.PathValue("id"), ids...)
			return ids
		})},
		{"POST /_sandbox/campaigns/{id}/stop", "as a teammate: stop an active campaign", teammate(func(tx *sandbox.Tx, a ask, _ struct{}) any {
			tx.StopCampaign(a.PathValue("id"))
			return a.PathValue("id")
		})},
		{"PUT /_sandbox/{kind}", "as a teammate: add an object of a kind of the state, such as agents, or change fields of the one that has the id", teammate(func(tx *sandbox.Tx, a ask, fields sandbox.Row) any {
			return tx.Put(a.PathValue("kind"), fields)
		})},
	} {
		help[route.pattern] = route.help
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) {
			a := ask{r, h, h.current.Load(), nil}
			status, response, err := http.StatusOK, any(nil), a.find()
			if err == nil {
				response, err = route.handle(a)
			}
			if err != nil {
				status, response = http.StatusBadRequest, map[string]string{"error": err.Error()}
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = cli.WriteJSON(w, response) // an error here means that the client is gone
		})
	}
	return mux
}

// find finds the workspace. It never creates one.
func (a *ask) find() error {
	name := a.URL.Query().Get("workspace")
	if a.ws = a.box.Tenant; name == "" {
		return nil
	}
	if !slices.ContainsFunc(a.box.Snapshot().Workspaces, func(ws sandbox.Workspace) bool { return ws.Name == name }) {
		return fmt.Errorf("no workspace has the name %q", name)
	}
	a.ws = a.box.Workspace(name)
	return nil
}

// teammate acts with what the body says. What is wrong with that is the response.
func teammate[T any](act func(tx *sandbox.Tx, a ask, body T) (id any)) handler {
	return func(a ask) (response any, err error) {
		var body T
		if err := decode(io.LimitReader(a.Body, 64<<20), &body); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		err = a.box.act(func() {
			a.ws.Do(func(tx *sandbox.Tx) { response = map[string]any{"id": act(tx, a, body)} })
		})
		return response, err
	}
}

// some are records as JSON has them: none are an empty array.
func some[T any](records []T) []T { return append([]T{}, records...) }

func getFaults(a ask) (any, error) {
	a.box.mu.Lock()
	defer a.box.mu.Unlock()
	views := []map[string]any{}
	for _, given := range a.box.faults {
		views = append(views, map[string]any{"fault": given.spec, "hits": a.box.Hits(given.fault)})
	}
	return map[string]any{"faults": views}, nil
}

func postFault(a ask) (any, error) {
	var in struct{ Fault string }
	if err := decode(a.Body, &in); err != nil {
		return nil, err
	}
	if err := a.box.addFault(in.Fault); err != nil {
		return nil, fmt.Errorf("fault %q: %w", in.Fault, err)
	}
	return getFaults(a)
}

func deleteFaults(a ask) (any, error) {
	a.box.mu.Lock()
	a.box.Clear()
	a.box.faults = nil
	a.box.mu.Unlock()
	return getFaults(a)
}

func postClock(a ask) (any, error) {
	var in struct{ Advance string }
	if err := decode(a.Body, &in); err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(in.Advance)
	const farthest = 10 * 366 * 24 * time.Hour // all events of that time are computed
	switch _, manual := a.clock.(*sandbox.ManualClock); {
	case !manual:
		return nil, errors.New("this clock cannot be moved: start with -clock manual")
	case err != nil || d < 0 || d > farthest:
		return nil, errors.New(`{"advance": "24h"} is by how much, at most ten years`)
	}
	return map[string]any{"events": some(a.box.Advance(d)), "now": a.clock.Now().UTC()}, nil
}

func getJournal(a ask) (any, error) {
	requests := a.box.Journal()
	n, err := strconv.Atoi(cmp.Or(a.URL.Query().Get("last"), strconv.Itoa(len(requests))))
	if err != nil || n < 0 {
		return nil, errors.New("last has to be a number, not negative")
	}
	return map[string]any{"requests": some(requests[max(0, len(requests)-n):])}, nil
}

// getCalls counts what the journal holds.
func getCalls(a ask) (any, error) {
	type count struct {
		Requests  int `json:"requests"`
		Processed int `json:"processed"`
	}
	calls := map[string]*count{}
	for _, e := range a.box.Journal() {
		if calls[e.Op] == nil {
			calls[e.Op] = &count{}
		}
		if calls[e.Op].Requests++; e.Processed {
			calls[e.Op].Processed++
		}
	}
	delete(calls, "")
	return map[string]any{"calls": calls}, nil
}
