package call_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/ratelimit"
)

// What is only for a store is refused without one.
func TestBudget_ConfigOfAStoreWithoutOne(t *testing.T) {
	newWith := func(c prospectkit.BudgetConfig) error {
		_, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithBudget(prospectkit.NewBudget(c)))
		return err
	}
	for name, c := range map[string]prospectkit.BudgetConfig{
		"timeout": {StoreTimeout: time.Second}, "processes": {Processes: 1}, "logger": {Logger: slog.New(slog.DiscardHandler)},
	} {
		require.ErrorContains(t, newWith(c), "BudgetConfig.Store is missing", name)
	}
	require.NoError(t, newWith(prospectkit.BudgetConfig{}))
	require.NoError(t, newWith(prospectkit.BudgetConfig{Store: newStore(1), StoreTimeout: time.Second, Processes: 1, Logger: slog.New(slog.DiscardHandler)}))
	require.ErrorContains(t, newWith(prospectkit.BudgetConfig{Reserve: -1}), "BudgetConfig.Reserve is -1, must not be negative")
}

// A snapshot is in the order of names, and calls no limit documented that is not.
func TestBudget_SnapshotInOrder(t *testing.T) {
	for range 3 {
		budget := prospectkit.NewBudget(prospectkit.BudgetConfig{})
		for _, s := range []ratelimit.Surface{ratelimit.SurfaceSearch, ratelimit.SurfaceLists, ratelimit.SurfaceReference, ratelimit.SurfaceAgents, ratelimit.SurfaceCampaigns} {
			budget.Forecast(s, 1)
		}
		all := budget.Snapshot()
		require.Len(t, all, 5)
		require.True(t, slices.IsSortedFunc(all, func(a, b ratelimit.SurfaceState) int { return strings.Compare(string(a.Surface), string(b.Surface)) }))
		for _, s := range all {
			require.Equal(t, s.Minute.Limit != 0, s.Minute.Documented)
			require.Equal(t, s.Day.Limit != 0, s.Day.Documented)
		}
	}
}

// A request whose response was lost may have counted, so that it uses the budget up.
func TestBudget_LostRequestsCount(t *testing.T) {
	sent := 0
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		if sent++; sent == 1 {
			return tests.Respond(200, tests.OneUser, "RateLimit-Limit", "120", "RateLimit-Remaining", "119"), nil
		}
		return nil, tests.ErrBroken
	}), prospectkit.WithRetry(prospectkit.NoRetry), prospectkit.WithMaxWait(0), prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{})))
	for range 200 {
		_, _ = tests.Call(t.Context(), client, false)
	}
	require.LessOrEqual(t, sent, 120)
}

// When a window resets is not known without its header.
func TestBudget_ResetIsNotMadeUp(t *testing.T) {
	var info prospectkit.Info
	_, err := tests.NewClient(t, tests.Always(200, tests.OneUser, "RateLimit-Reset", "")).Account.Me(t.Context(), prospectkit.WithInfo(&info))
	require.NoError(t, err)
	require.Positive(t, info.Rate.Remaining)
	require.Zero(t, info.Rate.ResetAt)
}
