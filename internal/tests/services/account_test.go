package services_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func TestAccount(t *testing.T) {
	user, err := tests.Exchange(t, "account.me/user").Account.Me(t.Context())
	require.NoError(t, err)
	tests.SameFields(t, &prospectkit.User{ID: "65f0c0ffee65f0c0ffee65f1", Email: "ada@example.com", Name: "Ada"}, user)
	_, err = tests.Exchange(t, "account.me/expired").Account.Me(t.Context())
	require.ErrorIs(t, err, prospectkit.ErrUnauthorized)
	credits, err := tests.Exchange(t, "account.credits/balance").Account.Credits(t.Context())
	require.NoError(t, err)
	require.Equal(t, 250, credits.Int("credits.balance"))
	require.Equal(t, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), credits.Time("credits.resets"))
	options, err := tests.Exchange(t, "search.filter-options/options").Search.FilterOptions(t.Context())
	require.NoError(t, err)
	require.JSONEq(t, `{"job_title_levels": ["director"]}`, string(options.Raw()))
}

// Some servers call gzip by its old name.
func TestXGzip(t *testing.T) {
	packed := tests.Always(200, tests.Zip(tests.OneUser), "Content-Encoding", "x-gzip")
	require.NoError(t, tests.Discard(tests.NewClient(t, packed).Account.Me(t.Context())))
}
