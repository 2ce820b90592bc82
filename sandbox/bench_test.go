package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func manyRows(n int) sandbox.List {
	l := sandbox.List{ID: id(1), Name: "many", Rows: make([]json.RawMessage, n)}
	for i := range l.Rows {
		l.Rows[i] = fmt.Appendf(nil, `{"id":%q,"firstName":"First %d","lastName":"Last %d","jobTitle":"Engineer","address":{"city":"Berlin","country":"Germany"},`+
			`"company":{"name":"Company %d","domain":"c%d.example","socialHeadCount":%d},"createdAt":"2026-01-01T00:00:00.000Z"}`, id(i+100), i, n-i, i%97, i%97, i%5000)
	}
	return l
}

// drain reads a response without looking at it.
func drain(tb testing.TB, c caller, req *http.Request) int64 {
	tb.Helper()
	resp, err := c.client.Do(req)
	require.NoError(tb, err)
	n, err := io.Copy(io.Discard, resp.Body)
	require.NoError(tb, err)
	require.NoError(tb, resp.Body.Close())
	require.Equal(tb, 200, resp.StatusCode)
	return n
}

func TestADayGoesByInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		c := inPlace(t, sb)
		begin := time.Now()
		for range 1_000 {
			drain(t, c, c.request("GET", "/business/me", nil))
			time.Sleep(24 * time.Hour / 1_000)
		}
		require.Equal(t, 1_000, sb.Calls("account.me"))
		require.Equal(t, begin.Add(24*time.Hour), time.Now())
	})
}

func TestTheLastPageOfALargeSeed(t *testing.T) {
	t.Parallel()
	sb := sandbox.New(t, oneList(manyRows(100_000)))
	body := inPlace(t, sb).get(rowsOf(id(1)), "limit", "1000", "pageNum", "100").ok(200)
	require.Len(t, body["data"], 1000)
	require.Equal(t, id(100_099), at(body, "data", 999, "id"))
}
