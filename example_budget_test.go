package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// newExampleClient is a client for a sandbox.
func newExampleClient(sb *sandbox.Sandbox, opts ...prospectkit.Option) *prospectkit.Client {
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), append(opts, prospectkit.WithTransport(sb.Transport()))...)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// How long a job will take, before it begins: a million rows, and a thousand pages of a search.
func ExampleBudget_Forecast() {
	budget := newExampleClient(sandbox.New(nil)).Budget()
	fmt.Println("rows:", budget.Forecast(prospectkit.SurfaceLists, 1000).Round(time.Minute))
	fmt.Println("search:", budget.Forecast(prospectkit.SurfaceSearch, 1000).Round(time.Minute))
	fmt.Println("a single call:", budget.Forecast(prospectkit.SurfaceLists, 1))
	// Output:
	// rows: 8m0s
	// search: 50m0s
	// a single call: 0s
}

func ExampleBudget_Snapshot() {
	client := newExampleClient(sandbox.New(nil))
	for range 3 {
		if _, err := client.Account.Me(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	for _, s := range client.Budget().Snapshot() {
		fmt.Println(s.Surface, s.Minute.Used, "used,", s.Minute.Remaining, "of", s.Minute.Limit, "left in the minute,", s.Day.Limit, "a day")
	}
	// Output:
	// account 3 used, 117 of 120 left in the minute, 10000 a day
}

// Teammates have used the minute up. One call learns it by a 429; the next is not sent, because the whole surface is held.
func ExampleWaitError() {
	ctx := context.Background()
	sb := sandbox.New(nil)
	client := newExampleClient(sb, prospectkit.WithMaxWait(10*time.Second))
	sb.Consume("lists", 120)

	_, err := client.Lists.Page(ctx, prospectkit.ListsParams{})
	fmt.Println(errors.Is(err, prospectkit.CodeRateLimited))

	_, err = client.Lists.Page(ctx, prospectkit.ListsParams{})
	if refused, ok := errors.AsType[*prospectkit.WaitError](err); ok {
		fmt.Println(refused.Surface, refused.Outcome()+", it would fit in", refused.Wait.Round(time.Minute))
	}
	fmt.Println("sent", sb.Calls("lists.list"), "time")
	// Output:
	// true
	// lists not applied, it would fit in 1m0s
	// sent 1 time
}

// A nightly job may use the minute but for its last 5 requests. Those are for somebody who waits at a screen.
func ExampleReserve() {
	ctx := context.Background()
	sb := sandbox.New(nil)
	client := newExampleClient(sb, prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.Reserve(5))), prospectkit.NoWait())
	job, err := client.With(prospectkit.WithPriority(prospectkit.PriorityBatch))
	if err != nil {
		log.Fatal(err)
	}
	for err == nil {
		_, err = job.Campaigns.List(ctx)
	}
	fmt.Println("the job has to wait:", errors.Is(err, prospectkit.ErrRateLimited))
	fmt.Println("it left 5 or more:", sb.Windows("campaigns")[0].Remaining >= 5)
	_, err = client.Campaigns.List(ctx)
	fmt.Println("somebody has to wait:", errors.Is(err, prospectkit.ErrRateLimited))
	// Output:
	// the job has to wait: true
	// it left 5 or more: true
	// somebody has to wait: false
}

// Two keys of one workspace share its limits, and so do their clients share a budget.
func ExampleWithBudget() {
	sb := sandbox.New(nil)
	budget := prospectkit.NewBudget()
	for _, scope := range []string{"lists", "campaigns"} {
		client, err := prospectkit.New(sb.BaseURL(), sb.Key(scope), prospectkit.WithTransport(sb.Transport()), prospectkit.WithBudget(budget))
		if err != nil {
			log.Fatal(err)
		}
		if _, err := client.Account.Me(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(budget.Snapshot()[0].Minute.Used, "requests of", budget.Snapshot()[0].Surface)
	// Output:
	// 2 requests of account
}

// exampleStore is the least that a store has to do. Yours keeps the state in a database, one row for each surface, by its clock.
type exampleStore struct {
	mu     sync.Mutex
	states map[prospectkit.Surface][]byte
}

func (s *exampleStore) Exchange(_ context.Context, surface prospectkit.Surface, ask *prospectkit.BudgetAsk) (prospectkit.BudgetReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, reply := ask.Decide(s.states[surface], time.Now(), 2)
	s.states[surface] = state
	return reply, nil
}

// Two processes, each with a budget of its own, use the quota together.
func ExampleSharedBy() {
	ctx := context.Background()
	sb := sandbox.New(nil)
	store := &exampleStore{states: map[prospectkit.Surface][]byte{}}
	process := func() *prospectkit.Client {
		budget := prospectkit.NewBudget(prospectkit.SharedBy(store, prospectkit.Sharing{Processes: 2}))
		return newExampleClient(sb, prospectkit.WithBudget(budget), prospectkit.NoWait())
	}
	one, two := process(), process()
	for _, client := range []*prospectkit.Client{one, two, one} {
		if _, err := client.Campaigns.List(ctx); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(one.Budget().Snapshot()[0].Minute.Used, "used, says the first")

	var err error
	for err == nil {
		_, err = one.Campaigns.List(ctx)
	}
	_, err = two.Campaigns.List(ctx)
	fmt.Println("nothing is left for the second:", errors.Is(err, prospectkit.ErrRateLimited))
	// Output:
	// 3 used, says the first
	// nothing is left for the second: true
}
