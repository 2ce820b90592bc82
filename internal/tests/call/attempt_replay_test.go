package call_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A write that was about to be sent a second time is ended, and its error says why: nobody cancelled it.
func TestDelivery_ReplayIsNamed(t *testing.T) {
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(r.Context())
		for range 2 {
			near, far := net.Pipe()
			defer near.Close()
			defer far.Close()
			trace.GetConn("host:443")
			trace.GotConn(httptrace.GotConnInfo{Conn: near})
			trace.WroteHeaderField("Authorization", r.Header["Authorization"])
			if r.Context().Err() != nil {
				return nil, r.Context().Err()
			}
			trace.WroteHeaders()
		}
		return tests.Respond(201, ""), nil
	}))
	info, err := tests.Call(t.Context(), client, true)
	tests.RequireUnknown(t, err)
	require.ErrorContains(t, err, "the request was about to be sent a second time")
	require.NotErrorIs(t, err, context.Canceled)
	require.Len(t, info.Attempts, 1)
}

// A transport over net/http that repeats what failed, as many programs have one around all their clients, repeats no write: neither one
// whose response was lost nor one that was answered, whatever the state of the connections.
func TestDelivery_RepeatsOfATransport(t *testing.T) {
	for name, serve := range map[string]http.HandlerFunc{
		"the response is lost": tests.Drained(tests.Raw("")), "a gateway's answer": tests.Drained(tests.OtherServer(502, "{}")),
		"a success": tests.Drained(tests.Serves(201, `{"campaignId":"`+tests.CampaignID+`","status":"active","list":`+tests.OneList+`}`)),
	} {
		for what, send := range map[string]func(context.Context, *prospectkit.Client, ...prospectkit.CallOption) error{
			"without a body": func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
				_, err := c.Campaigns.Approve(ctx, tests.CampaignID, opts...)
				return err
			},
			"with a body": func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
				_, err := c.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}, opts...)
				return err
			},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				var writes atomic.Int32
				tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/api/v1/business/me" {
						time.Sleep(time.Second)
						tests.Write(w, 200, tests.OneUser)
						return
					}
					writes.Add(1)
					serve(w, r)
				}, func(t *testing.T, m *tests.MemoryServer) {
					t.Helper()
					for warm := range 4 {
						warmed(t, m, warm)
						writes.Store(0)
						var info prospectkit.Info
						err := send(t.Context(), tests.NewClient(t, repeater{m.Transport}), prospectkit.WithInfo(&info))
						if name == "a success" {
							require.NoError(t, err, "its own requests do not count")
						} else {
							tests.RequireUnknown(t, err)
						}
						require.EqualValues(t, 1, writes.Load())
						require.Len(t, info.Attempts, 1)
					}
				})
			})
		}
	}
}

// repeater repeats what failed. It fetches a token in the context of the request before, and reports afterwards.
type repeater struct{ next http.RoundTripper }

func (t repeater) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	for range 3 {
		t.other(r)
		again := r.Clone(r.Context())
		if r.Body != nil {
			again.Body = io.NopCloser(bytes.NewReader(body))
		}
		if resp, err = t.next.RoundTrip(again); err == nil && resp.StatusCode < 500 {
			break
		}
	}
	t.other(r)
	return resp, err
}

// other makes a request of its own.
func (t repeater) other(r *http.Request) {
	own, err := http.NewRequestWithContext(r.Context(), http.MethodGet, tests.BaseURL+"/business/me", http.NoBody)
	if err != nil {
		panic(err)
	}
	own.Header.Set("Authorization", "Basic of another server")
	if resp, err := t.next.RoundTrip(own); err == nil {
		_ = resp.Body.Close()
	}
}
