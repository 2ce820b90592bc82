package budget

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// DefaultTimeout is how long a store may take for an exchange.
const DefaultTimeout = 250 * time.Millisecond

// retryEvery is how often an unavailable store is tried.
const retryEvery = time.Second

// StoreClient tracks whether the store of a budget is available to this process, for all surfaces together.
type StoreClient struct {
	Timeout time.Duration
	Least   int          // processes to assume, if fewer were seen
	Log     *slog.Logger // nil for none

	mu        sync.Mutex
	away      bool
	retryAt   time.Time
	processes int
}

// usable reports whether the store should be asked: it is available, or it is time to try it.
func (k *StoreClient) usable() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.away {
		return true
	}
	now := time.Now()
	if now.Before(k.retryAt) {
		return false
	}
	k.retryAt = now.Add(retryEvery)
	return true
}

// parts is the number of processes that divide the windows while the store is unavailable.
func (k *StoreClient) parts() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return max(k.processes, k.Least, 1)
}

func (k *StoreClient) reached(processes int) {
	k.mu.Lock()
	back := k.away
	k.away, k.processes = false, processes
	k.mu.Unlock()
	if back && k.Log != nil {
		k.Log.LogAttrs(context.Background(), slog.LevelInfo, "rate budget: the shared store is back")
	}
}

func (k *StoreClient) lost(err error) {
	k.mu.Lock()
	gone := !k.away
	k.away, k.retryAt = true, time.Now().Add(retryEvery)
	k.mu.Unlock()
	if gone && k.Log != nil {
		k.Log.LogAttrs(context.Background(), slog.LevelWarn, "rate budget: the shared store is unavailable, this process keeps to its part",
			slog.Any("error", err), slog.Int("processes", k.parts()))
	}
}
