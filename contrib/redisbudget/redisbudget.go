// Package redisbudget keeps the rate budget of a workspace in Redis, so that all processes that share it use the quota together
// without a 429.
//
//	server := redis.NewClient(&redis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
//	store, err := redisbudget.New(server, "acme")
//	budget := prospectkit.NewBudget(prospectkit.BudgetConfig{Store: store, Processes: 8})
//	client, err := prospectkit.New(baseURL, token, prospectkit.WithBudget(budget))
//
// While Redis is unavailable, each process keeps to its part of the limits: see [prospectkit.BudgetConfig].
package redisbudget

import (
	"context"
	"crypto/fips140"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the name by which Redis knows a script
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"example.com/prospectkit/ratelimit"
)

// Store is a [ratelimit.Store] in Redis. It is safe for concurrent use and starts no goroutine.
type Store struct {
	client  redis.UniversalClient
	prefix  string
	process string
}

// New keeps the budget under keys that begin with the prefix in braces, so that a cluster keeps them together. Processes
// with the same Redis and the same prefix share a budget: name the workspace, never its token. Close the client yourself. It
// needs ContextTimeoutEnabled, without which a Redis that hangs would block calls.
func New(client redis.UniversalClient, prefix string) (*Store, error) {
	if prefix == "" || strings.ContainsAny(prefix, "{}") {
		return nil, errors.New("redisbudget: the prefix must not be empty or hold braces")
	}
	obeys := false
	switch c := client.(type) {
	case *redis.Client:
		obeys = c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		obeys = c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		obeys = c.Options().ContextTimeoutEnabled
	}
	if !obeys {
		return nil, errors.New("redisbudget: the client needs ContextTimeoutEnabled")
	}
	return &Store{client: client, prefix: prefix, process: rand.Text()}, nil
}

// Exchange decides on an ask when it is the turn of this process. Budgets that share a store share its turns.
func (s *Store) Exchange(ctx context.Context, surface ratelimit.Surface, ask *ratelimit.Ask) (ratelimit.Reply, error) {
	for { // until it still has the turn when it writes
		t, err := s.take(ctx, surface)
		if err != nil {
			return ratelimit.Reply{}, fmt.Errorf("redisbudget: %w", err)
		}
		state, reply := ask.Decide(t.state, t.now, t.processes)
		kept, err := s.write(ctx, surface, t.joined, state)
		if err != nil {
			return ratelimit.Reply{}, fmt.Errorf("redisbudget: %w", err)
		}
		if kept {
			return reply, nil
		}
	}
}

// digest is the name by which Redis knows a script. It protects nothing, so FIPS 140 allows it.
func digest(script string) (name string) {
	fips140.WithoutEnforcement(func() {
		sum := sha1.Sum([]byte(script)) //nolint:gosec // no secret, and required by Redis
		name = hex.EncodeToString(sum[:])
	})
	return name
}

func (s *Store) key(name string) string { return "{" + s.prefix + "}:" + name }

// once is a command that the client does not retry, because the first one may have been executed.
type once struct{ *redis.Cmd }

// NoRetry returns true.
func (once) NoRetry() bool { return true }
