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
	requests, err := newest(r, h.current.Load().Journal())
	for i, e := range requests {
		requests[i].Effects = some(e.Effects)
	}
	return map[string]any{"requests": some(requests)}, err
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

type agentItem struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Type      string    `json:"type"` // empty is a legacy kind
	Status    string    `json:"status"`
	Runs      int       `json:"runs"`
	Delivered int       `json:"delivered"`
	NextAt    time.Time `json:"nextAt,omitzero"`
}

type campaignItem struct {
	ID                   string         `json:"id"`
	Name                 string         `json:"name"`
	Status               string         `json:"status"`
	InitializationStatus string         `json:"initializationStatus"`
	Steps                []string       `json:"steps"` // their ids, in their order
	Sends                map[string]int `json:"sends"` // by state
}

func agentItems(tenant *sandbox.Tenant) []agentItem {
	return each(tenant.Agents(), func(a sandbox.Agent) agentItem {
		return agentItem{a.ID, a.Name, a.Type, cmp.Or(a.Status, "initializing"), a.Runs, a.Delivered, a.NextAt}
	})
}

func campaignItems(tenant *sandbox.Tenant) []campaignItem {
	return each(tenant.Campaigns(), func(c sandbox.Campaign) campaignItem {
		item := campaignItem{
			ID: c.ID, Name: c.Name, Status: cmp.Or(c.Status, "draft"), InitializationStatus: cmp.Or(c.InitializationStatus, "completed"),
			Steps: each(c.Steps, func(s sandbox.Step) string { return s.ID }), Sends: map[string]int{},
		}
		for _, s := range c.Sends {
			item.Sends[cmp.Or(s.State, "scheduled")]++
		}
		return item
	})
}
