package tests

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
)

// A day and more in which a program reads more pages than a day allows: it gets each row once, is not refused, uses the minutes to the
// full, and when the day is used up it is told so at once and goes on from its checkpoint the next day.
func TestVirtualDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perDay, most = 1000, 1050
		rows := make([]sandbox.Row, most)
		for i := range rows {
			rows[i] = touched("Row")
		}
		sb := sandbox.New(t, sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 120, PerDay: perDay}}))
		sb.Do(func(tx *sandbox.Tx) {
			tx.CreateList(sandbox.List{ID: ListID, Name: "People", Rows: sandbox.Rows(rows...)})
		})
		client := SandboxClient(t, sb, prospectkit.WithTransport(slow{sb.Transport()}))
		var progress prospectkit.Progress
		got, pauses := map[string]bool{}, 0
		for !progress.Report().Finished {
			opts := []prospectkit.PageOption{prospectkit.WithProgress(&progress), prospectkit.ResumeFrom(progress.Checkpoint())}
			for row, err := range client.Lists.Rows(t.Context(), ListID, prospectkit.RowsParams{Limit: 1}, opts...) {
				if wait, ok := errors.AsType[*prospectkit.RateLimitWaitError](err); ok {
					require.Equal(t, ratelimit.WindowDay, wait.Window)
					time.Sleep(time.Until(wait.FitsAt))
					pauses++
					break
				}
				require.NoError(t, err)
				require.False(t, got[row.ID()], "it came before")
				got[row.ID()] = true
			}
		}
		require.Len(t, got, most)
		require.Equal(t, 1, pauses)
		requests := sb.Journal()
		for _, e := range requests {
			require.Equal(t, http.StatusOK, e.Status)
		}
		first := requests[0].Time
		require.Less(t, requests[perDay-1].Time.Sub(first), 9*time.Minute, "the minutes are used to the full")
		require.Less(t, time.Since(first), 24*time.Hour+5*time.Minute)
	})
}

// slow takes a moment for each request.
type slow struct{ http.RoundTripper }

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(50 * time.Millisecond)
	return s.RoundTripper.RoundTrip(r)
}
