package prospectkit

import (
	"context"
	"log/slog"
	"time"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/op"
)

// BudgetStore keeps what several processes know about the rate limits of one workspace, so that they use the quota together; see
// [SharedBy]. The module redisbudget has one for Redis. Any database will do that can change a value atomically and has a clock of
// its own:
//
//	begin a transaction that locks the row of the workspace and the surface
//	read the state, empty if there is none, and the database's time
//	state, reply := ask.Decide(state, now, processes)
//	write the state, and commit
//
// Exchange must not repeat itself after an error, because the first may have happened; return the error instead, and in time when
// the context ends. It is called by several goroutines at once.
type BudgetStore interface {
	Exchange(ctx context.Context, surface Surface, ask *BudgetAsk) (BudgetReply, error)
}

// BudgetAsk is what a process says to a [BudgetStore]: what became of its requests, and how many more it wants to send.
type BudgetAsk struct{ ask budget.Ask }

// BudgetReply is the answer to a [BudgetAsk]: the permissions to send, and a copy of what is known.
type BudgetReply struct{ reply budget.Reply }

// Decide answers an ask. It takes the state of the surface as the last call for it returned it, empty if there is none or none of the
// last two days; the time, by a clock that is the same for all processes; and how many processes asked lately, which
// matters only when the store cannot be reached. A state that this version does not understand is as good as none.
func (a *BudgetAsk) Decide(state []byte, now time.Time, processes int) ([]byte, BudgetReply) {
	next, reply := budget.Decide(state, budget.Instant(now.UnixMicro()), processes, &a.ask)
	return next, BudgetReply{reply}
}

// MarshalBinary writes the ask for a store that decides elsewhere, as numbers of eight bytes.
func (a *BudgetAsk) MarshalBinary() ([]byte, error) { return a.ask.Encode(), nil }

// UnmarshalBinary reads what MarshalBinary wrote.
func (a *BudgetAsk) UnmarshalBinary(data []byte) error {
	a.ask = budget.Ask{}
	return a.ask.Decode(data)
}

// MarshalBinary writes the reply of a store that decides elsewhere, as numbers of eight bytes.
func (r *BudgetReply) MarshalBinary() ([]byte, error) { return r.reply.Encode(), nil }

// UnmarshalBinary reads what MarshalBinary wrote.
func (r *BudgetReply) UnmarshalBinary(data []byte) error { return r.reply.Decode(data) }

// Sharing says how a process lives with a [BudgetStore]. The zero value will do if Processes is small.
type Sharing struct {
	// Timeout is how long the store may take for an answer; default 250 ms. One that takes longer counts as away.
	Timeout time.Duration

	// Processes is how many share the budget, at least; default 2. While the store is away, each keeps to its part: the limits
	// divided by this number, or by the number of processes that the store had seen lately if that is larger.
	Processes int

	// Logger gets one line when the store goes away and one when it is back. Nil is silent.
	Logger *slog.Logger
}

// SharedBy keeps the budget in a store, for several processes of one workspace. Each process keeps its own line of waiting calls;
// the store decides for all of them, and 429s and rate headers count for all.
//
// While the store is away, a process keeps to its part of the documented or learned limits and goes on obeying the headers. It
// looks for the store again once a second, by the calls themselves.
func SharedBy(store BudgetStore, s Sharing) BudgetOption {
	return func(b *Budget) {
		switch {
		case store == nil:
			b.bad.add("SharedBy", "needs a store")
		case s.Timeout < 0:
			b.bad.add("SharedBy", "has a timeout of %s, must not be negative", s.Timeout)
		case s.Processes < 0:
			b.bad.add("SharedBy", "has %d processes, must not be negative", s.Processes)
		}
		b.store = store
		b.link = &budget.Link{Timeout: s.Timeout, Least: s.Processes, Log: s.Logger}
		if s.Timeout == 0 {
			b.link.Timeout = budget.DefaultTimeout
		}
		if s.Processes == 0 {
			b.link.Least = 2
		}
	}
}

// limiter decides when the requests of a surface may leave.
type limiter interface {
	Acquire(ctx context.Context, r budget.Request) (budget.Permit, error)
	Take(now time.Time, p budget.Priority, permit *budget.Permit) bool
	Done(over time.Time, r *budget.Report)
	Forecast(requests int) time.Duration
	Snapshot() budget.Snapshot
}

func (b *Budget) limiter(s op.Surface, c budget.Config) limiter {
	if b.store == nil {
		return budget.New(c)
	}
	return budget.NewShared(c, b.link, func(ctx context.Context, a *budget.Ask) (budget.Reply, error) {
		reply, err := b.store.Exchange(ctx, Surface(s), &BudgetAsk{*a})
		return reply.reply, err
	})
}
