package sandbox_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// The journal tells what a fault hides from the client.
func TestJournalKnowsWhatWasProcessed(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.HTML(502))
		sb.Fail("lists.create", sandbox.Nth(2), sandbox.HTML(502), sandbox.Applied())
		sb.Fail("lists.create", sandbox.Nth(3), sandbox.DropBefore())
		sb.Fail("lists.create", sandbox.Nth(4), sandbox.DropAfter())
		sb.Fail("lists.create", sandbox.Nth(5), sandbox.Truncate(1))
		var processed []bool
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "f"} { // the last is refused
			_, _ = c.send(c.request("POST", lists, create(name))) // some get no response
			entries := sb.Journal()
			processed = append(processed, entries[len(entries)-1].Processed)
		}
		require.Equal(t, []bool{false, true, false, true, true, true, false}, processed)
	})
}

func TestTheJournalIsBounded(t *testing.T) {
	t.Parallel()
	const most = 100_000
	sb := sandbox.New(t)
	sb.Fail("*", sandbox.DropBefore()) // the least work
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sb.BaseURL()+"/nothing", http.NoBody)
	require.NoError(t, err)
	for range most + 1 {
		_, err = sb.Transport().RoundTrip(r) //nolint:bodyclose // there is no response
	}
	require.ErrorIs(t, err, io.EOF)
	entries := sb.Journal()
	require.Len(t, entries, most-most/4+1)
	require.Equal(t, []string{"req_025001", "req_100001"}, []string{entries[0].RequestID, entries[len(entries)-1].RequestID})
}
