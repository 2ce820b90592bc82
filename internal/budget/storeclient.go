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

// heard notes whether an exchange succeeded, and then by how many processes the store is used.
func (k *StoreClient) heard(processes int, err error) {
	k.mu.Lock()
	changed := k.away != (err != nil)
	if k.away = err != nil; k.away {
		k.retryAt = time.Now().Add(retryEvery)
	} else {
		k.processes = processes
	}
	k.mu.Unlock()
	switch {
	case !changed || k.Log == nil:
	case err == nil:
		k.Log.LogAttrs(context.Background(), slog.LevelInfo, "rate budget: the shared store is back")
	default:
		k.Log.LogAttrs(context.Background(), slog.LevelWarn, "rate budget: the shared store is unavailable, this process keeps to its part",
			slog.Any("error", err), slog.Int("processes", k.parts()))
	}
}
