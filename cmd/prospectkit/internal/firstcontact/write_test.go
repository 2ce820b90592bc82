package firstcontact_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// write runs with -write, and returns what was learnt.
func write(t *testing.T, sb *sandbox.Sandbox, transport http.RoundTripper) (learnt map[string]firstcontact.Learnt, made []string) {
	t.Helper()
	run, err := firstcontact.Start(sb.BaseURL(), sb.Token(), transport)
	require.NoError(t, err)
	require.NoError(t, run.Ask(t.Context()))
	before := len(sb.Lists())
	made, err = run.Write(t.Context(), transport)
	require.NoError(t, err)
	require.LessOrEqual(t, len(made), 6)
	require.Len(t, sb.Lists(), before+len(made), "it says what it leaves behind")
	require.Empty(t, sb.Ledger())
	require.Empty(t, sb.Outbox())
	learnt = map[string]firstcontact.Learnt{}
	for _, l := range run.Report().Learnt {
		learnt[l.About] = l
	}
	return learnt, made
}

const (
	late, off      = "how late a new list shows in the listing", "createdAt against Date"
	twins, carries = "two equal names at once", "whether a 409 carries the rate headers"
	idles          = "what a write after 6 idle seconds meets"
)

func TestWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		learnt, made := write(t, sb, sb.Transport())
		require.Len(t, learnt, 7)
		for about, l := range learnt {
			require.True(t, l.Fits, "%s: %s", about, l.Found)
			require.NotEmpty(t, l.Code, about)
		}
		for _, name := range made {
			require.True(t, strings.HasPrefix(strings.ToLower(strings.ReplaceAll(name, "  ", " ")), "prospectkit check "), name)
		}
		require.Equal(t, "1 made; the statuses are 201 and 409", learnt[twins].Found)
	})
}

// A service that differs is found out: its listing lags, its clock is off, equal names are two lists, and a 409 has no rate headers.
func TestWrite_Differs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		learnt, _ := write(t, sb, &differing{next: sb.Transport()})
		require.False(t, learnt[late].Fits, learnt[late].Found)
		require.False(t, learnt[off].Fits, learnt[off].Found)
		require.False(t, learnt[twins].Fits, learnt[twins].Found)
		require.False(t, learnt[carries].Fits, learnt[carries].Found)
		require.Equal(t, "later than that", learnt[late].Found)
		require.Contains(t, learnt[twins].Found, "2 made")
	})
}

type differing struct {
	next  http.RoundTripper
	since atomic.Int64
	twins atomic.Int32
}

func (d *differing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		d.since.Store(time.Now().UnixNano())
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(body, []byte(" twice")) && d.twins.Add(1) == 2 {
			body = bytes.Replace(body, []byte(" twice"), []byte(" once more"), 1)
		}
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	change := plant{after: func(resp *reply) {
		if r.Method == http.MethodPost {
			resp.header.Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		}
		if resp.status == http.StatusConflict {
			unrated(resp.header)
		}
	}}
	hidden := plant{after: on(lists, top(put("data", []any{})))}
	if strings.HasPrefix(r.URL.Query().Get("search"), "prospectkit check ") && time.Since(time.Unix(0, d.since.Load())) < 15*time.Second {
		return changed{d.next, []plant{change, hidden}}.RoundTrip(r)
	}
	return changed{d.next, []plant{change}}.RoundTrip(r)
}

// A server that closes connections at once has closed the one of the write. One that does not is written to on it.
func TestWrite_IdleConnection(t *testing.T) {
	for _, closes := range []bool{true, false} {
		var sb *sandbox.Sandbox
		tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
			if closes {
				w.Header().Set("Connection", "close")
			}
			r.Host = "127.0.0.1"
			sb.Handler().ServeHTTP(w, r)
		}, func(t *testing.T, m *tests.MemoryServer) {
			sb = sandbox.New(t, sandbox.Seed(fixture.Small(1)))
			learnt, _ := write(t, sb, m.Transport)
			require.Equal(t, map[bool]string{
				true: "a 201 on a new connection: the server had closed the old one", false: "a 201 on the same connection: the server keeps it longer",
			}[closes], learnt[idles].Found)
		})
	}
}

// Names that differ in case alone may be the same name. Of looks that are refused, nothing is said but that.
func TestWrite_Untold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		taken := every(lists, func(r *reply) {
			o, _ := r.body.(object)["list"].(object)
			if name, ok := o["name"].(string); ok && name == strings.ToUpper(name) {
				responds("", http.StatusConflict, `{"error":{"code":"LIST_NAME_TAKEN"}}`)(r)
			}
		})
		refused := func(r *reply) {
			if strings.HasPrefix(r.query.Get("search"), "prospectkit check ") {
				fails("", http.StatusTooManyRequests)(r)
			}
		}
		run, err := firstcontact.Start(sb.BaseURL(), sb.Token(), sb.Transport())
		require.NoError(t, err)
		require.NoError(t, run.Ask(t.Context()))
		made, err := run.Write(t.Context(), changed{sb.Transport(), []plant{{after: taken}, {after: refused}}})
		require.NoError(t, err)
		require.Len(t, made, 4)
		report := run.Report()
		require.Contains(t, report.Untold, firstcontact.Untold{Operation: "lists.list", Why: late + ": some looks were refused"})
		require.NotContains(t, printed(t, report), late+"  ")
		require.Contains(t, printed(t, report), "they make the same name: 409")
	})
}
