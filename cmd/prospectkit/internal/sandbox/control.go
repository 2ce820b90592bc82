package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

const controlPath = "/_sandbox/"

// routes separates the control plane from the API, which gets its paths unchanged: a mux would clean them.
func (h *host) routes() http.Handler {
	control := onlyFromHere(http.NewCrossOriginProtection().Handler(h.control()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, controlPath) {
			control.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// onlyFromHere refuses requests from another machine, and those of a web page whose own name points here.
func onlyFromHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from, _, _ := net.SplitHostPort(r.RemoteAddr); check.IsLoopback((&url.URL{Host: r.Host}).Hostname()) && check.IsLoopback(from) {
			next.ServeHTTP(w, r)
			return
		}
		handler(func(*http.Request) (any, error) {
			return refuse(http.StatusForbidden, "the control plane works on this machine only, under 127.0.0.1, [::1] or localhost")
		}).ServeHTTP(w, r)
	})
}

// control serves the control plane. It needs no token.
func (h *host) control() http.Handler {
	mux := http.NewServeMux()
	help := map[string]string{"GET /_sandbox/state": "the state, in the format of -seed and -state"}
	for _, route := range []struct {
		pattern, help string
		handle        handler
	}{
		{"POST /_sandbox/reset", "reset to the seed and the flags; the clock continues", h.postReset},
		{"GET /_sandbox/faults", "the faults and how often each fired", h.getFaults},
		{"POST /_sandbox/faults", `inject one: {"fault": "lists.rows:nth=3:status=429:retry-after=2"}`, h.postFault},
		{"DELETE /_sandbox/faults", "remove all faults", h.deleteFaults},
		{"GET /_sandbox/clock", "the time", h.getClock},
		{"POST /_sandbox/clock", `move a manual clock, by ten years at most: {"advance": "24h"} or {"to": "2026-01-31T09:00:00Z"}`, h.postClock},
		{"GET /_sandbox/journal", "the requests so far; ?last=N for the newest", h.getJournal},
		{"GET /_sandbox/calls", "of each operation: how many requests arrived, and how many the service processed", h.getCalls},
		{"GET /_sandbox/ledger", "the credits; ?last=N for the newest, ?workspace=NAME for another workspace", h.within(getLedger)},
		{"GET /_sandbox/outbox", "what the service would have sent; ?workspace=NAME for another workspace", h.within(getOutbox)},
		{"GET /_sandbox/windows", "the rate windows; ?workspace=NAME for another workspace", h.within(getWindows)},
		{"POST /_sandbox/campaigns/{id}/stop", "stop an active campaign, as a teammate does in the app; ?workspace=NAME for another workspace", h.within(h.postStop)},
		{"GET /_sandbox/operations", "the operations and their routes", getOperations},
	} {
		mux.Handle(route.pattern, route.handle)
		help[route.pattern] = route.help
	}
	mux.HandleFunc("GET /_sandbox/state", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = h.current.Load().Snapshot().WriteTo(w) // an error here means that the client is gone
	})
	mux.Handle("GET /_sandbox/{$}", handler(func(*http.Request) (any, error) { return help, nil }))
	return mux
}

// handler makes a response of JSON.
type handler func(r *http.Request) (response any, err error)

// refusal is an error with its status.
type refusal struct {
	status int
	error
}

// refuse returns the results of a handler that refuses a request.
func refuse(status int, format string, args ...any) (any, error) {
	return nil, refusal{status, fmt.Errorf(format, args...)}
}

// created is a response with another status.
type created struct{ what any }

// ServeHTTP sends the response.
func (f handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := http.StatusOK
	response, err := f(r)
	if made, ok := response.(created); ok {
		status, response = http.StatusCreated, made.what
	}
	if err != nil {
		status, response = http.StatusInternalServerError, map[string]string{"error": err.Error()}
	}
	if refused, ok := errors.AsType[refusal](err); ok {
		status = refused.status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = cli.WriteJSON(w, response) // an error here means that the client is gone
}

// read decodes a small JSON body.
func read(r *http.Request, into any) error {
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if errors.Is(err, io.EOF) {
		err = errors.New("a JSON object is missing")
	}
	if err != nil {
		return refusal{http.StatusBadRequest, err}
	}
	return nil
}

// within makes a handler of a workspace: the one that the query names, or the first one. It never creates one.
func (h *host) within(handle func(r *http.Request, tenant *sandbox.Tenant) (any, error)) handler {
	return func(r *http.Request) (any, error) {
		box := h.current.Load()
		name := r.URL.Query().Get("workspace")
		if name == "" {
			return handle(r, box.Tenant)
		}
		if !slices.ContainsFunc(box.Snapshot().Workspaces, func(ws sandbox.Workspace) bool { return ws.Name == name }) {
			return refuse(http.StatusNotFound, "no workspace has the name %q", name)
		}
		return handle(r, box.Workspace(name))
	}
}

// some are records as JSON has them: none are an empty array.
func some[T any](records []T) []T { return append([]T{}, records...) }

// each converts records. None are an empty array in JSON.
func each[A, B any](records []A, convert func(A) B) []B {
	all := make([]B, len(records))
	for i, r := range records {
		all[i] = convert(r)
	}
	return all
}

func (h *host) postReset(*http.Request) (any, error) {
	if err := h.reset(); err != nil {
		return nil, err
	}
	return h.inventory(), nil
}

func (h *host) getFaults(*http.Request) (any, error) {
	return map[string]any{"faults": h.current.Load().faultViews()}, nil
}

func (h *host) postFault(r *http.Request) (any, error) {
	var in struct{ Fault string }
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if err := h.current.Load().addFault(in.Fault, h.cfg.options); err != nil {
		return refuse(http.StatusBadRequest, "fault %q: %w", in.Fault, err)
	}
	all, err := h.getFaults(r)
	return created{all}, err
}

func (h *host) deleteFaults(r *http.Request) (any, error) {
	h.current.Load().clearFaults()
	return h.getFaults(r)
}

func (h *host) getClock(*http.Request) (any, error) { return h.time(nil), nil }

// time is what the clock shows, and what happened when it was moved.
func (h *host) time(happened []sandbox.Event) any {
	return map[string]any{"clock": h.cfg.clock, "now": h.clock.Now().UTC(), "events": some(happened)}
}

// farthest is how far the clock moves at once. The sandbox is blocked meanwhile.
const farthest = 10 * 366 * 24 * time.Hour

func (h *host) postClock(r *http.Request) (any, error) {
	var in struct {
		Advance string
		To      time.Time
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if _, manual := h.clock.(*sandbox.ManualClock); !manual {
		return refuse(http.StatusConflict, "this clock cannot be moved: start with -clock manual")
	}
	d, err := time.ParseDuration(in.Advance)
	box := h.current.Load()
	switch {
	case d > farthest || in.To.Sub(h.clock.Now()) > farthest:
		return refuse(http.StatusBadRequest, "at most ten years at once: all events of that time are computed")
	case in.Advance == "" && !in.To.IsZero():
		return h.time(box.AdvanceTo(in.To)), nil
	case err == nil && d >= 0 && in.To.IsZero():
		return h.time(box.Advance(d)), nil
	}
	return refuse(http.StatusBadRequest, `either {"advance": "24h"}, not negative, or {"to": "2026-01-31T09:00:00Z"}`)
}

func (h *host) postStop(r *http.Request, tenant *sandbox.Tenant) (any, error) {
	id := r.PathValue("id")
	if !slices.ContainsFunc(tenant.Campaigns(), func(c sandbox.Campaign) bool { return strings.EqualFold(c.ID, id) && c.Status == "active" }) {
		return refuse(http.StatusNotFound, "no active campaign has the id %q", id)
	}
	tenant.Do(func(tx *sandbox.Tx) { tx.StopCampaign(id) })
	h.current.Load().touched.Add(1)
	return map[string]any{"campaigns": campaignItems(tenant)}, nil
}

func getOperations(*http.Request) (any, error) {
	return map[string]any{"operations": each(op.All(), func(o *op.Op) routeItem { return routeItem{o.Name, o.Route()} })}, nil
}
