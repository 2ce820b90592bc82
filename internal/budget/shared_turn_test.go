package budget

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// slow is a store that takes a while before it decides and after, and notes what it is asked.
type slow struct {
	shaky
	before, after time.Duration

	notes sync.Mutex
	all   []*Ask
	now   int // asks on their way
	most  int
}

func (s *slow) ask(ctx context.Context, a *Ask) (Reply, error) {
	s.note(func() { s.all, s.now = append(s.all, a), s.now+1; s.most = max(s.most, s.now) })
	defer s.note(func() { s.now-- })
	time.Sleep(s.before)
	defer time.Sleep(s.after)
	return s.shaky.ask(ctx, a)
}

func (s *slow) note(what func()) {
	s.notes.Lock()
	defer s.notes.Unlock()
	what()
}

// stored is what the store knows.
func (s *slow) stored(t *testing.T) *State {
	t.Helper()
	state, _, ok := decodeState(s.kept.stored)
	require.True(t, ok)
	return &state
}

// slowly runs a test with a store that takes 100 ms, after a response by which 100 requests are left.
func slowly(t *testing.T, c Config, test func(*testing.T, *Limiter, *slow)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &slow{before: 60 * time.Millisecond, after: 40 * time.Millisecond}
		l := NewShared(c, &StoreClient{Timeout: time.Second}, s.ask)
		opening(t, l, told(120, 100, time.Minute))
		s.all = nil
		test(t, l, s)
	})
}

// take takes so many permits, one after the other.
func (s *slow) take(t *testing.T, l *Limiter, n int) (permits []Permit) {
	t.Helper()
	for range n {
		p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		permits = append(permits, p)
	}
	s.all = nil
	return permits
}

// One exchange is in flight. What comes meanwhile goes with the next one, all at once, and every call that ended knows that the store knows.
func TestOneExchangeInFlight(t *testing.T) {
	slowly(t, Config{PerMinute: 120}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		permits := s.take(t, l, 12)
		first := acquire(t.Context(), l, Request{MaxWait: aWhile})
		time.Sleep(time.Millisecond)
		var all sync.WaitGroup
		began := time.Now()
		for _, p := range permits {
			all.Go(func() {
				l.Done(time.Now(), &Report{p, told(120, 88, time.Minute)})
				require.EqualValues(t, 1+12, s.stored(t).Completed)
				require.Equal(t, 199*time.Millisecond, time.Since(began))
			})
		}
		var others []<-chan came
		for i := range 10 {
			others = append(others, acquire(t.Context(), l, Request{MaxWait: time.Duration(i%2) * aWhile}))
		}
		all.Wait()
		require.Equal(t, 100*time.Millisecond, (<-first).after)
		for _, other := range others {
			end := <-other
			require.NoError(t, end.err)
			require.Equal(t, 199*time.Millisecond, end.after)
		}
		synctest.Wait()
		require.Len(t, s.all, 2)
		require.Len(t, s.all[1].Reports, 12)
		require.Len(t, s.all[1].Wanted, 10)
		require.Equal(t, 1, s.most)
	})
}

// The call that has the turn may be cancelled: it ends with the exchange, and another one goes on.
func TestTheOneWithTheTurnIsCancelled(t *testing.T) {
	slowly(t, Config{PerMinute: 120}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		last := s.take(t, l, 1)[0]
		ctx, cancel := context.WithCancel(t.Context())
		carries := acquire(ctx, l, Request{MaxWait: aWhile})
		time.Sleep(time.Millisecond)
		waits := acquire(t.Context(), l, Request{MaxWait: aWhile})
		go l.Done(time.Now(), &Report{last, told(120, 99, time.Minute)})
		cancel()
		synctest.Wait()
		end := <-waits
		require.NoError(t, end.err)
		require.Equal(t, 199*time.Millisecond, end.after)
		require.ErrorIs(t, (<-carries).err, context.Canceled)
		time.Sleep(time.Second)
		require.EqualValues(t, 1, s.stored(t).inFlight(), "the permit of the cancelled call is back")
		require.Equal(t, 1, s.most)
	})
}

// A call that waits for the turn and is cancelled leaves at once, with the error of its context although it would not have waited for a
// permit, and leaves nothing behind.
func TestCancelledBeforeTheTurn(t *testing.T) {
	slowly(t, Config{PerMinute: 120}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		for _, wait := range []time.Duration{0, aWhile} {
			carries := acquire(t.Context(), l, Request{MaxWait: aWhile})
			ctx, cancel := context.WithCancel(t.Context())
			leaves := acquire(ctx, l, Request{MaxWait: wait})
			time.Sleep(time.Millisecond)
			cancel()
			end := <-leaves
			require.Equal(t, context.Canceled, end.err)
			require.Equal(t, time.Millisecond, end.after)
			require.NoError(t, (<-carries).err)
			require.Zero(t, l.Snapshot().Waiting)
		}
		require.EqualValues(t, 2, s.stored(t).inFlight())
		require.Len(t, s.all, 2)
	})
}

// The report of the last call is in the store when that call ends, whoever had the turn when it came.
func TestTheLastReportArrives(t *testing.T) {
	slowly(t, Config{PerMinute: 120}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		permits := s.take(t, l, 2)
		go l.Done(time.Now(), &Report{permits[0], told(120, 99, time.Minute)})
		time.Sleep(70 * time.Millisecond) // it is decided on, but not known yet
		l.Done(time.Now(), &Report{permits[1], hold(30 * time.Second)})
		require.Zero(t, s.stored(t).inFlight())
		require.Positive(t, s.stored(t).HeldUntil)
	})
}

// A store that fails while others wait for the turn is not tried by each of them, nor by those that come while one tries it again.
func TestNobodyWaitsForAStoreThatIsAway(t *testing.T) {
	slowly(t, Config{PerMinute: 120}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		permits := s.take(t, l, 3)
		s.away.Store(true)
		began := time.Now()
		var all sync.WaitGroup
		for _, p := range permits {
			all.Go(func() { l.Done(time.Now(), &Report{p, told(120, 97, time.Minute)}) })
		}
		synctest.Wait()
		probe, waits := acquire(t.Context(), l, Request{MaxWait: aWhile}), acquire(t.Context(), l, Request{MaxWait: aWhile})
		all.Wait()
		end := <-probe
		require.NoError(t, end.err)
		l.Done(time.Now(), &Report{end.p, told(120, 96, time.Minute)})
		require.NoError(t, (<-waits).err)
		require.Equal(t, 100*time.Millisecond, time.Since(began))
		require.Len(t, s.all, 1)
		time.Sleep(retryEvery)
		tries := acquire(t.Context(), l, Request{MaxWait: aWhile})
		require.Zero(t, (<-acquire(t.Context(), l, Request{MaxWait: aWhile})).after)
		require.Equal(t, 100*time.Millisecond, (<-tries).after)
		require.Len(t, s.all, 2)
		s.away.Store(false)
		time.Sleep(retryEvery)
		opening(t, l, told(120, 90, time.Minute))
		require.EqualValues(t, 1+len(permits)+1+1, s.stored(t).Completed, "all that ended is known")
		require.Zero(t, s.stored(t).inFlight())
	})
}

// A call that is given its permit while it waits for the turn goes, although another exchange follows for those behind it.
func TestAPermitComesBeforeTheTurn(t *testing.T) {
	slowly(t, Config{PerMinute: 120}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		carries := acquire(t.Context(), l, Request{MaxWait: aWhile})
		var all []<-chan came
		for range 2 * atOnce {
			all = append(all, acquire(t.Context(), l, Request{Priority: Batch, MaxWait: aWhile}))
		}
		first := acquire(t.Context(), l, Request{MaxWait: aWhile})
		require.Equal(t, 100*time.Millisecond, (<-carries).after)
		require.Equal(t, 200*time.Millisecond, (<-first).after)
		for i, end := range all {
			got := <-end
			require.NoError(t, got.err)
			require.Equal(t, 100*time.Millisecond*time.Duration(2+(i+1)/atOnce), got.after, i)
		}
		require.Len(t, s.all, 4)
	})
}

// A call that does not wait asks once, and not at all if the exchange of another has asked for it. What an earlier one was told is no
// answer: another process may have news.
func TestNoWaitAsksOnce(t *testing.T) {
	slowly(t, Config{PerMinute: 120, Reserve: 110}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		permits := s.take(t, l, 2)
		go l.Done(time.Now(), &Report{permits[0], told(120, 99, time.Minute)})
		time.Sleep(time.Millisecond)
		go l.Done(time.Now(), &Report{permits[1], told(120, 98, time.Minute)})
		now := Request{Priority: Batch} // what is left is not for it
		end := <-acquire(t.Context(), l, now)
		require.Error(t, end.err)
		require.Equal(t, 199*time.Millisecond, end.after)
		require.Len(t, s.all, 2)
		for range 2 {
			end = <-acquire(t.Context(), l, now)
			require.Error(t, end.err)
			require.Equal(t, 100*time.Millisecond, end.after)
		}
		require.Len(t, s.all, 4)
	})
}

// A store that does not return when its time is over holds up the call that asked it, and no other one. What comes meanwhile counts elsewhere.
func TestAStoreThatIgnoresItsTime(t *testing.T) {
	slowly(t, Config{PerMinute: 120}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		permits := s.take(t, l, 2)
		l.client.Timeout = DefaultTimeout
		s.before = 30 * time.Second
		hangs := acquire(t.Context(), l, Request{MaxWait: aWhile})
		s.before = 60 * time.Millisecond
		began := time.Now()
		l.Done(time.Now(), &Report{permits[0], told(120, 99, time.Minute)})
		require.LessOrEqual(t, time.Since(began), 3*l.client.Timeout)
		require.False(t, l.client.usable())
		l.Done(time.Now(), &Report{permits[1], told(120, 98, time.Minute)})
		require.LessOrEqual(t, time.Since(began), 3*l.client.Timeout)
		for range 10 {
			end := <-acquire(t.Context(), l, Request{MaxWait: aWhile})
			require.NoError(t, end.err)
			require.LessOrEqual(t, end.after, patience.Duration(), "the one in the store may have the look")
			l.Done(time.Now(), &Report{end.p, told(120, 97, time.Minute)})
			time.Sleep(time.Second)
		}
		s.note(func() { require.Len(t, s.all, 1) })
		require.NoError(t, (<-hangs).err)
		opening(t, l, told(120, 90, time.Minute))
		require.EqualValues(t, 1+2+10+1, s.stored(t).Completed)
	})
}

// A store that keeps to its time is not taken for one that does not, although many wait for it for long.
func TestManyWaitForTheirTurn(t *testing.T) {
	slowly(t, Config{PerMinute: 120}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		var log strings.Builder
		l.client.Timeout, l.client.Log = 110*time.Millisecond, slog.New(slog.NewTextHandler(&log, nil))
		var all sync.WaitGroup
		for range 4 * atOnce {
			all.Go(func() {
				_, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
				require.NoError(t, err)
			})
		}
		all.Wait()
		require.LessOrEqual(t, len(s.all), 1+4, "the first may find all of them there")
		require.GreaterOrEqual(t, len(s.all), 4)
		require.Empty(t, log.String())
	})
}

// What a surface waits for holds up no other.
func TestSurfacesTakeTurnsOfTheirOwn(t *testing.T) {
	slowly(t, Config{PerMinute: 120}, func(t *testing.T, l *Limiter, s *slow) {
		t.Helper()
		other := NewShared(Config{PerMinute: 120}, l.client, new(shaky).ask)
		s.hangs.Store(true)
		held := acquire(t.Context(), l, Request{MaxWait: aWhile})
		require.Zero(t, (<-acquire(t.Context(), other, Request{MaxWait: aWhile})).after)
		require.NoError(t, (<-held).err)
	})
}
