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
	sb := sandbox.New(t, oneList(manyRows(100_000)))
	body := inPlace(t, sb).get(rowsOf(id(1)), "limit", "1000", "pageNum", "100").ok(200)
	require.Len(t, body["data"], 1000)
	require.Equal(t, id(100_099), at(body, "data", 999, "id"))
}

// BenchmarkFakeDay is a day of 10,000 requests: half a second at most.
func BenchmarkFakeDay(b *testing.B) {
	for b.Loop() {
		clock := sandbox.NewManualClock(start)
		c := inPlace(b, sandbox.New(nil, sandbox.WithClock(clock)))
		req := c.request("GET", "/business/me", nil)
		for range 10_000 {
			drain(b, c, req)
			clock.Advance(24 * time.Hour / 10_000)
		}
	}
}

func BenchmarkSmallRequest(b *testing.B) {
	c := inPlace(b, sandbox.New(nil, sandbox.NoLimits()))
	req := c.request("GET", "/business/me", nil)
	b.ReportAllocs()
	for b.Loop() {
		drain(b, c, req)
	}
}

// BenchmarkSeed100k makes a sandbox of 100,000 rows: a second at most.
func BenchmarkSeed100k(b *testing.B) {
	l := manyRows(100_000)
	for b.Loop() {
		sandbox.New(nil, oneList(l))
	}
}

// BenchmarkRows serves pages. One of 100 costs twice the time of its encoding at most.
func BenchmarkRows(b *testing.B) {
	c := inPlace(b, sandbox.New(nil, sandbox.NoLimits(), oneList(manyRows(100_000))))
	for name, path := range map[string]string{
		"100":             rowsOf(id(1)) + "?limit=100&pageNum=500",
		"1000":            rowsOf(id(1)) + "?limit=1000&pageNum=50",
		"1000 sorted":     rowsOf(id(1)) + "?limit=1000&pageNum=50&sortBy=lastName&sortOrder=asc",
		"100 of a filter": rowsOf(id(1)) + `?limit=100&filters=%7B%22companyName%22%3A%5B%22Company+5%22%5D%7D`,
	} {
		req := c.request("GET", path, nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(drain(b, c, req))
			}
		})
	}
	b.Run("encoding 100", func(b *testing.B) {
		var rows []map[string]any
		for _, raw := range manyRows(100).Rows {
			var row map[string]any
			require.NoError(b, json.Unmarshal(raw, &row))
			rows = append(rows, row)
		}
		b.ReportAllocs()
		for b.Loop() {
			_, err := json.Marshal(map[string]any{"data": rows})
			require.NoError(b, err)
		}
	})
}

// BenchmarkApproval activates a campaign of 10,000 contacts and sends its messages.
func BenchmarkApproval(b *testing.B) {
	l := sandbox.List{ID: id(1), Name: "many"}
	for i := range 10_000 {
		l.Rows = append(l.Rows, fmt.Appendf(nil, `{"id":%q,"firstName":"First %d","email":"c%d@many.example"}`, id(i+100), i, i))
	}
	seed := sandbox.ReadyCampaign("many", id(1))
	seed.ID = id(2)
	state := sandbox.State{Workspaces: []sandbox.Workspace{{
		Accounts: []string{"email"}, Lists: []sandbox.List{l}, Campaigns: []sandbox.Campaign{seed},
	}}}
	for b.Loop() {
		sb := sandbox.New(nil, sandbox.Seed(state), sandbox.WithClock(sandbox.NewManualClock(start)))
		inPlace(b, sb).do("POST", campaignPath(id(2), "approve"), nil).ok(202)
		sb.Advance(time.Hour)
		require.Len(b, sb.Outbox(), 10_000)
	}
}
