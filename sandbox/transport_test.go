package sandbox_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// tracked is a request body that remembers what happened to it.
type tracked struct {
	io.Reader
	closed int
}

func (b *tracked) Close() error {
	b.closed++
	return nil
}

// traced lists the hooks in the order in which they fire.
func traced(ctx context.Context) (context.Context, *[]string) {
	var hooks []string
	note := func(s string, err error) {
		if err != nil {
			s += " failed"
		}
		hooks = append(hooks, s)
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(hostPort string) { note("GetConn "+hostPort, nil) },
		ConnectStart:         func(string, string) { note("ConnectStart", nil) },
		ConnectDone:          func(_, _ string, err error) { note("ConnectDone", err) },
		GotConn:              func(info httptrace.GotConnInfo) { note("GotConn "+info.Conn.RemoteAddr().Network(), nil) },
		WroteHeaders:         func() { note("WroteHeaders", nil) },
		WroteRequest:         func(info httptrace.WroteRequestInfo) { note("WroteRequest", info.Err) },
		GotFirstResponseByte: func() { note("GotFirstResponseByte", nil) },
	}), &hooks
}

func TestTraceTellsWhatWasSent(t *testing.T) {
	connected := []string{"GetConn sandbox.invalid:443", "ConnectStart", "ConnectDone", "GotConn tcp", "WroteHeaders", "WroteRequest"}
	for name, tc := range map[string]struct {
		fault sandbox.FaultOption
		body  io.Reader
		want  []string
	}{
		"complete":    {nil, strings.NewReader(`{"name":"x"}`), append(connected[:6:6], "GotFirstResponseByte")},
		"dropped":     {sandbox.DropBefore(), strings.NewReader(`{}`), connected},
		"lost":        {sandbox.DropAfter(), strings.NewReader(`{"name":"x"}`), connected},
		"refused":     {sandbox.Refuse(), strings.NewReader(`{}`), []string{"GetConn sandbox.invalid:443", "ConnectStart", "ConnectDone failed"}},
		"broken body": {nil, io.MultiReader(strings.NewReader("{"), broken{}), append(connected[:5:5], "WroteRequest failed")},
	} {
		t.Run(name, func(t *testing.T) {
			sb := sandbox.New(t)
			if tc.fault != nil {
				sb.Fail("lists.create", tc.fault)
			}
			ctx, hooks := traced(t.Context())
			c := inPlace(t, sb)
			body := &tracked{Reader: tc.body}
			req := c.request("POST", lists, nil).WithContext(ctx)
			req.Body, req.ContentLength = body, -1
			req.Header.Set("Content-Type", "application/json")
			resp, err := sb.Transport().RoundTrip(req)
			if err == nil {
				require.NoError(t, resp.Body.Close())
			}
			require.Equal(t, tc.want, *hooks)
			require.Equal(t, 1, body.closed)
		})
	}
}

type broken struct{}

var errBroken = errors.New("the body broke")

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func TestTransportReachesNoOtherHost(t *testing.T) {
	sb := sandbox.New(t)
	for _, target := range []string{
		"https://api.example.com/api/v1/business/me", "https://sandbox.invalid.example.com/api/v1/business/me",
		"http://sandbox.invalid/api/v1/business/me", "https://sandbox.invalid:8443/api/v1/business/me", "https://127.0.0.1/",
	} {
		body := &tracked{Reader: strings.NewReader("x")}
		ctx, hooks := traced(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, body)
		require.NoError(t, err)
		resp, err := sb.Client().Do(req)
		if resp != nil {
			require.NoError(t, resp.Body.Close())
		}
		require.ErrorContains(t, err, "refused to leave for ")
		require.Equal(t, 1, body.closed)
		require.Empty(t, *hooks)
	}
	require.Empty(t, sb.Journal())
}

func TestTransportAnswersAreWhole(t *testing.T) {
	sb := sandbox.New(t)
	req := inPlace(t, sb).request("GET", lists, nil)
	resp, err := sb.Transport().RoundTrip(req)
	require.NoError(t, err)
	require.Same(t, req, resp.Request)
	require.Equal(t, "HTTP/1.1", resp.Proto)
	require.Equal(t, "200 OK", resp.Status)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.EqualValues(t, len(body), resp.ContentLength)
	require.NoError(t, resp.Body.Close())
	_, err = resp.Body.Read(make([]byte, 1))
	require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
	require.Empty(t, req.Header.Get("X-Sandbox-Request"), "the request is left alone")
}

func TestTransportHonoursACancelledContext(t *testing.T) {
	sb := sandbox.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := &tracked{Reader: strings.NewReader(`{"name":"x"}`)}
	req := inPlace(t, sb).request("POST", lists, nil).WithContext(ctx)
	req.Body = body
	resp, err := sb.Transport().RoundTrip(req)
	if resp != nil {
		require.NoError(t, resp.Body.Close())
	}
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, body.closed)
	require.Empty(t, sb.Journal())
}

func TestACancelledRequestEndsItsBody(t *testing.T) {
	sb := sandbox.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := sb.Transport().RoundTrip(inPlace(t, sb).request("GET", lists, nil).WithContext(ctx))
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = resp.Body.Read(make([]byte, 1))
	require.NoError(t, err)
	cancel()
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, context.Canceled)
}

func TestEverythingAtOnce(t *testing.T) {
	sb := sandbox.New(t, rowLists(), sandbox.NoLimits(), sandbox.WithPrices(sandbox.Prices{"lists.add-contacts": 1}), sandbox.Credits(100))
	sb.Between("lists.rows", func(tx *sandbox.Tx) { tx.AddRows(id(1), sandbox.Row{"firstName": "Late"}) })
	sb.Fail("lists.list", sandbox.Every(3), sandbox.HTML(502))
	c := inPlace(t, sb)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				for _, req := range []*http.Request{
					c.request("POST", lists, create("the same")),
					c.request("GET", lists, nil),
					c.request("GET", rowsOf(id(1))+"?sortBy=firstName&sortOrder=asc", nil),
					c.request("POST", lists+"/"+id(1)+"/contacts", object{"contacts": []object{{}}}),
				} {
					if _, err := c.send(req); err != nil {
						t.Error(err)
					}
				}
				sb.Snapshot()
				sb.Ledger()
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 0, sb.Balance())
	require.Len(t, sb.Ledger(), 100)
	created := 0
	for _, e := range sb.Journal() {
		if e.Op == "lists.create" && e.Status == 201 {
			created++
		}
	}
	require.Equal(t, 1, created, "one name, one list")
}
