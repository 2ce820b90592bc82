package prospectpg

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// A pooler of some kind may refuse without a code.
func TestPassing(t *testing.T) {
	for code, wanted := range map[string]bool{"": false, "5": false, "57P01": true, "40001": true, "42P01": false, "23505": false, "XX000": true} {
		require.Equal(t, wanted, passing(&pgconn.PgError{Code: code}), code)
	}
}

func TestNewChecks(t *testing.T) {
	server, name := workspace(t)
	pool := server.pool(t, "")
	for _, bad := range []string{"", "a\x00", "a\nb", "\xff", strings.Repeat("x", 256)} {
		_, err := New(pool, Config{Workspace: bad})
		require.ErrorContains(t, err, "name")
	}
	_, err := New(nil, Config{Workspace: name})
	require.ErrorContains(t, err, "pool")
	for _, bad := range []time.Duration{-1, 1, minLease - 1} {
		_, err = New(pool, Config{Workspace: name, Lease: bad})
		require.ErrorContains(t, err, "lease")
	}
	store, err := New(pool, Config{Workspace: name})
	require.NoError(t, err)
	require.Equal(t, DefaultLease, store.lease)
	require.Equal(t, name, store.Workspace())
}
