package pagewalk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// churn is a walk over letters that come in front and go anywhere, killed and resumed, with pages that are late or fail.
type churn struct {
	*distant
	*rand.Rand

	c                 Config
	kills             bool
	deletes, failures int
	fresh             string
	totals            []int // of the responses of one start
}

func newChurn(t *rapid.T) *churn {
	limit, records := rapid.IntRange(1, 6).Draw(t, "limit"), rapid.IntRange(0, 26).Draw(t, "records")
	w := &churn{
		Rand:    rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)),
		distant: &distant{shelf: &shelf{items: letters[:records], limit: limit}},
		c:       Config{Prefetch: max(0, rapid.IntRange(-5, 5).Draw(t, "prefetch"))},
		kills:   rapid.Bool().Draw(t, "kills"), failures: max(0, rapid.IntRange(-3, 3).Draw(t, "failures")),
		fresh: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rapid.IntRange(0, 26).Draw(t, "no fresh"):],
	}
	if w.deletes = rapid.IntRange(0, 26).Draw(t, "deletes"); w.c.Prefetch > 0 {
		w.deletes = min(w.deletes, limit-1) // see prefetch.go
	}
	w.edit, w.early = w.edits, w.fails
	return w
}

// edits happens before a response.
func (w *churn) edits(s *shelf, request int) {
	for range w.IntN(3) {
		if w.deletes > 0 && len(s.items) > 0 && request < 60 {
			i := w.IntN(len(s.items))
			s.items, w.deletes = s.items[:i]+s.items[i+1:], w.deletes-1
		}
	}
	n := min(w.IntN(s.limit+1)*w.IntN(2), len(w.fresh)) // after more than a page of them, a walk that resumes may repeat
	s.items, w.fresh = w.fresh[:n]+s.items, w.fresh[n:]
	w.totals = append(w.totals, len(s.items))
}

// fails is asked before a page that is read ahead.
func (w *churn) fails(ctx context.Context, _ int) (*Page, error) {
	w.mu.Lock()
	late, kind := time.Duration(w.IntN(3000))*time.Millisecond, w.IntN(10)
	if kind < 2 && w.failures > 0 {
		w.failures--
	} else {
		kind = 2
	}
	w.mu.Unlock()
	select {
	case <-time.After(late):
		return nil, []error{errEarly, errLost, nil}[kind]
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errLost = errors.New("lost")

// run walks to the end, and says what is wrong.
func (w *churn) run() error {
	before, all := w.items, ""
	var total Report
	for {
		var p Progress
		p.Start("q", true)
		w.c.Source, w.c.Progress, w.asked, w.totals = w.distant, &p, nil, nil
		stop := -1
		if w.kills {
			stop = 1 + w.IntN(12)
		}
		got, err := w.walk(context.Background(), w.c, stop)
		all += got
		r := p.Report()
		total.Incomplete, total.Rewound = total.Incomplete || r.Incomplete, total.Rewound || r.Rewound
		switch problem := w.reported(r, got); {
		case errors.Is(err, errBroken):
			return nil // a few inserts and as many deletes between any two requests look like the same page for ever
		case err != nil && !errors.Is(err, errLost):
			return err
		case w.running > 0:
			return errors.New("requests are in flight after the walk")
		case problem != nil:
			return problem
		case r.Finished:
			return w.judge(before, all, total)
		}
		if w.c.Resume, err = Parse(p.Checkpoint(), "q"); p.Checkpoint() == "" {
			w.c.Resume = nil
		} else if err != nil {
			return err
		}
	}
}

// reported holds the report of one start against what it did.
func (w *churn) reported(r Report, got string) error {
	fell, joined := false, 0
	for i, n := range w.totals {
		fell = fell || i > 0 && n < w.totals[i-1]
		joined += max(0, n-w.totals[max(0, i-1)])
	}
	alone := w.c.Prefetch == 0 && w.c.Resume == nil
	if r.Delivered != len(got) || r.Finished && r.Recovered > r.Delivered || alone && r.Finished && (fell != (r.Rereads > 0) || r.Total != w.totals[len(w.totals)-1]) ||
		alone && r.Joined != joined || w.c.Prefetch == 0 && r.Requests != len(w.asked) || !fell && r.Incomplete {
		return fmt.Errorf("%q came by %v with %v, reported %+v", got, w.asked, w.totals, r)
	}
	return nil
}

func (w *churn) judge(before, got string, r Report) error {
	for i, letter := range got {
		if !r.Rewound && strings.ContainsRune(got[:i], letter) {
			return fmt.Errorf("%c came twice in %q", letter, got)
		}
	}
	for _, letter := range before {
		if !r.Incomplete && strings.ContainsRune(w.items, letter) && !strings.ContainsRune(got, letter) {
			return fmt.Errorf("%c of %q is skipped in %q: %v, %+v", letter, before, got, w.asked, r)
		}
	}
	return nil
}

// However the letters change, the walk is killed and pages are read ahead: none comes twice, and none that stays is skipped.
func TestWalkProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newChurn(rt)
		var wrong error
		synctest.Test(t, func(*testing.T) { wrong = w.run() })
		if wrong != nil {
			rt.Fatal(wrong)
		}
	})
}
