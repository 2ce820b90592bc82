package outcome_test

import (
	"context"
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
)

// resolving is a Resolve, of an error or of a ticket.
type resolving func(ctx context.Context, opts ...prospectkit.CallOption) (*prospectkit.Resolution, error)

// ofTicket resolves a ticket.
func ofTicket(c *prospectkit.Client, ticket journal.Ticket) resolving {
	return func(ctx context.Context, opts ...prospectkit.CallOption) (*prospectkit.Resolution, error) {
		return c.Resolve(ctx, ticket, opts...)
	}
}

// resolved is what a Resolve finds.
func resolved(t *testing.T, resolve resolving) *prospectkit.Resolution {
	t.Helper()
	r, err := resolve(t.Context())
	require.NoError(t, err)
	return r
}

// untilPerson resolves until Again is zero, each time within a limit.
func untilPerson(t *testing.T, resolve resolving, limit time.Duration) (last *prospectkit.Resolution, looks int) {
	t.Helper()
	for looks = 1; looks <= 200; looks++ {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		r, err := resolve(ctx)
		cancel()
		require.NoError(t, err)
		if r.Again.IsZero() {
			return r, looks
		}
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "what is known is not read again")
		require.True(t, r.Again.After(time.Now()), "%s", r)
		time.Sleep(time.Until(r.Again))
	}
	require.Fail(t, "it does not end")
	return nil, 0
}

// each resolves an error of this process, and its ticket in another one.
func each(t *testing.T, rt http.RoundTripper, call lostCall, test func(t *testing.T, client *prospectkit.Client, r resolving, sent time.Time)) {
	t.Helper()
	for _, name := range []string{"error", "ticket", "ticket without a clock"} {
		tests.InTime(t, name, func(t *testing.T) {
			journaled := prospectkit.WithJournal(journal.NewMemory("acme"))
			client := tests.NewClient(t, rt, journaled)
			if name != "ticket without a clock" {
				require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
			}
			unknown := tests.AsUnknown(t, call(t.Context(), client))
			resolve := resolving(unknown.Resolve)
			if name != "error" {
				client = tests.NewClient(t, rt, journaled)
				ticket := tests.Written(t, unknown.Ticket())
				resolve = func(ctx context.Context, opts ...prospectkit.CallOption) (*prospectkit.Resolution, error) {
					return client.Resolve(ctx, ticket, opts...)
				}
			}
			test(t, client, resolve, unknown.SentAt)
		})
	}
}

// reading loses each write, and responds to reads with a page that may change, and to the first one with the user.
func reading(page func() string, header ...string) tests.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		switch {
		case r.Method == http.MethodPost:
			return tests.CutOff(r)
		case strings.HasSuffix(r.URL.Path, "/me"):
			return tests.Respond(200, tests.OneUser, "Date", time.Now().UTC().Format(http.TimeFormat)), nil
		}
		return tests.Respond(200, page(), append([]string{"Date", time.Now().UTC().Format(http.TimeFormat)}, header...)...), nil
	}
}

func campaignIs(status string) func() string {
	return func() string { return `[{"id":"` + tests.CampaignID + `","status":"` + status + `"}]` }
}

func noLists() string {
	return `{"data":[],"pagination":{"pageNum":1,"totalPages":0,"totalRecords":0}}`
}

// An approval may become active late, so another read may tell, for 15 minutes. Then a person has to look. The pauses grow.
func TestAgain_AnApprovalThatNeverShows(t *testing.T) {
	for _, status := range []string{"draft", "stopped", "warming-up"} {
		each(t, reading(campaignIs(status)), approveOne, func(t *testing.T, _ *prospectkit.Client, resolve resolving, sent time.Time) {
			r, looks := untilPerson(t, resolve, time.Hour)
			require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
			require.Equal(t, 15*time.Minute, time.Since(sent).Round(time.Minute))
			require.Less(t, looks, 10)
		})
	}
}

// What shows before Again is zero is found.
func TestAgain_AnApprovalThatShowsLate(t *testing.T) {
	for _, after := range []time.Duration{30 * time.Second, 5 * time.Minute, 14 * time.Minute} {
		var active time.Time
		page := func() string {
			if time.Now().Before(active) {
				return campaignIs("draft")()
			}
			return campaignIs("active")()
		}
		call := func(ctx context.Context, c *prospectkit.Client) error {
			active = time.Now().Add(after)
			return approveOne(ctx, c)
		}
		each(t, reading(page), call, func(t *testing.T, _ *prospectkit.Client, resolve resolving, _ time.Time) {
			r, _ := untilPerson(t, resolve, time.Hour)
			require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
		})
	}
}

// A program that never has the time to watch comes to an end, too, as soon as one that has.
func TestAgain_ContextsThatEndEarly(t *testing.T) {
	each(t, reading(noLists), create, func(t *testing.T, _ *prospectkit.Client, resolve resolving, sent time.Time) {
		r, _ := untilPerson(t, resolve, 100*time.Millisecond)
		require.LessOrEqual(t, time.Since(sent), time.Minute)
		if t.Name() == "TestAgain_ContextsThatEndEarly/ticket_without_a_clock" {
			require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "nobody knows how long ago it was")
		} else {
			require.Equal(t, prospectkit.OutcomeNotApplied, r.Outcome, r.Note)
		}
	})
}

// Once a cache has forgotten what it shows, a read tells. One that never forgets does not keep a program in its loop.
func TestAgain_ACache(t *testing.T) {
	each(t, reading(noLists, "Age", "60"), create, func(t *testing.T, _ *prospectkit.Client, resolve resolving, sent time.Time) {
		r, looks := untilPerson(t, resolve, time.Hour)
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
		require.Contains(t, r.Note, "the state may be old, by its Age")
		require.Equal(t, 15*time.Minute, time.Since(sent).Round(time.Minute))
		require.Less(t, looks, 15)
	})
}

// Waiting brings nothing that a look can prove now, or that no read shows: a person has to look at once. What no read shows is not read.
func TestAgain_IsZeroWhereWaitingDoesNotHelp(t *testing.T) {
	for name, test := range map[string]struct {
		page string // none: nothing is read
		call lostCall
		note string
	}{
		"no status":      {campaignIs("")(), approveOne, ""},
		"left the draft": {`{"agents":[{"id":"` + tests.AgentID + `","name":"Funding","type":"web-monitor","status":"active"}]}`, createDraft, ""},
		"a configuration": {"", func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Agents.Adjust(ctx, tests.AgentID, prospectkit.Fields{"x": 1}))
		}, "the configuration of a draft is undocumented"},
		"a push": {"", func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Lists.PushToCRM(ctx, tests.ListID, prospectkit.CRMPush{CRM: "crm-a", All: true}))
		}, "look in the CRM"},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			rt := reading(func() string { return test.page })
			if test.page == "" {
				rt = tests.Stage(t, tests.CutOff).RoundTrip
			}
			client := tests.NewClient(t, rt, prospectkit.WithJournal(journal.NewMemory("acme")))
			unknown := tests.AsUnknown(t, test.call(t.Context(), client))
			began := time.Now()
			for _, resolve := range []resolving{unknown.Resolve, ofTicket(client, tests.Written(t, unknown.Ticket()))} {
				r := resolved(t, resolve)
				require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
				require.Contains(t, r.Note, test.note)
				require.Zero(t, r.Again, r.Note)
				require.Zero(t, time.Since(began))
				require.True(t, r.Object == nil || test.page != "")
			}
		})
	}
}

// A list of nearly that name may be the one, and may not: the one of the call may yet show.
func TestAgain_ANearNameAndThenItsOwn(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, []sandbox.Option{sandbox.HideFor(4 * time.Second)}, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "q1", EntityType: sandbox.ContactList}) })
		unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropAfter(), tests.Create(t, client, tests.Q1))
		r := resolved(t, unknown.Resolve)
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, r.Note)
		list, ok := r.Object.(*prospectkit.List)
		require.True(t, ok)
		require.Equal(t, "Q1", list.Name)
	})
}

// What a look cannot tell so far is remembered: Client.Resolve reads again at Again, and not before.
func TestAgain_IsWhenItIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := "draft"
		client, ticket, reads := doubtful(t, &status)
		r := resolved(t, ofTicket(client, ticket))
		for !r.Again.IsZero() {
			again, before := r.Again, reads()
			for time.Until(again) > time.Second {
				time.Sleep(time.Second)
				r = resolved(t, ofTicket(client, ticket))
				require.Equal(t, again, r.Again)
				require.Contains(t, r.Note, "read at 2000-01-01T00:")
			}
			require.Equal(t, before, reads())
			time.Sleep(time.Until(again))
			r = resolved(t, ofTicket(client, ticket))
			require.Greater(t, reads(), before)
		}
		require.Equal(t, 15*time.Minute, time.Since(ticket.LastSent).Round(time.Minute))
	})
}

// A clock by which the call lies ahead keeps nobody waiting until then.
func TestAgain_ATicketFromTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := "draft"
		client, ticket, _ := doubtful(t, &status)
		ticket.FirstSent, ticket.LastSent = ticket.FirstSent.AddDate(10, 0, 0), ticket.LastSent.AddDate(10, 0, 0)
		began := time.Now()
		_, looks := untilPerson(t, func(ctx context.Context, opts ...prospectkit.CallOption) (*prospectkit.Resolution, error) {
			return client.Resolve(ctx, ticket, opts...)
		}, time.Hour)
		require.LessOrEqual(t, time.Since(began), 16*time.Minute)
		require.Less(t, looks, 10)
	})
}

// The object of a resolution is read by a type assertion.
func TestResolution_Object(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		r, err := outcomeUnknown(t, sb, "lists.create", sandbox.DropAfter(), tests.Create(t, client, tests.Q1)).Resolve(t.Context())
		require.NoError(t, err)
		switch found := r.Object.(type) {
		case *prospectkit.List:
			require.Equal(t, "Q1", found.Name)
		default:
			require.Failf(t, "no list", "%T", found)
		}
		require.Equal(t, journal.Applied, r.Outcome)
	})
}
