package budget

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// kept is a store in memory, whose clock is that of the test.
type kept struct {
	mu     sync.Mutex
	began  time.Time
	stored []byte
}

func (k *kept) ask(_ context.Context, a *Ask) (r Reply, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.began.IsZero() {
		k.began = time.Now()
	}
	k.stored, r = Decide(k.stored, 1+instant(time.Since(k.began)), 1, a)
	return r, nil
}

// News that nothing is left sends those home at once who cannot wait for the reset.
func TestSharedNewsSendsHopelessWaitersHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: time.Second}, new(kept).ask)
		first, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		l.Done(time.Now(), &Report{first, told(120, 1, 55*time.Second)})
		second, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		began := time.Now()
		time.AfterFunc(time.Second, func() { l.Done(time.Now(), &Report{second, told(120, 0, 55*time.Second)}) })
		_, err = l.Acquire(t.Context(), Request{MaxWait: 20 * time.Second})
		var refused *WaitTooLongError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, time.Second, time.Since(began))
		require.Greater(t, refused.Wait, 50*time.Second)
	})
}
