package sandbox

import (
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
func newest[T any](w http.ResponseWriter, r *http.Request, records []T) ([]T, bool) {
	if !r.URL.Query().Has("last") {
		return records, true
	}
	n, err := strconv.Atoi(r.URL.Query().Get("last"))
	if err != nil || n < 0 {
		refuse(w, http.StatusBadRequest, errors.New("last has to be a number, not negative"))
		return nil, false
	}
	return records[max(0, len(records)-n):], true
}

func (h *host) getJournal(w http.ResponseWriter, r *http.Request) {
	type entry struct {
		RequestID string    `json:"requestId"`
		Time      time.Time `json:"time"`
		Op        string    `json:"operation"`
		Workspace string    `json:"workspace"`
		KeyName   string    `json:"key"`
		Method    string    `json:"method"`
		Path      string    `json:"path"`
		Query     string    `json:"query"`
		Status    int       `json:"status"`
		Code      string    `json:"code"`
		Processed bool      `json:"processed"`
		Effects   []string  `json:"effects"`
		Credits   int64     `json:"credits"`
		Fault     string    `json:"fault"`
	}
	requests := h.current.Load().Journal()
	total := len(requests)
	failed := slices.DeleteFunc(slices.Clone(requests), func(e sandbox.Entry) bool { return e.Status >= 200 && e.Status < 300 && e.Fault == "" })
	failures := len(failed)
	if r.URL.Query().Get("failures") == "true" {
		requests = failed
	}
	requests, ok := newest(w, r, requests)
	if !ok {
		return
	}
	entries := make([]entry, len(requests))
	for i, e := range requests {
		entries[i] = entry(e)
		entries[i].Effects = append([]string{}, e.Effects...) // never null
	}
	respond(w, http.StatusOK, map[string]any{"requests": entries, "total": total, "failures": failures})
}

// getCalls counts what the journal holds.
func (h *host) getCalls(w http.ResponseWriter, _ *http.Request) {
	type count struct {
		Requests  int `json:"requests"`
		Processed int `json:"processed"`
	}
	calls := map[string]count{}
	for _, e := range h.current.Load().Journal() {
		if e.Op == "" {
			continue
		}
		c := calls[e.Op]
		c.Requests++
		if e.Processed {
			c.Processed++
		}
		calls[e.Op] = c
	}
	respond(w, http.StatusOK, map[string]any{"calls": calls})
}

func (h *host) getLedger(w http.ResponseWriter, r *http.Request) {
	type entry struct {
		Time      time.Time `json:"time"`
		Operation string    `json:"operation"`
		RequestID string    `json:"requestId"`
		Amount    int64     `json:"amount"`
		Reason    string    `json:"reason"`
		Balance   int64     `json:"balance"`
	}
	tenant, ok := h.tenant(w, r)
	if !ok {
		return
	}
	movements, ok := newest(w, r, tenant.Ledger())
	if !ok {
		return
	}
	entries := make([]entry, len(movements))
	for i, e := range movements {
		entries[i] = entry(e)
	}
	respond(w, http.StatusOK, map[string]any{"balance": tenant.Balance(), "entries": entries})
}

func (h *host) getOutbox(w http.ResponseWriter, r *http.Request) {
	type message struct {
		Time       time.Time `json:"time"`
		RequestID  string    `json:"requestId"`
		Kind       string    `json:"kind"`
		To         string    `json:"to"`
		Count      int       `json:"count"`
		CampaignID string    `json:"campaignId"`
		SendID     string    `json:"sendId"`
	}
	tenant, ok := h.tenant(w, r)
	if !ok {
		return
	}
	outbox := tenant.Outbox()
	messages := make([]message, len(outbox))
	for i, o := range outbox {
		messages[i] = message(o)
	}
	respond(w, http.StatusOK, map[string]any{"outbox": messages})
}

func (h *host) getWindows(w http.ResponseWriter, r *http.Request) {
	type window struct {
		Surface   op.Surface `json:"surface"`
		Window    string     `json:"window"`
		Limit     int        `json:"limit"`
		Remaining int        `json:"remaining"`
		ResetAt   time.Time  `json:"resetAt,omitzero"` // of a window that has started
	}
	tenant, ok := h.tenant(w, r)
	if !ok {
		return
	}
	windows := []window{}
	for _, surface := range slices.Sorted(maps.Keys(op.DocumentedLimits)) {
		for _, s := range tenant.Windows(string(surface)) {
			windows = append(windows, window{surface, s.Name, s.Limit, s.Remaining, s.ResetAt.UTC()})
		}
	}
	respond(w, http.StatusOK, map[string]any{"windows": windows})
}
