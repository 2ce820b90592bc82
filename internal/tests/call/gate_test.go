package call_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// A gate sees what each call is about to do, as the table has it. What it refuses does not leave.
func TestGate_EveryOperation(t *testing.T) {
	frozen := errors.New("frozen until Monday")
	tests.EachOperation(t, func(t *testing.T, row *op.Op, call tests.AnyCall) {
		synctest.Test(t, func(t *testing.T) {
			sb, book := tests.EverySandbox(t, time.Now()), new(tests.Notebook)
			var intents []prospectkit.Intent
			gate := func(_ context.Context, in prospectkit.Intent) error {
				intents = append(intents, in)
				for i := range in.IDs {
					in.IDs[i] = "x" // it is a copy
				}
				if len(intents) == 2 {
					return frozen
				}
				return nil
			}
			client := tests.SandboxClient(t, sb, prospectkit.WithGate(gate), prospectkit.WithJournal(book))
			ctx := prospectkit.WithActor(t.Context(), "ada")
			require.NoError(t, tests.Discard(call(ctx, client)))
			sent, tickets := len(sb.Journal()), len(book.Sent)
			_, err := call(ctx, client)
			refused := tests.AsRefused(t, err)
			require.Equal(t, prospectkit.RuleGate, refused.Rule)
			require.ErrorIs(t, err, frozen)
			require.NotErrorIs(t, err, prospectkit.CodeValidationFailed)
			require.Equal(t, tests.NoWait, tests.Waits(err))
			require.EqualError(t, err, "prospectkit: "+row.Name+": refused locally: a gate refused: frozen until Monday")
			require.Len(t, sb.Journal(), sent)
			require.Len(t, book.Sent, tickets)
			require.Len(t, intents, 2, "once for each call")
			require.Equal(t, row.Name, intents[0].Op)
			require.Equal(t, "ada", intents[0].Actor)
			require.Equal(t, row.Write(), intents[0].Writes)
			require.Equal(t, row.Sends.Possible() || row.WritesOutside.Possible(), intents[0].Sends)
			require.True(t, !intents[0].Spends || row.Spends.Possible())
			require.Equal(t, intents[0].Spends, spends(t, sb, call), "as NoSpend has it")
		})
	})
}

// spends reports whether NoSpend refuses a call.
func spends(t *testing.T, sb *sandbox.Sandbox, call tests.AnyCall) bool {
	t.Helper()
	_, err := call(t.Context(), tests.SandboxClient(t, sb, prospectkit.NoSpend()))
	refused, ok := errors.AsType[*prospectkit.RefusedError](err)
	return ok && refused.Rule == prospectkit.RuleNoSpend
}

// A gate is asked once, whatever happens to the call, and not for one that is refused anyway.
func TestGate_OncePerCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		gate := func(_ context.Context, in prospectkit.Intent) error {
			asked++
			require.Equal(t, "lists.get", in.Op)
			require.Equal(t, []string{tests.ListID}, in.IDs)
			return nil
		}
		failed := tests.Always(502, "")
		rt := tests.Stage(t, failed, failed, tests.Always(200, `{"list":`+tests.OneList+`}`))
		client := tests.NewClient(t, rt, prospectkit.WithGate(gate), prospectkit.NoSend())
		require.NoError(t, tests.Discard(client.Lists.Get(t.Context(), tests.ListID)))
		rt.Done()
		require.ErrorIs(t, tests.Discard(client.Lists.Get(t.Context(), "x")), prospectkit.ErrInvalid)
		_, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.Equal(t, 1, asked)
	})
}

// A derived client adds gates. The first refusal counts, a panic is one, and observers see it.
func TestGate_AddedNeverLifted(t *testing.T) {
	yes := func(context.Context, prospectkit.Intent) error { return nil }
	no := func(context.Context, prospectkit.Intent) error { return errors.New("not today") }
	panics := func(context.Context, prospectkit.Intent) error { panic("oh") }
	var seen []prospectkit.Event
	plain := tests.NewClient(t, tests.Always(200, tests.OneUser), tests.Events(&seen), prospectkit.WithGate(yes))
	strict := tests.Derived(t, plain, prospectkit.WithGate(no))
	derived := tests.Derived(t, strict, prospectkit.WithGate(yes), prospectkit.WithGate(panics))
	broken := tests.Derived(t, plain, prospectkit.WithGate(panics), prospectkit.WithGate(no))
	require.NoError(t, tests.Discard(plain.Account.Me(t.Context())))
	for client, want := range map[*prospectkit.Client]string{strict: "not today", derived: "not today", broken: "the gate panicked"} {
		seen = nil
		var info prospectkit.Info
		_, err := client.Account.Me(t.Context(), prospectkit.WithInfo(&info))
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.ErrorContains(t, err, want)
		require.Empty(t, info.Attempts)
		require.Len(t, seen, 1)
		require.Equal(t, prospectkit.EventEnd, seen[0].Kind)
	}
	_, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithGate(nil))
	require.Equal(t, []string{"WithGate got nil"}, tests.Refusals(t, err))
}

// A gate may wait for a person. What it lets through after the context has ended is not sent.
func TestGate_TakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		client := tests.SandboxClient(t, sb, prospectkit.WithGate(func(context.Context, prospectkit.Intent) error {
			time.Sleep(time.Hour)
			return nil
		}))
		ctx := tests.Within(t, time.Minute)
		require.ErrorIs(t, tests.Discard(client.Account.Me(ctx)), context.DeadlineExceeded)
		require.Empty(t, sb.Journal())
		require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	})
}

// A gate knows which review an approval is of, and nothing of that for any other call: a yes can name what may be sent.
func TestGate_TheReview(t *testing.T) {
	sb := sandbox.New(t)
	var campaignID string
	sb.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		campaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", tx.CreateList(sandbox.List{Name: "Berlin"})))
	})
	digests := map[string]string{}
	client := tests.SandboxClient(t, sb, prospectkit.WithGate(func(_ context.Context, in prospectkit.Intent) error {
		digests[in.Op] += in.Digest
		if in.Sends {
			return errors.New("not yet")
		}
		return nil
	}))
	review, err := client.Campaigns.Review(t.Context(), campaignID)
	require.NoError(t, err)
	require.ErrorIs(t, tests.Discard(client.Campaigns.ApproveUnreviewed(t.Context(), campaignID)), prospectkit.RuleGate)
	require.Contains(t, digests, "campaigns.approve")
	require.Empty(t, digests["campaigns.approve"], "nothing is known about what it approves")
	_, err = client.Campaigns.Approve(t.Context(), campaignID, review.Digest())
	require.ErrorIs(t, err, prospectkit.RuleGate)
	require.Equal(t, review.Digest(), digests["campaigns.approve"])
	delete(digests, "campaigns.approve")
	for name, digest := range digests {
		require.Empty(t, digest, name)
	}
	require.Zero(t, sb.Calls("campaigns.approve"))
}

// No other name leads to the path of a write, which would hide from gates, NoSend, lookups and reviews what it is. That a write leads to a
// read that costs credits is known.
func TestGate_OtherRoutes(t *testing.T) {
	sb := sandbox.New(t)
	var asked []prospectkit.Intent
	gate := prospectkit.WithGate(func(_ context.Context, in prospectkit.Intent) error {
		asked = append(asked, in)
		return errors.New("no")
	})
	quiet := prospectkit.Operation{
		Name: "quiet", Method: "POST", Surface: "campaigns", Repeatable: true,
		Free: true, SendsNothing: true,
	}
	for path, spends := range map[string]bool{"/business/prospects/search": true, "/business/elsewhere": false} {
		own := quiet
		own.Path = path
		asked = nil
		require.ErrorIs(t, tests.SandboxClient(t, sb, gate).Call(t.Context(), own, nil, nil), prospectkit.RuleGate)
		require.Equal(t, prospectkit.Intent{Op: "quiet", Writes: true, Spends: spends}, asked[0], path)
		err := tests.SandboxClient(t, sb, prospectkit.NoSpend()).Call(t.Context(), own, nil, nil)
		require.Equal(t, spends, errors.Is(err, prospectkit.RuleNoSpend), path)
	}
	for _, path := range []string{
		"/business/campaigns/" + tests.CampaignID + "/approve", "/business/campaigns/" + tests.CampaignID + "/Approve/",
		"/business/campaigns/" + tests.CampaignID + "/approve.json", "/business/lists/" + tests.ListID + "/crm-push",
		"/business/agents/" + tests.AgentID + "/activate", "/business/lists",
	} {
		own := quiet
		own.Path = path
		require.ErrorContains(t, tests.SandboxClient(t, sb).Call(t.Context(), own, nil, nil), "route is that of another operation", path)
	}
	for _, tail := range []string{"/%61pprove", "/approve;x=1", "/approve%3B", "/approve%20", "/approve%00", "%2F%2Fapprove"} { // which some servers take for it
		own := quiet
		own.Path = "/business/campaigns/" + tests.CampaignID + tail
		require.ErrorIs(t, tests.SandboxClient(t, sb).Call(t.Context(), own, nil, nil), prospectkit.CodeValidationFailed, tail)
	}
	require.Zero(t, sb.Calls("campaigns.approve"))
}
