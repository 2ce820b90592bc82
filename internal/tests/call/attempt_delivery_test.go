package call_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
)

// What net/http says over HTTP/2 of a request that was not processed.
const (
	refused = "http2: Transport: cannot retry err [stream error: stream ID 1; REFUSED_STREAM; received from peer] " +
		"after Request.Body was written; define Request.GetBody to avoid this error"
	away = "http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] " +
		"after Request.Body was written; define Request.GetBody to avoid this error"
)

// What the peer writes proves nothing, although net/http quotes it: only its own words, as a whole, and over HTTP/2, do.
func TestDelivery_TextOfThePeerProvesNothing(t *testing.T) {
	for name, reply := range map[string]string{
		"a header line": "HTTP/1.1 200 OK\r\ncannot retry err [x; REFUSED_STREAM\r\n\r\n", "a whole line": "HTTP/1.1 200 OK\r\n" + refused + "\r\n\r\n",
		"a status line": away + "\r\n\r\n", "a version": "HTTP/" + refused + " 200 OK\r\n\r\n", "a length": "HTTP/1.1 200 OK\r\nContent-Length: " + away + "\r\n\r\n",
	} {
		tests.Serving(t, name, tests.Drained(tests.Raw(reply)), func(t *testing.T, m *tests.MemoryServer) {
			var info prospectkit.Info
			_, err := m.Client(t).Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID, prospectkit.WithInfo(&info))
			tests.RequireUnknown(t, err)
			require.EqualValues(t, 1, m.Requests.Load())
			require.NotEqual(t, "unprocessed", info.Attempts[0].Delivery)
		})
	}
	for _, debug := range []string{refused, away, "cannot retry err [; REFUSED_STREAM"} {
		server := serveHTTP2(t, func(c net.Conn, _ int32, stream uint32) {
			payload := []byte{0, 0, 0, byte(stream), 0, 0, 0, internalError}
			sendFrame(c, frameGoAway, 0, 0, append(payload, debug...))
			_ = c.Close()
		})
		client := tests.ClientAt(t, "http://"+server.address, prospectkit.WithTransport(clearHTTP2(t)))
		_, err := tests.Call(t.Context(), client, true)
		tests.RequireUnknown(t, err)
		require.EqualValues(t, 1, server.requests.Load())
	}
}

// A transport of the caller's that adds an idempotency key gives net/http licence to retry a write. It does not.
func TestDelivery_IdempotencyKeyOfATransport(t *testing.T) {
	for _, key := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		for name, op := range map[string]prospectkit.Operation{
			"a write":            tests.Described(http.MethodPost, op.GuardedByState),
			"an idempotent one":  tests.Described(http.MethodPut, op.Idempotent),
			"a paid read":        tests.Described(http.MethodPost, op.PaidRead),
			"a paid read by GET": tests.Described(http.MethodGet, op.PaidRead),
		} {
			t.Run(key+"/"+name, func(t *testing.T) {
				tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/api/v1/business/me" {
						time.Sleep(time.Second)
						tests.Write(w, 200, tests.OneUser)
						return
					}
					if r.Header.Get(key) == "" {
						panic("the key did not get through")
					}
					tests.Hijack(w, "")
				}, func(t *testing.T, m *tests.MemoryServer) {
					client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
						r = r.Clone(r.Context())
						r.Header.Set(key, "1")
						return m.Transport.RoundTrip(r)
					}))
					for warm := range 4 { // connections that net/http could go on with
						warmed(t, m, warm)
						m.Requests.Store(0)
						var info prospectkit.Info
						err := client.Call(t.Context(), op, nil, nil, prospectkit.WithInfo(&info))
						tests.RequireUnknown(t, err)
						require.NotErrorIs(t, err, context.Canceled, "nobody cancelled it")
						ended := strings.Contains(err.Error(), "net/http was about to send the request a second time")
						require.Equal(t, warm > 0 && name != "a paid read by GET", ended, "%v", err) // which has a body
						require.EqualValues(t, 1, m.Requests.Load())
						require.Len(t, info.Attempts, 1)
					}
				})
			})
		}
	}
}

// warmed makes idle connections.
func warmed(t *testing.T, m *tests.MemoryServer, n int) {
	t.Helper()
	m.Transport.CloseIdleConnections()
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tests.BaseURL+"/business/me", http.NoBody)
			require.NoError(t, err)
			resp, err := m.Transport.RoundTrip(r)
			require.NoError(t, err)
			require.NoError(t, tests.Discard(io.Copy(io.Discard, resp.Body)))
			require.NoError(t, resp.Body.Close())
		})
	}
	group.Wait()
	synctest.Wait()
}

// proxied is a transport that reaches the service through a proxy, which responds to every CONNECT in the same way.
func proxied(t *testing.T, reply string) (rt *http.Transport) {
	t.Helper()
	address := listen(t, func(c net.Conn) {
		go func() {
			defer c.Close()
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, reply)
			}
		}()
	})
	rt = &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: address})}
	t.Cleanup(rt.CloseIdleConnections)
	return rt
}

// A proxy that does not connect has sent nothing, and is not taken for the service. The caller's transport shows only the phrase of its
// status. What the proxy will say again, such as to a wrong password, is asked once.
func TestDelivery_ProxyThatRefuses(t *testing.T) {
	for _, status := range []int{400, 403, 407, 408, 429, 500, 502, 503, 504} {
		for _, isWrite := range []bool{false, true} {
			phrase := http.StatusText(status)
			rt := proxied(t, "HTTP/1.1 "+strconv.Itoa(status)+" "+phrase+"\r\nContent-Length: 0\r\n\r\n")
			info, err := tests.Call(t.Context(), tests.ClientAt(t, "https://api.example.com", prospectkit.WithTransport(rt)), isWrite)
			attempts := int32(3)
			if status < 500 && status != 408 && status != 429 {
				attempts = 1
			}
			requireNotSent(t, err, info, attempts)
			require.ErrorContains(t, err, "no connection to the service: the proxy responded "+strconv.Itoa(status)+" "+phrase)
		}
	}
	rt := proxied(t, "HTTP/1.1 503 \r\nContent-Length: 0\r\n\r\n") // without a phrase, which tells nothing
	info, err := tests.Call(t.Context(), tests.ClientAt(t, "https://api.example.com", prospectkit.WithTransport(rt)), true)
	requireNotSent(t, err, info, 3)
	rt = proxied(t, "HTTP/1.1 200 OK\r\n\r\n") // and then it is no TLS
	info, err = tests.Call(t.Context(), tests.ClientAt(t, "https://api.example.com", prospectkit.WithTransport(rt)), true)
	requireNotSent(t, err, info, 3)
}

// Without a response to where the proxy is, nothing was asked for.
func TestDelivery_ProxyFunctionThatFails(t *testing.T) {
	rt := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return nil, tests.ErrBroken }}
	info, err := tests.Call(t.Context(), tests.ClientAt(t, "https://api.example.com", prospectkit.WithTransport(rt)), true)
	requireNotSent(t, err, info, 3)
	require.ErrorIs(t, err, tests.ErrBroken)
	require.ErrorContains(t, err, "no connection to the service: broken on purpose")

	rt = &http.Transport{Proxy: http.ProxyURL(nil), Protocols: new(http.Protocols)} // one that works proves nothing
	rt.Protocols.SetHTTP1(true)
	rt.RegisterProtocol("https", tests.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, tests.ErrBroken }))
	_, err = tests.Call(t.Context(), tests.ClientAt(t, "https://api.example.com", prospectkit.WithTransport(rt)), true)
	tests.RequireUnknown(t, err)
}

// A server that wants a certificate which is not there ends the handshake, in TLS 1.3 after the
// request was written. Nobody has read it.
func TestDelivery_CertificateThatIsMissing(t *testing.T) {
	model := httptest.NewTLSServer(nil)
	defer model.Close()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		config := &tls.Config{Certificates: model.TLS.Certificates, ClientAuth: tls.RequireAnyClientCert, MinVersion: version, MaxVersion: version}
		address := listen(t, func(c net.Conn) {
			go func() {
				_ = tls.Server(c, config).HandshakeContext(context.Background())
				_, _ = io.Copy(io.Discard, c) // a reset would overtake the alert
			}()
		})
		for _, isWrite := range []bool{false, true} {
			rt := model.Client().Transport.(*http.Transport).Clone()
			info, err := tests.Call(t.Context(), tests.ClientAt(t, "https://"+address, prospectkit.WithTransport(rt)), isWrite)
			rt.CloseIdleConnections()
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%v", err)
			require.Len(t, info.Attempts, 1, "no repetition brings a certificate")
			require.NotEqual(t, "unknown", info.Attempts[0].Delivery)
		}
	}
}

// Without a trace of a connection, as from a mock, no error proves anything, whatever its text says: reads are repeated, writes are unknown.
func TestDelivery_NothingIsProvedWithoutATrace(t *testing.T) {
	for _, fault := range []error{
		tests.ErrBroken, errors.New(refused), errors.New(away), errors.New("remote error: tls: bad record MAC"),
		errors.New(`unsupported protocol scheme "x"`), &net.DNSError{Err: "no such host", IsNotFound: true},
	} {
		tests.InTime(t, fault.Error(), func(t *testing.T) {
			mock := httpmock.NewMockTransport()
			mock.RegisterNoResponder(httpmock.NewErrorResponder(fault))
			client := tests.NewClient(t, mock)
			for isWrite, attempts := range map[bool]int{true: 1, false: 3} {
				before := mock.GetTotalCallCount()
				info, err := tests.Call(t.Context(), client, isWrite)
				require.ErrorIs(t, err, fault)
				require.Equal(t, isWrite, prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown)
				require.Equal(t, !isWrite, prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied)
				require.Len(t, info.Attempts, attempts)
				require.Equal(t, "unknown", info.Attempts[attempts-1].Delivery)
				require.Equal(t, attempts, mock.GetTotalCallCount()-before)
			}
		})
	}
}

// That nothing was sent is known of a free read without a trace, too, by the error of package net.
func TestDelivery_OfAServiceThatWasThere(t *testing.T) {
	for _, name := range []string{"account.me", "lists.create", "search.companies"} { // the first has no trace
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close") // no request meets it idle
			_, _ = io.WriteString(w, tests.OneUser)
		}))
		client := tests.ClientAt(t, server.URL)
		require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
		server.Close()
		for range 2 {
			var info prospectkit.Info
			_, err := tests.EveryCall[name](t.Context(), client, prospectkit.WithInfo(&info))
			require.ErrorContains(t, err, "no connection to the service: ")
			requireNotSent(t, err, info, 3)
		}
	}
}

// Without a byte written, nothing was sent; but once the context has ended, a writer may be late, so that proves nothing.
func TestDelivery_UnwrittenWhenTheContextEnds(t *testing.T) {
	for ends, want := range map[bool]string{false: "not sent", true: "unknown"} {
		synctest.Test(t, func(t *testing.T) {
			ctx := tests.Within(t, time.Second)
			info, err := tests.Call(ctx, tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				trace := httptrace.ContextClientTrace(r.Context())
				trace.GetConn("api.example.com:443")
				trace.GotConn(httptrace.GotConnInfo{})
				if ends {
					<-r.Context().Done()
				}
				return nil, errors.New("http: server closed idle connection")
			}), tests.OneAttempt), true)
			require.Equal(t, want, info.Attempts[0].Delivery)
			require.Equal(t, ends, errors.Is(err, prospectkit.ErrOutcomeUnknown))
		})
	}
}

// A transport that is not net/http's may send a request on another way, or one of its own. What the first way did proves nothing then.
func TestDelivery_AnotherWay(t *testing.T) {
	for name, first := range map[string]func(*httptrace.ClientTrace){
		"cannot connect": func(trace *httptrace.ClientTrace) {
			trace.GetConn("api.example.com:443")
			trace.ConnectDone("tcp", "192.0.2.1:443", errors.New("refused"))
		},
		"cannot write": func(trace *httptrace.ClientTrace) {
			trace.GetConn("api.example.com:443")
			trace.GotConn(httptrace.GotConnInfo{})
		},
		"says nothing": func(trace *httptrace.ClientTrace) { trace.GetConn("metrics.example.com:80") },
	} {
		seconds := []error{tests.ErrBroken, errors.New("net/http: HTTP/1.x transport connection broken: malformed MIME header")}
		if name != "cannot write" {
			seconds = append(seconds, errors.New("http: server closed idle connection"))
		}
		for _, second := range seconds {
			t.Run(fmt.Sprint(name, ", ", second), func(t *testing.T) {
				sent := 0
				client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					first(httptrace.ContextClientTrace(r.Context()))
					sent++ // the second way shows nothing
					return nil, second
				}))
				_, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
				tests.RequireUnknown(t, err)
				require.Equal(t, 1, sent)
			})
		}
	}
	for _, before := range []time.Duration{0, time.Second} { // what the first way took: over the second, the attempt ends before it is connected
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				sent++
				time.Sleep(before)
				httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
				<-r.Context().Done()
				return nil, context.Cause(r.Context())
			}))
			_, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
			require.Equal(t, before == 0, prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied, "%v", err)
			require.Equal(t, before == 0, sent > 1)
		})
	}
	failed := &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}
	_, err := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn("api.example.com:443")
		return nil, fmt.Errorf("instrumented: %w", failed)
	})).Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "it is net/http's failure to connect")
}

// What a transport writes to its request, also after it was abandoned, is not sent by a later attempt.
func TestAttempt_HasItsOwnRequest(t *testing.T) {
	for name, first := range map[string]func(released chan struct{}) (*http.Response, error){
		"abandoned":    func(released chan struct{}) (*http.Response, error) { <-released; return nil, io.EOF },
		"rate limited": func(chan struct{}) (*http.Response, error) { return tests.Respond(429, "", "Retry-After", "1"), nil },
	} {
		tests.InTime(t, name, func(t *testing.T) {
			released := make(chan struct{})
			defer close(released)
			var earlier atomic.Pointer[http.Request]
			var plain, sent http.Header
			var path string
			change := func(r *http.Request) {
				r.Header["Authorization"][0] += "x"
				r.Header.Add("X-Trace", "x")
				r.URL.Path = "/gateway" + r.URL.Path
			}
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if earlier.Load() == nil {
					plain = r.Header.Clone()
					change(r)
					earlier.Store(r)
					return first(released)
				}
				change(earlier.Load())
				sent, path = r.Header.Clone(), r.URL.Path
				return tests.Respond(200, tests.OneUser), nil
			}), prospectkit.WithAttemptTimeout(time.Second))
			require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
			require.Equal(t, plain, sent)
			require.Equal(t, "/api/v1/business/me", path)
		})
	}
}
