package limits_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// A job approves with a short WithMaxWait, beside workers of other processes, each of which gives its slot away when it is refused, as jobs do.
// It begins again each time: it comes to its end nevertheless.
func TestApprove_InAJobBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		var id string
		sb.Do(func(tx *sandbox.Tx) {
			tx.ConnectAccount("email")
			id = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(sandbox.Row{"email": "grace@navy.example"})})))
		})
		j := journal.NewMemory("acme")
		worker := func() *prospectkit.Client {
			client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j), prospectkit.WithMaxWait(time.Second))
			require.NoError(t, err)
			return client
		}
		seen, err := worker().Campaigns.Review(t.Context(), id)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		var others sync.WaitGroup
		defer others.Wait()
		defer stop()
		for range 2 {
			client := worker()
			others.Go(func() {
				for ctx.Err() == nil {
					_, _ = client.Campaigns.Page(ctx)
					time.Sleep(time.Second)
				}
			})
		}
		time.Sleep(3 * time.Minute)
		began := time.Now()
		for workers := [...]*prospectkit.Client{worker(), worker()}; ; workers[0], workers[1] = workers[1], workers[0] {
			_, err := workers[0].Campaigns.Approve(t.Context(), id, seen.Digest())
			if err == nil {
				break
			}
			after, ok := prospectkit.RetryAfter(err)
			require.True(t, ok, "%v", err)
			require.Less(t, time.Since(began), 5*time.Minute)
			time.Sleep(max(after, time.Second))
		}
	})
}
