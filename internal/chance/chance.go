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
type Source struct {
	mu     sync.Mutex
	random *rand.Rand
}

// New returns a source.
func New(seed, stream uint64) *Source { return &Source{random: rand.New(rand.NewPCG(seed, stream))} }

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
		return s.Text()
	}
	return crypto.Text()
}

// Int64N draws from zero up to n, without n itself.
func (s *Source) Int64N(n int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Int64N(n)
}

// Float64 draws from zero up to one, without one itself.
func (s *Source) Float64() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Float64()
}

// Text draws a text.
func (s *Source) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%016X%016X", s.random.Uint64(), s.random.Uint64())
}
