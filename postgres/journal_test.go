package prospectpg

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/journal"
	"example.com/prospectkit/journal/journaltest"
)

// expire lets the leases of a workspace run out.
func (p *server) expire(t *testing.T, workspace string) {
	t.Helper()
	_, err := p.pool(t, "").Exec(t.Context(), "UPDATE prospectkit.journal SET leased_until = now() - interval '1 second' WHERE workspace = $1", workspace)
	require.NoError(t, err)
}

// The contract of every journal. A restart is another store, after the lease of the process before it.
func TestJournal(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) func() journal.Journal {
		t.Helper()
		server, name := workspace(t)
		return func() journal.Journal {
			server.expire(t, name)
			return server.store(t, name)
		}
	})
}
