package ratelimit

import (
	"context"
	"time"

	"example.com/prospectkit/internal/budget"
)

// Store shares a budget between processes of one workspace; see [example.com/prospectkit.BudgetConfig]. The module
// redisbudget has one for Redis, the module postgres one for PostgreSQL. Any database with a clock can be one, if it can update a value
// atomically:
//
//	begin a transaction that locks the row of the workspace and the surface
//	read the state, empty if there is none, and the database's time
//	state, reply := ask.Decide(state, now, processes)
//	write the state, and commit
//
// Exchange must not retry after an error, because the first attempt may have happened; return the
// error. It must return when the context ends, and be safe for concurrent use. A budget has one
// exchange of each surface in progress, which carries what all its calls report and want by then.
type Store interface {
	Exchange(ctx context.Context, surface Surface, ask *Ask) (Reply, error)
}

// Ask is what a process tells a [Store]: the results of its requests, and how many more it wants to send.
type Ask struct{ ask *budget.Ask }

// Reply is the reply to an [Ask]: permits to send, and a copy of what is known.
type Reply struct{ reply budget.Reply }

// Decide returns the next state of a surface, and the reply. It takes the state that the last call
// for the surface returned, empty if there is none of the last two days; the time, by one clock for
// all processes; and how many processes asked lately, which matters only while the store is away. A
// state that this version does not understand is ignored.
func (a *Ask) Decide(state []byte, now time.Time, processes int) ([]byte, Reply) {
	next, reply := budget.Decide(state, budget.Instant(now.UnixMicro()), processes, a.ask)
	return next, Reply{reply}
}

// NewAsk makes an ask of the budget's own, which no other module can name.
func NewAsk(a *budget.Ask) *Ask { return &Ask{a} }

// Internal returns the reply for the budget, in a type that no other module can name.
func (r Reply) Internal() budget.Reply { return r.reply }
