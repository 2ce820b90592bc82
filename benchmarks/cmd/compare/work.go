package main

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A work is one row of the comparison.
type work struct {
	id      string
	title   string
	kind    kind
	unit    string
	n       int // calls or pages, at full size
	perUnit int // units in one of them
	delay   time.Duration
	threads int  // 0: one
	tuned   bool // all with the same transport, which keeps an idle connection for each thread
	once    bool // one round only, because it is long
	turns   int  // measurements in each round, for those that are short and therefore vary; 0: one
	packed  bool // responses are compressed
	inside  bool // the service responds in the same process, without a socket
	only    []string
	extra   []string // contenders besides prospectkit and its peers
}

const threads = 64

func works() []work {
	all := []string{"raw TCP", "body to nowhere", "json.Valid", "own scan", observed, bySonicName, byJSONv2Name}
	list := []work{
		{id: "W1", title: "One small GET, again and again", kind: readUser, unit: "call", n: 1500, turns: 10, extra: []string{"raw TCP", "body to nowhere", observed}},
		{id: "W2", title: "100,000 lists, 1,000 a page", kind: readLists, unit: "list", n: 100, perUnit: rowsPerPage, turns: 3, extra: all},
		{id: "W3", title: "100,000 contact rows, 1,000 a page, 20 fields typed", kind: readContacts, unit: "row", n: 100, perUnit: rowsPerPage, turns: 2, extra: all},
		{
			id: "W3L", title: "The same with 1,000,000 rows", kind: readContacts, unit: "row", n: 1000, perUnit: rowsPerPage, once: true,
			extra: []string{"body to nowhere"},
		},
		{
			id: "W3N", title: "100,000 rows into a struct with objects inside", kind: readDeep, unit: "row", n: 100,
			perUnit: rowsPerPage, only: []string{byHandName, bySonicName, byJSONv2Name, ours},
		},
		{
			id: "W3R", title: "100,000 rows, nothing typed, everything kept and two fields read", kind: readRaw, unit: "row", n: 100,
			perUnit: rowsPerPage, only: []string{byHandName, byHandRaw, ours},
		},
		{
			id: "W3X", title: "50,000 rows, 20 fields typed, unknown fields kept and two read", kind: readOpen, unit: "row", n: 50,
			perUnit: rowsPerPage, extra: []string{byHandRaw},
		},
		{
			id: "W3Z", title: "50,000 contact rows in compressed pages, 20 fields typed", kind: readContacts, unit: "row", n: 50, perUnit: rowsPerPage,
			packed: true,
		},
		{id: "W4", title: "100,000 profiles by scroll token, 100 a page", kind: readProfiles, unit: "profile", n: 1000, perUnit: profilesPerPage, turns: 4, extra: []string{bySonicName, byJSONv2Name}},
		{id: "W5", title: "404 to a typed error", kind: readMissing, unit: "call", n: 1500, turns: 10, extra: []string{"body to nowhere", observed}},
		{id: "W6", title: "64 goroutines, small GETs, each contender's default transport", kind: readUser, unit: "call", n: 8000, turns: 6, threads: threads},
		{id: "W6T", title: "The same with one tuned transport for all", kind: readUser, unit: "call", n: 8000, turns: 6, threads: threads, tuned: true},
		{
			id: "W7", title: "48 pages of 1,000 rows, 20 ms of server time each", kind: readContacts, unit: "page", n: 48, delay: 20 * time.Millisecond,
			extra: []string{"raw TCP", "body to nowhere", prefetching(1), prefetching(2), prefetching(4), prefetching(8)},
		},
	}
	for i, t := range rowTypes() {
		letter, title := t.about()
		w := work{
			id: rowsID + letter, title: title, kind: readRows + kind(i), unit: "row", n: 30, perUnit: rowsPerPage, turns: 2, inside: true,
			extra: []string{bySonicName, byJSONv2Name},
		}
		list = append(list, w)
		w.id, w.title, w.inside, w.turns = w.id+overSocket, w.title+", over a socket", false, 1
		w.only, w.extra = []string{byHandName, ours}, nil
		list = append(list, w)
	}
	return list
}

// The works of the row types: W8A in one process, W8As over a socket.
const (
	rowsID     = "W8"
	overSocket = "s"
)

// has reports whether a contender participates.
func (w *work) has(c *contender) bool {
	if w.only != nil {
		return slices.Contains(w.only, c.name)
	}
	return c.name == ours || c.peer || slices.Contains(w.extra, c.name)
}

// size is how many calls or pages a run has.
func (w *work) size(scale float64) int { return max(2, int(math.Round(float64(w.n)*scale))) }

// units is what figures are divided by.
func (w *work) units(n int) int { return n * max(1, w.perUnit) }

// transport is the one that all use, or nil for each contender's own.
func (w *work) transport(perPage int) *http.Client {
	if w.inside {
		return newInProcess(perPage)
	}
	if !w.tuned {
		return nil
	}
	return &http.Client{Transport: &http.Transport{MaxIdleConns: w.threads, MaxIdleConnsPerHost: w.threads, IdleConnTimeout: time.Minute}}
}

// run does the work.
func (w *work) run(ctx context.Context, s session, n int) (sum, error) {
	if w.threads == 0 {
		var total sum
		err := s.do(ctx, w.kind, n, &total)
		return total, err
	}
	var (
		group  sync.WaitGroup
		sums   = make([]sum, w.threads)
		errs   = make([]error, w.threads)
		shares = n / w.threads
	)
	for i := range w.threads {
		group.Go(func() { errs[i] = s.do(ctx, w.kind, max(1, shares), &sums[i]) })
	}
	group.Wait()
	return sums[0], errors.Join(errs...) // each has done the same
}
