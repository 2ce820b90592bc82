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

// jobOfMany is a job of several requests.
type jobOfMany struct {
	prepare     func(*testing.T, *sandbox.Sandbox, *prospectkit.Client)
	others, job func(context.Context, *prospectkit.Client) error
}

// A job makes several requests with a short WithMaxWait, beside workers of other processes. It gives its slot away when it is refused, and
// begins again: it comes to its end nevertheless.
func TestJobsOfSeveralRequests(t *testing.T) {
	var id, digest string
	for name, of := range map[string]jobOfMany{
		"an approval": {
			prepare: func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
				sb.Do(func(tx *sandbox.Tx) {
					tx.ConnectAccount("email")
					list := tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(sandbox.Row{"email": "grace@navy.example"})})
					id = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", list))
				})
				seen, err := client.Campaigns.Review(t.Context(), id)
				require.NoError(t, err)
				digest = seen.Digest()
			},
			others: func(ctx context.Context, client *prospectkit.Client) error {
				_, err := client.Campaigns.Page(ctx)
				return err
			},
			job: func(ctx context.Context, client *prospectkit.Client) error {
				_, err := client.Campaigns.Approve(ctx, id, digest)
				return err
			},
		},
		"the start of an agent": {
			prepare: func(*testing.T, *sandbox.Sandbox, *prospectkit.Client) {},
			others: func(ctx context.Context, client *prospectkit.Client) error {
				_, err := client.Agents.Page(ctx)
				return err
			},
			job: func(ctx context.Context, client *prospectkit.Client) error {
				_, err := client.Agents.CreateAndStart(ctx, prospectkit.WebMonitor{ListName: "News", EntityType: "company", Prompt: "who raised money", MaxCreditSpend: 1000})
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { of.comesToItsEnd(t) })
		})
	}
}

// comesToItsEnd makes the job, with two workers in turn, beside two others that ask all the time.
func (of jobOfMany) comesToItsEnd(t *testing.T) {
	sb := sandbox.New(t)
	j := journal.NewMemory("acme")
	worker := func() *prospectkit.Client {
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j), prospectkit.WithMaxWait(time.Second))
		require.NoError(t, err)
		return client
	}
	of.prepare(t, sb, worker())
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer stop()
	for range 2 {
		client := worker()
		others.Go(func() {
			for ctx.Err() == nil {
				_ = of.others(ctx, client)
				time.Sleep(time.Second)
			}
		})
	}
	time.Sleep(3 * time.Minute)
	began := time.Now()
	for workers := [...]*prospectkit.Client{worker(), worker()}; ; workers[0], workers[1] = workers[1], workers[0] {
		err := of.job(t.Context(), workers[0])
		if err == nil {
			break
		}
		after, ok := prospectkit.RetryAfter(err)
		require.True(t, ok, "%v", err)
		require.Less(t, time.Since(began), 5*time.Minute)
		time.Sleep(max(after, time.Second))
	}
}
