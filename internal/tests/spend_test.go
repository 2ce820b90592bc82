package tests

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

var spendCalls = flag.Int("spend.calls", 3000, "how many random calls TestSpend_NeverAboveTheCap makes")

// world is a service, and the disk of a program that is killed at any instant and started again.
type world struct {
	sb    *sandbox.Sandbox
	first int64 // balance
	most  int64 // credits that the guard allows

	mu      sync.Mutex
	dead    bool // nothing of this start reaches the service or the disk any more
	steps   int  // until it is killed
	state   []byte
	forgets bool // a wrong disk loses what was written last when the program is killed
	before  []byte
	tickets map[string]journal.Ticket
	ended   map[string]bool
	wrong   []string
	refused map[string]int // calls, by why
	kills   int
}

var errDead = errors.New("the program was killed")

// step is an instant at which the program can be killed. It reports whether it is alive.
func (w *world) step() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.steps--; w.steps == 0 {
		w.dead = true
		w.kills++
		if w.forgets {
			w.state = w.before
		}
	}
	return !w.dead
}

// Update implements spend.Store.
func (w *world) Update(_ context.Context, change func([]byte) ([]byte, error)) error {
	if !w.step() {
		return errDead
	}
	err := func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.dead {
			return errDead
		}
		next, err := change(w.state)
		if err == nil {
			w.before, w.state = w.state, next
		}
		return err
	}()
	if !w.step() {
		return errDead
	}
	return err
}

// disk is the store of a judge, who is never killed.
type disk struct{ *world }

func (d disk) Update(_ context.Context, change func([]byte) ([]byte, error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := change(d.state)
	return err
}

// notes is the journal of the program.
type notes struct{ *world }

func (n notes) Sending(_ context.Context, t journal.Ticket) error {
	if !n.step() {
		return errDead
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tickets[t.ID] = t
	return nil
}

func (n notes) Ended(_ context.Context, id string, o journal.Outcome) error {
	if !n.step() {
		return errDead
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended[id] = o != journal.Unknown
	return nil
}

func (n notes) InDoubt(context.Context) iter.Seq2[journal.Ticket, error] {
	n.mu.Lock()
	defer n.mu.Unlock()
	var open []journal.Ticket
	for id, t := range n.tickets {
		if !n.ended[id] {
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b journal.Ticket) int { return cmp.Compare(a.ID, b.ID) })
	return func(yield func(journal.Ticket, error) bool) {
		for _, t := range open {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// RoundTrip implements http.RoundTripper.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	if !w.step() {
		return nil, errDead
	}
	resp, err := w.sb.Transport().RoundTrip(r)
	w.judge()
	if !w.step() {
		return nil, errDead
	}
	return resp, err
}

// judge compares the ledger of the service with the cap, and with what is written on the disk.
func (w *world) judge() {
	spent := w.first - w.sb.Balance()
	books, err := spend.NewSharedGuard(w.most, nil, disk{w}).Books(context.Background())
	held := books.Total.Committed + books.Total.InDoubt
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || spent > w.most || held < spent || held > w.most {
		w.wrong = append(w.wrong, fmt.Sprintf("spent %d, on the disk %d, cap %d, %v", spent, held, w.most, err))
	}
}

// The prices of the service, and those that the guard is told. The draft of the state has no cap, so its activation has no price.
var (
	rowPrices = sandbox.Prices{
		"search.prospects": 2, "search.run-saved": 3, "search.companies": 5, "search.save-to-list": 2, "lists.add-members": 7,
		"lists.add-contacts": 3, "lists.save-to-list": 4, "contacts.resolve": 6, "campaigns.create": 60, "campaigns.preview-step": 9,
		"imports.create": 8, "agents.create-people-watcher": 400, "agents.create-person-discovery": 90,
	}
	guardPrices = spend.Prices{
		"search.prospects": {PerResult: 2}, "search.run-saved": {PerResult: 3}, "search.companies": {PerCall: 500},
		"search.save-to-list": {WorstCase: func(spend.Call) (int64, error) { return 2 * 200, nil }},
		"lists.add-members":   {PerItem: 7, ItemsIn: "contactIds"}, "lists.add-contacts": {PerItem: 3, ItemsIn: "contacts"},
		"lists.save-to-list": {PerCall: 40}, "contacts.resolve": {PerCall: 6}, "campaigns.create": {PerCall: 60},
		"campaigns.preview-step": {PerCall: 9}, "imports.create": {PerCall: 8},
		"agents.create-web-monitor": {Runs: 33}, "agents.create-person-discovery": {Runs: 33},
	}
)

// newWorld makes a service with enough to find, and no agent that runs already.
func newWorld(t *testing.T, seed uint64, most int64) *world {
	t.Helper()
	state := EveryState(time.Now(), time.Now().Add(time.Hour))
	ws := &state.Workspaces[0]
	ws.Agents = ws.Agents[:1]
	for i := range 150 {
		ws.Prospects = append(ws.Prospects, sandbox.Rows(sandbox.Row{
			"firstName": "P", "socialUrl": fmt.Sprintf("https://social.example/%d", i), "job_title_levels": "vp",
		})...)
	}
	w := &world{most: most, tickets: map[string]journal.Ticket{}, ended: map[string]bool{}, refused: map[string]int{}}
	opts := append(EveryRoute(), sandbox.Seed(state), sandbox.NoLimits(), sandbox.Credits(10_000_000), sandbox.WithPrices(rowPrices))
	w.sb = sandbox.New(t, opts...)
	w.first = w.sb.Balance()
	w.sb.Chaos(seed, 0.3)
	return w
}

// live runs the program until it is killed or has made its calls: it resolves what an earlier start left, and goes on in three goroutines.
func (w *world) live(t *testing.T, random *rand.Rand, calls int) {
	t.Helper()
	w.mu.Lock()
	w.dead, w.steps = false, 1+random.IntN(5*calls)
	w.mu.Unlock()
	client := SandboxClient(t, w.sb, prospectkit.WithTransport(w), prospectkit.WithJournal(notes{w}),
		prospectkit.WithSpendGuard(spend.NewSharedGuard(w.most, guardPrices, w)))
	for ticket, err := range client.InDoubt(t.Context()) {
		require.NoError(t, err)
		_, _ = client.Resolve(t.Context(), ticket)
	}
	var all sync.WaitGroup
	for part := range 3 {
		own := rand.New(rand.NewPCG(random.Uint64(), uint64(part)))
		all.Go(func() {
			for range calls / 3 {
				w.note(spendOnce(t.Context(), client, own))
				time.Sleep(time.Duration(own.IntN(3600)) * time.Second)
			}
		})
	}
	all.Wait()
}

func (w *world) note(err error) {
	why := ""
	switch {
	case errors.Is(err, prospectkit.ErrSpendCap):
		why = "cap"
	case errors.Is(err, spend.ErrUnknownPrice):
		why = "price"
	case errors.Is(err, prospectkit.ErrOutcomeUnknown):
		why = "unknown"
	case err == nil:
		why = "nothing"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused[why]++
}

// spendOnce makes one random call.
func spendOnce(ctx context.Context, c *prospectkit.Client, random *rand.Rand) error {
	name, pay := fmt.Sprintf("Agent %d", random.IntN(1000)), 1000+random.IntN(2000)
	switch random.IntN(8) {
	case 0:
		page, err := c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: vps, Size: random.IntN(101)})
		if err == nil && page.More() {
			_, err = page.Next(ctx)
		}
		return err
	case 1:
		w := Watcher()
		w.ListName, w.Start, w.MaxCreditSpend, w.Frequency = name, random.IntN(2) == 0, pay, 1+random.IntN(9)
		_, err := c.Agents.Create(ctx, w)
		return err
	case 2:
		m := Monitor()
		m.ListName, m.MaxCreditSpend = name, pay
		_, err := c.Agents.CreateAndStart(ctx, m)
		return err
	case 3:
		d := Discovery()
		d.ListName, d.MaxCreditSpend, d.Start = name, pay, true
		_, err := c.Agents.Ensure(ctx, d)
		return resolved(ctx, err)
	default:
		names := []string{"lists.list", "agents.activate"}
		for name := range rowPrices {
			names = append(names, name)
		}
		slices.Sort(names)
		_, err := EveryCall[names[random.IntN(len(names))]](ctx, c)
		return resolved(ctx, err)
	}
}

// resolved resolves an unknown outcome.
func resolved(ctx context.Context, err error) error {
	if unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok {
		_, _ = unknown.Resolve(ctx)
	}
	return err
}

// spendAtRandom lets a program make calls in a world, through many starts.
func spendAtRandom(t *testing.T, seed uint64, calls int, forgets bool) (w *world) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(seed, 1))
		caps := []int64{0, 400, 3000, 60_000, 400_000}
		w = newWorld(t, seed, caps[random.IntN(len(caps))]+random.Int64N(500))
		w.forgets = forgets
		for calls > 0 {
			n := min(calls, 3+random.IntN(60))
			w.live(t, random, n)
			calls -= n
			time.Sleep(time.Duration(random.IntN(72)) * time.Hour)
			w.judge()
		}
		time.Sleep(100 * 24 * time.Hour) // until all agents have expired
		w.judge()
	})
	return w
}

// The ledger of the service is never above the cap, and the guard never below the ledger: after every request, under faults, through
// kills at any instant, and with agents that run for months.
func TestSpend_NeverAboveTheCap(t *testing.T) {
	const each = 120
	total, kills := map[string]int{}, 0
	for i := range max(1, *spendCalls/each) {
		w := spendAtRandom(t, uint64(i), each, false)
		require.Empty(t, w.wrong, "seed %d", i)
		kills += w.kills
		for why, n := range w.refused {
			total[why] += n
		}
	}
	t.Log(kills, "kills;", total)
	for _, why := range []string{"cap", "price", "unknown", "nothing"} {
		require.Positive(t, total[why], why)
	}
	require.Positive(t, kills)
}

// The judge finds a store that is not durable.
func TestSpend_JudgeFindsWhatIsNotDurable(t *testing.T) {
	for seed := range uint64(60) {
		if w := spendAtRandom(t, seed, 60, true); len(w.wrong) > 0 {
			return
		}
	}
	require.Fail(t, "nothing is wrong")
}

// saved is a store in what survives the stops of a run.
type saved struct{ run *sandbox.Run }

func (s saved) Update(_ context.Context, change func([]byte) ([]byte, error)) error {
	state, _ := s.run.Load("spend")
	next, err := change([]byte(state))
	if err == nil {
		s.run.Save("spend", string(next))
	}
	return err
}

// The cap holds after every failure at every request, and after a stop before everything that is stored.
func TestEveryFailure_SpendGuard(t *testing.T) {
	const most = 3_000
	prices := spend.Prices{"search.prospects": {PerResult: 1}, "lists.add-contacts": {PerCall: 400}, "agents.create-web-monitor": {PerCall: 2000}}
	monitor := Monitor()
	monitor.MaxCreditSpend = 2000
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client := clientOf(run, prospectkit.WithSpendGuard(spend.NewSharedGuard(most, prices, saved{run})))
		_, search := client.Search.ProspectsPage(run.Context(), prospectkit.SearchParams{Filters: vps, Size: 50})
		_, add := EveryCall["lists.add-contacts"](run.Context(), client)
		_, start := client.Agents.CreateAndStart(run.Context(), monitor)
		return errors.Join(resolved(run.Context(), search), resolved(run.Context(), add), start)
	}, func(run *sandbox.Run) error {
		books, err := spend.NewSharedGuard(most, nil, saved{run}).Books(run.Context())
		spent := int64(0)
		for _, e := range run.Ledger() {
			spent -= min(0, e.Amount)
		}
		if held := books.Total.Committed + books.Total.InDoubt; err != nil || spent > most || held < spent || held > most {
			return fmt.Errorf("spent %d, held %d, %w", spent, held, err)
		}
		return nil
	}, append(everySweep(), sandbox.WithPrices(sandbox.Prices{"lists.add-contacts": 400}))...)
}
