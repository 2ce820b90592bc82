// Package journaltest tests implementations of [journal.Journal].
package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/prospectkit/journal"
)

// Run tests a journal. For each test, store makes an empty store and returns a function that opens a
// journal on it, as a new process does. Each call of that function ends the process before: no call of
// its journal is in progress, and the function may close it.
//
// Run does not test that Sending is durable: it cannot stop the machine.
func Run(t *testing.T, store func(t *testing.T) (open func() journal.Journal)) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(s *suite)
	}{
		{"Unended", (*suite).unended},
		{"Settled", (*suite).settled},
		{"Unknown", (*suite).unknown},
		{"Retried", (*suite).retried},
		{"Order", (*suite).order},
		{"Complete", (*suite).complete},
		{"NobodysOutcome", (*suite).nobodysOutcome},
		{"Cancelled", (*suite).cancelled},
		{"SettleInTheLoop", (*suite).settleInTheLoop},
		{"Break", (*suite).leaveTheLoop},
		{"AtOnce", (*suite).atOnce},
		{"Workspace", (*suite).workspace},
		{"Calls", (*suite).calls},
		{"Result", (*suite).result},
		{"Settle", (*suite).settle},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &suite{T: t, open: store(t)}
			s.restart()
			c.test(s)
		})
	}
}

// A suite is one test on a store of its own.
type suite struct {
	*testing.T

	open func() journal.Journal
	j    journal.Journal
}

func (s *suite) restart() { s.j = s.open() }

var began = time.Date(2026, 11, 22, 9, 0, 0, 123456000, time.UTC)

func ticket(id string, first time.Duration) journal.Ticket {
	return journal.Ticket{
		Version: journal.Version, ID: id, Op: "lists.create", Lookup: journal.Lookup{Name: "List " + id},
		Service: "https://service.test/api/v1", FirstSent: began.Add(first), LastSent: began.Add(first),
	}
}

func (s *suite) sending(tickets ...journal.Ticket) {
	s.Helper()
	for _, t := range tickets {
		if err := s.j.Sending(s.Context(), t); err != nil {
			s.Fatalf("Sending(%s): %v", t.ID, err)
		}
	}
}

func (s *suite) ended(id string, o journal.Outcome, resultID ...string) {
	s.Helper()
	if err := s.j.Ended(s.Context(), id, journal.End{Outcome: o, ResultID: strings.Join(resultID, "")}); err != nil {
		s.Fatalf("Ended(%s, %s): %v", id, o, err)
	}
}

// yields checks what a method yields, as a function shows it. It accepts any of the wanted.
func yields[T any](s *suite, method string, all iter.Seq2[T, error], show func(T) string, want ...[]string) {
	s.Helper()
	var got []string
	for item, err := range all {
		if err != nil {
			s.Fatalf("%s: %v", method, err)
		}
		got = append(got, show(item))
	}
	if !slices.ContainsFunc(want, func(w []string) bool { return slices.Equal(got, w) }) {
		s.Fatalf("%s: got %q, want %q", method, got, want)
	}
}

func idOf(t journal.Ticket) string { return t.ID }

// want checks which tickets InDoubt yields.
func (s *suite) want(when string, ids ...string) {
	s.Helper()
	yields(s, "InDoubt, "+when, s.j.InDoubt(s.Context()), idOf, ids)
}

// wantWhole checks the tickets that InDoubt yields after a restart, with all that is in them.
func (s *suite) wantWhole(tickets ...journal.Ticket) {
	s.Helper()
	s.restart()
	var want []string
	for _, t := range tickets {
		want = append(want, text(t))
	}
	yields(s, "InDoubt, after a restart", s.j.InDoubt(s.Context()), text, want)
}

func (s *suite) unended() {
	s.want("of an empty journal")
	s.sending(ticket("a", 0))
	s.want("during the call")
	s.restart()
	s.want("after a restart", "a")
	s.restart()
	s.want("after two restarts", "a")
}

func (s *suite) settled() {
	s.sending(ticket("a", 0), ticket("b", 1))
	s.ended("a", journal.Applied)
	s.ended("b", journal.NotApplied)
	s.want("after the outcomes")
	s.restart()
	s.want("after a restart")
}

func (s *suite) unknown() {
	s.sending(ticket("a", 0), ticket("b", 1))
	s.ended("a", journal.Unknown)
	s.want("after an unknown outcome", "a")
	s.ended("a", journal.Unknown)
	s.want("after the same outcome", "a")
	s.restart()
	s.want("after a restart", "a", "b")
	s.ended("b", journal.Unknown)
	s.want("after a lookup without a result", "a", "b")
	s.ended("a", journal.Applied)
	s.ended("a", journal.Applied)
	s.ended("b", journal.NotApplied)
	s.want("after the lookups")
	s.restart()
	s.want("after the lookups and a restart")
}

func (s *suite) retried() {
	again := ticket("a", 0)
	again.LastSent = again.LastSent.Add(time.Minute)
	s.sending(ticket("a", 0), again)
	s.wantWhole(again) // as of the last attempt
	s.ended("a", journal.Applied)
	s.want("after the outcome")
}

func (s *suite) order() {
	s.sending(ticket("third", 3*time.Second), ticket("first", time.Second), ticket("second", 2*time.Second))
	s.restart()
	s.want("oldest first", "first", "second", "third")
}

func (s *suite) complete() {
	ahead := -1500 * time.Millisecond
	all := journal.Ticket{
		Version: journal.Version, ID: "c0ffee", Op: "agents.create", IDs: []string{"5f0000000000000000000001", "x/y"},
		Lookup:  journal.Lookup{Name: "Größe \"1\" <&>\u2028\n", Kind: "contacts", Start: true, FolderID: "5f0000000000000000000002"},
		Service: "https://service.test/api/v1", Workspace: "w", Actor: "maria", Once: "key", Body: "0123456789abcdef", FirstSent: began, LastSent: began.Add(time.Second),
		ServiceAhead: &ahead, Open: true,
	}
	s.sending(all, ticket("plain", time.Hour))
	s.wantWhole(all, ticket("plain", time.Hour))
}

func text(t journal.Ticket) string {
	t.FirstSent, t.LastSent = t.FirstSent.UTC(), t.LastSent.UTC()
	text, err := json.Marshal(t)
	return fmt.Sprint(string(text), err)
}

func (s *suite) nobodysOutcome() {
	s.ended("nobody", journal.Applied)
	s.ended("nobody", journal.Unknown)
	s.want("after outcomes without a ticket")
}

// A ticket whose Sending failed is stored or not, but it is never settled.
func (s *suite) cancelled() {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	err := s.j.Sending(ctx, ticket("a", 0))
	s.sending(ticket("b", 1))
	s.restart()
	want := [][]string{{"a", "b"}, {"b"}}
	if err == nil {
		want = want[:1]
	}
	yields(s, fmt.Sprintf("InDoubt, after Sending said %v", err), s.j.InDoubt(s.Context()), idOf, want...)
}

func (s *suite) settleInTheLoop() {
	s.sending(ticket("a", 0), ticket("b", 1), ticket("c", 2))
	s.restart()
	n := 0
	for t, err := range s.j.InDoubt(s.Context()) {
		if err != nil {
			s.Fatal(err)
		}
		s.sending(ticket(fmt.Sprint("new", n), time.Hour))
		s.ended(fmt.Sprint("new", n), journal.Applied)
		s.ended(t.ID, journal.Applied)
		n++
	}
	if n != 3 {
		s.Errorf("the loop ran %d times, want 3", n)
	}
	s.want("after the loop")
}

func (s *suite) leaveTheLoop() {
	s.sending(ticket("a", 0), ticket("b", 1))
	s.restart()
	for _, err := range s.j.InDoubt(s.Context()) {
		if err != nil {
			s.Fatal(err)
		}
		break
	}
	s.want("after a loop that was left", "a", "b")
}

// The name of the workspace stays.
func (s *suite) workspace() {
	name := s.j.Workspace()
	if err := journal.CheckWorkspace(name); err != nil {
		s.Fatalf("Workspace: %v", err)
	}
	s.sending(ticket("a", 0))
	s.restart()
	if again := s.j.Workspace(); again != name {
		s.Fatalf("Workspace, after a restart: got %q, want %q", again, name)
	}
}

// The journal knows how calls have ended, also in an earlier process.
func (s *suite) calls() {
	const op = `"notes" <-> CRM\ & mail` // an operation of one's own has any name
	push := func(id string) journal.Ticket {
		t := ticket(id, 0)
		t.Op, t.Lookup = op, journal.Lookup{Digest: "of " + id}
		return t
	}
	s.sending(push("a"), ticket("other", 0), push("b"), push("c"), push("d"))
	s.ended("a", journal.Applied)
	s.ended("b", journal.NotApplied)
	s.ended("c", journal.Unknown)
	for _, when := range []string{"now", "after a restart"} {
		yields(s, "Calls, "+when, s.j.Calls(s.Context(), op), func(e journal.Entry) string {
			return fmt.Sprint(e.Ticket.ID, " ", e.Ticket.Lookup.Digest, " ", e.Outcome, " ", e.InProgress)
		}, []string{"a of a applied false", "b of b not applied false", "c of c unknown false", fmt.Sprint("d of d unknown ", when == "now")})
		s.restart()
	}
}

// The id of what a call made is noted with its outcome: by its response, or by a read later. The first settled outcome keeps it.
func (s *suite) result() {
	s.sending(ticket("a", 0), ticket("b", 0), ticket("c", 0))
	s.ended("a", journal.Applied, "5f-a")
	s.ended("a", journal.Applied, "other")
	s.ended("b", journal.Unknown)
	s.ended("c", journal.Unknown)
	s.restart()
	s.ended("b", journal.Applied, "Größe \"1\"\n")
	s.ended("c", journal.NotApplied)
	for _, when := range []string{"now", "after a restart"} {
		yields(s, "Calls, "+when, s.j.Calls(s.Context(), "lists.create"), func(e journal.Entry) string {
			return fmt.Sprintf("%s %s %q", e.Ticket.ID, e.Outcome, e.ResultID)
		}, []string{`a applied "5f-a"`, `b applied "Größe \"1\"\n"`, `c not applied ""`})
		s.restart()
	}
}

// A person settles what is in doubt, once, and nothing else.
func (s *suite) settle() {
	refuses := func(when, id string) {
		s.Helper()
		err := s.j.Settle(s.Context(), id, journal.Settlement{Outcome: journal.NotApplied, By: "paul", Because: "x"})
		if !errors.Is(err, journal.ErrNotInDoubt) {
			s.Errorf("Settle of %s: got %v, want ErrNotInDoubt", when, err)
		}
	}
	s.sending(ticket("a", 0), ticket("b", 0), ticket("c", 1))
	s.ended("a", journal.Unknown)
	s.ended("b", journal.NotApplied)
	refuses("nobody's ticket", "nobody")
	refuses("a rejected call", "b")
	refuses("a call in progress", "c")
	for _, bad := range []journal.Settlement{
		{Outcome: journal.Unknown, By: "maria", Because: "x"}, {Outcome: journal.Applied, By: "maria"}, {Outcome: journal.Applied, Because: "x"},
	} {
		if s.j.Settle(s.Context(), "a", bad) == nil {
			s.Errorf("Settle takes %+v", bad)
		}
	}
	for _, id := range []string{"a", "c"} {
		if err := s.j.Settle(s.Context(), id, journal.Settlement{Outcome: journal.Applied, By: "maria", Because: "Größe\nfits"}); err != nil {
			s.Fatalf("Settle(%s): %v", id, err)
		}
		refuses("what is settled", id)
		s.restart()
	}
	s.want("after the settlements")
	yields(s, "Calls", s.j.Calls(s.Context(), "lists.create"), func(e journal.Entry) string {
		return fmt.Sprintf("%s %s %s %q", e.Ticket.ID, e.Outcome, e.By, e.Because)
	}, []string{`a applied maria "Größe\nfits"`, `b not applied  ""`, `c applied maria "Größe\nfits"`})
}

func (s *suite) atOnce() {
	const calls = 64
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			id := fmt.Sprintf("%02d", i)
			if err := s.j.Sending(s.Context(), ticket(id, time.Duration(i)*time.Second)); err != nil {
				s.Errorf("Sending(%s): %v", id, err)
			}
			if i%2 == 1 {
				return
			}
			if err := s.j.Ended(s.Context(), id, journal.End{Outcome: journal.Applied}); err != nil {
				s.Errorf("Ended(%s): %v", id, err)
			}
		})
	}
	all.Wait()
	s.restart()
	var want []string
	for i := 1; i < calls; i += 2 {
		want = append(want, fmt.Sprintf("%02d", i))
	}
	s.want("after a restart", want...)
}
