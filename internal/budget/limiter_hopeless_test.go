package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A review sends home exactly those that cannot be admitted in time after those ahead of them.
func TestReviewCountsThoseAhead(t *testing.T) {
	l := New(Config{PerMinute: 10})
	l.queue.State = *opened(Config{PerMinute: 10}, told(10, 0, time.Minute))
	reset := l.queue.State.resetAt()
	for range 25 {
		l.queue.Join(&Waiter{Priority: Batch, wake: make(chan struct{}, 1), giveUp: reset + second})
	}
	l.review(second)
	require.Equal(t, 10, l.queue.Waiting())
}

// Where the day is the tighter window, a call that it has room for is not hopeless.
func TestHopelessInADay(t *testing.T) {
	l := New(Config{PerMinute: 10, PerDay: 100})
	l.queue.State = *opened(Config{PerMinute: 10, PerDay: 100}, told(100, 3, 5*time.Hour))
	w := &Waiter{giveUp: second, deadline: true}
	require.Nil(t, l.hopeless(second, 2, w), "three are left")
	require.Equal(t, Day, l.hopeless(second, 3, w).Window)
	w.giveUp, _ = l.queue.State.Earliest(second, 3, Interactive)
	require.Nil(t, l.hopeless(second, 3, w), "just in time")
	w.giveUp--
	require.True(t, l.hopeless(second, 3, w).Deadline)
}
