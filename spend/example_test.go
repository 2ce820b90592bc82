package spend_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"example.com/prospectkit/spend"
)

// row is one row of a database.
type row struct {
	mu    sync.Mutex
	state []byte
}

func (r *row) Update(_ context.Context, change func([]byte) ([]byte, error)) error {
	r.mu.Lock() // in a database: begin, and select for update
	defer r.mu.Unlock()
	state, err := change(r.state)
	if err == nil {
		r.state = state // in a database: update, and commit
	}
	return err
}

// Two processes share a cap. One of them is killed in the middle of a call.
func ExampleNewSharedGuard() {
	ctx, table := context.Background(), new(row)
	prices := spend.Prices{"contacts.resolve": {PerCall: 30}} // of your plan

	first := spend.NewSharedGuard(50, prices, table)
	call := spend.Call{ID: "the ticket", Op: "contacts.resolve"} // a client makes it; here it is made by hand
	fmt.Println("first:", first.Reserve(ctx, call))
	// Here the first process ends.

	second := spend.NewSharedGuard(50, prices, table)
	err := second.Reserve(ctx, spend.Call{ID: "another", Op: "contacts.resolve"})
	fmt.Println("second:", errors.Is(err, spend.ErrCap), err)

	books, err := second.Books(ctx)
	if err != nil {
		panic(err)
	}
	for _, open := range books.Open {
		fmt.Println("in doubt:", open.ID, open.Op, open.Credits)
	}
	fmt.Println("it was never billed:", second.Release(ctx, "the ticket"))
	fmt.Println("second:", second.Reserve(ctx, spend.Call{ID: "another", Op: "contacts.resolve"}))
	// Output:
	// first: <nil>
	// second: true the call can cost 30 credits, and 20 of 50 are left
	// in doubt: the ticket contacts.resolve 30
	// it was never billed: <nil>
	// second: <nil>
}
