package docruns

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// careful repeats an approval only if there was none.
func careful(ctx context.Context, client *prospectkit.Client, campaignID string) error {
	_, err := client.Campaigns.ApproveUnreviewed(ctx, campaignID)
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown {
		return nil // a person looks
	}
	return err
}

// on makes a sandbox with one of everything, as an example does.
func on() *prospectkit.Client {
	sb := Sandbox(append(tests.EveryRoute(), sandbox.Seed(state(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))))...)
	Do(sb, func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "Leeds"}) })
	Fail(sb, "account.me", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
	Advance(sb, time.Minute)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(Transport()))
	if err != nil {
		Fatal(err)
	}
	if _, err := client.Account.Me(context.Background()); err != nil {
		Fatal("nobody: ", err)
	}
	return client
}

// Programs that are careful pass.
func TestPrograms(t *testing.T) {
	All(t, []Program{
		{Name: "a block", Run: func(w *World) error {
			return careful(w.Context(), w.Client(), Given[string](w, "campaignID"))
		}},
		{Name: "an example", Own: true, Run: func(*World) error {
			return careful(context.Background(), on(), tests.CampaignID)
		}},
		{Name: "one without a service", Own: true, Run: func(*World) error { return nil }},
	})
}

// A program that fails after a write which may have happened is found, at the request where it is.
func TestPrograms_CarelessOnesAreFound(t *testing.T) {
	upload := prospectkit.UploadFrom("contacts.csv", 14, strings.NewReader("firstName\nAda\n"))
	for op, program := range map[string]func(w *World) error{
		"facts.edit": func(w *World) error {
			_, err := w.Client().Facts.Edit(w.Context(), tests.FactID, prospectkit.FactEdit{Claim: "Teams save a day a week."})
			return err
		},
		"imports.create": func(w *World) error {
			if _, err := w.Client().Imports.Upload(w.Context(), upload); err != nil {
				Fatal(err)
			}
			return nil
		},
	} {
		w := &World{T: t}
		tried := sandbox.EveryFailure(nil, w.start(Program{Run: program}), once(), w.options(kinds(1)[0]...)...)
		require.NotNil(t, tried.Broken, op)
		require.Equal(t, op, tried.Broken.Failures[0].Op)
		require.ErrorContains(t, tried.Broken.Err, "2 times, and 1 without a failure")
	}
}

// One that forgets, when it is killed, what it has sent is found.
func TestPrograms_ForgetfulOnesAreFound(t *testing.T) {
	w := &World{T: t}
	tried := sandbox.EveryFailure(nil, w.start(Program{Run: func(w *World) error {
		_, err := w.Client().Facts.Edit(w.Context(), tests.FactID, prospectkit.FactEdit{Claim: "Teams save a day a week."})
		if prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown {
			return nil
		}
		return err
	}}), once(), w.options(killed...)...)
	require.NotNil(t, tried.Broken)
	require.Equal(t, sandbox.StopAfter, tried.Broken.Failures[0].Kind)
	require.ErrorContains(t, tried.Broken.Err, "2 times, and 1 without a failure")
}

// One that adds a part twice, and another one never, is found, although it adds no more parts than without a failure.
func TestPrograms_APartTwice(t *testing.T) {
	w := &World{T: t}
	tried := sandbox.EveryFailure(nil, w.start(Program{Run: func(w *World) error {
		client := w.Client()
		for _, part := range [][]json.RawMessage{many[:2], many[:1]}[:max(1, 3-w.tries)] {
			if _, err := client.Lists.AddContacts(w.Context(), tests.ListID, prospectkit.Fields{"contacts": part}); err != nil {
				return err
			}
		}
		return nil
	}}), once(), w.options(sandbox.Only(sandbox.RequestLost))...)
	require.NotNil(t, tried.Broken)
	require.Equal(t, 2, tried.Broken.Failures[0].Request)
	require.ErrorContains(t, tried.Broken.Err, "rows added to "+tests.ListID+": 2]: 2 times, and 1 without a failure")
}
