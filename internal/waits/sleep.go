package waits

import (
	"context"
	"time"

	"example.com/prospectkit/internal/chance"
)

// Sleep sleeps, or returns why the context has ended.
func Sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// EndsWithin reports whether a context ends before a sleep would, or with it.
func EndsWithin(ctx context.Context, d time.Duration) bool {
	at, ok := ctx.Deadline()
	return ok && time.Until(at) <= d
}

// Until calls try with growing pauses until it is done, a try that began when patience was over has ended, or the context would
// end. It reports false in the last case: another try might have been done. Before a pause it calls pausing, with the number of the next try.
func Until(ctx context.Context, patience time.Duration, pausing func(n int, pause time.Duration), try func() (done bool, err error)) (enough bool, err error) {
	until := time.Now().Add(patience)
	for n, pause := 2, time.Second; ; n, pause = n+1, pause*2 {
		last := !time.Now().Before(until)
		done, err := try()
		if err != nil || done || last {
			return true, err
		}
		rest := max(0, min(pause, time.Until(until)))
		if EndsWithin(ctx, rest) {
			return false, nil
		}
		pausing(n, rest)
		if Sleep(ctx, rest) != nil {
			return false, nil //nolint:nilerr // the caller asks the context
		}
	}
}

// Backoff is the pause before retry n, counted from 1: it doubles up to most, with jitter over its upper half.
func Backoff(ctx context.Context, base, most time.Duration, n int) time.Duration {
	d := base
	for ; n > 1 && d < most; n-- {
		d += min(d, most-d)
	}
	d = min(d, most)
	return d/2 + chance.Below(ctx, d/2+1)
}

// Sighting is what a poll shows about the awaited state.
type Sighting struct {
	Settled bool   // the wait is over
	Err     error  // the wait is over, because the state will not come
	State   string // in words that logs may hold; empty if the value shows none
	Strange bool   // the state is undocumented: tell the observers, and go on
}
