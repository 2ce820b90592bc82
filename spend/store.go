package spend

import (
	"context"
	"sync"
)

// Store keeps the state of guards, so that several processes share one cap, and so that it survives
// them. Its method is called from many goroutines at once.
//
// The module postgres has one for PostgreSQL. Any database can be one:
//
//	begin a transaction that locks the row
//	read the state, nil if there is none
//	state, err := change(state)
//	roll back and return err, if it is not nil
//	write the state, and commit
//
// A compare-and-swap works as well: call change again with the new state after a conflict.
type Store interface {
	// Update replaces the state by what change makes of it. No other Update may come in between. The
	// new state must survive the process and the machine when Update returns nil. If change returns an
	// error, Update stores nothing and returns that error. It must return when the context ends. A call waits for the
	// settlement at its end no longer than half a second after its context, and the guard tells the store with the next change.
	//
	// After any other error, the new state may be stored or not.
	Update(ctx context.Context, change func(state []byte) ([]byte, error)) error
}

// memory is the store of a guard without one.
type memory struct {
	mu    sync.Mutex
	state []byte
}

func (m *memory) Update(ctx context.Context, change func([]byte) ([]byte, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	after, err := change(m.state)
	if err == nil {
		m.state = after
	}
	return err
}
