package prospectpg

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNewChecks(t *testing.T) {
	server, name := workspace(t)
	pool := server.pool(t, "")
	for _, bad := range []string{"", "a\x00", "\xff"} {
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
}
