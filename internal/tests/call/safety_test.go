package call_test

import (
	"cmp"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/spend"
)

// Each safety mode refuses, before the network, exactly what the catalogue says, for a client, for one call, and for clients
// derived from it.
func TestSafety_Modes(t *testing.T) {
	modes := map[string]struct {
		option  func() prospectkit.Option
		rule    prospectkit.SafetyRule
		forbids func(*op.Op) bool
	}{
		"ReadOnly": {prospectkit.ReadOnly, prospectkit.RuleReadOnly, (*op.Op).Write},
		"NoSpend":  {prospectkit.NoSpend, prospectkit.RuleNoSpend, func(o *op.Op) bool { return o.Spends.Possible() }},
		"NoSend":   {prospectkit.NoSend, prospectkit.RuleNoSend, func(o *op.Op) bool { return o.Sends.Possible() || o.WritesOutside.Possible() }},
	}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			sent := 0
			plain := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				sent++
				return tests.Respond(http.StatusOK, `{}`), nil
			}))
			safe, err := plain.With(mode.option())
			require.NoError(t, err)
			derived, err := safe.With(prospectkit.WithUserAgent("derived"))
			require.NoError(t, err)
			refused := 0
			for _, row := range op.All() {
				o := tests.OfClass(row.Class, prospectkit.Operation{
					Name: row.Name, Method: cmp.Or(row.Method, http.MethodPost), Path: "/business/x", Surface: string(row.Surface),
				})
				o.Free, o.SendsNothing = !row.Spends.Possible(), !row.Sends.Possible() && !row.WritesOutside.Possible()
				before := sent
				for _, err := range []error{
					safe.Call(t.Context(), o, nil, nil),
					derived.Call(t.Context(), o, nil, nil),
					plain.Call(t.Context(), o, nil, nil, mode.option()),
				} {
					require.Equal(t, mode.forbids(row), err != nil, "%s: %v", o.Name, err)
					if err == nil {
						continue
					}
					refused++
					var refusal *prospectkit.RefusedError
					require.ErrorAs(t, err, &refusal)
					require.Equal(t, mode.rule, refusal.Rule)
					require.ErrorAs(t, err, new(*prospectkit.RefusedError))
					require.ErrorIs(t, err, mode.rule)
					require.NotErrorIs(t, err, prospectkit.CodeValidationFailed, "the arguments are fine")
					require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
					require.Equal(t, tests.NoWait, tests.Waits(err))
				}
				require.Equal(t, mode.forbids(row), sent == before, "%s: nothing is sent", o.Name)
			}
			require.Positive(t, refused)
		})
	}
}

// What is left out of an operation of your own counts as the worst. A read sends nothing.
func TestSafety_OwnOperations(t *testing.T) {
	modes := []prospectkit.Option{prospectkit.ReadOnly(), prospectkit.NoSpend(), prospectkit.NoSend()}
	for _, c := range []struct {
		change  func(*prospectkit.Operation)
		refused []error // by each mode
	}{
		{func(*prospectkit.Operation) {}, []error{prospectkit.RuleReadOnly, prospectkit.RuleNoSpend, prospectkit.RuleNoSend}},
		{func(o *prospectkit.Operation) { o.Repeatable = true }, []error{prospectkit.RuleReadOnly, prospectkit.RuleNoSpend, prospectkit.RuleNoSend}},
		{func(o *prospectkit.Operation) { o.Free = true }, []error{prospectkit.RuleReadOnly, nil, prospectkit.RuleNoSend}},
		{func(o *prospectkit.Operation) { o.SendsNothing = true }, []error{prospectkit.RuleReadOnly, prospectkit.RuleNoSpend, nil}},
		{func(o *prospectkit.Operation) { o.Reads = true }, []error{nil, prospectkit.RuleNoSpend, nil}},
		{func(o *prospectkit.Operation) { o.Reads, o.Free = true, true }, []error{nil, nil, nil}},
	} {
		o := tests.Described(http.MethodPost, op.Unsafe)
		c.change(&o)
		for i, mode := range modes {
			client := tests.NewClient(t, tests.Always(http.StatusOK, `{}`))
			require.ErrorIs(t, client.Call(t.Context(), o, nil, nil, mode), c.refused[i], "%+v", o)
		}
	}
}

// A draft agent spends nothing, although its operation may.
func TestSafety_DraftsAreFree(t *testing.T) {
	client := tests.NewClient(t, tests.Always(http.StatusCreated,
		`{"agent":{"id":"b00000000000000000000001","type":"web-monitor","name":"Hiring","status":"initializing","started":false}}`), prospectkit.NoSpend())
	spec := prospectkit.WebMonitor{ListName: "Hiring", EntityType: "person", Prompt: "people who are hiring"}
	_, err := client.Agents.Create(t.Context(), spec)
	require.NoError(t, err)
	spec.Start, spec.MaxCreditSpend = true, 1000
	_, err = client.Agents.Create(t.Context(), spec)
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
}

// The service may read a field whose name differs in letter case only, so none can stand beside the one that is checked.
func TestSafety_FieldsOfAnotherLetterCase(t *testing.T) {
	draft := prospectkit.WebMonitor{ListName: "Hiring", EntityType: "person", Prompt: "people who are hiring"}
	client := tests.NewClient(t, tests.Untouched(t), prospectkit.WithSpendGuard(spend.NewGuard(1, spend.Prices{"campaigns.adjust": {PerItem: 1, ItemsIn: "listIds"}})))
	for _, name := range []string{"START", "Start", "\u017Ftart", "MaxCreditSpend"} {
		_, err := client.Agents.Create(t.Context(), draft, prospectkit.WithField(name, true))
		require.ErrorContains(t, err, "is set by the call itself, as ")
		require.ErrorIs(t, err, prospectkit.ErrInvalid)
		extra := tests.Altered(draft, func(s *prospectkit.WebMonitor) { s.Extra = prospectkit.Fields{name: true} })
		_, err = client.Agents.Create(t.Context(), extra)
		require.ErrorContains(t, err, name)
	}
	_, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 1}, prospectkit.WithField("Size", 100))
	require.ErrorContains(t, err, "is set by the call itself, as ")
	_, err = client.Campaigns.Adjust(t.Context(), tests.CampaignID, prospectkit.CampaignChanges{
		ListIDs: []string{tests.ListID}, Extra: prospectkit.Fields{"ListIds": []string{tests.ListID, tests.FolderID}},
	})
	require.ErrorContains(t, err, `field "ListIds" is set by the call itself, as "listIds"`)
	_, err = client.Campaigns.Adjust(t.Context(), tests.CampaignID, prospectkit.CampaignChanges{}, prospectkit.WithField("ListIds", []string{tests.ListID}))
	require.ErrorContains(t, err, "is set by the call itself, as ")
}

// Approving has no body (documented).
func TestSafety_NoFieldWithoutABody(t *testing.T) {
	_, err := tests.NewClient(t, tests.Untouched(t)).Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID, prospectkit.WithField("x", 1))
	require.Equal(t, []string{"WithField cannot be used: this call has no body"}, tests.Refusals(t, err))
}

func TestSafety_ClosedClient(t *testing.T) {
	sent := 0
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		return tests.Respond(http.StatusOK, tests.OneUser), nil
	}))
	derived, err := client.With(prospectkit.ReadOnly())
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.NoError(t, client.Close(), "twice is fine")
	_, err = client.Account.Me(t.Context())
	var refusal *prospectkit.RefusedError
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, []prospectkit.Violation{{Param: "client", Problem: "is closed: use another one"}}, refusal.Violations)
	for _, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{}) {
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	}
	require.Zero(t, sent)
	_, err = derived.Account.Me(t.Context())
	require.NoError(t, err, "a derived client goes on")
}

// What may send or write outside may not be sent twice, even if it costs nothing and leaves the same state; a read may.
func TestSafety_RetryUnknownIsNotForWhatLeaves(t *testing.T) {
	free := tests.Altered(tests.Described(http.MethodPost, op.Idempotent), func(o *prospectkit.Operation) {
		o.Free = true
	})
	err := tests.NewClient(t, tests.Untouched(t)).Call(t.Context(), free, nil, nil, prospectkit.AllowRetryUnknown())
	require.Equal(t, []string{tests.NotRepeatable}, tests.Refusals(t, err))
	free.SendsNothing = true
	require.NoError(t, tests.NewClient(t, tests.Always(200, `{}`)).Call(t.Context(), free, nil, nil, prospectkit.AllowRetryUnknown()))
	read := tests.Described(http.MethodGet, op.Read)
	require.NoError(t, tests.NewClient(t, tests.Always(200, `{}`)).Call(t.Context(), read, nil, nil, prospectkit.AllowRetryUnknown()))
}
