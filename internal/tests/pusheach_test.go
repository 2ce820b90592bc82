package tests

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/push"
	"example.com/prospectkit/sandbox"
)

// someContacts are n ids.
func someContacts(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("c%023x", i+1)
	}
	return ids
}

// arrived counts what each id has reached the CRM.
func arrived(sb *sandbox.Sandbox) map[string]int {
	n := map[string]int{}
	for _, p := range sb.CRMPushes() {
		for _, id := range p.ContactIDs {
			n[strings.ToLower(id)]++
		}
	}
	return n
}

// kept is a push that keeps its checkpoint in a program that may stop.
func kept(run *sandbox.Run, more ...push.Option) []push.Option {
	from, _ := run.Load("checkpoint")
	return append(more, push.ResumeFrom(from), push.SaveTo(func(_ context.Context, checkpoint string) error {
		run.Save("checkpoint", checkpoint)
		return nil
	}))
}

// Every pair of failures, and stops: no id twice, none missing but those reported, a suppressed one never.
func TestEveryFailure_PushEach(t *testing.T) {
	ids := someContacts(1100)
	objected := []string{strings.ToUpper(ids[3]), ids[501], ids[1099]}
	var reported map[string]bool
	program := func(run *sandbox.Run) error {
		var failed error
		for part, err := range clientOf(run).Lists.PushEach(run.Context(), ListID, "crm-1", ids, kept(run, push.Except(objected))...) {
			if part == nil {
				return err
			}
			if err == nil && part.Outcome != journal.Applied || err != nil && part.Outcome == journal.Applied {
				return fmt.Errorf("part %d is %s: %w", part.Number, part.Outcome, err)
			}
			for _, id := range part.ContactIDs {
				if err != nil {
					reported[id] = true
				} else {
					delete(reported, id)
				}
			}
			if part.Outcome == journal.NotApplied {
				failed = err
			}
		}
		return failed
	}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		n := arrived(run.Sandbox)
		for _, id := range ids {
			id = strings.ToLower(id)
			switch suppressed := slices.ContainsFunc(objected, func(o string) bool { return strings.EqualFold(o, id) }); {
			case suppressed && n[id] > 0:
				return errors.New("sent to one who objected")
			case n[id] > 1:
				return errors.New("sent twice")
			case !suppressed && n[id] == 0 && !reported[id]:
				return errors.New("missing, and not reported")
			}
		}
		return nil
	}, everySweep(sandbox.Twice(), sandbox.UntilDone(3), sandbox.Setup(func(*sandbox.Run) { reported = map[string]bool{} }))...)
}

// A push that does not store its checkpoint before it sends is caught: the stop after a request makes it send twice.
func TestEveryFailure_PushEachFindsACheckpointThatComesTooLate(t *testing.T) {
	ids := someContacts(600)
	tried := sandbox.EveryFailure(nil, func(run *sandbox.Run) error {
		from, _ := run.Load("checkpoint")
		stored := from
		late := push.SaveTo(func(_ context.Context, checkpoint string) error { stored = checkpoint; return nil })
		for _, err := range clientOf(run).Lists.PushEach(run.Context(), ListID, "crm-1", ids, push.ResumeFrom(from), late) {
			run.Save("checkpoint", stored)
			if err != nil {
				return err
			}
		}
		return nil
	}, func(run *sandbox.Run) error {
		for _, n := range arrived(run.Sandbox) {
			if n > 1 {
				return errors.New("sent twice")
			}
		}
		return nil
	}, everySweep()...)
	require.NotNil(t, tried.Broken)
}

func TestPushEach_Parts(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	client := SandboxClient(t, sb)
	ids := someContacts(1100)
	seq := client.Lists.PushEach(t.Context(), ListID, "crm-1", append(ids, strings.ToUpper(ids[0])), push.Except(ids[500:1000]), push.Except(ids[:1]))
	sb.Fail("lists.crm-push", sandbox.Nth(2), sandbox.DropAfter())
	var got []string
	for range 2 { // the second range has nothing left
		for part, err := range seq {
			got = append(got, fmt.Sprintf("%d %d %d %d %s %t,%t", part.Number, part.Of, len(part.ContactIDs), len(part.Excepted), part.Outcome, part.Earlier, errors.Is(err, prospectkit.ErrOutcomeUnknown)))
		}
	}
	require.Equal(t, []string{
		"1 3 499 1 applied false,false", "2 3 0 500 not applied false,false", "3 3 100 0 unknown false,true", "2 3 0 500 not applied false,false",
	}, got)
	require.Len(t, arrived(sb), 599)
}

func TestPushEach_SecondRangeSendsWhatWasNotApplied(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	sb.Do(func(tx *sandbox.Tx) { tx.DisconnectCRM("crm-1") })
	seq := SandboxClient(t, sb).Lists.PushEach(t.Context(), ListID, "crm-1", someContacts(501))
	for part, err := range seq {
		require.ErrorIs(t, err, prospectkit.CodeCRMNotConnected)
		require.Equal(t, journal.NotApplied, part.Outcome)
	}
	sb.Do(func(tx *sandbox.Tx) { tx.ConnectCRM("crm-1") })
	for part, err := range seq {
		require.NoError(t, err)
		require.Equal(t, journal.Applied, part.Outcome)
		for _, err := range seq {
			require.ErrorIs(t, err, prospectkit.ErrRefusedLocally, "two loops at once")
		}
	}
	require.Len(t, arrived(sb), 501)
}

// A part that may have been sent is reported by the next run, and sent again only if it is told to.
func TestPushEach_UnknownPart(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	client := SandboxClient(t, sb)
	ids := someContacts(1000)
	var checkpoint string
	save := push.SaveTo(func(_ context.Context, c string) error { checkpoint = c; return nil })
	sb.Fail("lists.crm-push", sandbox.Nth(1), sandbox.DropAfter())
	for _, err := range client.Lists.PushEach(t.Context(), ListID, "crm-1", ids, save) {
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		break
	}
	for part, err := range client.Lists.PushEach(t.Context(), strings.ToUpper(ListID), "crm-1", ids, save, push.ResumeFrom(checkpoint)) {
		require.Equal(t, part.Number == 1, part.Earlier)
		require.Equal(t, part.Number == 1, errors.Is(err, prospectkit.ErrOutcomeUnknown))
	}
	require.Equal(t, 2, sb.Calls("lists.crm-push"))
	for part, err := range client.Lists.PushEach(t.Context(), ListID, "crm-1", ids, save, push.ResumeFrom(checkpoint), push.RepeatUnknown()) {
		require.NoError(t, err)
		require.Equal(t, 1, part.Number)
	}
	require.Equal(t, 3, sb.Calls("lists.crm-push"))
	for _, err := range client.Lists.PushEach(t.Context(), ListID, "crm-1", ids, push.ResumeFrom(checkpoint)) {
		t.Error("all was applied", err)
	}
}

// What a person found out about a part, and told the journal, counts: an applied part is left out, and one that was not applied is sent.
func TestPushEach_BelievesTheJournal(t *testing.T) {
	for verdict, sent := range map[journal.Outcome]int{journal.Applied: 0, journal.NotApplied: 1, journal.Unknown: 0} {
		t.Run(string(verdict), func(t *testing.T) {
			sb := EverySandbox(t, time.Now())
			path := filepath.Join(t.TempDir(), "journal")
			var checkpoint string
			save := push.SaveTo(func(_ context.Context, c string) error { checkpoint = c; return nil })
			ids := someContacts(1000)
			run := func(use func(j *journal.FileJournal), opts ...push.Option) (parts []string) {
				j, err := journal.Open(path, "acme")
				require.NoError(t, err)
				defer func() { require.NoError(t, j.Close()) }()
				use(j)
				opts = append(opts, save, push.ResumeFrom(checkpoint))
				for part, err := range SandboxClient(t, sb, prospectkit.WithJournal(j)).Lists.PushEach(t.Context(), ListID, "crm-1", ids, opts...) {
					require.Equal(t, part.Outcome == journal.Unknown, errors.Is(err, prospectkit.ErrOutcomeUnknown))
					require.Equal(t, part.Outcome == journal.Unknown, len(part.Tickets) == 1)
					parts = append(parts, fmt.Sprintf("%d %s %t", part.Number, part.Outcome, part.Earlier))
				}
				return parts
			}
			sb.Fail("lists.crm-push", sandbox.Nth(1), sandbox.DropBefore())
			require.Equal(t, []string{"1 unknown false", "2 applied false"}, run(func(*journal.FileJournal) {}))
			require.Equal(t, []string{"1 unknown true"}, run(func(*journal.FileJournal) {}))
			got := run(func(j *journal.FileJournal) {
				for ticket, err := range j.InDoubt(t.Context()) {
					require.NoError(t, err)
					require.NoError(t, j.Ended(t.Context(), ticket.ID, journal.End{Outcome: verdict}))
				}
			})
			require.Len(t, arrived(sb), 500+500*sent)
			if verdict == journal.Unknown {
				require.Equal(t, []string{"1 unknown true"}, got)
				return
			}
			require.Len(t, got, sent)
			require.Regexp(t, `\.aa$`, checkpoint)
			require.Empty(t, run(func(j *journal.FileJournal) { // the verdict is in the checkpoint, too
				require.NoError(t, j.Compact(t.Context(), time.Now().Add(time.Hour), nil))
			}))
			require.Len(t, arrived(sb), 500+500*sent)
		})
	}
}

// A list may go into two CRMs: whoever looks for the effect of a push, or asks the journal for it, has to know which.
func TestPush_TicketsNameTheCRM(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	client := SandboxClient(t, sb, prospectkit.WithJournal(new(journal.MemoryJournal)))
	_, err := client.Lists.PushToCRM(t.Context(), ListID, prospectkit.CRMPush{CRM: "crm-1", All: true})
	require.NoError(t, err)
	for _, err := range client.Lists.PushEach(t.Context(), ListID, "crm-2", someContacts(1)) {
		require.Error(t, err, "which is not connected")
	}
	var pushed []string
	for e, err := range client.Calls(t.Context(), "lists.crm-push") {
		require.NoError(t, err)
		pushed = append(pushed, e.Ticket.Lookup.Kind)
	}
	require.Equal(t, []string{"crm-1", "crm-2"}, pushed)
}

// A ticket that the journal does not have, because it was compacted or is of another journal, proves nothing.
func TestPushEach_TicketThatIsGone(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	var checkpoint string
	save := push.SaveTo(func(_ context.Context, c string) error { checkpoint = c; return nil })
	ids := someContacts(1000)
	sb.Fail("lists.crm-push", sandbox.Nth(1), sandbox.DropAfter())
	first := SandboxClient(t, sb, prospectkit.WithJournal(new(journal.MemoryJournal)))
	for _, err := range first.Lists.PushEach(t.Context(), ListID, "crm-1", ids, save) {
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		break
	}
	for name, client := range map[string]*prospectkit.Client{
		"another journal":  SandboxClient(t, sb, prospectkit.WithJournal(new(journal.MemoryJournal))),
		"no journal":       SandboxClient(t, sb),
		"an earlier range": first,
	} {
		unknown := 0
		for part, err := range client.Lists.PushEach(t.Context(), ListID, "crm-1", ids, save, push.ResumeFrom(checkpoint)) {
			if errors.Is(err, prospectkit.ErrOutcomeUnknown) {
				unknown++
				require.True(t, part.Earlier, name)
				require.Len(t, part.Tickets, 1)
			}
		}
		require.Equal(t, 1, unknown, name)
	}
	require.Equal(t, 2, sb.Calls("lists.crm-push"))
	broken := errors.New("the database is away")
	for part, err := range SandboxClient(t, sb, prospectkit.WithJournal(&brokenHistory{err: broken})).Lists.PushEach(t.Context(), ListID, "crm-1", ids, save, push.ResumeFrom(checkpoint)) {
		require.Nil(t, part)
		require.ErrorIs(t, err, broken)
	}
}

// killed is a journal of a process that is killed before it notes any outcome.
type killed struct{ *journal.FileJournal }

func (killed) Ended(context.Context, string, journal.End) error { return nil }

// A process that is killed after its checkpoint was stored, and before it has sent the part: a person can settle the part, for its
// ticket is older than the checkpoint. No checkpoint is stored while the call waits for the rate limit.
func TestPushEach_KilledBeforeTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now(), sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 1, PerDay: 10_000}}))
		path, checkpoint := filepath.Join(t.TempDir(), "journal"), ""
		run := func(ends func(*journal.FileJournal) journal.Journal, end error, ids []string) (got []*push.Part) {
			j, err := journal.Open(path, "acme")
			require.NoError(t, err)
			defer func() { require.NoError(t, j.Close()) }()
			client := SandboxClient(t, sb, prospectkit.WithJournal(ends(j)))
			_, err = client.Lists.Get(t.Context(), ListID, prospectkit.GetListParams{}) // the next request has to wait
			require.NoError(t, err)
			began := time.Now()
			save := push.SaveTo(func(_ context.Context, c string) error {
				if strings.Contains(c, ".u") {
					require.Greater(t, time.Since(began), 10*time.Second)
				}
				checkpoint = c
				return end
			})
			for part, err := range client.Lists.PushEach(t.Context(), ListID, "crm-1", ids, save, push.ResumeFrom(checkpoint)) {
				require.Equal(t, part.Outcome == journal.Applied, err == nil)
				got = append(got, part)
			}
			return got
		}
		lives := func(j *journal.FileJournal) journal.Journal { return j }
		ids, kill := someContacts(2), errors.New("killed")
		first := run(func(j *journal.FileJournal) journal.Journal { return killed{j} }, kill, ids)
		require.Len(t, first, 1)
		require.Equal(t, journal.NotApplied, first[0].Outcome)
		require.Regexp(t, `\.u\.`, checkpoint)
		require.Empty(t, sb.CRMPushes())

		second := run(lives, nil, ids)
		require.Len(t, second, 1)
		require.Equal(t, journal.Unknown, second[0].Outcome)
		require.Len(t, second[0].Tickets, 1)
		third := run(func(j *journal.FileJournal) journal.Journal {
			looked := journal.Settlement{Outcome: journal.NotApplied, By: "grace", Because: "not in the CRM"}
			require.NoError(t, j.Settle(t.Context(), second[0].Tickets[0], looked))
			return j
		}, nil, ids)
		require.Len(t, third, 1)
		require.Equal(t, journal.Applied, third[0].Outcome)
		require.Len(t, sb.CRMPushes(), 1)
	})
}

// brokenHistory cannot be read.
type brokenHistory struct {
	journal.MemoryJournal

	err error
}

func (b *brokenHistory) Calls(context.Context, string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) { yield(journal.Entry{}, b.err) }
}

func TestPushEach_SendsNothing(t *testing.T) {
	sb := EverySandbox(t, time.Now())
	client := SandboxClient(t, sb)
	ids := someContacts(2)
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		ids  []string
		opts []push.Option
		want error
		rows int
	}{
		"no ids":           {nil, nil, nil, 0},
		"all kept back":    {ids, []push.Option{push.Except(ids)}, nil, 1},
		"a wrong id":       {[]string{ids[0], "ada@engines.example"}, nil, prospectkit.ErrRefusedLocally, 1},
		"a wrong excepted": {ids, []push.Option{push.Except([]string{"ada@engines.example"})}, prospectkit.ErrRefusedLocally, 1},
		"no option":        {ids, []push.Option{nil}, prospectkit.ErrRefusedLocally, 1},
		"no save":          {ids, []push.Option{push.SaveTo(nil)}, prospectkit.ErrRefusedLocally, 1},
		"wrong checkpoint": {ids, []push.Option{push.ResumeFrom("push1.0011223344556677.a")}, prospectkit.ErrRefusedLocally, 1},
		"not stored":       {someContacts(700), []push.Option{push.SaveTo(func(context.Context, string) error { return full })}, full, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rows := 0
			for _, err := range client.Lists.PushEach(t.Context(), ListID, "crm-1", c.ids, c.opts...) {
				require.ErrorIs(t, err, c.want)
				rows++
			}
			require.Equal(t, c.rows, rows)
			require.Empty(t, sb.CRMPushes())
		})
	}
	for name, mode := range map[string]prospectkit.ClientOption{"read-only": prospectkit.ReadOnly(), "no-send": prospectkit.NoSend()} {
		t.Run(name, func(t *testing.T) {
			parts := 0
			for part, err := range SandboxClient(t, sb, mode).Lists.PushEach(t.Context(), ListID, "crm-1", someContacts(1200)) {
				require.ErrorIs(t, err, prospectkit.ErrRefusedLocally)
				require.Equal(t, journal.NotApplied, part.Outcome)
				parts++
			}
			require.Equal(t, 1, parts)
			require.Empty(t, sb.CRMPushes())
		})
	}
}

// A wait for the rate limit that is refused would be refused for the other parts, too: the range ends, and a second one sends them.
func TestPushEach_EndsAtARefusedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now(), sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 2, PerDay: 10_000}}))
		client := SandboxClient(t, sb, prospectkit.WithMaxWait(0))
		ids := someContacts(2500)
		var parts, refused int
		pushed := client.Lists.PushEach(t.Context(), ListID, "crm-1", ids)
		for part, err := range pushed {
			parts++
			if _, ok := errors.AsType[*prospectkit.RateLimitWaitError](err); ok {
				require.Equal(t, journal.NotApplied, part.Outcome)
				refused++
			}
		}
		require.Equal(t, 1, refused)
		require.Less(t, parts, 5)
		for n := 0; len(arrived(sb)) < len(ids); n++ {
			require.Less(t, n, 5)
			time.Sleep(time.Minute)
			for _, err := range pushed {
				_, refused := errors.AsType[*prospectkit.RateLimitWaitError](err)
				require.True(t, err == nil || refused, err)
			}
		}
		for _, n := range arrived(sb) {
			require.Equal(t, 1, n)
		}
	})
}
