//go:build !js && !wasip1

package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
)

// A request as the sandbox has it in its journal.
type request struct {
	RequestID, Operation, Path, Query string
	Status                            int
	Processed                         bool
	Credits                           int64
}

func (r request) mark() string {
	values, _ := url.ParseQuery(r.Query)
	return values.Get("mark")
}

// evidence is what the sandbox knows, and what the dead process left behind. The judge believes only the sandbox.
type evidence struct {
	requests []request
	ledger   []struct {
		RequestID string
		Amount    int64
	}
	tickets map[string]journal.Entry // by ID
	unread  error                    // of the journal
	said    []message                // by all processes
}

func (e *evidence) load(t *testing.T, controlURL, path, archive string) {
	t.Helper()
	var requests struct{ Requests []request }
	getJSON(t, controlURL+"journal", &requests)
	var ledger struct {
		Entries []struct {
			RequestID string
			Amount    int64
		}
	}
	getJSON(t, controlURL+"ledger", &ledger)
	e.requests, e.ledger = requests.Requests, ledger.Entries
	e.tickets, e.unread = map[string]journal.Entry{}, nil
	if text, err := os.ReadFile(archive); err == nil {
		for line := range bytes.Lines(text) {
			var entry journal.Entry
			if json.Unmarshal(line, &entry) == nil { // the process may have been killed in the middle of a line
				e.tickets[entry.Ticket.ID] = entry
			}
		}
	}
	for entry, err := range journal.Read(path) {
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				e.unread = err
			}
			break
		}
		e.tickets[entry.Ticket.ID] = entry // an archived outcome may be lost in the journal: the call is then in doubt
	}
}

func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	resp, err := (&http.Client{}).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(into))
}

// unknown returns the IDs of the tickets in doubt.
func (e *evidence) unknown() []string {
	var ids []string
	for id, entry := range e.tickets {
		if entry.Outcome == journal.Unknown {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// A trail is what the sandbox has of one call.
type trail struct {
	requests  []request
	processed bool
	sent      int // requests that may have had an effect, as the client must assume
}

func (e *evidence) trails() map[string]*trail {
	trails := map[string]*trail{}
	for _, r := range e.requests {
		mark := r.mark()
		if mark == "" {
			continue
		}
		c := trails[mark]
		if c == nil {
			c = &trail{}
			trails[mark] = c
		}
		c.requests = append(c.requests, r)
		c.processed = c.processed || r.Processed
		if r.Status != http.StatusTooManyRequests {
			c.sent++
		}
	}
	return trails
}

// wrong returns what is missing, false or done twice.
func (e *evidence) wrong() (wrong []string) {
	note := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if e.unread != nil {
		note("unreadable: %v", e.unread)
	}
	trails := e.trails()
	marks := map[string][]journal.Entry{}
	for _, id := range slices.Sorted(maps.Keys(e.tickets)) {
		entry := e.tickets[id]
		mark := markOf(entry.Ticket.Actor)
		marks[mark] = append(marks[mark], entry)
	}
	for _, mark := range slices.Sorted(maps.Keys(trails)) {
		for _, complaint := range trails[mark].wrong(mark, marks[mark]) {
			note("%s: %s", mark, complaint)
		}
	}
	e.judgeOutcomes(trails, note)
	e.judgeClaims(trails, note)
	e.judgeUnmarked(note)
	e.judgeLedger(trails, marks, note)
	return wrong
}

// wrong compares the requests of one call with its tickets.
func (c *trail) wrong(mark string, tickets []journal.Entry) (wrong []string) {
	first := c.requests[0]
	of := slices.DeleteFunc(slices.Clone(tickets), func(e journal.Entry) bool { return e.Ticket.Op != first.Operation })
	o, _ := op.ByName(first.Operation)
	if o == nil || o.Class == op.Read {
		return nil // what a goal reads
	}
	switch {
	case len(of) == 0:
		wrong = append(wrong, fmt.Sprintf("no ticket: %+v", first))
	case len(of[0].Ticket.IDs) > 0 && !strings.Contains(first.Path, of[0].Ticket.IDs[0]):
		wrong = append(wrong, fmt.Sprintf("a ticket of another call: %+v", of[0].Ticket))
	}
	if c.sent > 1 && !strings.HasSuffix(mark, mayRepeat) && !strings.HasSuffix(mark, isGoal) {
		wrong = append(wrong, fmt.Sprintf("sent twice: %+v", c.requests))
	}
	return wrong
}

// judgeOutcomes compares the outcomes in the journal with what the sandbox did.
func (e *evidence) judgeOutcomes(trails map[string]*trail, note func(string, ...any)) {
	for _, entry := range e.tickets {
		mark := markOf(entry.Ticket.Actor)
		if strings.HasSuffix(mark, isGoal) {
			continue // several calls have this mark
		}
		c := trails[mark]
		processed := c != nil && c.processed
		switch {
		case entry.Outcome == journal.Applied && !processed && !e.reached(entry.Ticket):
			note("%s: noted as applied, but it was not: %s", mark, entry.Ticket.Op)
		case entry.Outcome == journal.NotApplied && processed:
			note("%s: noted as not applied, but it was: %+v", mark, c.requests)
		}
	}
}

// reached reports whether another call to the same target was processed: the state is then what this call asked for.
func (e *evidence) reached(t journal.Ticket) bool {
	return len(t.IDs) > 0 && slices.ContainsFunc(e.requests, func(r request) bool {
		return r.Processed && r.Operation == t.Op && strings.Contains(r.Path, t.IDs[0])
	})
}

// judgeClaims compares what the processes said with what the sandbox did: outcomes of calls, and verdicts.
func (e *evidence) judgeClaims(trails map[string]*trail, note func(string, ...any)) {
	for _, m := range e.said {
		c := trails[m.Mark]
		processed := c != nil && c.processed
		if strings.HasSuffix(m.Mark, isGoal) {
			continue
		}
		switch {
		case m.Outcome == prospectkit.OutcomeApplied && !processed:
			note("%s: a call claims that it was applied, but it was not", m.Mark)
		case m.Outcome == prospectkit.OutcomeNotApplied && processed:
			note("%s: a call claims that it was not applied, but it was: %+v", m.Mark, c.requests)
		case m.Verdict == prospectkit.VerdictHappened && !processed && !e.reached(e.tickets[m.ID].Ticket):
			note("%s: verdict %s, but it did not: %+v", m.Mark, m.Verdict, e.tickets[m.ID].Ticket)
		case m.Verdict == prospectkit.VerdictNotSeen && processed:
			note("%s: verdict %s, but it happened: %+v", m.Mark, m.Verdict, c.requests)
		}
	}
}

// judgeUnmarked demands a ticket for each request that has no mark: a part of what a goal does.
func (e *evidence) judgeUnmarked(note func(string, ...any)) {
	started := map[string]int{}
	for _, r := range e.requests {
		o, _ := op.ByName(r.Operation)
		if o == nil || o.Class == op.Read || r.mark() != "" {
			continue
		}
		found := false
		for _, entry := range e.tickets {
			found = found || entry.Ticket.Op == r.Operation && len(entry.Ticket.IDs) > 0 && strings.Contains(r.Path, entry.Ticket.IDs[0])
		}
		if !found {
			note("no ticket: %+v", r)
		}
		if r.Processed {
			if started[r.Path]++; started[r.Path] > 1 {
				note("done twice: %+v", r)
			}
		}
	}
}

// judgeLedger demands that each payment for a request is known, or in doubt.
func (e *evidence) judgeLedger(trails map[string]*trail, marks map[string][]journal.Entry, note func(string, ...any)) {
	markOf := map[string]string{}
	for mark, c := range trails {
		for _, r := range c.requests {
			markOf[r.RequestID] = mark
		}
	}
	for _, paid := range e.ledger {
		mark, ours := markOf[paid.RequestID]
		if !ours || paid.Amount >= 0 {
			continue
		}
		known := slices.ContainsFunc(marks[mark], func(e journal.Entry) bool { return e.Outcome != journal.NotApplied })
		if !known {
			note("%s: paid, and neither known nor in doubt", mark)
		}
	}
}
