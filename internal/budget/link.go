package budget

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// DefaultTimeout is how long a store may take for an answer.
const DefaultTimeout = 250 * time.Millisecond

// probeEvery is how often somebody tries to reach a store that is away.
const probeEvery = time.Second

// Link is one process's way to the store of a budget, for all surfaces together.
type Link struct {
	Timeout time.Duration
	Least   int          // processes to reckon with, if fewer were seen
	Log     *slog.Logger // nil for silence

	mu        sync.Mutex
	away      bool
	probeAt   time.Time
	processes int
}

// usable reports whether the store should be asked: it is there, or it is time that somebody tries.
func (k *Link) usable() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.away {
		return true
	}
	now := time.Now()
	if now.Before(k.probeAt) {
		return false
	}
	k.probeAt = now.Add(probeEvery)
	return true
}

// parts is among how many processes the windows are divided while the store is away.
func (k *Link) parts() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return max(k.processes, k.Least, 1)
}

func (k *Link) reached(processes int) {
	k.mu.Lock()
	back := k.away
	k.away, k.processes = false, processes
	k.mu.Unlock()
	if back && k.Log != nil {
		k.Log.LogAttrs(context.Background(), slog.LevelInfo, "rate budget: the shared store is back")
	}
}

func (k *Link) lost(err error) {
	k.mu.Lock()
	gone := !k.away
	k.away, k.probeAt = true, time.Now().Add(probeEvery)
	k.mu.Unlock()
	if gone && k.Log != nil {
		k.Log.LogAttrs(context.Background(), slog.LevelWarn, "rate budget: the shared store is away, this process keeps to its part",
			slog.Any("error", err), slog.Int("processes", k.parts()))
	}
}
