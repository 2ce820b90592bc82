package prospectpg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/journal/journaltest"
	"example.com/prospectkit/sandbox"
)

// expire lets the leases of a workspace run out.
func (p *server) expire(t *testing.T, workspace string) {
	t.Helper()
	_, err := p.pool(t, "").Exec(t.Context(), "UPDATE prospectkit.ticket SET leased_until = now() - interval '1 second' WHERE workspace = $1", workspace)
	require.NoError(t, err)
}

// The contract of every journal. A restart is another store, after the lease of the process before it.
func TestJournal(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) func() journal.Journal {
		t.Helper()
		server, name := workspace(t)
		return func() journal.Journal {
			server.expire(t, name)
			return server.store(t, name)
		}
	})
}

func ticket(id string) journal.Ticket {
	now := time.Now()
	return journal.Ticket{
		Version: journal.Version, ID: id, Op: "lists.create", Lookup: journal.Lookup{Name: "List " + id}, Service: "https://service.test/api/v1",
		FirstSent: now, LastSent: now,
	}
}

// leave stores tickets as a process that dies.
func (p *server) leave(t *testing.T, workspace string, ids ...string) {
	t.Helper()
	store := p.store(t, workspace)
	for _, id := range ids {
		require.NoError(t, store.Sending(t.Context(), ticket(id)))
	}
	p.expire(t, workspace)
}

// inDoubt is what a worker finds now.
func inDoubt(t *testing.T, s *Store) (ids []string) {
	t.Helper()
	for ticket, err := range s.InDoubt(t.Context()) {
		require.NoError(t, err)
		ids = append(ids, ticket.ID)
	}
	return ids
}

// Others find a call of a process once its lease is over, and not before: neither one in progress, nor one whose outcome is unknown.
func TestJournal_Lease(t *testing.T) {
	server, name := workspace(t)
	one, two := server.store(t, name), server.store(t, name)
	first := ticket("a")
	require.NoError(t, one.Sending(t.Context(), first))
	require.NoError(t, one.Sending(t.Context(), ticket("b")))
	require.NoError(t, one.Ended(t.Context(), "b", journal.End{Outcome: journal.Unknown}))
	require.Empty(t, inDoubt(t, two))
	require.Equal(t, []string{"b"}, inDoubt(t, one), "the call in progress is left out")
	require.Equal(t, []string{"b"}, inDoubt(t, two), "the loop of the owner has given it back")
	server.expire(t, name)
	require.Equal(t, []string{"b"}, inDoubt(t, one), "its own calls it knows to be in progress")
	require.NoError(t, one.Sending(t.Context(), first), "the call goes on: nobody has taken it")
	require.Equal(t, []string{"b"}, inDoubt(t, two))
	server.expire(t, name)
	require.Equal(t, []string{"a", "b"}, inDoubt(t, two))
}

// A ticket that cannot be read hides no other one, and is an error after them, until a person settles it by its ID.
func TestJournal_UnreadableTicket(t *testing.T) {
	server, name := workspace(t)
	server.leave(t, name, "a", "b", "c", "d")
	_, err := server.pool(t, "").Exec(t.Context(), `UPDATE prospectkit.ticket SET ticket = '{"version":"x"}' WHERE workspace = $1 AND id IN ('b', 'd')`, name)
	require.NoError(t, err)
	store := server.store(t, name)
	var ids []string
	var ended error
	for ticket, err := range store.InDoubt(t.Context()) {
		require.NoError(t, ended, "the error is the last")
		if ended = err; err == nil {
			ids = append(ids, ticket.ID)
		}
	}
	require.Equal(t, []string{"a", "c"}, ids)
	require.ErrorContains(t, ended, `the ticket "b" cannot be read`)
	require.ErrorContains(t, ended, `the ticket "d" cannot be read`)
	for _, id := range []string{"b", "d"} {
		require.NoError(t, store.Settle(t.Context(), id, journal.Settlement{Outcome: journal.NotApplied, By: "ada", Because: "nothing was sent"}))
	}
	require.Equal(t, []string{"a", "c"}, inDoubt(t, store))
}

// The same outcome again changes nothing: it is no new lease.
func TestJournal_UnknownAgain(t *testing.T) {
	server, name := workspace(t)
	one := server.store(t, name)
	require.NoError(t, one.Sending(t.Context(), ticket("a")))
	require.NoError(t, one.Ended(t.Context(), "a", journal.End{Outcome: journal.Unknown}))
	server.expire(t, name)
	require.NoError(t, one.Ended(t.Context(), "a", journal.End{Outcome: journal.Unknown}))
	require.Equal(t, []string{"a"}, inDoubt(t, server.store(t, name)))
}

// What README.md says to remove old tickets with keeps what approvals rest on.
func TestJournal_Removal(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	remove := regexp.MustCompile(`(?s)DELETE FROM prospectkit\.ticket.*?;`).FindString(string(text))
	require.Contains(t, remove, "interval '90 days'")
	server, name := workspace(t)
	store := server.store(t, name)
	for _, id := range []string{"approved", "approved, a minute ago", "rejected", "list", "in doubt"} {
		tick := ticket(id)
		if tick.Lookup.Name = "\x00"; id != "list" {
			tick.Op = "campaigns.approve"
		}
		require.NoError(t, store.Sending(t.Context(), tick))
		outcome := map[string]journal.Outcome{"rejected": journal.NotApplied, "in doubt": journal.Unknown}[id]
		require.NoError(t, store.Ended(t.Context(), id, journal.End{Outcome: cmp.Or(outcome, journal.Applied)}))
	}
	pool := server.pool(t, "")
	_, err = pool.Exec(t.Context(), "UPDATE prospectkit.ticket SET ended = now() - interval '91 days' WHERE workspace = $1 AND id NOT LIKE '%ago'", name)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), remove)
	require.NoError(t, err)
	var left []string
	for e, err := range store.Entries(t.Context(), "") {
		require.NoError(t, err)
		left = append(left, e.Ticket.ID)
	}
	require.Equal(t, []string{"approved", "approved, a minute ago", "rejected", "in doubt"}, left)
}

// While a loop has a ticket, no other one has it, of whichever process.
func TestJournal_OneLoopAtATime(t *testing.T) {
	server, name := workspace(t)
	one, two := server.store(t, name), server.store(t, name)
	server.leave(t, name, "a", "b")
	var got []string
	for ticket, err := range one.InDoubt(t.Context()) {
		require.NoError(t, err)
		got = append(got, ticket.ID)
		others := slices.DeleteFunc([]string{"a", "b"}, func(id string) bool { return id == ticket.ID })
		require.Equal(t, others, inDoubt(t, one))
		require.Equal(t, others, inDoubt(t, two))
	}
	require.Equal(t, []string{"a", "b"}, got)
	require.Equal(t, []string{"a", "b"}, inDoubt(t, two))
}

// Many loops divide the tickets among them: each is settled once, and never in two hands.
func TestJournal_ManyLoops(t *testing.T) {
	server, name := workspace(t)
	const tickets = 100
	var ids []string
	for i := range tickets {
		ids = append(ids, strconv.Itoa(i))
	}
	server.leave(t, name, ids...)
	var held sync.Map
	var settled atomic.Int64
	var all sync.WaitGroup
	failures := make([]error, 8)
	for i := range failures {
		store := server.store(t, name)
		all.Go(func() {
			for range 2 { // the second time finds what another loop had when this one passed it
				for ticket, err := range store.InDoubt(t.Context()) {
					if _, both := held.LoadOrStore(ticket.ID, true); both {
						err = fmt.Errorf("%s is in two hands", ticket.ID)
					}
					if number, _ := strconv.Atoi(ticket.ID); number%3 > 0 && err == nil { // or it stays in doubt
						err = store.Ended(t.Context(), ticket.ID, journal.End{Outcome: journal.Applied})
						settled.Add(1)
					}
					held.Delete(ticket.ID)
					if failures[i] = err; err != nil {
						return
					}
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(failures...))
	require.EqualValues(t, tickets*2/3, settled.Load())
	require.Len(t, inDoubt(t, server.store(t, name)), tickets-tickets*2/3)
}

// Workers that recover at the same time leave alone what another worker has in progress, and divide the rest: each ticket is settled once, and
// what only a person can tell is told by each that has read it.
func TestJournal_Recover(t *testing.T) {
	server, name := workspace(t)
	sb := sandbox.New(t)
	client := func(s *Store) *prospectkit.Client {
		c, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(s))
		require.NoError(t, err)
		return c
	}
	dead := server.store(t, name)
	first := client(dead)
	_, err := first.Account.Me(t.Context())
	require.NoError(t, err)
	const lists = 20
	for i := range lists {
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
		_, err := first.Lists.Create(t.Context(), prospectkit.NewList{Name: strconv.Itoa(i)})
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	}
	pushing := ticket("push")
	pushing.Op, pushing.IDs, pushing.Service, pushing.Workspace = "lists.crm-push", []string{"a00000000000000000000001"}, sb.BaseURL(), name
	require.NoError(t, dead.Sending(t.Context(), pushing), "it is in progress")
	before := len(sb.Journal())
	found, err := client(server.store(t, name)).Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, new(prospectkit.Recovery), found, "another worker has all of it")
	require.Equal(t, 2, sb.Calls("account.me"), "the first client, and this one, for the time of the service")
	require.Len(t, sb.Journal(), before+1)

	server.expire(t, name)
	all := make([]*prospectkit.Recovery, 3)
	failures := make([]error, len(all))
	var workers sync.WaitGroup
	for i := range all {
		worker := client(server.store(t, name))
		workers.Go(func() { all[i], failures[i] = worker.Recover(t.Context()) })
	}
	workers.Wait()
	require.NoError(t, errors.Join(failures...))
	settled := map[string]bool{}
	for _, r := range all {
		for _, d := range r.Settled {
			require.False(t, settled[d.Ticket.ID], "it was settled twice")
			settled[d.Ticket.ID] = true
		}
		for _, d := range r.Later {
			require.Contains(t, d.Resolution.Note, "another worker")
		}
	}
	found, err = client(server.store(t, name)).Recover(t.Context())
	require.NoError(t, err)
	require.Len(t, settled, lists-len(found.Settled), "the rest was in the hands of another one each time, and is not lost")
	require.Less(t, len(found.Settled), lists/2)
	require.Empty(t, found.Later)
	require.Len(t, found.Person, 1)
	require.Equal(t, "push", found.Person[0].Ticket.ID)
}

// A loop renews its lease, however long the body takes, and holds no connection meanwhile. What it has given back is free.
func TestJournal_Renewed(t *testing.T) {
	t.Parallel() // it waits for renewals of a lease that no slow machine misses
	server, name := workspace(t)
	store, err := New(server.pool(t, "&pool_max_conns=1"), Config{Workspace: name, Lease: 6 * time.Second})
	require.NoError(t, err)
	server.leave(t, name, "a", "b")
	until := func(id string) (at time.Time) {
		require.NoError(t, store.pool.QueryRow(t.Context(), "SELECT leased_until FROM prospectkit.ticket WHERE workspace = $1 AND id = $2", name, id).Scan(&at))
		return at
	}
	others := []string{"b", "a"}
	for ticket, err := range store.InDoubt(t.Context()) {
		require.NoError(t, err)
		first := until(ticket.ID)
		for until(ticket.ID).Equal(first) { // until it is renewed
			require.NoError(t, t.Context().Err())
			time.Sleep(10 * time.Millisecond)
		}
		require.Equal(t, others[:1], inDoubt(t, server.store(t, name)))
		others = others[1:]
	}
}

// A resolver dies: its ticket is found again, and what it says later does not count.
func TestJournal_ResolverDies(t *testing.T) {
	server, name := workspace(t)
	dead, other := server.store(t, name), server.store(t, name)
	server.leave(t, name, "a")
	for _, err := range dead.InDoubt(t.Context()) {
		require.NoError(t, err)
		require.Empty(t, inDoubt(t, other))
		server.expire(t, name) // it was stopped for so long
		for ticket, err := range other.InDoubt(t.Context()) {
			require.NoError(t, err)
			require.Equal(t, "a", ticket.ID)
			require.NoError(t, other.Ended(t.Context(), "a", journal.End{Outcome: journal.NotApplied}))
			require.NoError(t, other.Ended(t.Context(), "a", journal.End{Outcome: journal.NotApplied}), "the same again")
			require.ErrorIs(t, other.Ended(t.Context(), "a", journal.End{Outcome: journal.Applied}), ErrSettled, "the first one stays")
		}
		require.ErrorIs(t, dead.Ended(t.Context(), "a", journal.End{Outcome: journal.NotApplied}), ErrSettled)
		require.ErrorIs(t, dead.Ended(t.Context(), "a", journal.End{Outcome: journal.Applied}), ErrSettled)
		require.NoError(t, dead.Ended(t.Context(), "a", journal.End{Outcome: journal.Unknown}))
	}
	require.Empty(t, inDoubt(t, dead))
	entries := entriesOf(t, other, "")
	require.Len(t, entries, 1)
	require.Equal(t, journal.NotApplied, entries[0].Outcome, "the first one stays")
}

// A person settles what has ended, or whose process is gone, whoever looks at it meanwhile: that worker's verdict comes too late.
func TestJournal_SettledByAPerson(t *testing.T) {
	server, name := workspace(t)
	worker, person := server.store(t, name), server.store(t, name)
	found := journal.Settlement{Outcome: journal.Applied, By: "maria", Because: "it is in the CRM"}
	require.NoError(t, worker.Sending(t.Context(), ticket("a")))
	require.ErrorIs(t, person.Settle(t.Context(), "a", found), journal.ErrNotInDoubt, "another process makes the call")
	require.NoError(t, worker.Ended(t.Context(), "a", journal.End{Outcome: journal.Unknown}))
	for ticket, err := range worker.InDoubt(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, person.Settle(t.Context(), ticket.ID, found))
		require.ErrorIs(t, person.Settle(t.Context(), ticket.ID, found), journal.ErrNotInDoubt)
		require.ErrorIs(t, worker.Ended(t.Context(), ticket.ID, journal.End{Outcome: journal.NotApplied}), ErrSettled)
	}
	require.Empty(t, inDoubt(t, worker))
	require.Equal(t, "maria", entriesOf(t, worker, "")[0].By)
	require.ErrorIs(t, server.store(t, name+" other").Settle(t.Context(), "a", found), journal.ErrNotInDoubt)
}

func entriesOf(t *testing.T, s *Store, actor string) (entries []journal.Entry) {
	t.Helper()
	for e, err := range s.Entries(t.Context(), actor) {
		require.NoError(t, err)
		entries = append(entries, e)
	}
	return entries
}

// A call whose lease was over, and which another worker has resolved, is not sent again.
func TestJournal_TakenOver(t *testing.T) {
	server, name := workspace(t)
	slow, other := server.store(t, name), server.store(t, name)
	for _, id := range []string{"held", "settled", "free"} {
		require.NoError(t, slow.Sending(t.Context(), ticket(id)))
	}
	server.expire(t, name)
	for ticket, err := range other.InDoubt(t.Context()) {
		require.NoError(t, err)
		switch ticket.ID {
		case "held":
			require.ErrorIs(t, slow.Sending(t.Context(), ticket), ErrSettled)
		case "settled":
			require.NoError(t, other.Ended(t.Context(), ticket.ID, journal.End{Outcome: journal.NotApplied}))
			require.ErrorIs(t, slow.Sending(t.Context(), ticket), ErrSettled)
			require.ErrorIs(t, other.Sending(t.Context(), ticket), ErrSettled, "nobody opens it again")
		}
	}
}

// The client says so, and sends nothing.
func TestJournal_TakenOverCall(t *testing.T) {
	server, name := workspace(t)
	sb := sandbox.New(t)
	sb.Fail("lists.create", sandbox.First(1), sandbox.Status(http.StatusTooManyRequests, "RATE_LIMITED"), sandbox.RetryAfter(0))
	other := server.store(t, name)
	store := &hooked{Store: server.store(t, name)}
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(store))
	require.NoError(t, err)
	store.before = func() { // each attempt, the second of which comes too late
		server.expire(t, name)
		for ticket, err := range other.InDoubt(t.Context()) {
			require.NoError(t, err)
			require.NoError(t, other.Ended(t.Context(), ticket.ID, journal.End{Outcome: journal.NotApplied}))
		}
	}
	_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Berlin"})
	require.ErrorIs(t, err, ErrSettled)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.Len(t, sb.Journal(), 1)
}

type hooked struct {
	*Store

	before func()
}

func (h *hooked) Sending(ctx context.Context, t journal.Ticket) error {
	h.before()
	return h.Store.Sending(ctx, t)
}

// What a call was told while the database was away is noted with the next change. The verdict of a ticket is not: whoever got the
// error did not act on it.
func TestJournal_Late(t *testing.T) {
	server, name := workspace(t)
	store, other := server.store(t, name), server.store(t, name)
	for _, id := range []string{"applied", "unknown", "in progress"} {
		require.NoError(t, store.Sending(t.Context(), ticket(id)))
	}
	require.NoError(t, server.store(t, name).Sending(t.Context(), ticket("others")))
	away, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, store.Ended(away, "applied", journal.End{Outcome: journal.Applied}))
	require.Error(t, store.Ended(away, "unknown", journal.End{Outcome: journal.Unknown}))
	require.Error(t, store.Ended(away, "others", journal.End{Outcome: journal.NotApplied}))
	require.Equal(t, []string{"unknown"}, inDoubt(t, store))
	server.expire(t, name)
	require.Equal(t, []string{"unknown", "in progress", "others"}, inDoubt(t, other))
	require.Empty(t, store.late)
}

// What is late is noted in one order: calls that note it at once when the database is back would lock each other out.
func TestJournal_LateInOrder(t *testing.T) {
	store := &Store{late: map[string]journal.End{}}
	for i := range mostLate + 20 {
		store.late[strconv.Itoa(i)] = journal.End{Outcome: journal.Unknown}
	}
	var ids []string
	write := func(_ context.Context, fill func(*pgx.Batch)) error {
		b := &pgx.Batch{}
		fill(b)
		store.late["7"] = journal.End{Outcome: journal.Applied, ResultID: "x"} // meanwhile
		for _, q := range b.QueuedQueries {
			ids = append(ids, q.Arguments[1].(string))
		}
		return nil
	}
	require.NoError(t, store.note(t.Context(), write, func(*pgx.Batch) {}))
	require.Len(t, ids, mostLate)
	require.IsIncreasing(t, ids)
	require.Equal(t, journal.End{Outcome: journal.Applied, ResultID: "x"}, store.late["7"])
	require.Len(t, store.late, 20+1)
	require.NoError(t, store.note(t.Context(), write, func(*pgx.Batch) {}))
	require.Len(t, ids, mostLate+20+1)
}

// Jobs find what their earlier attempts did.
func TestJournal_Entries(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	require.Empty(t, entriesOf(t, store, ""))
	for _, id := range []string{"a", "b", "c"} {
		one := ticket(id)
		one.Actor = map[string]string{"a": "job 7", "b": "job 8\x00\xff", "c": "job 7"}[id]
		require.NoError(t, store.Sending(t.Context(), one))
	}
	require.NoError(t, store.Ended(t.Context(), "a", journal.End{Outcome: journal.Applied}))
	all := entriesOf(t, store, "")
	require.Len(t, all, 3)
	require.Equal(t, "job 8\x00\uFFFD", all[1].Ticket.Actor)
	require.Len(t, entriesOf(t, store, "job 8\x00\xff"), 1)
	require.Empty(t, entriesOf(t, store, "job"))
	mine := entriesOf(t, store, "job 7")
	require.Equal(t, []string{"a", "c"}, []string{mine[0].Ticket.ID, mine[1].Ticket.ID})
	require.Equal(t, []journal.Outcome{journal.Applied, journal.Unknown}, []journal.Outcome{mine[0].Outcome, mine[1].Outcome})
	require.WithinDuration(t, time.Now(), mine[0].Ended, time.Minute)
	require.True(t, mine[1].Ended.IsZero())
}

// More than a page of them, with a loop that uses the only connection.
func TestJournal_ManyEntries(t *testing.T) {
	server, name := workspace(t)
	store, err := New(server.pool(t, "&pool_max_conns=1"), Config{Workspace: name})
	require.NoError(t, err)
	for i := range 1001 {
		_, err := store.pool.Exec(t.Context(), `INSERT INTO prospectkit.ticket (workspace, id, ticket, actor, first_sent, owner, leased_until)
			VALUES ($1, $2::int::text, json_build_object('id', $2::int::text), '', now(), '', now())`, name, i)
		require.NoError(t, err)
	}
	n := 0
	for e, err := range store.Entries(t.Context(), "") {
		require.NoError(t, err)
		if n%300 == 0 {
			require.NoError(t, store.Ended(t.Context(), e.Ticket.ID, journal.End{Outcome: journal.Applied}))
		}
		n++
	}
	require.Equal(t, 1001, n)
}

func TestJournal_Refuses(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	require.ErrorContains(t, store.Sending(t.Context(), ticket("")), "ID")
	require.ErrorContains(t, store.Sending(t.Context(), ticket("\x00")), "ID")
	require.ErrorContains(t, store.Ended(t.Context(), "a", journal.End{Outcome: "perhaps"}), "not an outcome")
	require.NoError(t, store.Ended(t.Context(), "\x00", journal.End{Outcome: journal.Applied}), "nobody's")
	require.NoError(t, store.Sending(t.Context(), ticket("a")))
	_, err := store.pool.Exec(t.Context(), `UPDATE prospectkit.ticket SET ticket = '{"id":7}', leased_until = now() WHERE workspace = $1`, name)
	require.NoError(t, err)
	for _, err := range store.InDoubt(t.Context()) {
		require.ErrorContains(t, err, "ticket number")
	}
	for _, err := range store.Entries(t.Context(), "") {
		require.Error(t, err)
	}
}

// The end of a call does not wait for a database that is away: what it was told is kept. A verdict does.
func TestJournal_EndsAtOnce(t *testing.T) {
	config, err := pgxpool.ParseConfig("postgres://fleet@/postgres?host=" + t.TempDir())
	require.NoError(t, err)
	var dials atomic.Int64
	var cancel context.CancelFunc
	config.ConnConfig.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		if dials.Add(1) > 1 {
			cancel() // by now, a later attempt is made
		}
		return nil, net.ErrClosed
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	store, err := New(pool, Config{Workspace: "acme"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.Error(t, store.Sending(ctx, ticket("a")))
	require.Greater(t, dials.Swap(0), int64(1))
	require.Error(t, store.Ended(t.Context(), "a", journal.End{Outcome: journal.NotApplied}))
	require.EqualValues(t, 1, dials.Swap(0))
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	require.Error(t, store.Ended(ctx, "b", journal.End{Outcome: journal.NotApplied}))
	require.Greater(t, dials.Load(), int64(1))
}

// A database that is not there refuses the call within the patience, and sends nothing.
func TestJournal_NoDatabase(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), "postgres://fleet@/postgres?host="+t.TempDir())
	require.NoError(t, err)
	defer pool.Close()
	store, err := New(pool, Config{Workspace: "acme"})
	require.NoError(t, err)
	sb := sandbox.New(t)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(store))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = client.Lists.Create(ctx, prospectkit.NewList{Name: "Berlin"})
	require.Error(t, err)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.Empty(t, sb.Journal())
	for _, err := range store.InDoubt(ctx) {
		require.Error(t, err)
	}
}

// Several workspaces share a database, and see nothing of one another: neither tickets nor outcomes, nor can they settle them.
func TestJournal_OfAnotherWorkspace(t *testing.T) {
	server, name := workspace(t)
	ours, theirs := server.store(t, name), server.store(t, name+" 2")
	require.NoError(t, AddWorkspace(t.Context(), server.pool(t, ""), theirs.Workspace()))
	require.NoError(t, ours.Sending(t.Context(), ticket("a")))
	require.NoError(t, ours.Ended(t.Context(), "a", journal.End{Outcome: journal.Unknown}))
	require.NoError(t, theirs.Ended(t.Context(), "a", journal.End{Outcome: journal.Applied, ResultID: "x"}))
	require.ErrorIs(t, theirs.Settle(t.Context(), "a", journal.Settlement{Outcome: journal.Applied, By: "maria", Because: "x"}), journal.ErrNotInDoubt)
	require.Empty(t, inDoubt(t, theirs))
	require.Empty(t, entriesOf(t, theirs, ""))
	for e, err := range theirs.Calls(t.Context(), "lists.create") {
		require.Fail(t, "a call of another workspace", "%v, %v", e, err)
	}
	require.NoError(t, theirs.Sending(t.Context(), ticket("a")), "an ID is of one workspace")
	require.Equal(t, []string{"a"}, inDoubt(t, ours))
	require.Empty(t, entriesOf(t, ours, "")[0].ResultID)
}
