package waits_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/waits"
)

// thing is what the tests wait for.
type thing struct {
	id   string
	over bool
	err  error
}

// stage is the service that the waits see, and what they yield.
type stage struct {
	waits.Each[thing]

	listed, alone []thing
	broken        error // of the listing
	got, yielded  []string
	enough        bool
}

func newStage(ids ...string) *stage {
	s := new(stage)
	s.Each = waits.Each[thing]{
		Shared: &waits.Shared[thing]{Every: time.Minute, Burst: 1},
		List:   func(context.Context) ([]thing, int, error) { return s.listed, 1, s.broken },
		Get: func(ctx context.Context, id string) (*thing, error) {
			s.got = append(s.got, id)
			for _, t := range s.alone {
				if t.id == id {
					return &t, t.err
				}
			}
			return &thing{id: id}, ctx.Err()
		},
		Transient: func(err error) bool { return strings.Contains(err.Error(), "busy") },
		ID:        func(t *thing) string { return t.id },
		Judge:     func(t *thing) (bool, error) { return t.over, t.err },
		Yield: func(t *thing, err error) bool {
			text := t.id
			if err != nil {
				text += ": " + err.Error()
			}
			s.yielded = append(s.yielded, text)
			return !s.enough
		},
	}
	s.Await(ids)
	return s
}

func TestEach_YieldsWhatSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage("a", "B", "b", "c")
		require.Equal(t, "3 of 3 pending", s.String(), "each once, in whichever case")
		s.listed = []thing{{id: "A", over: true}, {id: "b"}, {id: "C", err: errors.New("is stuck")}, {id: "d", over: true}}
		require.NoError(t, s.Poll(t.Context()))
		require.Equal(t, []string{"A", "C: is stuck"}, s.yielded)
		require.Equal(t, "1 of 3 pending", s.String())
		require.False(t, s.Over())
		s.listed[1].over = true
		require.NoError(t, s.Poll(t.Context()))
		require.Equal(t, []string{"A", "C: is stuck", "b"}, s.yielded)
		require.True(t, s.Over())
		require.Empty(t, s.got)
	})
}

// What the listing lacks is read alone, one thing a poll, one after the other. Those reads count.
func TestEach_ReadsTheUnlistedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage("a", "b", "c")
		s.alone = []thing{{id: "b", over: true}}
		began := time.Now()
		for range 4 {
			require.NoError(t, s.Poll(t.Context()))
		}
		require.Equal(t, []string{"a", "b", "c", "a"}, s.got)
		require.Equal(t, []string{"b"}, s.yielded)
		require.Equal(t, "2 of 3 pending", s.String())
		require.Equal(t, 6*time.Minute, time.Since(began), "two requests a poll, one a minute")
	})
}

// A failure that may pass, and the end of the context, end the poll and no wait. Any other ends the wait for one thing.
func TestEach_Failures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage("a", "b")
		s.broken = errors.New("no listing")
		require.ErrorIs(t, s.Poll(t.Context()), s.broken)
		require.Empty(t, s.got)

		s.broken, s.alone = nil, []thing{{id: "a", err: errors.New("busy")}}
		require.EqualError(t, s.Poll(t.Context()), "busy")
		require.Empty(t, s.yielded)
		require.Equal(t, "2 of 2 pending", s.String())

		s.alone[0].err = errors.New("gone")
		require.NoError(t, s.Poll(t.Context()))
		require.Equal(t, []string{"a: gone"}, s.yielded)
		require.Equal(t, "1 of 2 pending", s.String())

		ctx, cancel := context.WithCancel(t.Context())
		s.List = func(context.Context) ([]thing, int, error) { cancel(); return nil, 1, nil }
		require.ErrorIs(t, s.Poll(ctx), context.Canceled)
		require.Equal(t, []string{"a: gone"}, s.yielded)
		require.Equal(t, "1 of 2 pending", s.String())
	})
}

// Whoever has enough sees nothing more.
func TestEach_Enough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, listed := range map[string][]thing{
			"listed": {{id: "a", over: true}, {id: "b", over: true}},
			"alone":  nil,
		} {
			s := newStage("a", "b")
			s.enough, s.listed = true, listed
			s.alone = []thing{{id: "a", err: errors.New("gone")}}
			require.NoError(t, s.Poll(t.Context()))
			require.Len(t, s.yielded, 1, name)
			require.True(t, s.Over(), name)
		}
	})
}

func TestEnded(t *testing.T) {
	require.True(t, waits.Ended(context.Canceled))
	require.True(t, waits.Ended(context.DeadlineExceeded))
	require.False(t, waits.Ended(errors.New("wrong")))
}

func TestSleep_EndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		require.ErrorIs(t, waits.Sleep(ctx, 0), context.Canceled)
	}
}

func TestSleepBeforeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		require.False(t, waits.SleepBeforeDeadline(ctx, time.Minute), "both would end at once")
		require.Zero(t, time.Since(began))
		require.True(t, waits.SleepBeforeDeadline(ctx, time.Minute-1))
		require.Equal(t, time.Minute-1, time.Since(began))
	})
}
