package prospectkit

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only clients with the same key share the listings of WaitEach: another key may be of another workspace.
func TestClient_PollsAreOfOneKey(t *testing.T) {
	client, err := New("https://api.example.com/api/v1", "key-1")
	require.NoError(t, err)
	same, err := client.With(WithUserAgent("derived"))
	require.NoError(t, err)
	require.Same(t, client.conf.polls, same.conf.polls)
	other, err := client.With(WithTokenSource(func(context.Context) (string, error) { return "key-2", nil }))
	require.NoError(t, err)
	require.NotSame(t, client.conf.polls, other.conf.polls)
}
