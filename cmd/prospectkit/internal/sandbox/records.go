package sandbox

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// newest keeps the last N records, as the query asks with ?last=N.
func newest[T any](r *http.Request, records []T) ([]T, error) {
	if !r.URL.Query().Has("last") {
		return records, nil
	}
	n, err := strconv.Atoi(r.URL.Query().Get("last"))
	if err != nil || n < 0 {
		return nil, refusal{http.StatusBadRequest, errors.New("last has to be a number, not negative")}
	}
	return records[max(0, len(records)-n):], nil
}

func (h *host) getJournal(r *http.Request) (any, error) {
	requests := h.current.Load().Journal()
	total := len(requests)
	failed := slices.DeleteFunc(slices.Clone(requests), func(e sandbox.Entry) bool { return e.Status >= 200 && e.Status < 300 && e.Fault == "" })
	failures := len(failed)
	if r.URL.Query().Get("failures") == "true" {
		requests = failed
	}
	requests, err := newest(r, requests)
	for i, e := range requests {
		requests[i].Effects = some(e.Effects)
	}
	return map[string]any{"requests": some(requests), "total": total, "failures": failures}, err
}

// getCalls counts what the journal holds.
func (h *host) getCalls(*http.Request) (any, error) {
	type count struct {
		Requests  int `json:"requests"`
		Processed int `json:"processed"`
	}
	calls := map[string]*count{}
	for _, e := range h.current.Load().Journal() {
		if e.Op == "" {
			continue
		}
		c := cmp.Or(calls[e.Op], &count{})
		calls[e.Op] = c
		c.Requests++
		if e.Processed {
			c.Processed++
		}
	}
	return map[string]any{"calls": calls}, nil
}

func getLedger(r *http.Request, tenant *sandbox.Tenant) (any, error) {
	movements, err := newest(r, tenant.Ledger())
	return map[string]any{"balance": tenant.Balance(), "entries": some(movements)}, err
}

func getOutbox(_ *http.Request, tenant *sandbox.Tenant) (any, error) {
	return map[string]any{"outbox": some(tenant.Outbox())}, nil
}

func getWindows(_ *http.Request, tenant *sandbox.Tenant) (any, error) {
	type window struct {
		Surface   op.Surface `json:"surface"`
		Window    string     `json:"window"`
		Limit     int        `json:"limit"`
		Remaining int        `json:"remaining"`
		ResetAt   time.Time  `json:"resetAt,omitzero"` // of a window that has started
	}
	windows := []window{}
	for _, surface := range slices.Sorted(maps.Keys(op.DocumentedLimits)) {
		for _, s := range tenant.Windows(string(surface)) {
			windows = append(windows, window{surface, s.Name, s.Limit, s.Remaining, s.ResetAt.UTC()})
		}
	}
	return map[string]any{"windows": windows}, nil
}
