// Package chance makes the random draws of the client and its packages. A simulation puts its own [Source] into the context, so that
// one seed gives one run. Without one, draws come from math/rand/v2 and crypto/rand.
package chance

import (
	"context"
	crypto "crypto/rand"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Source draws the same for the same seeds. It is safe for concurrent use.
type Source = rand.Rand

// New returns a source.
func New(seed, stream uint64) *Source { return rand.New(&locked{pcg: rand.NewPCG(seed, stream)}) }

// locked is the only state of a source.
type locked struct {
	mu  sync.Mutex
	pcg *rand.PCG
}

func (l *locked) Uint64() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pcg.Uint64()
}

type key struct{}

// With makes all draws with the returned context come from s.
func With(ctx context.Context, s *Source) context.Context { return context.WithValue(ctx, key{}, s) }

// from returns the source of a simulation, nil outside of one.
func from(ctx context.Context) *Source {
	s, _ := ctx.Value(key{}).(*Source)
	return s
}

// Below draws from zero up to d, which must be positive, without d itself.
func Below(ctx context.Context, d time.Duration) time.Duration {
	if s := from(ctx); s != nil {
		return time.Duration(s.Int64N(int64(d)))
	}
	return rand.N(d)
}

// Float64 draws from zero up to one, without one itself.
func Float64(ctx context.Context) float64 {
	if s := from(ctx); s != nil {
		return s.Float64()
	}
	return rand.Float64()
}

// Text draws a text that nobody can guess, and that nobody draws again.
func Text(ctx context.Context) string {
	if s := from(ctx); s != nil {
		return fmt.Sprintf("%016X%016X", s.Uint64(), s.Uint64())
	}
	return crypto.Text()
}
