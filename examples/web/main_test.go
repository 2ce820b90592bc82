package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/sandbox"
)

const deadline = 2 * time.Second

func post(ctx context.Context, client *prospectkit.Client, name string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	create(client).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/lists?name="+name, http.NoBody))
	return w
}

func dial(t *testing.T, sb *sandbox.Sandbox) *prospectkit.Client {
	t.Helper()
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	return client
}

// Whatever fails, and however often a user clicks, there is one list; and no status after which a proxy repeats the request stands for what
// may have happened.
func TestEveryFailure(t *testing.T) {
	program := func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		began, before := time.Now(), len(run.Lists())
		w := post(run.Context(), client, "Berlin")
		require.LessOrEqual(run, time.Since(began), deadline+200*time.Millisecond)
		if w.Code >= 502 {
			require.Len(run, run.Lists(), before, "status %d", w.Code)
		}
		if w.Code != http.StatusOK {
			return fmt.Errorf("status %d: %s", w.Code, w.Body)
		}
		return nil
	}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		if n := len(run.Lists()); n > 1 || n == 0 && run.Err() == nil {
			return fmt.Errorf("%d lists: %w", n, run.Err())
		}
		return nil
	})
	docruns.Example(t, program)
}

func TestStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		faults []sandbox.FaultOption
		wanted int
	}{
		"done":           {nil, 200},
		"our key":        {[]sandbox.FaultOption{sandbox.Status(401, "UNAUTHORIZED")}, 500},
		"the limit":      {[]sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(30)}, 503},
		"the input":      {[]sandbox.FaultOption{sandbox.Status(422, "VALIDATION_FAILED")}, 422},
		"never sent":     {[]sandbox.FaultOption{sandbox.Refuse()}, 502},
		"no answer":      {[]sandbox.FaultOption{sandbox.Latency(time.Minute)}, 500},
		"the page, lost": {[]sandbox.FaultOption{sandbox.DropAfter()}, 500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb := sandbox.New(t)
				if c.faults != nil {
					sb.Fail("lists.create", append(c.faults, sandbox.Always())...)
					sb.Fail("lists.list", sandbox.Always(), sandbox.Status(500, "UNEXPECTED_ERROR"))
				}
				began := time.Now()
				w := post(t.Context(), dial(t, sb), "Berlin")
				require.Equal(t, c.wanted, w.Code, "%s", w.Body)
				require.LessOrEqual(t, time.Since(began), deadline+200*time.Millisecond)
				require.Equal(t, c.wanted == 503, w.Header().Get("Retry-After") != "")
				sb.Clear()
			})
		})
	}
}

// The mapping is one to copy, so it holds for every class of errors.
func TestFail(t *testing.T) {
	of := func(code prospectkit.Code) error { return &prospectkit.Error{Code: code} }
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"unknown":      {&prospectkit.OutcomeUnknownError{}, 500},
		"another's":    {errors.New("of another package"), 500},
		"our key":      {of(prospectkit.CodeUnauthorized), 500},
		"our scope":    {of(prospectkit.CodeInsufficientScope), 500},
		"missing":      {of(prospectkit.CodeListNotFound), 422},
		"conflict":     {of(prospectkit.CodeListProcessing), 422},
		"invalid":      {of(prospectkit.CodeValidationFailed), 422},
		"credits":      {of(prospectkit.CodeInsufficientCredits), 422},
		"wait refused": {&prospectkit.RefusedError{Rule: prospectkit.RuleRateLimit, FitsAt: time.Now().Add(1500 * time.Millisecond)}, 503},
	} {
		w := httptest.NewRecorder()
		fail(w, c.err)
		require.Equal(t, c.want, w.Code, "%s: %v", name, c.err)
		if c.want == http.StatusServiceUnavailable {
			require.Equal(t, "2", w.Header().Get("Retry-After"))
		}
	}
}

// A browser that goes away leaves no write that nobody knows about.
func TestAGoneBrowserCutsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Fail("lists.create", sandbox.Latency(time.Second), sandbox.Nth(1))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.Equal(t, http.StatusOK, post(ctx, dial(t, sb), "Berlin").Code)
	})
}

// pipes is a listener within the program, so that its time is virtual.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error { close(p); return nil }

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// An interrupt ends the server when no request is left: the program ends then, and would cut a write in the middle.
func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := make(pipes)
		ctx, stop := context.WithCancel(t.Context())
		finish, answered, done := make(chan bool), make(chan error, 1), make(chan error, 1)
		go func() {
			done <- serve(ctx, listener, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-finish }))
		}()
		go func() {
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
				here, there := net.Pipe()
				listener <- there
				return here, nil
			}}}
			resp, err := client.Post("http://web.test", "", http.NoBody)
			if err == nil {
				err = resp.Body.Close()
			}
			answered <- err
		}()
		synctest.Wait()
		stop()
		time.Sleep(time.Minute)
		require.Empty(t, done, "the server ended before its request")
		close(finish)
		require.NoError(t, <-done)
		require.NoError(t, <-answered)
	})
}
