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
	current atomic.Pointer[instance]
}

// instance is one sandbox, from its start to the next reset.
type instance struct {
	*sandbox.Sandbox
	api http.Handler

	mu     sync.Mutex
	faults []givenFault
}

// givenFault is a fault as it was written.
type givenFault struct {
	spec  string
	fault *sandbox.Fault
}

func newHost(cfg config) (*host, error) {
	seed, err := cfg.load()
	if err != nil {
		return nil, err
	}
	clock, err := clockOf(cfg.clock)
	if err != nil {
		return nil, err
	}
	h := &host{cfg: cfg, seed: seed, clock: clock}
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
	next := &instance{}
	if err := try(func() { next.Sandbox = sandbox.New(nil, opts...) }); err != nil {
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

// try uses the sandbox, which panics with what is wrong with that.
func try(use func()) (err error) {
	defer func() {
		if wrong := recover(); wrong != nil {
			err = errors.New(strings.TrimPrefix(fmt.Sprint(wrong), "sandbox: "))
		}
	}()
	use()
	return nil
}

func (box *instance) addFault(spec string) error {
	f, err := faultspec.Parse(spec)
	if err != nil {
		return err
	}
	return try(func() {
		fault := box.Fail(f.Operation, f.Options...)
		box.mu.Lock()
		defer box.mu.Unlock()
		box.faults = append(box.faults, givenFault{spec, fault})
	})
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
	box  *instance
	ws   *sandbox.Tenant
	body object
}

type object = map[string]any

// control serves the control plane. It needs no token.
func (h *host) control() http.Handler {
	mux := http.NewServeMux()
	help := map[string]string{}
	for _, route := range []struct {
		pattern, help string
		handle        func(*ask) (response any, err error)
	}{
		{"GET /_sandbox/{$}", "this help; where something is of a workspace, ?workspace=NAME is another than the first", func(*ask) (any, error) { return help, nil }},
		{"GET /_sandbox/state", "the state, as -seed takes it", func(a *ask) (any, error) { return a.box.Snapshot(), nil }},
		{"POST /_sandbox/reset", "reset to the seed and the flags; the clock continues", func(a *ask) (any, error) { return object{}, a.reset() }},
		{"GET /_sandbox/faults", "the faults and how often each fired", getFaults},
		{"POST /_sandbox/faults", `inject one: {"fault": "lists.rows:nth=3:status=429:code=RATE_LIMITED:retry-after=2"}`, postFault},
		{"DELETE /_sandbox/faults", "remove all faults", deleteFaults},
		{"POST /_sandbox/clock", `move a manual clock, by ten years at most: {"advance": "24h"}`, postClock},
		{"GET /_sandbox/journal", "the requests so far; ?last=N for the newest", getJournal},
		{"GET /_sandbox/calls", "of each operation: how many requests arrived, and how many the service processed", getCalls},
		{"GET /_sandbox/ledger", "the credits", func(a *ask) (any, error) {
			return object{"balance": a.ws.Balance(), "entries": some(a.ws.Ledger())}, nil
		}},
		{"GET /_sandbox/outbox", "what the service would have sent", func(a *ask) (any, error) { return object{"outbox": some(a.ws.Outbox())}, nil }},
		{"PUT /_sandbox/{kind}", "as a teammate: add an object of a kind of the state, such as lists, or change fields of the one that has the id", teammate(
			func(tx *sandbox.Tx, a *ask) any { return tx.Put(a.PathValue("kind"), a.body) })},
		{"DELETE /_sandbox/{kind}/{id}", "as a teammate: remove an object", teammate(func(tx *sandbox.Tx, a *ask) any {
			tx.Delete(a.PathValue("kind"), a.PathValue("id"))
			return a.PathValue("id")
		})},
		{"POST /_sandbox/campaigns/{id}/stop", "as a teammate: stop an active campaign", teammate(func(tx *sandbox.Tx, a *ask) any {
			tx.StopCampaign(a.PathValue("id"))
			return a.PathValue("id")
		})},
	} {
		help[route.pattern] = route.help
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) {
			a := &ask{Request: r, host: h, box: h.current.Load()}
			status, response, err := http.StatusOK, any(nil), a.open()
			if err == nil {
				response, err = route.handle(a)
			}
			if err != nil {
				status, response = http.StatusBadRequest, object{"error": err.Error()}
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = cli.WriteJSON(w, response) // an error here means that the client is gone
		})
	}
	return mux
}

// open reads the body, an object or nothing, and finds the workspace. It never creates one.
func (a *ask) open() error {
	if err := decode(io.LimitReader(a.Body, 64<<20), &a.body); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the body has to be a JSON object, or empty: %w", err)
	}
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

// teammate acts as the request says. What is wrong with that is the response.
func teammate(act func(tx *sandbox.Tx, a *ask) (id any)) func(*ask) (any, error) {
	return func(a *ask) (response any, err error) {
		err = try(func() {
			a.ws.Do(func(tx *sandbox.Tx) { response = object{"id": act(tx, a)} })
		})
		return response, err
	}
}

// some are records as JSON has them: none are an empty array.
func some[T any](records []T) []T { return append([]T{}, records...) }

func getFaults(a *ask) (any, error) {
	a.box.mu.Lock()
	defer a.box.mu.Unlock()
	views := []object{}
	for _, given := range a.box.faults {
		views = append(views, object{"fault": given.spec, "hits": a.box.Hits(given.fault)})
	}
	return object{"faults": views}, nil
}

func postFault(a *ask) (any, error) {
	spec, given := a.body["fault"].(string)
	if !given {
		return nil, errors.New(`{"fault": "lists.create:nth=2:drop-after"} is what to inject; the words are those of prospectkit sandbox -h`)
	}
	if err := a.box.addFault(spec); err != nil {
		return nil, fmt.Errorf("fault %q: %w", spec, err)
	}
	return getFaults(a)
}

func deleteFaults(a *ask) (any, error) {
	a.box.mu.Lock()
	a.box.Clear()
	a.box.faults = nil
	a.box.mu.Unlock()
	return getFaults(a)
}

func postClock(a *ask) (any, error) {
	by, _ := a.body["advance"].(string)
	d, err := time.ParseDuration(by)
	const farthest = 10 * 366 * 24 * time.Hour // all events of that time are computed
	switch _, manual := a.clock.(*sandbox.ManualClock); {
	case !manual:
		return nil, errors.New("this clock cannot be moved: start with -clock manual")
	case err != nil || d < 0 || d > farthest:
		return nil, errors.New(`{"advance": "24h"} is by how much, at most ten years`)
	}
	return object{"events": some(a.box.Advance(d)), "now": a.clock.Now().UTC()}, nil
}

func getJournal(a *ask) (any, error) {
	requests := a.box.Journal()
	last, err := strconv.ParseUint(cmp.Or(a.URL.Query().Get("last"), "2147483647"), 10, 31)
	if err != nil {
		return nil, fmt.Errorf("?last=%s has to be a number", a.URL.Query().Get("last"))
	}
	return object{"requests": some(requests[max(0, len(requests)-int(last)):])}, nil
}

// getCalls counts what the journal holds.
func getCalls(a *ask) (any, error) {
	calls := map[string]map[string]int{}
	for _, e := range a.box.Journal() {
		if calls[e.Op] == nil {
			calls[e.Op] = map[string]int{"requests": 0, "processed": 0}
		}
		if calls[e.Op]["requests"]++; e.Processed {
			calls[e.Op]["processed"]++
		}
	}
	delete(calls, "")
	return object{"calls": calls}, nil
}
