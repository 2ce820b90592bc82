package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/proofs/recipes/metrics"
	"example.com/prospectkit/sandbox"
)

func TestObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, registry := sandbox.New(t), prometheus.NewRegistry()
		metrics.Observer("globex", registry) // beside it
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()),
			prospectkit.WithObserver(metrics.Observer("acme", registry)))
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

		problems, err := testutil.GatherAndLint(registry)
		require.NoError(t, err)
		require.Empty(t, problems)
		response := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		for _, line := range []string{
			`prospectkit_wait_seconds_total{surface="account",workspace="acme"} 2`,
			`prospectkit_call_duration_seconds_bucket{code="",operation="account.me",outcome="applied",workspace="acme",le="10"} 0`,
			`prospectkit_call_duration_seconds_count{code="",operation="lists.create",outcome="unknown",workspace="acme"} 1`,
			`prospectkit_call_duration_seconds_count{code="",operation="lists.create",outcome="not applied",workspace="acme"} 1`,
		} {
			require.Contains(t, response.Body.String(), "\n"+line)
		}
		require.NotContains(t, strings.ToLower(response.Body.String()), "secret")
	})
}
