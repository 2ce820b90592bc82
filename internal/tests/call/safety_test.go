package call_test

import (
	"cmp"
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
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
			safe := tests.Derived(t, plain, mode.option())
			derived := tests.Derived(t, safe, prospectkit.WithUserAgent("derived"))
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
					refusal := tests.AsRefused(t, err)
					require.Equal(t, mode.rule, refusal.Rule)
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

// A draft agent spends nothing, although its operation may: so NoSpend and gates have it.
func TestSafety_DraftsAreFree(t *testing.T) {
	var asked []bool
	client := tests.NewClient(t, tests.RoundTrip(tests.Made), prospectkit.WithGate(func(_ context.Context, in prospectkit.Intent) error {
		asked = append(asked, in.Spends)
		return nil
	}))
	started := tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Start = true })
	require.NoError(t, tests.Discard(client.Agents.Create(t.Context(), tests.Monitor())))
	require.NoError(t, tests.Discard(client.Agents.Create(t.Context(), started)))
	require.NoError(t, tests.Discard(client.Agents.Create(t.Context(), tests.Monitor(), prospectkit.NoSpend())))
	require.ErrorIs(t, tests.Discard(client.Agents.Create(t.Context(), started, prospectkit.NoSpend())), prospectkit.RuleNoSpend)
	require.Equal(t, []bool{false, true, false}, asked)
}

func TestSafety_ClosedClient(t *testing.T) {
	sent := 0
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		return tests.Respond(http.StatusOK, tests.OneUser), nil
	}))
	derived := tests.Derived(t, client, prospectkit.ReadOnly())
	require.NoError(t, client.Close())
	require.NoError(t, client.Close(), "twice is fine")
	_, err := client.Account.Me(t.Context())
	refusal := tests.AsRefused(t, err)
	require.Equal(t, []prospectkit.Violation{{Param: "client", Problem: "is closed: use another one"}}, refusal.Violations)
	for _, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{}) {
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	}
	require.Zero(t, sent)
	require.NoError(t, tests.Discard(derived.Account.Me(t.Context())), "a derived client goes on")
}
