package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

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
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		from, _, _ := net.SplitHostPort(r.RemoteAddr)
		if !isLoopback(host) || !isLoopback(from) {
			refuse(w, http.StatusForbidden, errors.New("the control plane works on this machine only, under 127.0.0.1, [::1] or localhost"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// control serves the control plane. It needs no token.
func (h *host) control() http.Handler {
	mux := http.NewServeMux()
	help := map[string]string{"GET /_sandbox/": "in a browser: the dashboard"}
	for _, route := range []struct {
		pattern, help string
		handle        http.HandlerFunc
	}{
		{"GET /_sandbox/state", "the state, in the format of -seed and -state", h.getState},
		{"POST /_sandbox/reset", "reset to the seed and the flags; the clock continues", h.postReset},
		{"GET /_sandbox/faults", "the faults and how often each fired", h.getFaults},
		{"POST /_sandbox/faults", `inject one: {"fault": "lists.rows:nth=3:status=429:retry-after=2"}`, h.postFault},
		{"POST /_sandbox/faults/{number}", `switch one: {"on": false}`, h.postSwitch},
		{"DELETE /_sandbox/faults", "remove all faults", h.deleteFaults},
		{"GET /_sandbox/clock", "the time", h.getClock},
		{"POST /_sandbox/clock", `move a manual clock, by ten years at most: {"advance": "24h"} or {"to": "2026-01-31T09:00:00Z"}`, h.postClock},
		{"GET /_sandbox/journal", "the requests so far, how many there are, and how many failed; ?last=N for the newest, ?failures=true for those that failed", h.getJournal},
		{"GET /_sandbox/calls", "of each operation: how many requests arrived, and how many the service processed", h.getCalls},
		{"GET /_sandbox/ledger", "the credits; ?last=N for the newest, ?workspace=NAME for another workspace", h.getLedger},
		{"GET /_sandbox/overview", "lists, agents and campaigns; ?workspace=NAME for another workspace", h.getOverview},
		{"GET /_sandbox/outbox", "what the service would have sent; ?workspace=NAME for another workspace", h.getOutbox},
		{"GET /_sandbox/windows", "the rate windows; ?workspace=NAME for another workspace", h.getWindows},
		{"GET /_sandbox/operations", "the operations, and which rules are documented or assumed", h.getOperations},
	} {
		mux.HandleFunc(route.pattern, route.handle)
		help[route.pattern] = route.help
	}
	mux.HandleFunc("GET /_sandbox/{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			serveDashboard(w)
			return
		}
		respond(w, http.StatusOK, help)
	})
	return mux
}

func (h *host) getState(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = h.current.Load().Snapshot().WriteTo(w) // an error here means that the client is gone
}

func (h *host) postReset(w http.ResponseWriter, _ *http.Request) {
	if err := h.reset(); err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	respond(w, http.StatusOK, h.inventory())
}

func (h *host) getFaults(w http.ResponseWriter, _ *http.Request) { h.showFaults(w, http.StatusOK) }

func (h *host) showFaults(w http.ResponseWriter, status int) {
	box := h.current.Load()
	respond(w, status, map[string]any{"faults": box.faults.views(box.Sandbox)})
}

func (h *host) postFault(w http.ResponseWriter, r *http.Request) {
	var in struct{ Fault string }
	if !read(w, r, &in) {
		return
	}
	box := h.current.Load()
	if err := box.faults.add(box.Sandbox, in.Fault, h.cfg.routeOptions()); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("fault %q: %w", in.Fault, err))
		return
	}
	h.showFaults(w, http.StatusCreated)
}

func (h *host) postSwitch(w http.ResponseWriter, r *http.Request) {
	var in struct{ On *bool }
	if !read(w, r, &in) {
		return
	}
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || in.On == nil {
		refuse(w, http.StatusBadRequest, errors.New(`POST /_sandbox/faults/2 with {"on": false}, for example`))
		return
	}
	box := h.current.Load()
	if err := box.faults.turn(box.Sandbox, number, *in.On); err != nil {
		refuse(w, http.StatusNotFound, err)
		return
	}
	h.showFaults(w, http.StatusOK)
}

func (h *host) deleteFaults(w http.ResponseWriter, _ *http.Request) {
	box := h.current.Load()
	box.faults.clear(box.Sandbox)
	h.showFaults(w, http.StatusOK)
}

func (h *host) getClock(w http.ResponseWriter, _ *http.Request) { h.showClock(w, nil) }

func (h *host) showClock(w http.ResponseWriter, happened []sandbox.Event) {
	events := make([]any, len(happened))
	for i, e := range happened {
		events[i] = struct {
			Time    time.Time `json:"time"`
			Kind    string    `json:"kind"`
			Subject string    `json:"subject"`
		}(e)
	}
	respond(w, http.StatusOK, map[string]any{"clock": h.cfg.clock, "now": h.clock.Now().UTC(), "events": events})
}

// farthest is how far the clock moves at once. The sandbox is blocked meanwhile.
const farthest = 10 * 366 * 24 * time.Hour

func (h *host) postClock(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Advance string
		To      time.Time
	}
	if !read(w, r, &in) {
		return
	}
	if _, manual := h.clock.(*sandbox.ManualClock); !manual {
		refuse(w, http.StatusConflict, errors.New("this clock cannot be moved: start with -clock manual"))
		return
	}
	d, err := time.ParseDuration(in.Advance)
	box := h.current.Load()
	switch {
	case d > farthest || in.To.Sub(h.clock.Now()) > farthest:
		refuse(w, http.StatusBadRequest, errors.New("at most ten years at once: all events of that time are computed"))
	case in.Advance == "" && !in.To.IsZero():
		h.showClock(w, box.AdvanceTo(in.To))
	case err == nil && d >= 0 && in.To.IsZero():
		h.showClock(w, box.Advance(d))
	default:
		refuse(w, http.StatusBadRequest, errors.New(`either {"advance": "24h"}, not negative, or {"to": "2026-01-31T09:00:00Z"}`))
	}
}

func (h *host) getOperations(w http.ResponseWriter, _ *http.Request) {
	type operation struct {
		Name       string        `json:"name"`
		Route      string        `json:"route"`
		Scope      op.Scope      `json:"scope"`
		Surface    op.Surface    `json:"surface"`
		Class      op.Class      `json:"class"`
		Provenance op.Provenance `json:"provenance"`
	}
	type assumption struct {
		ID      string `json:"id"`
		Ambient bool   `json:"ambient"`
		Text    string `json:"text"`
	}
	var operations []operation
	for _, o := range op.All() {
		operations = append(operations, operation{o.Name, o.Route(), o.Scope, o.Surface, o.Class, o.Provenance})
	}
	var assumptions []assumption
	for _, r := range sandbox.Assumptions() {
		assumptions = append(assumptions, assumption(r))
	}
	respond(w, http.StatusOK, map[string]any{"operations": operations, "assumptions": assumptions})
}

// tenant finds the workspace that the query names, or the first one. It never creates one.
func (h *host) tenant(w http.ResponseWriter, r *http.Request) (*sandbox.Tenant, bool) {
	box := h.current.Load()
	name := r.URL.Query().Get("workspace")
	if name == "" {
		return box.Tenant, true
	}
	known := slices.ContainsFunc(box.Snapshot().Workspaces, func(ws sandbox.Workspace) bool { return ws.Name == name })
	if !known {
		refuse(w, http.StatusNotFound, fmt.Errorf("no workspace has the name %q", name))
		return nil, false
	}
	return box.Workspace(name), true
}

// read decodes a small JSON body. It sends the error response itself if there is none.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		return true
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("a JSON object is missing")
	}
	refuse(w, http.StatusBadRequest, err)
	return false
}

func refuse(w http.ResponseWriter, status int, err error) {
	respond(w, status, map[string]string{"error": err.Error()})
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = encode(w, v) // an error here means that the client is gone
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
