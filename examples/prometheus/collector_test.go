package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

func TestCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		budget := prospectkit.NewBudget(prospectkit.BudgetConfig{})
		collector := NewCollector("acme", budget)
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()),
			prospectkit.WithBudget(budget), prospectkit.WithObserver(collector.Observe))
		require.NoError(t, err)
		sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(20))
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
		sb.Fail("lists.create", sandbox.Nth(2), sandbox.FutureCode(409, "SECRET_CODE"))
		_, err = client.Account.Me(t.Context())
		require.NoError(t, err)
		_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "secret"})
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "secret"})
		require.Error(t, err)

		problems, err := testutil.CollectAndLint(collector)
		require.NoError(t, err)
		require.Empty(t, problems)
		registry := prometheus.NewRegistry()
		registry.MustRegister(collector, NewCollector("globex", prospectkit.NewBudget(prospectkit.BudgetConfig{})))
		text := scrape(t.Context(), registry)
		for _, line := range []string{
			`prospectkit_retries_total{operation="account.me",workspace="acme"} 1`,
			`prospectkit_wait_seconds_count{surface="account",workspace="acme"} 1`,
			`prospectkit_wait_seconds_bucket{surface="account",workspace="acme",le="10"} 0`,
			`prospectkit_call_duration_seconds_count{code="",operation="lists.create",outcome="unknown",workspace="acme"} 1`,
			`prospectkit_call_duration_seconds_count{code="",operation="lists.create",outcome="not applied",workspace="acme"} 1`,
			`prospectkit_budget_limit_requests{surface="account",window="minute",workspace="acme"} 120`,
			`prospectkit_budget_limit_requests{surface="account",window="day",workspace="acme"} 10000`,
			`prospectkit_budget_used_requests{surface="lists",window="minute",workspace="acme"} 2`,
			`prospectkit_budget_waiting_calls{surface="lists",workspace="acme"} 0`,
		} {
			require.Contains(t, text, line+"\n")
		}
		require.NotContains(t, strings.ToLower(text), "secret")
	})
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, run(t.Context(), &out))
		require.Contains(t, out.String(), `prospectkit_retries_total{operation="lists.list",`)
		for _, workspace := range []string{"acme", "globex"} {
			require.Contains(t, out.String(), `prospectkit_budget_remaining_requests{surface="lists",window="minute",workspace="`+workspace+`"} 119`)
		}
	})
}
