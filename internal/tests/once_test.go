package tests

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// adder adds a contact to a list once for a key.
func adder(t *testing.T, j journal.Journal, opts ...prospectkit.ClientOption) (*sandbox.Sandbox, func(list, key string) error) {
	t.Helper()
	sb := EverySandbox(t, time.Now())
	client := SandboxClient(t, sb, append(opts, prospectkit.WithJournal(j))...)
	return sb, func(list, key string) error {
		_, err := client.Lists.AddContacts(t.Context(), list, oneContact(), prospectkit.Once(key))
		return err
	}
}

func oneContact() prospectkit.Fields {
	return prospectkit.Fields{"contacts": []prospectkit.Fields{{"email": "ada@engines.example"}}}
}

// What the journal knows of the key decides; another key, list or operation is another call.
func TestOnce(t *testing.T) {
	j := new(journal.MemoryJournal)
	sb, add := adder(t, j)
	other := sb.Lists()[0].ID
	if other == ListID {
		other = sb.Lists()[1].ID
	}
	require.NoError(t, add(ListID, "a"))
	require.Equal(t, "a", j.Entries()[0].Ticket.Once)
	require.NoError(t, add(ListID, "a"))
	require.Equal(t, 1, sb.Calls("lists.add-contacts"))
	require.NoError(t, add(ListID, "b"))
	require.NoError(t, add(other, "a"))

	sb.Fail("lists.add-contacts", sandbox.Nth(1), sandbox.DropBefore())
	require.ErrorIs(t, add(ListID, "c"), prospectkit.ErrOutcomeUnknown)
	sent := sb.Calls("lists.add-contacts")
	require.ErrorIs(t, add(ListID, "c"), prospectkit.ErrOutcomeUnknown)
	require.Equal(t, sent, sb.Calls("lists.add-contacts"))
	for ticket, err := range j.InDoubt(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, j.Settle(t.Context(), ticket.ID, journal.Settlement{Outcome: journal.NotApplied, By: "Ada", Because: "no such row"}))
	}
	require.NoError(t, add(ListID, "c"), "a person has said that it did not happen")
	sent = sb.Calls("lists.add-contacts")
	require.NoError(t, add(ListID, "c"))
	require.Equal(t, sent, sb.Calls("lists.add-contacts"))
}

// Another base URL may be a second name of the same service, such as localhost: the key is refused there, and nothing is sent.
func TestOnce_OtherBaseURL(t *testing.T) {
	j := new(journal.MemoryJournal)
	sb, add := adder(t, j)
	require.NoError(t, add(ListID, "a"))
	alias := RoundTrip(func(r *http.Request) (*http.Response, error) {
		r.URL.Host = strings.Replace(r.URL.Host, "alias.test", "sandbox.invalid", 1)
		return sb.Transport().RoundTrip(r)
	})
	client, err := prospectkit.New(strings.Replace(sb.BaseURL(), "sandbox.invalid", "alias.test", 1), sb.Token(), prospectkit.WithTransport(alias), prospectkit.WithJournal(j))
	require.NoError(t, err)
	_, err = client.Lists.AddContacts(t.Context(), ListID, oneContact(), prospectkit.Once("a"))
	require.ErrorIs(t, err, prospectkit.RuleJournal)
	require.ErrorContains(t, err, "under another base URL")
	require.Equal(t, 1, sb.Calls("lists.add-contacts"))
	require.NoError(t, Discard(client.Lists.AddContacts(t.Context(), ListID, oneContact(), prospectkit.Once("b"))))
	require.Equal(t, 2, sb.Calls("lists.add-contacts"))
}

// A key counts for the path of an operation of the caller, whatever its elements look like, and whatever name the operation has. Its method is
// part of what was given.
func TestOnce_Call(t *testing.T) {
	for _, name := range []string{"lists.share", "lists.create"} {
		j, sent := new(journal.MemoryJournal), 0
		client := NewClient(t, Counting(&sent, Always(http.StatusOK, `{"data":{}}`)), prospectkit.WithJournal(j))
		share := func(method, list string) error {
			o := Described(method, op.Unsafe)
			o.Name, o.Path = name, "/business/lists/"+list+"/share"
			return client.Call(t.Context(), o, nil, nil, prospectkit.Once("with Ada"))
		}
		for _, list := range []string{"a1", "b2", "berlin", "paris"} {
			require.NoError(t, share(http.MethodPost, list), "another list")
		}
		require.ErrorIs(t, share(http.MethodPost, "a1"), prospectkit.ErrAlreadyDone)
		require.ErrorIs(t, share(http.MethodDelete, "a1"), prospectkit.RuleOtherBody)
		require.ErrorIs(t, share(http.MethodPost, "berlin"), prospectkit.ErrAlreadyDone)
		require.Equal(t, 4, sent)
		require.Equal(t, "with Ada /business/lists/b2/share", j.Entries()[1].Ticket.Once)
	}
}

// Of an operation of the caller, no read is known that tells, whatever its name.
func TestOnce_CallInDoubt(t *testing.T) {
	for _, name := range []string{"lists.share", "lists.create"} {
		client := NewClient(t, Always(http.StatusBadGateway, ""), prospectkit.WithJournal(new(journal.MemoryJournal)))
		o := Described(http.MethodPost, op.Unsafe)
		o.Name = name
		share := func() error { return client.Call(t.Context(), o, nil, nil, prospectkit.Once("with Ada")) }
		first := Unknown(t, share())
		require.ErrorContains(t, share(), "an earlier one may have happened: look yourself, then run prospectkit settle "+first.Ticket().ID+" applied|not-applied")
	}
}

func TestOnce_Refused(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	remembers := SandboxClient(t, sb, prospectkit.WithJournal(new(journal.MemoryJournal)))
	forgets, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	once, add := prospectkit.Once("a"), WithTwo((*lists).AddContacts, ListID, oneContact())
	for name, err := range map[string]error{
		"no key":                        Discard(add(t.Context(), remembers, prospectkit.Once(""))),
		"no text":                       Discard(add(t.Context(), remembers, prospectkit.Once("\xff"))),
		"a read":                        Discard(remembers.Account.Me(t.Context(), once)),
		"no journal":                    Discard(add(t.Context(), forgets, once)),
		"a name is the key":             Discard(remembers.Lists.Ensure(t.Context(), Q1, once)),
		"a name is the key of an agent": Discard(remembers.Agents.Ensure(t.Context(), heads, once)),
		"a name is the key of a start":  Discard(remembers.Agents.CreateAndStart(t.Context(), heads, once)),
	} {
		require.ErrorIs(t, err, prospectkit.ErrInvalid, name)
		require.ErrorContains(t, err, "Once", name)
	}
	require.Empty(t, sb.Journal())
	away := errors.New("the database is away")
	broken := SandboxClient(t, sb, prospectkit.WithJournal(&brokenHistory{err: away}))
	_, err = add(t.Context(), broken, once)
	require.ErrorIs(t, err, prospectkit.RuleJournal)
	require.ErrorIs(t, err, away)
	require.Empty(t, sb.Journal())
}

// overtaken is a journal in which another process makes its call right before the ticket of this one is stored.
type overtaken struct {
	journal.MemoryJournal
	once sync.Once
	by   func()
}

func (j *overtaken) Sending(ctx context.Context, t journal.Ticket) error {
	j.once.Do(j.by)
	return j.MemoryJournal.Sending(ctx, t)
}

// Of two calls at the same moment, at least one sees the ticket of the other, which is no warning. Its own ticket says that it was not applied,
// and its credits are free again.
func TestOnce_Meanwhile(t *testing.T) {
	for outcome, rule := range map[journal.Outcome]error{
		journal.Unknown: prospectkit.RuleInProgress, journal.Applied: prospectkit.ErrAlreadyDone, journal.NotApplied: nil,
	} {
		for _, name := range []string{"lists.add-contacts", "campaigns.create"} {
			lines, _ := LogLines(t, slog.LevelWarn, func(logger prospectkit.ClientOption) { meanwhile(t, name, outcome, rule, logger) })
			require.Empty(t, lines)
		}
	}
}

func meanwhile(t *testing.T, name string, outcome journal.Outcome, rule error, logger prospectkit.ClientOption) {
	t.Helper()
	sb, j, info := EverySandbox(t, time.Now()), new(overtaken), new(prospectkit.Info)
	sent, over := make(chan bool), make(chan bool)
	var ended sync.WaitGroup
	other := SandboxClient(t, sb, prospectkit.WithJournal(&j.MemoryJournal), prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
		if outcome == journal.Unknown {
			close(sent)
			<-over
		}
		return sb.Transport().RoundTrip(r)
	})))
	j.by = func() {
		ended.Go(func() { _, _ = EveryCall[name](t.Context(), other, prospectkit.Once("a")) })
		if outcome == journal.Unknown {
			<-sent
		} else {
			ended.Wait()
		}
	}
	if outcome == journal.NotApplied {
		sb.Fail(name, sandbox.Nth(1), sandbox.Status(403, "INSUFFICIENT_SCOPE"))
	}
	guard := spend.NewGuard(10, spend.Prices{name: {PerCall: 1}})
	client := SandboxClient(t, sb, prospectkit.WithJournal(j), prospectkit.WithSpendGuard(guard), logger)
	result, err := EveryCall[name](t.Context(), client, prospectkit.Once("a"), prospectkit.WithInfo(info))
	already := outcome == journal.Applied && name == "lists.add-contacts"
	if require.Equal(t, already, info.Already); already {
		require.NotNil(t, result)
		require.NoError(t, err)
	} else {
		require.ErrorIs(t, err, rule)
	}
	require.Equal(t, rule == nil, len(info.Attempts) == 1, "%v", outcome)
	ours := j.Entries()[1]
	require.Equal(t, map[bool]journal.Outcome{true: journal.Applied, false: journal.NotApplied}[rule == nil], ours.Outcome)
	require.Equal(t, map[bool]spend.Book{true: {Committed: 1}, false: {Released: 1}}[rule == nil], Booked(t, guard))
	close(over)
	ended.Wait()
}

func TestOnce_AtTheSameMoment(t *testing.T) {
	for range 50 {
		j, err := journal.Open(filepath.Join(t.TempDir(), "journal"), "acme")
		require.NoError(t, err)
		sb, add := adder(t, j)
		var both sync.WaitGroup
		for range 3 {
			both.Go(func() { _ = add(ListID, "a") })
		}
		both.Wait()
		require.LessOrEqual(t, sb.Calls("lists.add-contacts"), 1)
		require.NoError(t, j.Close())
	}
}

// Every pair of failures and stops, and a second delivery: never two.
func TestEveryFailure_Once(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		file, err := journal.Open(filepath.Join(run.Dir(), "journal"), "acme")
		if err != nil {
			return err
		}
		defer file.Close()
		client := clientOf(run, prospectkit.WithJournal(file))
		for range 2 {
			_, err = client.Lists.AddContacts(run.Context(), ListID, oneContact(), prospectkit.Once("a"))
			if err == nil {
				run.Save("added", "yes")
			}
		}
		return err
	}, func(run *sandbox.Run) error {
		_, said := run.Load("added")
		if n := effective(run, "lists.add-contacts"); n > 1 || n == 0 && said {
			return fmt.Errorf("added %d times", n)
		}
		return nil
	}, everySweep()...)
}

// brokenHistory cannot be read.
type brokenHistory struct {
	journal.MemoryJournal

	err error
}

func (b *brokenHistory) Calls(context.Context, string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) { yield(journal.Entry{}, b.err) }
}
