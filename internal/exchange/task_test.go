package exchange

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// work takes so long, or until it was interrupted and as long again.
type work struct {
	runner
	takes       time.Duration
	heeds       bool // the interruption
	ends        func()
	interrupted chan struct{}
	asked       atomic.Int32
	panics      bool // in interrupt
}

func newWork(takes time.Duration, heeds bool) *work {
	return &work{takes: takes, heeds: heeds, interrupted: make(chan struct{}), ends: func() {}}
}

func (w *work) do() {
	select {
	case <-time.After(w.takes):
	case <-w.interrupted:
		time.Sleep(grace / 2)
	}
	w.ends()
}

func (w *work) interrupt() {
	if w.asked.Add(1); w.heeds {
		close(w.interrupted)
	}
	if w.panics {
		panic("in interrupt")
	}
}

// Work in the caller's code gets two graces after its context has ended: one to see it, one after it was interrupted.
func TestRun_GraceAfterTheContext(t *testing.T) {
	const until = time.Second
	for name, c := range map[string]struct {
		takes       time.Duration
		heeds       bool
		back        bool
		after       time.Duration
		interrupted int32
	}{
		"in time":                        {time.Second / 2, false, true, time.Second / 2, 0},
		"sees the context":               {until + grace/2, false, true, until + grace/2, 0},
		"heeds the interruption":         {time.Hour, true, true, until + grace + grace/2, 1},
		"ends late":                      {until + grace + grace/4, false, true, until + grace + grace/4, 1},
		"heeds nothing, and is too late": {time.Hour, false, false, until + 2*grace, 1},
	} {
		for _, panics := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), until)
					defer cancel()
					w := newWork(c.takes, c.heeds)
					w.panics = panics
					began := time.Now()
					require.Equal(t, c.back, w.run(ctx, w))
					require.Equal(t, c.after, time.Since(began))
					synctest.Wait()
					require.Equal(t, c.interrupted, w.asked.Load())
					require.True(t, w.over.Load())
					time.Sleep(2 * time.Hour) // virtual, for what was abandoned
				})
			})
		}
	}
}

// A panic or exit of the caller's code is that of the call. Of abandoned work, it is nobody's.
func TestRun_PanicsAndExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWork(time.Second, false)
		w.ends = func() { panic("in the transport") }
		require.PanicsWithValue(t, "in the transport", func() { w.run(t.Context(), w) })

		w = newWork(time.Second, false)
		w.ends = runtime.Goexit
		returned, exited := make(chan bool, 1), make(chan struct{})
		go func() {
			defer close(exited)
			w.run(t.Context(), w)
			returned <- true
		}()
		<-exited
		require.Empty(t, returned)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w = newWork(time.Hour, false)
		w.ends = func() { panic("too late") }
		require.False(t, w.run(ctx, w))
		time.Sleep(2 * time.Hour) // virtual: its panic ends nothing
	})
}

type closer func() error

func (c closer) Close() error { return c() }

// Whatever Close does, it is waited for only for a moment.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for takes, want := range map[time.Duration]time.Duration{
			0: 0, grace / 2: grace / 2, grace + grace/2: grace + grace/2, time.Hour: 2 * grace,
		} {
			began := time.Now()
			var closed atomic.Bool
			Close(closer(func() error { time.Sleep(takes); closed.Store(true); return nil }))
			require.Equal(t, want, time.Since(began))
			time.Sleep(time.Hour) // virtual
			require.True(t, closed.Load())
		}
		require.PanicsWithValue(t, "in Close", func() { Close(closer(func() error { panic("in Close") })) })
		closeAsync(closer(func() error { panic("of nobody's interest") }))
		synctest.Wait()
	})
}

// What has to be tried although a context has ended gets its time after it, and no more.
func TestFinish(t *testing.T) {
	for name, c := range map[string]struct {
		ends, takes time.Duration // ends: of the caller's context; 0: never
		heeds       bool          // its own context
		back        bool
		after       time.Duration
	}{
		"in time":                         {time.Second, time.Millisecond, false, true, time.Millisecond},
		"after the context":               {time.Second, 3 * time.Second / 2, true, true, 3 * time.Second / 2},
		"too long":                        {time.Second, time.Hour, true, true, 2*time.Second - grace},
		"too long, and heeds nothing":     {time.Second, time.Hour, false, false, 2 * time.Second},
		"no end":                          {0, longest, true, true, longest},
		"no end, and too long":            {0, time.Hour, true, true, longest + time.Second - grace},
		"no end, heeds nothing":           {0, time.Hour, false, false, longest + time.Second},
		"has ended":                       {-1, time.Second / 2, true, true, time.Second / 2},
		"has ended, and it heeds nothing": {-1, time.Hour, false, false, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				type key struct{}
				ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, name))
				defer cancel()
				if c.ends < 0 {
					cancel()
				} else if c.ends > 0 {
					time.AfterFunc(c.ends, cancel)
				}
				began := time.Now()
				var ended func() error
				require.Equal(t, c.back, Finish(ctx, time.Second, func(ctx context.Context) {
					ended = ctx.Err
					require.NoError(t, ctx.Err())
					require.Equal(t, name, ctx.Value(key{}))
					if !c.heeds {
						ctx = context.WithoutCancel(ctx)
					}
					select {
					case <-time.After(c.takes):
					case <-ctx.Done():
					}
				}))
				require.Equal(t, c.after, time.Since(began))
				require.ErrorIs(t, ended(), context.Canceled)
				time.Sleep(2 * time.Hour) // virtual
			})
		})
	}
}
