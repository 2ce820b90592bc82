package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/filesystem"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/sim"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// option is one of a client that needs the process.
type option func(*run, *user) prospectkit.ClientOption

// kinds are the programs.
var kinds = map[string]func(*user) error{"writer": writer, "spender": spender, "walker": walker, "approver": approver, "ensurer": ensurer, "hurrier": hurrier, "starter": starter}

// run is a world with a service in it.
type run struct {
	*sim.World

	service *sandbox.Sandbox
	laws    *laws
	store   *store
	clock   *serviceClock
	key     string                                        // that is valid
	busy    bool                                          // teammates edit as pages are read
	grows   bool                                          // teammates add rows at the end
	adds    bool                                          // teammates remove no row: they add some instead
	through int                                           // the gateway before the service
	aged    bool                                          // a copy had an Age, which may be that of a gateway
	most    int                                           // that the totals of the walked list say; 0: what is there
	network string                                        // of what hurries: many responses are lost or hidden, or requests late
	copies  map[string]func(*http.Request) *http.Response // of a cache, by address
	stale   map[*sim.Start]int                            // connections that were idle for too long
	hurried bool                                          // calls at the same instant share a client: which of them hears of a new key first is chance

	processes []*sim.Process
}

// user is what a program has at hand.
type user struct {
	*sim.Start
	*run

	ctx    context.Context //nolint:containedctx // that of its main strand
	client *prospectkit.Client
	file   *journal.FileJournal
	guard  *spend.Guard
}

// program is what a process does, ten calls or so.
func (r *run) program(do func(*user) error, opts ...option) func(*sim.Start) error {
	return func(s *sim.Start) error {
		u := &user{Start: s, run: r, ctx: s.Context("main")}
		if s.Number > 1 {
			r.laws.restarts()
		}
		r.recovers(s.Disk)
		opened, err := filesystem.OpenJournal(s.Files(u.ctx), "journal", "main")
		if r.laws.opened(err); err != nil {
			return err
		}
		u.file = opened.(*journal.FileJournal)
		defer u.file.Close()
		all := []prospectkit.ClientOption{
			tests.Routes(), prospectkit.WithTransport(wire{r, s}), prospectkit.WithJournal(orderly{u.file, s, r.laws}), prospectkit.WithMaxResponseBytes(longest),
			prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) context.Context {
				if e.Next != "" {
					r.laws.reach("decision: %s", e.Reason)
				}
				return nil
			}),
			prospectkit.WithTokenSource(func(context.Context) (string, error) { return r.key, nil }),
		}
		for _, o := range opts {
			all = append(all, o(r, u))
		}
		if u.client, err = prospectkit.New(r.service.BaseURL(), "", all...); err != nil {
			return err
		}
		if err := u.settle(); err != nil {
			return err
		}
		if err := do(u); err != nil || !u.Alive() {
			return err
		}
		if err := u.audit(nil); err != nil || !u.Alive() {
			return err
		}
		if err := u.file.Close(); err != nil || !u.Alive() {
			return err
		}
		r.laws.closed(s)
		return nil
	}
}

// recovers marks what a journal finds when it is opened.
func (r *run) recovers(on *sim.Disk) {
	text, there := on.Holds("journal")
	note, _ := on.Holds("journal.lock")
	_, left := on.Holds("journal.new")
	for what, found := range map[string]bool{
		"there is none": !there, "a copy is left": left, "no journal, and a copy": !there && left,
		"the end is whole": there && strings.HasSuffix(text, "\n"), "the end is torn": there && !strings.HasSuffix(text, "\n"),
		"there is no note of what is durable": there && note == "",
		"the note is about this journal":      there && note != "" && named(note) == named(text),
		"the note is about an earlier one":    there && note != "" && named(note) != named(text),
	} {
		if found {
			r.laws.reach("recovery: %s", what)
		}
	}
}

// named is the name in the first record of a journal, or in its note.
func named(text string) string {
	_, name, _ := strings.Cut(text, `"file":"`)
	name, _, _ = strings.Cut(name, `"`)
	return name
}

// orderly lets one strand at a time begin to use the journal: a step can wake two.
type orderly struct {
	*journal.FileJournal

	start *sim.Start
	laws  *laws
}

func (o orderly) Sending(ctx context.Context, t journal.Ticket) error {
	if err := o.start.Do(ctx, "journal", "sending", func(*sim.Turn) string { return "" }); err != nil {
		return err
	}
	o.laws.ticket(t)
	return o.FileJournal.Sending(ctx, t)
}

func (o orderly) Ended(ctx context.Context, id string, e journal.End) error {
	if err := o.start.Do(ctx, "journal", "ended", func(*sim.Turn) string { return "" }); err != nil {
		return err
	}
	return o.FileJournal.Ended(ctx, id, e)
}

func (o orderly) Calls(ctx context.Context, name string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if err := o.start.Do(ctx, "journal", "calls", func(*sim.Turn) string { return "" }); err != nil {
			yield(journal.Entry{}, err)
			return
		}
		o.FileJournal.Calls(ctx, name)(yield)
	}
}

// settle resolves what earlier starts left in doubt.
func (u *user) settle() error {
	var tickets []journal.Ticket
	if err := u.audit(func(t journal.Ticket) { tickets = append(tickets, t) }); err != nil {
		return err
	}
	for n, ticket := range tickets {
		mark, random := markOfTicket(ticket), u.Random(200+n)
		ctx := u.patient(random, mark)
		if len(tickets) == 1 && random.IntN(2) == 0 { // reads side by side would be steps in an order of their own
			found, err := u.client.Recover(ctx)
			u.laws.recovered(u.Start, mark, found, err)
		} else {
			r, _ := u.client.Resolve(ctx, ticket)
			u.laws.heard(u.Start, mark, r)
		}
		if happened, known := u.laws.truth(mark, ticket); known && u.guard != nil && n%2 == 0 {
			u.settleByHand(ticket, happened)
		}
	}
	return nil
}

const person = "ops"

// settleByHand settles a ticket by the books of the service.
func (u *user) settleByHand(t journal.Ticket, happened bool) {
	as, settle := journal.NotApplied, u.guard.Release
	if happened {
		as, settle = journal.Applied, u.guard.Commit
	}
	if settle(u.ctx, t.ID) == nil && u.file.Settle(u.ctx, t.ID, journal.Settlement{Outcome: as, By: person, Because: "it was looked up"}) == nil && u.Alive() {
		u.laws.note(func() { u.laws.settled[t.ID] = true })
		u.laws.reach("settled by a person")
	}
}

// audit holds the journal against the books of the service.
func (u *user) audit(doubtful func(journal.Ticket)) error {
	entries := map[string][]journal.Entry{}
	for e, err := range u.file.Calls(u.ctx, "") {
		if err != nil {
			return err
		}
		mark := markOfTicket(e.Ticket)
		entries[mark] = append(entries[mark], e)
	}
	u.store.mu.Lock()
	books, _ := u.books()
	u.store.mu.Unlock()
	if doubtful == nil { // an outcome may wait for the next write of the journal
		u.laws.remembers(u.Start, entries, nil, books.Open)
		return nil
	}
	ids := []string{}
	for ticket, err := range u.client.InDoubt(u.ctx) {
		if err != nil {
			return err
		}
		ids = append(ids, ticket.ID)
		doubtful(ticket)
	}
	u.laws.remembers(u.Start, entries, ids, books.Open)
	return nil
}

type lookKey struct{}

// lookedFor is the call whose effect a request looks for.
func lookedFor(r *http.Request) string {
	mark, _ := r.Context().Value(lookKey{}).(string)
	return mark
}

// patient is a context for a lookup: some programs have no time to wait until a change would show.
func (u *user) patient(random *rand.Rand, mark string) context.Context {
	looks := context.WithValue(u.ctx, lookKey{}, mark)
	if random.IntN(3) > 0 {
		return looks
	}
	ctx, cancel := context.WithTimeout(looks, time.Duration(1+random.IntN(4))*time.Second)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// guarded reserves credits in the store that all share.
func guarded(r *run, u *user) prospectkit.ClientOption {
	u.guard = spend.NewSharedGuard(r.laws.credits, guardPrices, guardStore{r.store, u})
	return prospectkit.WithSpendGuard(u.guard)
}

// The prices of the service, and those that the guard is told. The draft of the state has no cap, so its activation has no price.
var (
	servicePrices = sandbox.Prices{
		"search.prospects": 2, "search.run-saved": 3, "search.companies": 5, "search.save-to-list": 2, "lists.add-members": 7,
		"lists.add-contacts": 3, "lists.save-to-list": 4, "contacts.resolve": 6, "campaigns.create": 60, "campaigns.preview-step": 9,
		"imports.create": 8, "agents.create-people-watcher": 400, "agents.create-person-discovery": 90,
	}
	guardPrices = spend.Prices{
		"search.prospects": {PerResult: 2}, "search.run-saved": {PerCall: 300}, "search.companies": {PerCall: 500},
		"search.save-to-list": {WorstCase: func(spend.Call) (int64, error) { return 2 * 200, nil }},
		"lists.add-members":   {PerItem: 7, ItemsIn: "contactIds"}, "lists.add-contacts": {PerItem: 3, ItemsIn: "contacts"},
		"lists.save-to-list": {PerCall: 40}, "contacts.resolve": {PerCall: 6}, "campaigns.create": {PerCall: 60},
		"campaigns.preview-step": {PerCall: 9}, "imports.create": {PerCall: 8},
		"agents.create-web-monitor": {Runs: 33}, "agents.create-person-discovery": {Runs: 33},
	}
)

// calls is how many calls a program makes.
const calls = 10

// The numbers of calls that are pages of a scroll, and of those that make several requests.
const (
	laterPage = 50
	goal      = 200
)

// begin goes on in another strand: what goes wrong there does not depend on how many steps came before.
func (u *user) begin(strand string) { u.ctx = u.Context(strand) }

// each makes the calls that an earlier start has not made, each of which is chosen by its number.
func (u *user) each(do func(n int, random *rand.Rand) error) error {
	n, _ := strconv.Atoi(u.Load("calls"))
	for ; n < calls; n++ {
		u.begin(fmt.Sprint("call", n))
		if err := u.Save(u.ctx, "calls", strconv.Itoa(n+1)); err != nil {
			return err
		}
		if err := do(n, u.Random(n+1)); err != nil {
			return err
		}
		if !u.Alive() {
			return sim.ErrKilled
		}
	}
	return nil
}

func (u *user) mark(n int) string { return fmt.Sprintf("%s.%d.%d", u.Name, u.Number, n) }

// write makes one call, and notes what it claims.
func (u *user) write(ctx context.Context, random *rand.Rand, n int, name string, call tests.AnyCall) {
	mark := u.mark(n)
	c := &made{op: name, process: u.Name, start: u.Number, later: n/laterPage == 1, goal: n >= goal}
	info := new(prospectkit.Info)
	opts := []prospectkit.CallOption{prospectkit.WithQuery("mark", mark), prospectkit.WithInfo(info)}
	if c.permitted = random.IntN(5) == 0; c.permitted {
		opts = append(opts, prospectkit.AllowRetryUnknown())
	}
	u.laws.begin(mark, c)
	ctx = prospectkit.WithActor(ctx, "sim#"+mark)
	cancelled := time.Time{}
	if random.IntN(10) == 0 {
		var cancel context.CancelFunc
		cancelled = time.Now().Add(time.Duration(random.Int64N(int64(20 * time.Second))))
		ctx, cancel = context.WithDeadline(ctx, cancelled)
		defer cancel()
		c.ends = true
	}
	var got any
	err := recovered(func() (err error) {
		got, err = call(ctx, u.client, opts...)
		return err
	})
	if errors.Is(err, errPanic) { // which tells the program nothing
		u.laws.reach("the transport has panicked")
		return
	}
	u.laws.reach("outcome: %s", prospectkit.OutcomeOf(err))
	for _, why := range []error{prospectkit.RuleOtherBody, prospectkit.RuleInProgress, prospectkit.RuleResume, prospectkit.ErrSpendCap, spend.ErrUnknownPrice, prospectkit.ErrRateLimited, prospectkit.ErrConflict, context.DeadlineExceeded} {
		if errors.Is(err, why) {
			u.laws.reach("error: %v", why)
		}
	}
	if errors.As(err, new(*prospectkit.RefusedError)) {
		u.laws.reach("error: prospectkit: refused before the network")
	}
	if info.Already || errors.Is(err, prospectkit.ErrAlreadyDone) {
		u.laws.already(u.Start, mark)
	} else if !c.goal || claims(got, err) {
		u.laws.told(u.Start, mark, err)
	}
	most := 2 * time.Second
	if u.Dawdled() {
		most += 20 * time.Second // docs/safety.md: nothing ends an fsync in progress
	}
	if late := time.Since(cancelled); !cancelled.IsZero() && late > most {
		_ = u.laws.fails(contextsEnd, fmt.Errorf("%s %s ended %v after its context: %w", mark, name, late, err))
	}
	if unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok && random.IntN(2) == 0 {
		look := unknown.Resolve
		if random.IntN(2) == 0 { // as another process would
			look = func(ctx context.Context, opts ...prospectkit.CallOption) (*prospectkit.Resolution, error) {
				return u.client.Resolve(ctx, unknown.Ticket(), opts...)
			}
		}
		r, _ := look(u.patient(random, mark))
		u.laws.heard(u.Start, markOfTicket(unknown.Ticket()), r) // which may be that of an earlier call
	}
}

// claims is whether a result tells something about the effect of the call: not that something was found or done before, and not that what was
// created did not start.
func claims(got any, err error) bool {
	switch e := got.(type) {
	case *prospectkit.Ensured:
		return e == nil || e.Created || err != nil // what has the name is beside the error
	case *prospectkit.EnsuredAgent:
		return e == nil || e.Created && err == nil || errors.Is(err, prospectkit.CodeListNameTaken)
	case *prospectkit.Agent:
		return e == nil
	case *prospectkit.Approval:
		return e == nil || !e.Already
	}
	return true
}

// recovered is the error of a call, or the panic of its transport.
func recovered(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil && !strings.Contains(fmt.Sprint(p), errPanic.Error()) {
			panic(p)
		} else if p != nil {
			err = errPanic
		}
	}()
	return call()
}

// callOf is a call of an operation, with a name of its own where the outcome could be another call's.
func callOf(name, mark string) tests.AnyCall {
	type (
		client = *prospectkit.Client
		option = prospectkit.CallOption
	)
	discovery, watcher, monitor := tests.Discovery(), tests.Watcher(), tests.Monitor()
	discovery.ListName, watcher.ListName, monitor.ListName = "D "+mark, "W "+mark, "M "+mark
	own := map[string]tests.AnyCall{
		"imports.create": func(ctx context.Context, c client, opts ...option) (any, error) {
			text := "email,note\n" + mark + "@example.com," + strings.Repeat("x", tooLong) + "\n"
			open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
			return c.Imports.Upload(ctx, prospectkit.Upload{Name: "people.csv", Size: int64(len(text)), Open: open}, opts...)
		},
		"lists.create": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Lists.Create(ctx, prospectkit.NewList{Name: "L " + mark}, opts...)
		},
		"agents.create-person-discovery": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Agents.Create(ctx, discovery, opts...)
		},
		"agents.create-people-watcher": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Agents.Create(ctx, watcher, opts...)
		},
		"agents.create-web-monitor": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Agents.Create(ctx, monitor, opts...)
		},
	}
	if call, ok := own[name]; ok {
		return call
	}
	return tests.EveryCall[name]
}

// writeNames are the operations that need a ticket; creating a list, whose outcome can be looked up, comes more often.
var writeNames = func() []string {
	names := append(slices.Repeat([]string{"lists.create"}, 9), "lists.move", "lists.move", "agents.create-person-discovery")
	for _, o := range op.All() {
		if o.Class != op.Read {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names
}()

// writer makes all kinds of writes, two at a time.
func writer(u *user) error {
	return u.each(func(n int, random *rand.Rand) error {
		if n == calls/2 {
			u.both(n, anyOf(writeNames))
		}
		if n%4 == 3 {
			_ = u.file.Compact(u.ctx, time.Now(), u.laws.archive)
		}
		name, call := anyOf(writeNames)(random, u.mark(n))
		u.write(u.ctx, random, n, name, call)
		time.Sleep(time.Duration(random.Int64N(int64(4 * time.Minute))))
		return nil
	})
}

// both makes two calls at once.
func (u *user) both(n int, choose func(*rand.Rand, string) (string, tests.AnyCall)) {
	var both sync.WaitGroup
	for side, strand := range []string{"left", "right"} {
		n := 100 + 2*n + side
		random := u.Random(n)
		both.Go(func() {
			ctx := u.Context(fmt.Sprint(strand, n))
			if u.Save(ctx, strand, "") == nil { // so that they begin one after the other
				name, call := choose(random, u.mark(n))
				u.write(ctx, random, n, name, call)
			}
		})
	}
	both.Wait()
}

// anyOf chooses one of some operations.
func anyOf(names []string) func(*rand.Rand, string) (string, tests.AnyCall) {
	return func(random *rand.Rand, mark string) (string, tests.AnyCall) {
		name := names[random.IntN(len(names))]
		return name, callOf(name, mark)
	}
}

// spender makes calls that cost credits, and starts agents, whose runs cost some for weeks.
func spender(u *user) error {
	names := slices.Sorted(maps.Keys(servicePrices))
	return u.each(func(n int, random *rand.Rand) error {
		agent, most := u.mark(n), 1000+random.IntN(2000)
		switch random.IntN(8) {
		case 0:
			var page *prospectkit.ScrollPage[prospectkit.Profile]
			u.write(u.ctx, random, n, "search.prospects", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (_ any, err error) {
				page, err = c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: vps, Size: 1 + random.IntN(39)}, opts...)
				return page, err
			})
			if page != nil && page.More() {
				u.write(u.ctx, random, laterPage+n, "search.prospects", func(ctx context.Context, _ *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
					return page.Next(ctx, opts...)
				})
			}
		case 1:
			w := tests.Watcher()
			w.ListName, w.Start, w.MaxCreditSpend, w.Frequency = agent, random.IntN(2) == 0, most, 1+random.IntN(9)
			_, _ = u.client.Agents.Create(u.ctx, w)
		case 2:
			m := tests.Monitor()
			m.ListName, m.MaxCreditSpend = agent, most
			u.write(u.ctx, random, goal+n, "agents.create-web-monitor", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
				return c.Agents.CreateAndStart(ctx, m, opts...)
			})
		case 3:
			d := tests.Discovery()
			d.ListName, d.MaxCreditSpend, d.Start = agent, most, true
			u.write(u.ctx, random, goal+n, "agents.create-person-discovery", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
				return c.Agents.Ensure(ctx, d, opts...)
			})
		case 4, 5:
			u.both(n, anyOf(names))
		default:
			name, call := anyOf(names)(random, u.mark(n))
			u.write(u.ctx, random, n, name, call)
		}
		return nil
	})
}

var vps = filter.Search{"job_title_levels": filter.Including("vp")}

// approver approves what it has reviewed, without a person, and a teammate stops that.
func approver(u *user) error {
	return u.each(func(n int, random *rand.Rand) error {
		if n%3 == 2 {
			if err := u.stops(random); err != nil {
				return err
			}
		}
		seen, err := u.client.Campaigns.Review(u.ctx, tests.CampaignID)
		if err != nil {
			return nil //nolint:nilerr // the next call tries again
		}
		u.laws.shown(seen)
		u.write(u.ctx, random, n, "campaigns.approve", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
			return c.Campaigns.Approve(ctx, tests.CampaignID, seen.Digest(), opts...)
		})
		return nil
	})
}

// stops lets a teammate stop the campaign, minutes later.
func (u *user) stops(random *rand.Rand) error {
	time.Sleep(time.Duration(1+random.IntN(4)) * time.Minute)
	return u.Do(u.ctx, "stop", "stop", func(*sim.Turn) string { return u.stop() })
}

// stop stops the campaign, if no approval can be on its way that looked before the last one.
func (u *user) stop() string {
	u.laws.Lock()
	defer u.laws.Unlock()
	if approved := u.laws.approved; approved.IsZero() || time.Since(approved) < 2*time.Minute || u.service.Campaigns()[0].Status != "active" {
		return "not active"
	}
	u.service.Do(func(tx *sandbox.Tx) { tx.StopCampaign(tests.CampaignID) })
	u.laws.stopped = true
	u.laws.mark("a teammate has stopped a campaign")
	return "stopped"
}

// unmarked is the key of the mark in the context of a call whose query has none, until it is on the wire.
type unmarked struct{}

// ensurer wants a list and an agent to be there, and contacts to be added, once.
func ensurer(u *user) error {
	spec := tests.Discovery()
	spec.ListName, spec.MaxCreditSpend = "ensured agent", 1000
	return u.each(func(n int, random *rand.Rand) error {
		name, call := "agents.create-person-discovery", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
			return c.Agents.CreateAndStart(ctx, spec, opts...)
		}
		if n%2 == 0 {
			name, call = "lists.create", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
				return c.Lists.Ensure(ctx, prospectkit.NewList{Name: fmt.Sprint("ensured ", n/4)}, opts...)
			}
		}
		u.write(u.ctx, random, goal+n, name, call)
		if n%2 == 1 {
			key := fmt.Sprint("key ", n/6)
			given := fmt.Sprint(key, n/5) // the third call with the first key has another body
			u.both(n, func(_ *rand.Rand, mark string) (string, tests.AnyCall) {
				return "lists.add-contacts", func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
					u.laws.keyed(mark, key, given)
					ctx, opts = context.WithValue(ctx, unmarked{}, mark), opts[1:] // with a mark in its query, each would be another call
					return c.Lists.AddContacts(ctx, tests.ListID, prospectkit.Fields{"contacts": []prospectkit.Fields{{"firstName": given}}}, append(opts, prospectkit.Once(key))...)
				}
			})
		}
		return nil
	})
}
