package redisbudget

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"example.com/prospectkit/ratelimit"
)

//go:embed turn.lua
var script string

var sha = digest(script)

// turn is what a process has while no other one may write.
type turn struct {
	joined    string // when it joined the queue: another turn of the same process has another time
	now       time.Time
	processes int
	state     []byte
}

// longest is the longest lease of a turn.
const longest = time.Second

// lease is for how long a process keeps its place after it was last heard of: short enough that the others still get their turn if it dies.
func lease(ctx context.Context) time.Duration {
	if until, ok := ctx.Deadline(); ok {
		return min(max(time.Until(until)/2, time.Millisecond), longest)
	}
	return longest
}

// take queues until it is the turn of this process.
func (s *Store) take(ctx context.Context, surface ratelimit.Surface) (turn, error) {
	for {
		values, err := s.run(ctx, surface).Slice()
		if err != nil {
			return turn{}, err
		}
		ahead, _ := values[0].(int64)
		if ahead == 0 {
			return opened(values)
		}
		select {
		case <-time.After(time.Duration(ahead) * time.Millisecond):
		case <-ctx.Done():
			return turn{}, ctx.Err()
		}
	}
}

func opened(values []any) (t turn, err error) {
	if len(values) != 5 {
		return t, fmt.Errorf("a turn of %d values", len(values))
	}
	t.joined, _ = values[1].(string)
	now, _ := values[2].(int64)
	processes, _ := values[3].(int64)
	state, _ := values[4].(string)
	t.now, t.processes, t.state = time.UnixMicro(now), int(processes), []byte(state)
	return t, nil
}

// write stores the next state and ends the turn. It reports whether it still was the turn of this process: else nothing is changed.
func (s *Store) write(ctx context.Context, surface ratelimit.Surface, joined string, state []byte) (bool, error) {
	written, err := s.run(ctx, surface, joined, state).Int()
	return written == 1, err
}

// run runs the script, which Redis may have forgotten.
func (s *Store) run(ctx context.Context, surface ratelimit.Surface, args ...any) *redis.Cmd {
	name := s.key(string(surface))
	args = append([]any{
		"evalsha", sha, 4, name, name + ":queue", name + ":alive", s.key("processes"), s.process, strconv.FormatInt(lease(ctx).Microseconds(), 10),
	}, args...)
	cmd := redis.NewCmd(ctx, args...)
	if err := s.client.Process(ctx, once{cmd}); redis.HasErrorPrefix(err, "NOSCRIPT") {
		args[0], args[1] = "eval", script
		cmd = redis.NewCmd(ctx, args...)
		_ = s.client.Process(ctx, once{cmd})
	}
	return cmd
}
