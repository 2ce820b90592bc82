package call_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// aMoment is how much longer than its context a call may take.
const aMoment = 250 * time.Millisecond

// stuck is a body, or a file, that misbehaves in one way.
type stuck struct {
	read  func() error // before a byte is read
	close func()
}

func (s *stuck) Read(p []byte) (int, error) {
	if err := s.read(); err != nil {
		return 0, err
	}
	p[0] = ' '
	return 1, nil
}

func (s *stuck) Close() error { s.close(); return nil }

func noClose() {}

// stuckBodies are made for each attempt. What holds their goroutine forever is given back when released is closed.
var stuckBodies = map[string]func(ctx context.Context, released <-chan struct{}) *stuck{
	"silence, ended by the context": func(ctx context.Context, _ <-chan struct{}) *stuck {
		return &stuck{func() error { <-ctx.Done(); return ctx.Err() }, noClose}
	},
	"silence, ended by Close": func(context.Context, <-chan struct{}) *stuck {
		closed := make(chan struct{})
		return &stuck{func() error { <-closed; return io.ErrClosedPipe }, sync.OnceFunc(func() { close(closed) })}
	},
	"silence, ended by nothing": func(_ context.Context, released <-chan struct{}) *stuck {
		return &stuck{func() error { <-released; return io.ErrUnexpectedEOF }, noClose}
	},
	"a drip without end": func(context.Context, <-chan struct{}) *stuck {
		return &stuck{func() error { time.Sleep(50 * time.Millisecond); return nil }, noClose}
	},
	"an end, a Close that is ended by nothing": func(_ context.Context, released <-chan struct{}) *stuck {
		return &stuck{func() error { return io.EOF }, func() { <-released }}
	},
	"silence, a panic in Close, ended by nothing": func(_ context.Context, released <-chan struct{}) *stuck {
		return &stuck{func() error { <-released; return io.EOF }, func() { panic("in Close") }}
	},
}

var stuckStatuses = []int{101, 200, 201, 204, 302, 404, 429, 500, 503}

// stuckService is a transport whose responses have stuck bodies.
type stuckService struct {
	status   int
	body     func(ctx context.Context, released <-chan struct{}) *stuck
	released chan struct{}
	made     int
}

func (h *stuckService) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	h.made++
	resp := tests.Respond(h.status, "")
	resp.Body, resp.ContentLength, resp.Request = h.body(r.Context(), h.released), -1, r
	return resp, nil
}

// requireNothingLeft demands that no permit is held, and that calls have left so many goroutines behind.
func requireNothingLeft(t *testing.T, client *prospectkit.Client, goroutines int) {
	t.Helper()
	tests.NothingInFlight(t, client)
	time.Sleep(time.Second) // for a read in flight
	synctest.Wait()
	stacks := make([]byte, 1<<20)
	own := string(stacks[:runtime.Stack(stacks, false)])
	bubble := regexp.MustCompile(`synctest bubble \d+\]`).FindString(own)
	require.NotEmpty(t, bubble, own)
	left := 0
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") { // also those of other tests
		if strings.Contains(stack, bubble) && strings.Contains(stack, "exchange.(*runner).do(") {
			left++
		}
	}
	require.Equal(t, goroutines, left)
}

// Whatever the body of a response does, under every status and in every operation: the call ends
// with its context, its permit is free, and no goroutine stays, unless the body heeds neither the
// context nor Close.
func TestAttempt_NoBodyOutlivesTheContext(t *testing.T) {
	for name, body := range stuckBodies {
		t.Run(name, func(t *testing.T) {
			for _, status := range stuckStatuses {
				synctest.Test(t, func(t *testing.T) {
					h := &stuckService{status: status, body: body, released: make(chan struct{})}
					client := tests.NewClient(t, h)
					held := 0
					for _, row := range op.All() {
						began := time.Now()
						callUntil(t.Context(), 3*time.Second, func(ctx context.Context) { _, _ = tests.EveryCall[row.Name](ctx, client) })
						took := time.Since(began)
						require.LessOrEqual(t, took, 3*time.Second+aMoment, "%s, status %d", row.Name, status)
						switch { // a refusal is retried before that
						case !strings.HasSuffix(name, "nothing"):
						case status == 429:
							held = h.made
						case took > 3*time.Second:
							held++
						}
					}
					requireNothingLeft(t, client, held)
					close(h.released)
					requireNothingLeft(t, client, 0)
				})
			}
		})
	}
}

// callUntil ends a call after some time. What it panics with is the body's.
func callUntil(ctx context.Context, d time.Duration, f func(context.Context)) {
	defer func() { _ = recover() }()
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	f(ctx)
}

// The time limit of an attempt holds like the context. What is known by then about a write counts.
func TestAttempt_NoBodyOutlivesTheTimeLimit(t *testing.T) {
	for name, body := range stuckBodies {
		tests.InTime(t, name, func(t *testing.T) {
			h := &stuckService{status: http.StatusCreated, body: body, released: make(chan struct{})}
			client := tests.NewClient(t, h, prospectkit.WithAttemptTimeout(2*time.Second))
			began := time.Now()
			info, err := tests.Call(t.Context(), client, true)
			require.LessOrEqual(t, time.Since(began), 2*time.Second+aMoment)
			require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err), "the service said so before it fell silent")
			require.ErrorContains(t, err, "no complete response within the time limit of one attempt")
			require.Equal(t, "unknown", info.Attempts[0].Delivery)
			close(h.released)
			requireNothingLeft(t, client, 0)
		})
	}
}

// A transport that does not come back is abandoned. It may still connect and send, so nothing is
// proven, whatever its trace shows.
func TestAttempt_TransportThatNeverReturns(t *testing.T) {
	for name, broken := range map[string]func(rt http.RoundTripper, released <-chan struct{}) http.RoundTripper{
		"deaf": func(_ http.RoundTripper, released <-chan struct{}) http.RoundTripper {
			return tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				<-released
				return tests.Respond(201, `{"list":`+tests.OneList+`}`), nil
			})
		},
		"a context without an end": func(rt http.RoundTripper, _ <-chan struct{}) http.RoundTripper {
			return tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				return rt.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
			})
		},
		"a header that is written late": func(_ http.RoundTripper, released <-chan struct{}) http.RoundTripper {
			return tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				<-released
				for range 1000 {
					r.Header.Set("X-Late", "1")
				}
				return tests.Respond(201, ""), nil
			})
		},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			dialled, release := hanging()
			released := make(chan struct{})
			client := tests.NewClient(t, broken(dialled, released), prospectkit.WithAttemptTimeout(time.Second))
			began := time.Now()
			info, err := tests.Call(t.Context(), client, true)
			require.LessOrEqual(t, time.Since(began), time.Second+aMoment)
			tests.RequireUnknown(t, err)
			require.Equal(t, "unknown", info.Attempts[0].Delivery)
			require.ErrorContains(t, err, "no complete response within the time limit of one attempt")
			requireNothingLeft(t, client, 1)

			_, err = tests.Call(t.Context(), client, false)
			require.Len(t, tests.AsError(t, err).Attempts, 3, "a read is retried")
			requireNothingLeft(t, client, 4)
			close(released)
			release()
			requireNothingLeft(t, client, 0)
		})
	}
}

// What a transport panics with, or that it ends its goroutine as a failing test does, arrives at the caller.
func TestAttempt_TransportThatPanics(t *testing.T) {
	for where, rt := range map[string]tests.RoundTrip{
		"in RoundTrip": func(*http.Request) (*http.Response, error) { panic(tests.ErrBroken) },
		"in Read": func(*http.Request) (*http.Response, error) {
			resp := tests.Respond(200, "")
			resp.Body, resp.ContentLength = &stuck{func() error { panic(tests.ErrBroken) }, noClose}, -1
			return resp, nil
		},
	} {
		tests.InTime(t, where, func(t *testing.T) {
			client := tests.NewClient(t, rt)
			require.PanicsWithValue(t, tests.ErrBroken, func() { _, _ = tests.Call(t.Context(), client, true) })
			requireNothingLeft(t, client, 0)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { runtime.Goexit(); return nil, nil })) //nolint:nilnil // never
		returned := make(chan bool, 1)
		go func() {
			defer func() { returned <- false }()
			_, _ = tests.Call(t.Context(), client, true)
			returned <- true
		}()
		require.False(t, <-returned)
		requireNothingLeft(t, client, 0)
	})
}

// A connection that is switched to another protocol belongs to nobody: it is closed unread, over a real socket, too.
func TestAttempt_SwitchedProtocols(t *testing.T) {
	closed := make(chan error, 2)
	server, _ := tests.Counted(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n{")
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second)) // a client that waits for more fails, and does not hang
		_, err = conn.Read(make([]byte, 1))
		closed <- err
		_ = conn.Close()
	})
	client := tests.ClientAt(t, server.URL)
	_, err := tests.Call(t.Context(), client, true)
	tests.RequireUnknown(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, tests.AsError(t, err).Status)
	require.ErrorIs(t, <-closed, io.EOF)
	_, err = tests.Call(t.Context(), client, false)
	require.Equal(t, http.StatusSwitchingProtocols, tests.AsError(t, err).Status)
	require.ErrorIs(t, <-closed, io.EOF)
	require.NoError(t, client.Close())
}

// stuckFile is a CSV file that gives so many bytes and then misbehaves.
type stuckFile struct {
	io.Reader
	*stuck
	given int
}

func (f *stuckFile) Read(p []byte) (int, error) {
	if f.given <= 0 {
		return 0, f.read()
	}
	n := copy(p[:min(len(p), f.given)], strings.Repeat("x", f.given))
	f.given -= n
	return n, nil
}

// What is left of a long error page is not waited for, before another attempt neither.
func TestAttempt_RestOfAnErrorPageIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		defer close(released)
		rest := &stuck{func() error { <-released; return io.EOF }, noClose}
		_, err := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
			resp := tests.Respond(503, "")
			resp.Body, resp.ContentLength = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(strings.NewReader(strings.Repeat("x", 300<<10)), rest), rest}, -1
			return resp, nil
		})).Account.Me(t.Context())
		require.Len(t, tests.AsError(t, err).Attempts, 3)
	})
}

// A file that stalls, wherever it does, holds no upload beyond its context or its time limit; and
// nothing was applied, because the end was never handed over.
func TestAttempt_UploadThatStalls(t *testing.T) {
	const size = 100_000
	closable := func(given int) func(<-chan struct{}) (io.ReadCloser, error) {
		return func(<-chan struct{}) (io.ReadCloser, error) {
			closed := make(chan struct{})
			return &stuckFile{given: given, stuck: &stuck{func() error { <-closed; return io.ErrClosedPipe }, sync.OnceFunc(func() { close(closed) })}}, nil
		}
	}
	deaf := func(given int) func(<-chan struct{}) (io.ReadCloser, error) {
		return func(released <-chan struct{}) (io.ReadCloser, error) {
			return &stuckFile{given: given, stuck: &stuck{func() error { <-released; return io.EOF }, noClose}}, nil
		}
	}
	for name, c := range map[string]struct {
		open func(released <-chan struct{}) (io.ReadCloser, error)
		held int // goroutines that nothing can end
	}{
		"when it is opened":       {func(released <-chan struct{}) (io.ReadCloser, error) { <-released; return nil, io.EOF }, 1},
		"at once":                 {closable(0), 0},
		"at once, and deaf":       {deaf(0), 1},
		"in the middle":           {closable(size / 2), 0},
		"in the middle, and deaf": {deaf(size / 2), 1},
		"at its end":              {closable(size), 0},
		"at its end, and deaf":    {deaf(size), 1},
		"when it is closed": {func(released <-chan struct{}) (io.ReadCloser, error) {
			return &stuckFile{given: size / 2, stuck: &stuck{func() error { return tests.ErrBroken }, func() { <-released }}}, nil
		}, 1},
	} {
		for how, opts := range map[string][]prospectkit.CallOption{"context": nil, "limit": {prospectkit.WithAttemptTimeout(3 * time.Second)}} {
			t.Run(name+"/"+how, func(t *testing.T) {
				tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					tests.Write(w, 202, `{}`)
				}, func(t *testing.T, m *tests.MemoryServer) {
					client, released := m.Client(t), make(chan struct{})
					up := prospectkit.Upload{Name: "people.csv", Size: size, Open: func() (io.ReadCloser, error) { return c.open(released) }}
					began, outcome := time.Now(), prospectkit.OutcomeUnknown
					limit := 3 * time.Second
					if how == "limit" {
						limit = time.Hour
					}
					callUntil(t.Context(), limit, func(ctx context.Context) {
						_, err := client.Imports.Upload(ctx, up, opts...)
						outcome = prospectkit.OutcomeOf(err)
						require.Equal(t, how == "context", errors.Is(err, context.DeadlineExceeded), "%v", err)
					})
					require.LessOrEqual(t, time.Since(began), 3*time.Second+aMoment)
					require.Equal(t, prospectkit.OutcomeNotApplied, outcome)
					requireNothingLeft(t, client, c.held)
					close(released)
					m.Stop()
					requireNothingLeft(t, client, 0)
				})
			})
		}
	}
}

// hangingBook is a journal whose Ended hangs.
type hangingBook struct {
	*tests.Notebook
	ended func(ctx context.Context)
}

func (b hangingBook) Ended(ctx context.Context, id string, e journal.End) error {
	b.ended(ctx)
	return b.Notebook.Ended(context.WithoutCancel(ctx), id, e)
}

// A journal that does not note the outcome, and a guard's store that does not take it, hold a call for at most a second after its
// context, and for about half a minute if that does not end. The guard is told later.
func TestAttempt_JournalAndGuardThatHang(t *testing.T) {
	for name, test := range map[string]struct {
		deadline time.Duration // 0: none
		heeds    bool
		most     time.Duration
	}{
		"until their context ends": {time.Second, true, 2 * time.Second},
		"for ever":                 {time.Second, false, 2 * time.Second},
		"without a deadline":       {0, false, 37 * time.Second},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			ctx, released := t.Context(), make(chan struct{})
			if test.deadline > 0 {
				within, cancel := context.WithTimeout(ctx, test.deadline)
				defer cancel()
				ctx = within
			}
			hang := func(ctx context.Context) {
				if !test.heeds {
					ctx = context.WithoutCancel(ctx)
				}
				select {
				case <-ctx.Done():
				case <-released:
				}
			}
			book, store := hangingBook{new(tests.Notebook), hang}, &slowStore{hang: func(context.Context) {}}
			guard := spend.NewSharedGuard(100, spend.Prices{"search.prospects": {PerResult: 1}, "free": {}}, store)
			client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				store.hang = hang
				return tests.Respond(200, `{"profiles":[{"socialUrl":"a"}]}`), nil
			}), prospectkit.WithJournal(book), prospectkit.WithSpendGuard(guard))
			began := time.Now()
			require.NoError(t, tests.Discard(client.Search.ProspectsPage(ctx, prospectkit.SearchParams{Size: 30})))
			require.LessOrEqual(t, time.Since(began), test.most)
			close(released)
			synctest.Wait()
			require.Equal(t, map[string]journal.Outcome{"search.prospects": journal.Unknown}, book.Outcomes())
			require.NoError(t, guard.Reserve(t.Context(), spend.Call{ID: "another", Op: "free"}))
			require.Equal(t, spend.Book{Committed: 1, Released: 29}, tests.Booked(t, guard))
			requireNothingLeft(t, client, 0)
		})
	}
}

// slowStore is a store of credits that takes its time.
type slowStore struct {
	tests.CreditStore
	hang func(ctx context.Context)
}

func (s *slowStore) Update(ctx context.Context, change func([]byte) ([]byte, error)) error {
	if s.hang(ctx); ctx.Err() != nil {
		return ctx.Err()
	}
	return s.CreditStore.Update(ctx, change)
}
