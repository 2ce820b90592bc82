package exchange

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Each limit ends when it would with a timer of its own, whatever the others do.
func TestLimits_AsTimers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type event struct {
			after, until int // of a reset; until 0: a stop
		}
		draw := func(name string, most int) int { return rapid.IntRange(0, most).Draw(rt, name) }
		events := make([][]event, 1+draw("limits", 8))
		for i := range events {
			events[i] = []event{{draw("start", 100), 1 + draw("limit", 60)}}
			for range draw("events", 3) {
				events[i] = append(events[i], event{1 + draw("after", 50), draw("until", 60)})
			}
		}
		run := func(start func(i int, after time.Duration, end func()) Timer) []int64 {
			ended := make([]atomic.Int64, len(events))
			synctest.Test(t, func(*testing.T) {
				began := time.Now()
				for i, all := range events {
					go func() {
						time.Sleep(time.Duration(all[0].after)*time.Second + time.Duration(i+1)) // no two at the same moment
						timer := start(i, time.Duration(all[0].until)*time.Second, func() { ended[i].Store(int64(time.Since(began))) })
						for _, e := range all[1:] {
							time.Sleep(time.Duration(e.after)*time.Second + time.Duration(100*(i+1)))
							switch {
							case ended[i].Load() > 0:
								return
							case e.until == 0:
								timer.Stop()
								return
							}
							timer.Reset(time.Duration(e.until) * time.Second)
						}
					}()
				}
				time.Sleep(time.Hour)
			})
			return slices.Collect(func(yield func(int64) bool) {
				for i := range ended {
					yield(ended[i].Load())
				}
			})
		}
		var all TimeLimits
		limits := make([]TimeLimit, len(events))
		shared := run(func(i int, after time.Duration, end func()) Timer {
			limits[i].End = end
			all.Start(&limits[i], after)
			return &limits[i]
		})
		own := run(func(_ int, after time.Duration, end func()) Timer { return time.AfterFunc(after, end) })
		require.Equal(rt, own, shared)
		all.mu.Lock()
		defer all.mu.Unlock()
		require.Empty(rt, all.running, "none is left")
	})
}

// One timer does for calls that follow each other, and none is left in the end. What has ended is neither stopped nor reset.
func TestLimits_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all TimeLimits
		ended := make(chan string, 2)
		limit := func(name string, after time.Duration) *TimeLimit {
			l := &TimeLimit{End: func() { ended <- name }}
			all.Start(l, after)
			return l
		}
		due := func() time.Time {
			all.mu.Lock()
			defer all.mu.Unlock()
			return all.due
		}
		for range 100 {
			l := limit("stopped", time.Minute)
			before := due()
			time.Sleep(time.Second / 2)
			require.True(t, l.Stop())
			require.Equal(t, before, due())
			require.False(t, l.Stop())
			require.False(t, l.Reset(time.Second))
		}
		long, short := limit("long", time.Hour), limit("short", time.Second)
		time.Sleep(2 * time.Hour)
		require.Equal(t, []string{"short", "long"}, []string{<-ended, <-ended})
		require.False(t, slices.Contains([]bool{long.Stop(), short.Reset(time.Second), short.Stop()}, true))
		require.Zero(t, due())
	})
}
