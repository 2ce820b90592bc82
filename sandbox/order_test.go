package sandbox

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEventsOfOneInstantHappenInTheOrderOfTheirScheduling(t *testing.T) {
	var a agenda
	var order []string
	begin := time.Now()
	for _, name := range []string{"b", "d", "a", "c", "e"} {
		a.add(begin, "test", name, func() bool {
			order = append(order, name)
			return name != "d"
		})
	}
	happened := a.due(begin)
	require.Equal(t, []string{"b", "d", "a", "c", "e"}, order)
	require.Len(t, happened, 4, "one turned out to be void")
	require.Empty(t, a.due(begin.Add(time.Hour)))
}

func TestTheJournalIsBounded(t *testing.T) {
	j := journal{entries: make([]Entry, longestJournal)}
	j.entries[0].RequestID = "oldest"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+invalidHost, nil)
	require.NoError(t, err)
	j.add(&call{req: req}, &delivery{fault: noFault})
	require.Len(t, j.entries, longestJournal-longestJournal/4+1)
	require.NotEqual(t, "oldest", j.entries[0].RequestID)
}
