package outcome_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

// doubtful is a client whose approval was lost, its ticket, and how often the campaigns were read since, by anybody.
func doubtful(t *testing.T, status *string) (client *prospectkit.Client, ticket journal.Ticket, reads func() int) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	client = tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			return tests.CutOff(r)
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		return tests.Respond(200, `[{"id":"`+tests.CampaignID+`","status":"`+*status+`"}]`, "Date", time.Now().UTC().Format(http.TimeFormat)), nil
	}), prospectkit.WithJournal(new(tests.Notebook)))
	require.NoError(t, tests.Discard(client.Campaigns.Page(t.Context())))
	unknown := tests.AsUnknown(t, tests.Discard(client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)))
	n = 0
	return client, unknown.Ticket(), func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// A loop over the tickets in doubt reads for one that no read settles ever more rarely, and notices a change within the hour.
func TestResolve_RemembersWhatNoReadSettles(t *testing.T) {
	for _, status := range []string{"draft", "stopped", ""} {
		synctest.Test(t, func(t *testing.T) {
			now := status
			client, ticket, reads := doubtful(t, &now)
			time.Sleep(time.Hour)
			first := resolved(t, ofTicket(client, ticket))
			require.NotContains(t, first.Note, "read at")
			for range 6 * time.Hour / (2 * time.Second) {
				r := resolved(t, ofTicket(client, tests.Written(t, ticket)))
				require.Equal(t, first.Outcome, r.Outcome)
				require.Zero(t, r.Again, "waiting does not help")
				time.Sleep(2 * time.Second)
			}
			require.InDelta(t, 6+5, reads(), 1, "after 1, 2, 4, 8, 16, 32 and then 60 minutes")
			r := resolved(t, ofTicket(client, ticket))
			require.Contains(t, r.Note, first.Note[:20])
			require.Contains(t, r.Note, "read at 2000-01-0")

			now = "active"
			changed := time.Now()
			for r.Outcome != prospectkit.OutcomeApplied {
				time.Sleep(2 * time.Second)
				r = resolved(t, ofTicket(client, ticket))
			}
			require.LessOrEqual(t, time.Since(changed), time.Hour+2*time.Second)
		})
	}
}

// The memory is that of the clients that With derives, unless they have another transport; an error of this process always reads.
func TestResolve_WhoRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := "stopped"
		client, ticket, reads := doubtful(t, &status)
		time.Sleep(time.Hour)
		derived := tests.Derived(t, client, prospectkit.NoSend())
		for _, c := range []*prospectkit.Client{client, derived, client} {
			require.NoError(t, tests.Discard(c.Resolve(t.Context(), ticket)))
			require.Equal(t, 1, reads())
		}
		resent := ticket
		resent.LastSent = resent.LastSent.Add(time.Second)
		require.NoError(t, tests.Discard(client.Resolve(t.Context(), resent)))
		require.Equal(t, 2, reads(), "the call was sent again since")
		ticket.ID = ""
		for range 2 {
			require.NoError(t, tests.Discard(client.Resolve(t.Context(), ticket)))
		}
		require.Equal(t, 4, reads(), "a ticket without an ID is not remembered")

		unknown := tests.AsUnknown(t, tests.Discard(client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)))
		time.Sleep(time.Hour)
		for i := range 3 {
			require.NoError(t, tests.Discard(unknown.Resolve(t.Context())))
			require.Equal(t, 5+i, reads())
		}
	})
}

// The memory is bounded, and may be used at the same time.
func TestResolve_RemembersAThousand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := "stopped"
		client, ticket, reads := doubtful(t, &status)
		time.Sleep(time.Hour)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 200 {
					mine := ticket
					mine.ID = fmt.Sprint(i, "-", j)
					require.NoError(t, tests.Discard(client.Resolve(t.Context(), mine)))
				}
			})
		}
		all.Wait()
		require.Equal(t, 1600, reads())
		again := 0
		for i := range 8 {
			for j := range 200 {
				mine := ticket
				mine.ID = fmt.Sprint(i, "-", j)
				r := resolved(t, ofTicket(client, mine))
				if r.Note != "" && reads() > 1600+again {
					again++
				}
			}
		}
		require.GreaterOrEqual(t, again, 600)
	})
}
