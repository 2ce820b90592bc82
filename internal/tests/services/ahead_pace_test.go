package services_test

import (
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// long is a list of so many pages of a row, each of which takes its time.
func long(t *testing.T, pages int, each time.Duration, opts ...sandbox.Option) (*sandbox.Sandbox, *prospectkit.Client, string) {
	t.Helper()
	sb := sandbox.New(t, opts...)
	var list string
	sb.Do(func(tx *sandbox.Tx) {
		list = tx.CreateList(sandbox.List{Name: "Long"})
		rows := make([]sandbox.Row, pages)
		for i := range rows {
			rows[i] = sandbox.Row{"firstName": strconv.Itoa(i)}
		}
		tx.AddRows(list, rows...)
	})
	sb.Fail("lists.rows", sandbox.Always(), sandbox.Latency(each))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	return sb, client, list
}

// 600 pages take the five minutes that the documented limit of 120 a minute takes, however long a page takes, and beside a consumer. Of a page
// of two seconds nothing tells whether the minute ended before them or after: the limiter waits for the later moment, in each minute.
func TestAhead_IsNoSlowerThanTheLimit(t *testing.T) {
	const pages, limit = 600, 5 * time.Minute
	for _, each := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second} {
		for _, consumer := range []time.Duration{0, 400 * time.Millisecond} {
			for _, windows := range [][]sandbox.Option{nil, {sandbox.SlidingWindows()}} {
				t.Run(fmt.Sprintf("%s a page, %s to store it, sliding windows: %d", each, consumer, len(windows)), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						sb, client, list := long(t, pages, each, windows...)
						began, n := time.Now(), 0
						for _, err := range client.Lists.Rows(t.Context(), list, prospectkit.RowsParams{Limit: 1}) {
							require.NoError(t, err)
							time.Sleep(consumer)
							n++
						}
						took := time.Since(began)
						t.Logf("%.3f of the limit's five minutes", took.Seconds()/limit.Seconds())
						require.Equal(t, pages, n)
						most := 1.05
						if each > time.Second {
							most = 1.09
						}
						require.LessOrEqual(t, took.Seconds(), most*limit.Seconds())
						require.Equal(t, pages+1, sb.Calls("lists.rows"), "the last page is full")
					})
				})
			}
		}
	}
}
