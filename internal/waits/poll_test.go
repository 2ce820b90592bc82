package waits_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/waits"
)

var (
	errPoll    = errors.New("a poll failed")
	errUseless = errors.New("no poll can succeed")
)

// polled says what a poll returns: a state, or an error.
type polled struct {
	state string
	err   error
}

// polling plays polls, in turn. The last is repeated. The pauses are noted.
func polling(pauses *[]time.Duration, reasons *[]string, polls ...polled) waits.Polling[string] {
	return waits.Polling[string]{
		Read: func(context.Context) (*string, error) {
			p := polls[0]
			if len(polls) > 1 {
				polls = polls[1:]
			}
			if p.err != nil {
				return nil, p.err
			}
			return &p.state, nil
		},
		Judge: func(s *string) waits.Sighting {
			if *s == "gone" {
				return waits.Sighting{Err: errUseless}
			}
			return waits.Sighting{Settled: *s == "done", State: *s, Strange: *s == "odd"}
		},
		Transient: func(err error) bool { return errors.Is(err, errPoll) },
		Pace:      func(pause time.Duration, _ error) (time.Duration, bool) { return pause, true },
		Pausing: func(_ int, wait time.Duration, reason string) {
			*pauses, *reasons = append(*pauses, wait), append(*reasons, reason)
		},
	}
}

func TestPolling_PausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pauses []time.Duration
		var reasons []string
		value, err := polling(&pauses, &reasons, polled{state: "a"}, polled{err: errPoll}, polled{state: "odd"}, polled{state: "done"}).Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "done", *value)
		require.Equal(t, []time.Duration{2 * time.Second, 3 * time.Second, 4500 * time.Millisecond}, pauses)
		require.Equal(t, []string{"polling: not settled yet", "polling: the last poll failed", "polling: the state is undocumented"}, reasons)
	})
}

func TestPolling_Ends(t *testing.T) {
	for name, test := range map[string]struct {
		polls []polled
		late  bool
		last  string
		want  error
	}{
		"a state that will not come":   {polls: []polled{{state: "a"}, {state: "gone"}}, last: "gone", want: errUseless},
		"an error that does not pass":  {polls: []polled{{state: "a"}, {err: errUseless}}, last: "a", want: errUseless},
		"five failures in a row":       {polls: []polled{{state: "a"}, {err: errPoll}}, last: "a", want: &waits.TimeoutError{Polls: 6, State: "a", Last: errPoll}},
		"no time for another poll":     {polls: []polled{{state: "a"}}, late: true, last: "a", want: &waits.TimeoutError{Polls: 1, State: "a", Late: true}},
		"the context ends in a minute": {polls: []polled{{state: "a"}}, last: "a", want: &waits.TimeoutError{Polls: 7, State: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				p := polling(new([]time.Duration), new([]string), test.polls...)
				if test.late {
					p.Pace = func(time.Duration, error) (time.Duration, bool) { return 0, false }
				}
				value, err := p.Wait(ctx)
				require.Equal(t, test.want, err)
				require.Equal(t, test.last, *value)
			})
		})
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, most := range map[int]time.Duration{1: 100, 2: 200, 3: 400, 4: 500, 90: 500} {
		least, longest := most, time.Duration(0)
		for range 500 {
			d := waits.Backoff(t.Context(), 100, 500, n)
			least, longest = min(least, d), max(longest, d)
			require.GreaterOrEqual(t, d, most/2)
			require.LessOrEqual(t, d, most)
		}
		require.Less(t, least, most*6/10)
		require.Greater(t, longest, most*9/10, "the jitter is over the whole upper half")
	}
}
