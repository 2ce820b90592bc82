package call_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// spending runs a test on a workspace with 250 prospects and a list with somebody to watch.
func spending(t *testing.T, test func(t *testing.T, sb *sandbox.Sandbox), opts ...sandbox.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ws := sandbox.Workspace{Name: "main", Credits: 100_000, FilterOptions: map[string][]string{"job_title_levels": {"vp"}}}
		for i := range 250 {
			url := fmt.Sprintf("https://social.example/%d", i)
			ws.Prospects = append(ws.Prospects, sandbox.Rows(sandbox.Row{"firstName": "P", "socialUrl": url, "job_title_levels": "vp"})...)
		}
		people := sandbox.Rows(sandbox.Row{"firstName": "Ada", "socialUrl": "https://social.example/ada"})
		ws.Lists = []sandbox.List{{ID: "a00000000000000000000001", Name: "People", EntityType: sandbox.ContactList, Rows: people}}
		state := sandbox.State{Workspaces: []sandbox.Workspace{ws}}
		time.Sleep(time.Hour) // so that everything is older than the calls
		test(t, sandbox.New(t, append([]sandbox.Option{sandbox.Seed(state), sandbox.NoLimits()}, opts...)...))
	})
}

// find reads pages of a search.
func find(ctx context.Context, c *prospectkit.Client, pages int) (found int, err error) {
	for _, err := range c.Search.Prospects(ctx, prospectkit.SearchParams{}, prospectkit.MaxPaidPages(pages)) {
		if err != nil {
			return found, err
		}
		found++
	}
	return found, nil
}

// What has a price counts, also if the API description says or hints at no cost. A draft is free, whatever its start costs.
func TestSpendGuard_PriceOfWhatSpendsNothing(t *testing.T) {
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		guard := spend.NewGuard(10, spend.Prices{
			"lists.create": {PerCall: 4}, "lists.move": {}, "lists.rows": {PerCall: 1}, "agents.create-web-monitor": {PerCall: 50},
		})
		client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard))
		for n := range 3 {
			_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: fmt.Sprint("Q", n)})
			require.Equal(t, n == 2, errors.Is(err, prospectkit.ErrSpendCap), "%v", err)
		}
		_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q9"}, prospectkit.AllowRetryUnknown())
		require.Equal(t, []string{tests.NotRepeatable}, tests.Refusals(t, err), "a second one would cost as much again")
		_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q9"}, prospectkit.NoSpend())
		require.ErrorIs(t, err, prospectkit.RuleNoSpend)
		_, err = client.Lists.MoveToRoot(t.Context(), "a00000000000000000000001", prospectkit.NoSpend())
		require.NoError(t, err)
		_, err = client.Lists.RowsPage(t.Context(), "a00000000000000000000001", prospectkit.RowsParams{})
		require.ErrorIs(t, err, spend.ErrUnknownPrice, "a read may be sent more than once")
		_, err = client.Agents.Create(t.Context(), prospectkit.WebMonitor{ListName: "W", EntityType: prospectkit.MonitorPeople, Prompt: "p", MaxCreditSpend: 1000})
		require.NoError(t, err)
		books, err := guard.Books(t.Context())
		require.NoError(t, err)
		require.Equal(t, spend.Book{Committed: 8}, books.Total)
	})
}

// One cap holds over ranges and clients, and what it refuses is never sent.
func TestSpendGuard_OneCap(t *testing.T) {
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		guard, book := spend.NewGuard(240, tests.PerProfile), new(tests.Notebook)
		first := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard), prospectkit.WithJournal(book))
		second := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard), prospectkit.WithJournal(book))
		found, err := find(t.Context(), first, 1)
		require.Equal(t, 100, found)
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.NotErrorIs(t, err, prospectkit.ErrSpendCap, "the range has its own cap")
		found, err = find(t.Context(), second, 5)
		require.Equal(t, 100, found)
		require.ErrorIs(t, err, prospectkit.ErrSpendCap)
		requests, tickets := len(sb.Journal()), len(book.Sent)
		for range 50 {
			_, err := first.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 41})
			require.ErrorIs(t, err, prospectkit.ErrSpendCap)
			refused := tests.AsRefused(t, err)
			require.Equal(t, prospectkit.RuleSpendGuard, refused.Rule)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Equal(t, tests.NoWait, tests.Waits(err))
			require.EqualError(t, err, "prospectkit: search.prospects: refused locally: the spend guard did not reserve the credits: "+
				"the call can cost 41 credits, and 40 of 240 are left")
		}
		require.Len(t, sb.Journal(), requests)
		require.Len(t, book.Sent, tickets)
		page, err := first.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 40})
		require.NoError(t, err)
		require.Len(t, page.Items, 40)
		require.Equal(t, spend.Book{Committed: 240}, tests.Booked(t, guard))
		require.Equal(t, int64(100_000-240), sb.Balance())
	})
}

// What a call can cost is reserved before its ticket is stored, and its ticket names the reservation.
func TestSpendGuard_ReservesBeforeTheTicket(t *testing.T) {
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		guard, book := spend.NewGuard(100, tests.PerProfile), new(tests.Notebook)
		book.OnSending = func() { require.Equal(t, spend.Book{InDoubt: 30}, tests.Booked(t, guard)) }
		client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard), prospectkit.WithJournal(book))
		sb.Fail("search.prospects", sandbox.Nth(1), sandbox.DropAfter())
		_, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 30})
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		books, err := guard.Books(t.Context())
		require.NoError(t, err)
		require.Len(t, books.Open, 1)
		require.Equal(t, book.Sent[0].ID, books.Open[0].ID)
	})
}

func TestSpendGuard_Outcomes(t *testing.T) {
	for name, test := range map[string]struct {
		times int
		fault []sandbox.FaultOption
		want  spend.Book
	}{
		"applied":           {1, []sandbox.FaultOption{sandbox.Latency(time.Second)}, spend.Book{Committed: 30}},
		"retried after 429": {1, []sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(1)}, spend.Book{Committed: 30}},
		"retried after 500": {1, []sandbox.FaultOption{sandbox.Status(500, "UNEXPECTED_ERROR")}, spend.Book{Committed: 30}},
		"never sent":        {3, []sandbox.FaultOption{sandbox.Refuse()}, spend.Book{Released: 30}},
		"rejected":          {1, []sandbox.FaultOption{sandbox.Status(402, "INSUFFICIENT_CREDITS")}, spend.Book{Released: 30}},
		"failed":            {3, []sandbox.FaultOption{sandbox.Status(500, "UNEXPECTED_ERROR")}, spend.Book{Released: 30}},
		"unreadable":        {1, []sandbox.FaultOption{sandbox.Truncate(9)}, spend.Book{Committed: 30}},
		"lost":              {1, []sandbox.FaultOption{sandbox.DropBefore()}, spend.Book{InDoubt: 30}},
		"a gateway":         {1, []sandbox.FaultOption{sandbox.HTML(502)}, spend.Book{InDoubt: 30}},
	} {
		t.Run(name, func(t *testing.T) {
			spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
				guard := spend.NewGuard(30, tests.PerProfile)
				client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard))
				sb.Fail("search.prospects", append([]sandbox.FaultOption{sandbox.First(test.times)}, test.fault...)...)
				_, _ = client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 30})
				require.Equal(t, test.want, tests.Booked(t, guard))
			})
		})
	}
}

func movers(name string, start bool) prospectkit.PeopleWatcher {
	return prospectkit.PeopleWatcher{
		ListName: name, EventType: prospectkit.WatchPostUpdates, ListID: "a00000000000000000000001", MaxCreditSpend: 1000, Frequency: 7, Start: start,
	}
}

// An unknown outcome counts until it is resolved: by the error, or by its ticket in another process.
func TestSpendGuard_Resolves(t *testing.T) {
	for _, happened := range []bool{true, false} {
		for _, elsewhere := range []bool{true, false} {
			t.Run(fmt.Sprintf("happened %t, elsewhere %t", happened, elsewhere), func(t *testing.T) {
				spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
					store := new(tests.CreditStore)
					guard := spend.NewSharedGuard(5000, nil, store)
					client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard))
					fault := map[bool]sandbox.FaultOption{true: sandbox.DropAfter(), false: sandbox.DropBefore()}[happened]
					require.NoError(t, tests.Discard(client.Account.Me(t.Context()))) // so that the ticket tells its age
					sb.Fail("agents.create-people-watcher", sandbox.Nth(1), fault)
					_, err := client.Agents.Create(t.Context(), movers("Movers", true))
					unknown := tests.AsUnknown(t, err)
					require.Equal(t, spend.Book{InDoubt: 5000}, tests.Booked(t, guard), "a month of runs, a week apart")
					_, err = client.Agents.Create(t.Context(), movers("Others", true))
					require.ErrorIs(t, err, prospectkit.ErrSpendCap)

					if elsewhere {
						other := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(spend.NewSharedGuard(5000, nil, store)))
						_, err = other.Resolve(t.Context(), tests.Written(t, unknown.Ticket()))
					} else {
						_, err = unknown.Resolve(t.Context())
					}
					require.NoError(t, err)
					want := map[bool]spend.Book{true: {Committed: 5000}, false: {Released: 5000}}[happened]
					require.Equal(t, want, tests.Booked(t, guard))
				})
			})
		}
	}
}

func TestSpendGuard_StoreIsAway(t *testing.T) {
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		store, away, book := new(tests.CreditStore), errors.New("the store is away"), new(tests.Notebook)
		guard := spend.NewSharedGuard(60, tests.PerProfile, store)
		client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard), prospectkit.WithJournal(book))
		search := func() error {
			return tests.Discard(client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 30}))
		}
		store.Err = away
		err := search()
		require.ErrorIs(t, err, away)
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.NotErrorIs(t, err, prospectkit.ErrSpendCap)
		require.Empty(t, sb.Journal())

		// A call that could not be settled keeps its ticket and its credits.
		store.Err, book.OnSending = nil, func() { store.Err = away }
		require.NoError(t, search())
		require.Equal(t, map[string]journal.Outcome{"search.prospects": journal.Unknown}, book.Outcomes())
		store.Err, book.OnSending = nil, nil
		require.Equal(t, spend.Book{InDoubt: 30}, tests.Booked(t, spend.NewSharedGuard(60, nil, store)))
		require.NoError(t, search(), "this tells the store of the first one, too")
		require.Equal(t, spend.Book{Committed: 60}, tests.Booked(t, guard))
	})
}

func TestSpendGuard_JournalThatRefusesReleases(t *testing.T) {
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		guard := spend.NewGuard(30, tests.PerProfile)
		client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard), prospectkit.WithJournal(&tests.Notebook{Broken: errors.New("disk full")}))
		_, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 30})
		refused := tests.AsRefused(t, err)
		require.Equal(t, prospectkit.RuleJournal, refused.Rule)
		require.Equal(t, spend.Book{Released: 30}, tests.Booked(t, guard))
	})
}

// called is the call of an operation.
func called(name string) func(ctx context.Context, c *prospectkit.Client) error {
	return func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Discard(tests.EveryCall[name](ctx, c))
	}
}

// Every operation that may spend needs a price; drafts, and what is documented to be free, do not.
func TestSpendGuard_UnknownPrices(t *testing.T) {
	monitor := prospectkit.WebMonitor{ListName: "Funding", EntityType: prospectkit.MonitorCompanies, Prompt: "raised a round", MaxCreditSpend: 1000}
	forever := movers("For ever", true)
	forever.Expires = prospectkit.NeverExpires
	read := prospectkit.Operation{
		Name: "custom", Method: "GET", Path: "/business/me", Surface: "account", Reads: true,
	}
	for name, call := range map[string]func(ctx context.Context, c *prospectkit.Client) error{
		"search": called("search.prospects"), "resolve": called("contacts.resolve"), "activate": called("agents.activate"),
		"lists for a campaign": func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Campaigns.Adjust(ctx, "a00000000000000000000009", prospectkit.CampaignChanges{ListIDs: []string{"a00000000000000000000001"}}))
		},
		"for ever": func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Agents.Create(ctx, forever))
		},
		"read": func(ctx context.Context, c *prospectkit.Client) error { return c.Call(ctx, read, nil, nil) },
		"free read": func(ctx context.Context, c *prospectkit.Client) error {
			free := read
			free.Free = true
			require.NoError(t, c.Call(ctx, free, nil, nil))
			require.NoError(t, tests.Discard(c.Agents.Create(ctx, monitor)), "a draft")
			return tests.Discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{}))
		},
		"no draft is left": func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Agents.CreateAndStart(ctx, monitor))
		},
	} {
		t.Run(name, func(t *testing.T) {
			spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
				guard := spend.NewGuard(1_000_000, nil)
				err := call(t.Context(), tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard)))
				require.ErrorIs(t, err, spend.ErrUnknownPrice)
				require.ErrorAs(t, err, new(*prospectkit.RefusedError))
				require.NotErrorIs(t, err, prospectkit.ErrSpendCap)
				require.Equal(t, spend.Book{}, tests.Booked(t, guard))
				for _, e := range sb.Journal() {
					require.True(t, e.Method == http.MethodGet || name == "free read", e.Path)
				}
			})
		})
	}
}

// The start of an agent counts as its runs until it expires, however it is started, and once.
func TestSpendGuard_Agents(t *testing.T) {
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		guard := spend.NewGuard(9000, spend.Prices{"agents.create-web-monitor": {Runs: 2}})
		client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard))
		for range 2 {
			require.NoError(t, tests.Discard(client.Agents.CreateAndStart(t.Context(), movers("Movers", false))))
			require.Equal(t, spend.Book{Committed: 5000}, tests.Booked(t, guard))
		}
		monitor := prospectkit.WebMonitor{
			ListName: "Funding", EntityType: prospectkit.MonitorCompanies, Prompt: "raised a round", MaxCreditSpend: 1500, Start: true,
		}
		require.NoError(t, tests.Discard(client.Agents.Ensure(t.Context(), monitor)))
		require.Equal(t, spend.Book{Committed: 8000}, tests.Booked(t, guard))

		_, err := client.Agents.CreateAndStart(t.Context(), movers("Others", false))
		require.ErrorIs(t, err, prospectkit.ErrSpendCap)
		require.Len(t, sb.Agents(), 2, "no draft is left")
		_, err = client.Agents.Ensure(t.Context(), monitor)
		require.NoError(t, err, "what has started already costs nothing more")

		require.NoError(t, tests.Discard(client.Agents.Create(t.Context(), movers("Others", false))), "a draft is free")
		_, err = client.Agents.CreateAndStart(t.Context(), movers("Others", false))
		require.ErrorIs(t, err, spend.ErrUnknownPrice, "another may have made the draft that is found")
		require.ErrorIs(t, err, prospectkit.ErrNotStarted)
	})
}

// A name that is taken may be that of the agent itself: a gateway has repeated its creation.
func TestSpendGuard_AgentThatAGatewayCreatesTwice(t *testing.T) {
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		guard := spend.NewGuard(9000, spend.Prices{"agents.create-people-watcher": {Runs: 2}})
		client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard), prospectkit.WithTransport(tests.Repeats(sb.Transport(), tests.IsPost)))
		for n, name := range []string{"Draft", "Movers"} {
			_, err := client.Agents.Create(t.Context(), movers(name, n == 1))
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Equal(t, spend.Book{Committed: int64(2000 * n)}, tests.Booked(t, guard))
		}
		require.Len(t, sb.Agents(), 2)
	})
}

// Only a draft that the call has made itself, for certain, costs what its spec says.
func TestSpendGuard_DraftsOfOthers(t *testing.T) {
	found := func(t *testing.T, sb *sandbox.Sandbox) {
		t.Helper()
		dear := movers("Movers", false)
		dear.MaxCreditSpend = 200_000
		require.NoError(t, tests.Discard(tests.SandboxClient(t, sb).Agents.Create(t.Context(), dear)))
	}
	lost := func(_ *testing.T, sb *sandbox.Sandbox) {
		sb.Fail("agents.create-people-watcher", sandbox.Nth(1), sandbox.DropAfter())
	}
	priced := spend.Prices{"agents.activate": {PerCall: 3000}}
	for name, test := range map[string]struct {
		before func(*testing.T, *sandbox.Sandbox)
		prices spend.Prices
		want   spend.Book
	}{
		"made by this call":          {func(*testing.T, *sandbox.Sandbox) {}, nil, spend.Book{Committed: 5000}},
		"found":                      {found, nil, spend.Book{}},
		"found, with a price":        {found, priced, spend.Book{Committed: 3000}},
		"found after a lost one":     {lost, nil, spend.Book{}},
		"found so, but with a price": {lost, priced, spend.Book{Committed: 3000}},
		"its adjustment has a price": {found, spend.Prices{"agents.activate": {PerCall: 3000}, "agents.adjust": {PerCall: 10}}, spend.Book{Committed: 3010}},
	} {
		for method, start := range map[string]func(context.Context, *prospectkit.AgentsService) (*prospectkit.Agent, error){
			"CreateAndStart": func(ctx context.Context, s *prospectkit.AgentsService) (*prospectkit.Agent, error) {
				return s.CreateAndStart(ctx, movers("Movers", false))
			},
			"Ensure": func(ctx context.Context, s *prospectkit.AgentsService) (*prospectkit.Agent, error) {
				e, err := s.Ensure(ctx, movers("Movers", true))
				return e.Agent, err
			},
		} {
			t.Run(name+"/"+method, func(t *testing.T) {
				spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
					test.before(t, sb)
					guard := spend.NewGuard(5000, test.prices)
					agent, err := start(t.Context(), tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard)).Agents)
					require.NotEmpty(t, agent.ID)
					require.Equal(t, test.want, tests.Booked(t, guard))
					require.Equal(t, test.want == spend.Book{}, agent.Draft())
					if agent.Draft() {
						require.ErrorIs(t, err, prospectkit.ErrNotStarted)
						require.ErrorIs(t, err, spend.ErrUnknownPrice)
						return
					}
					require.NoError(t, err)
				})
			})
		}
	}
}

// A gateway that repeats an activation gets the refusal of the second one. The agent runs, so its credits count.
func TestSpendGuard_GatewayRepeatsTheActivation(t *testing.T) {
	repeating := func(t *testing.T, sb *sandbox.Sandbox, opts ...prospectkit.ClientOption) *prospectkit.Client {
		t.Helper()
		activates := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/activate") }
		return tests.SandboxClient(t, sb, append(opts, prospectkit.WithTransport(tests.Repeats(sb.Transport(), activates)))...)
	}
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		guard := spend.NewGuard(5000, nil)
		e, err := repeating(t, sb, prospectkit.WithSpendGuard(guard)).Agents.Ensure(t.Context(), movers("Movers", true))
		require.NoError(t, err)
		require.True(t, e.Created)
		require.False(t, e.WasStarted, "this call may have started it")
		require.False(t, e.Agent.Draft())
		require.Equal(t, spend.Book{Committed: 5000}, tests.Booked(t, guard))
	})
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		guard := spend.NewGuard(5000, spend.Prices{"agents.activate": {PerCall: 3000}})
		client := repeating(t, sb, prospectkit.WithSpendGuard(guard))
		draft, err := client.Agents.Create(t.Context(), movers("Movers", false))
		require.NoError(t, err)
		_, err = client.Agents.Activate(t.Context(), draft.ID)
		require.ErrorIs(t, err, prospectkit.CodeAgentProcessing)
		require.Equal(t, spend.Book{Committed: 3000}, tests.Booked(t, guard))
		_, err = client.Agents.Activate(t.Context(), "a00000000000000000000009")
		require.ErrorIs(t, err, prospectkit.ErrSpendCap)
	})
}

func TestSpendGuard_SafetyModesComeFirst(t *testing.T) {
	spending(t, func(t *testing.T, sb *sandbox.Sandbox) {
		guard := spend.NewGuard(100, tests.PerProfile)
		client := tests.SandboxClient(t, sb, prospectkit.WithSpendGuard(guard), prospectkit.NoSpend())
		_, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 10})
		refused := tests.AsRefused(t, err)
		require.Equal(t, prospectkit.RuleNoSpend, refused.Rule)
		require.Equal(t, spend.Book{}, tests.Booked(t, guard))
		require.Empty(t, sb.Journal())
	})
}

func TestWithSpendGuard(t *testing.T) {
	guard := spend.NewGuard(1, nil)
	client, err := prospectkit.New("https://service.test/api/v1", "key", prospectkit.WithSpendGuard(guard))
	require.NoError(t, err)
	require.NoError(t, tests.Discard(client.With(prospectkit.WithSpendGuard(guard))))
	_, err = client.With(prospectkit.WithSpendGuard(spend.NewGuard(1000, nil)))
	require.ErrorContains(t, err, "must not replace another guard")
	for _, wrong := range []*spend.Guard{nil, new(spend.Guard), spend.NewGuard(-1, nil)} {
		_, err := prospectkit.New("https://service.test/api/v1", "key", prospectkit.WithSpendGuard(wrong))
		require.ErrorContains(t, err, "WithSpendGuard got a guard that cannot be used")
	}
}

func TestSpecs_WorstCase(t *testing.T) {
	forever := prospectkit.PeopleWatcher{MaxCreditSpend: 1000, Expires: prospectkit.NeverExpires}
	for name, c := range map[string]struct {
		spec prospectkit.AgentSpec
		days int
		want int64
	}{
		"a week apart":      {movers("Movers", false), 30, 5000},
		"a month at most":   {movers("Movers", false), 365, 5000},
		"daily by default":  {prospectkit.PeopleWatcher{MaxCreditSpend: 1000}, 30, 31_000},
		"for ever":          {forever, 365, 366_000},
		"until it expires":  {prospectkit.PeopleWatcher{MaxCreditSpend: 1000, Expires: "2000-01-09"}, 365, 11_000},
		"without a cap":     {prospectkit.PeopleWatcher{Unlimited: true}, 30, 0},
		"of unknown rhythm": {prospectkit.WebMonitor{MaxCreditSpend: 1000}, 30, 0},
		"discovery":         {prospectkit.PersonDiscovery{MaxCreditSpend: 1000}, 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the first of January 2000
				credits, err := c.spec.WorstCase(c.days)
				require.Equal(t, c.want, credits)
				require.Equal(t, c.want == 0, errors.Is(err, spend.ErrUnknownPrice))
			})
		})
	}
}

// What arrived is what counts, not what was reserved for the largest page.
func TestSpendGuard_CommitsWhatArrived(t *testing.T) {
	guard := spend.NewGuard(60, tests.PerProfile)
	client := tests.NewClient(t, tests.Always(200, `{"profiles":[{"socialUrl":"a"},{"socialUrl":"b"}]}`), prospectkit.WithSpendGuard(guard))
	require.NoError(t, tests.Discard(client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 30})))
	require.Equal(t, spend.Book{Committed: 2, Released: 28}, tests.Booked(t, guard))
}
