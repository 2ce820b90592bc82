package tests

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// rotation is a key of a sandbox that is revoked, and a source that makes the next one.
type rotation struct {
	sb    *sandbox.Sandbox
	first string
	asked atomic.Int32

	mu       sync.Mutex
	rejected map[int]int // calls by how many 401 they got
}

func newRotation(sb *sandbox.Sandbox) *rotation {
	return &rotation{sb: sb, first: sb.Key(), rejected: map[int]int{}}
}

func (r *rotation) revoke() { r.sb.Revoke(r.first) }

func (r *rotation) client(t *testing.T, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	source := func(context.Context) (string, error) {
		r.asked.Add(1)
		time.Sleep(50 * time.Millisecond)
		return r.sb.Key(), nil
	}
	type ofCall struct{}
	count := func(ctx context.Context, e prospectkit.Event) context.Context {
		n, _ := ctx.Value(ofCall{}).(*int)
		switch {
		case e.Kind == prospectkit.EventStart:
			return context.WithValue(ctx, ofCall{}, new(int))
		case e.Kind == prospectkit.EventAttempt && e.Code == prospectkit.CodeUnauthorized:
			*n++
		case e.Kind == prospectkit.EventEnd:
			r.mu.Lock()
			defer r.mu.Unlock()
			r.rejected[*n]++
		}
		return nil
	}
	opts = append([]prospectkit.ClientOption{
		Routes(), prospectkit.WithTransport(r.sb.Transport()), prospectkit.WithTokenSource(source), prospectkit.WithObserver(count),
	}, opts...)
	client, err := prospectkit.New(r.sb.BaseURL(), r.first, opts...)
	require.NoError(t, err)
	return client
}

// A key is revoked in the middle of a walk that reads pages ahead: every row comes once, and no call is rejected twice.
func TestKeys_RevokedInAWalk(t *testing.T) {
	const rows, limit = 400, 10
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		var list string
		sb.Do(func(tx *sandbox.Tx) {
			list = tx.CreateList(sandbox.List{Name: "Berlin"})
			for i := range rows {
				tx.AddRows(list, sandbox.Row{"email": fmt.Sprintf("p%d@navy.example", i)})
			}
		})
		sb.Fail("lists.rows", sandbox.Always(), sandbox.Latency(20*time.Millisecond))
		r := newRotation(sb)
		seen := map[string]bool{}
		for row, err := range r.client(t).Lists.Rows(t.Context(), list, prospectkit.RowsParams{Limit: limit}) {
			require.NoError(t, err)
			require.False(t, seen[row.ID()])
			seen[row.ID()] = true
			if len(seen) == rows/3 {
				r.revoke()
			}
		}
		require.Len(t, seen, rows)
		require.EqualValues(t, 1, r.asked.Load())
		require.Zero(t, r.rejected[2])
		require.NotZero(t, r.rejected[1])
		calls := r.rejected[0] + r.rejected[1]
		require.GreaterOrEqual(t, calls, rows/limit+1, "the last page is full, so that one more is asked for")
		require.LessOrEqual(t, calls, rows/limit+1+5, "pages that were asked for early are read again")
	})
}

// The same in a storm of writes: each happens once, and the journal of the client has no ticket left.
func TestKeys_RevokedInAStormOfWrites(t *testing.T) {
	const writes = 300
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Fail("lists.create", sandbox.Always(), sandbox.Latency(20*time.Millisecond))
		r := newRotation(sb)
		client := r.client(t, prospectkit.WithMaxWait(time.Hour))
		var all sync.WaitGroup
		for i := range writes {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: fmt.Sprint("List ", i)})
				noError(t, err)
			})
		}
		time.Sleep(70 * time.Millisecond)
		r.revoke()
		all.Wait()
		names := map[string]bool{}
		for list, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{}) {
			require.NoError(t, err)
			names[list.Name] = true
		}
		require.Len(t, names, writes)
		processed := 0
		for _, e := range sb.Journal() {
			if e.Op == "lists.create" && e.Processed {
				processed++
			}
		}
		require.Equal(t, writes, processed)
		require.EqualValues(t, 1, r.asked.Load())
		require.NotZero(t, r.rejected[1])
		require.Equal(t, map[int]int{0: r.rejected[0], 1: r.rejected[1]}, r.rejected)
	})
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Every operation goes through with another key, in two requests, of which one is processed.
func TestKeys_EveryOperationIsResent(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		synctest.Test(t, func(t *testing.T) {
			sb := EverySandbox(t, time.Now())
			r := newRotation(sb)
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			for _, through := range []*http.Client{nil, {Transport: sb.Transport(), Jar: jar}} {
				client := r.client(t)
				if through != nil {
					client, err = client.With(prospectkit.WithHTTPClient(through))
					require.NoError(t, err)
				}
				r.revoke()
				before := len(sb.Journal())
				var info prospectkit.Info
				_, err = call(t.Context(), client, prospectkit.WithInfo(&info))
				if through == nil {
					require.NoError(t, err)
				}
				sent := sb.Journal()[before:]
				require.Len(t, sent, 2)
				require.Equal(t, "UNAUTHORIZED", sent[0].Code)
				require.False(t, sent[0].Processed)
				require.NotEqual(t, "UNAUTHORIZED", sent[1].Code, row.Name)
				require.Len(t, info.Attempts, 2)
				require.Zero(t, info.Attempts[0].Wait, "there is nothing to wait for")
				require.Less(t, info.Duration, 200*time.Millisecond)
			}
		})
	})
}

// After the change of a key, no output shows the old one or the new one, wherever a peer repeats them.
func TestKeys_NoEchoShowsEither(t *testing.T) {
	const second = `k/9+Zx81=<"&'>é%41 ??>>~~_`
	var response string
	InMemory(t, func(w http.ResponseWriter, r *http.Request) {
		if name, _, _ := r.BasicAuth(); name == Token {
			Write(w, 401, Envelope("UNAUTHORIZED"))
			return
		}
		Hijack(w, response)
	}, func(t *testing.T, m *MemoryServer) {
		t.Helper()
		var out Shows
		source := func(context.Context) (string, error) { return second, nil }
		opts := append(out.Options(), prospectkit.WithTransport(oneTime(m)), prospectkit.WithTokenSource(source),
			prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 2, BaseDelay: 1}))
		for _, key := range []string{Token, second} {
			for _, form := range []string{key, base64.RawStdEncoding.EncodeToString([]byte(key + ":"))} {
				client, err := prospectkit.New(BaseURL, Token, opts...)
				require.NoError(t, err)
				for place, echo := range echoes {
					response = echo(form)
					info := prospectkit.Info{MaxBody: 4 << 10}
					_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"}, prospectkit.WithInfo(&info))
					require.Error(t, err, "%s: %s", place, form)
					out.Show(client)
					out.Failure(err, info)
					requireNoneOf(t, out.String(), form, key, place)
					out.Reset()
				}
			}
		}
	})
}
