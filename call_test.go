package prospectkit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// kinds are the calls that the decision table tells apart, and those that look different on the wire.
var kinds = []struct {
	name string
	call func(context.Context, *prospectkit.Client, prospectkit.CallOption) error
}{
	{"read", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		return tests.Discard(c.Account.Me(ctx, o))
	}},
	{"paid", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		return c.Call(ctx, tests.Described(http.MethodPost, op.PaidRead), map[string]int{"size": 100}, nil, o)
	}},
	{"later page", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		return c.CallLaterPage(ctx, o)
	}},
	{"write", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		return tests.Discard(c.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}, o))
	}},
	{"write without a body", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		return c.Call(ctx, tests.Described(http.MethodPost, op.GuardedByState), nil, nil, o)
	}},
	{"repeatable write", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		return tests.Discard(c.Lists.Move(ctx, tests.ListID, tests.ListID, o))
	}},
}

// responses lists what the server can do to a request that it has read, how often each kind of call then sends it, and what the
// last attempt proves about the effect. All kinds of writes behave alike.
var responses = []struct {
	name                     string
	serve                    http.HandlerFunc
	read, paid, later, write string
}{
	{"500", tests.Serves(500, tests.Envelope("UNEXPECTED_ERROR")), "3 not applied", "3 not applied", "1 unknown", "1 unknown"},
	{"500 HTML", tests.Serves(500, tests.HTML, tests.ContentType, tests.HTMLType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"500 empty", tests.Serves(500, ""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"501", tests.Serves(501, tests.Envelope("UNEXPECTED_ERROR")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"502", tests.Serves(502, tests.Envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"502 HTML", tests.Serves(502, tests.HTML, tests.ContentType, tests.HTMLType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"503", tests.Serves(503, tests.Envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"503 HTML", tests.Serves(503, tests.HTML, tests.ContentType, tests.HTMLType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"503 Retry-After", tests.Serves(503, "", "Retry-After", "7"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"504", tests.Serves(504, tests.Envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"504 HTML", tests.Serves(504, tests.HTML, tests.ContentType, tests.HTMLType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"501 in place of a 404", tests.Serves(501, tests.Envelope("LIST_NOT_FOUND")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"505", tests.Serves(505, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"599", tests.Serves(599, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"429", tests.Serves(429, tests.Envelope("RATE_LIMITED")), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"429 HTML", tests.Serves(429, tests.HTML, tests.ContentType, tests.HTMLType), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"429 Retry-After", tests.Serves(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "50"), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"421", tests.Serves(421, ""), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"425", tests.Serves(425, ""), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"407", tests.Serves(407, tests.HTML, tests.ContentType, tests.HTMLType), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"411", tests.Serves(411, ""), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"414", tests.Serves(414, tests.HTML, tests.ContentType, tests.HTMLType), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"431", tests.Serves(431, ""), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"413 to a small body", tests.Serves(413, tests.HTML, tests.ContentType, tests.HTMLType), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"413 enveloped", tests.Serves(413, tests.Envelope("INVALID_REQUEST")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"519", tests.Serves(519, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"520", tests.Serves(520, tests.HTML, tests.ContentType, tests.HTMLType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"524", tests.Serves(524, ""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"525", tests.Serves(525, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"408", tests.Serves(408, ""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"408 enveloped", tests.Serves(408, tests.Envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"499", tests.Serves(499, tests.HTML), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"499 enveloped", tests.Serves(499, tests.Envelope("UNEXPECTED_ERROR")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"499 in place of a 404", tests.Serves(499, tests.Envelope("LIST_NOT_FOUND")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"400", tests.Serves(400, tests.Envelope("INVALID_REQUEST")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"401", tests.Serves(401, tests.Envelope("UNAUTHORIZED")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"402", tests.Serves(402, tests.Envelope("INSUFFICIENT_CREDITS")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"404", tests.Serves(404, tests.Envelope("LIST_NOT_FOUND")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"409", tests.Serves(409, tests.Envelope("LIST_NAME_TAKEN")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"409 that passes", tests.Serves(409, tests.Envelope("CAMPAIGN_BUSY")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"422", tests.Serves(422, tests.Envelope("VALIDATION_FAILED")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"403 HTML", tests.Serves(403, tests.HTML, tests.ContentType, tests.HTMLType), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"403 HTML, rate headers", tests.Serves(403, tests.HTML, tests.ContentType, tests.HTMLType, "RateLimit-Remaining", "7"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"404 HTML", tests.Serves(404, tests.HTML, tests.ContentType, tests.HTMLType), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"300", tests.Serves(300, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"302", tests.Serves(302, "", "Location", "/api/v1/business/me"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"302 bad", tests.Serves(302, "", "Location", "http://[::1"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"304", tests.Serves(304, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"307", tests.Serves(307, "", "Location", "https://elsewhere.example/"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"308", tests.Serves(308, "", "Location", "/api/v1/business/me"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"cut without a response", tests.Raw(""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"cut in the status line", tests.Raw("HTTP/1.1 20"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"cut in the headers", tests.Raw("HTTP/1.1 200 OK\r\nContent-Le"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"not HTTP", tests.Raw("SSH-2.0-OpenSSH_9.6\r\n"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"no response in time", tests.Hangs, "3 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"400 of a new code", tests.Serves(400, tests.Envelope("NEW_CODE")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"403 of a gateway", tests.Serves(403, tests.GatewayError), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"403 of a gateway, rate headers", tests.Serves(403, tests.GatewayError, "RateLimit-Remaining", "7"), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"403 of a documented code", tests.Serves(403, `{"error":{"code":"INSUFFICIENT_SCOPE"}}`), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"403 in place of a 500", tests.Serves(403, tests.Envelope("UNEXPECTED_ERROR")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"500 of a gateway", tests.Serves(500, tests.GatewayError), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"truncated", tests.Raw(tests.JSONHead + "Content-Length: 99\r\n\r\n{\"user\":"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"truncated chunks", tests.Raw(tests.JSONHead + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"truncated, no length", tests.Raw(tests.JSONHead + "\r\n{\"user\":"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"truncated, bare", tests.Raw(tests.BareHead + "Content-Length: 99\r\n\r\n{\"user\":"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"not all in time", tests.Drips, "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"200 HTML, rate headers", tests.Serves(200, tests.HTML, tests.ContentType, tests.HTMLType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 HTML called JSON, rate headers", tests.Serves(200, tests.HTML), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 HTML after a mark, rate headers", tests.Serves(200, "\uFEFF \n"+tests.HTML), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 text, rate headers", tests.Serves(200, "no healthy upstream", tests.ContentType, "text/plain"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 HTML, truncated, rate headers", tests.Raw(tests.JSONHead + "Content-Length: 99\r\n\r\n<html>"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"201 JSON that ends early", tests.Serves(201, `{"user":`), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"201 JSON that ends early, of another type", tests.Serves(201, `{"user":`, tests.ContentType, "text/plain"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"201 JSON after a mark, cut", tests.Serves(201, "\uFEFF{\"user\":", tests.ContentType, "text/plain"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"201 JSON of another charset", tests.Serves(201, "\xff\xfe{\x00\"\x00"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"201 JSON, compressed by somebody else", tests.Serves(201, "\x1f\x8b\x08\x00"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"200 HTML of somebody else", tests.OtherServer(200, tests.HTML, tests.ContentType, tests.HTMLType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 HTML, truncated", tests.Raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n<html>"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 JSON of somebody else", tests.OtherServer(200, `{"status":"unavailable"}`), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 with an error envelope", tests.Serves(200, tests.Envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 with a gateway's envelope", tests.OtherServer(200, tests.GatewayError), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 empty, of somebody else", tests.OtherServer(200, ""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 blank, of somebody else", tests.OtherServer(200, " \n"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"204 of somebody else", tests.OtherServer(204, ""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"201 two values", tests.Serves(201, "{}{}"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"201 two values, of somebody else", tests.OtherServer(201, "{}{}"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
}

func TestRetry_AttemptsPerResponse(t *testing.T) {
	for _, a := range responses {
		for _, kind := range kinds {
			want := map[string]string{"read": a.read, "paid": a.paid, "later page": a.later}[kind.name]
			if want == "" {
				want = a.write
			}
			tests.Serving(t, a.name+"/"+kind.name, tests.Drained(a.serve), func(t *testing.T, m *tests.MemoryServer) {
				var info prospectkit.Info
				err := kind.call(t.Context(), m.Client(t), prospectkit.WithInfo(&info))
				sent := int(m.Requests.Load())
				require.Equal(t, want, fmt.Sprintf("%d %s", sent, prospectkit.OutcomeOf(err)), "%v", err)
				require.Len(t, info.Attempts, sent, "one attempt for each request")
				if kind.name == "repeatable write" && want == "1 applied" {
					require.NoError(t, err, "its success says all")
					require.Error(t, info.Attempts[0].Err)
					return
				}
				require.Error(t, err)
				requireFamily(t, err)
			})
		}
	}
}

// requireFamily demands that type and outcome of an error agree.
func requireFamily(t *testing.T, err error) {
	t.Helper()
	switch e := err.(type) { //nolint:errorlint // the outermost type is meant
	case *prospectkit.OutcomeUnknownError:
		require.Equal(t, prospectkit.OutcomeUnknown, e.Outcome())
	case *prospectkit.Error:
		want := prospectkit.OutcomeNotApplied
		if errors.Is(err, prospectkit.ErrResponseLost) {
			want = prospectkit.OutcomeApplied
		}
		require.Equal(t, want, e.Outcome())
		require.NotErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	default:
		require.Failf(t, "unexpected type", "%T", err)
	}
}

// Responses that are JSON but not what was asked for. The typed calls notice; what has no documented shape cannot.
func TestRetry_UnreadableResponsesOfTypedCalls(t *testing.T) {
	for _, body := range []string{"null", "{}", "[]", `"text"`, `{"list":null,"user":null}`, `{"list":[],"user":"ada"}`, `{"other":{}}`, "", " "} {
		tests.Serving(t, body, tests.Serves(200, body), func(t *testing.T, m *tests.MemoryServer) {
			_, err := m.Client(t).Account.Me(t.Context())
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.EqualValues(t, 3, m.Requests.Load())
			_, err = m.Client(t).Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
			require.EqualValues(t, 4, m.Requests.Load())
			lost := tests.AsError(t, err)
			require.ErrorIs(t, err, prospectkit.ErrResponseLost)
			require.Equal(t, 200, lost.Status)
			require.Equal(t, tests.NoWait, tests.Waits(err))
		})
	}
}

// An upload that was cut short was not applied, and the file would end early again, whatever the class of the call.
func TestRetry_UploadCutShortOfEveryClass(t *testing.T) {
	for _, class := range []op.Class{op.Read, op.PaidRead, op.Unsafe} {
		t.Run(string(class), func(t *testing.T) {
			asked := 0
			rt := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				asked++
				_, err := io.Copy(io.Discard, r.Body)
				return nil, err
			})
			err := tests.NewClient(t, rt).CallUpload(t.Context(), class, prospectkit.UploadFrom("people.csv", 99, strings.NewReader("a,b\n")))
			require.Equal(t, 1, asked)
			tests.RequireCutShort(t, err, "before the size that was given")
			requireFamily(t, err)
		})
	}
}

// If the context ends in the middle of an attempt, the last response that there was is the error, whatever failed since.
func TestRetry_LastResponseBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := tests.Within(t, 10*time.Second)
		rt := tests.Stage(t, tests.Always(503, tests.Envelope("UNEXPECTED_ERROR")), tests.Breaks, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		_, err := tests.NewClient(t, rt).Account.Me(ctx)
		require.Len(t, rt.Sent, 3)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 503, tests.AsError(t, err).Status)
		require.Equal(t, prospectkit.CodeUnexpectedError, prospectkit.CodeOf(err))
	})
}

// The error is that of the last attempt: a failure of the network is not reported as the response that came before it.
func TestRetry_LastAttemptIsTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := tests.Always(500, tests.Envelope("UNEXPECTED_ERROR"))
		rt := tests.Stage(t, failed, tests.Breaks)
		twice := prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 2})
		_, err := tests.NewClient(t, rt, twice).Account.Me(t.Context())
		require.ErrorIs(t, err, tests.ErrBroken)
		require.Zero(t, tests.AsError(t, err).Status)
		require.Empty(t, prospectkit.CodeOf(err))
		require.Len(t, tests.AsError(t, err).Attempts, 2)

		rt = tests.Stage(t, failed, tests.Always(404, tests.Envelope("LIST_NOT_FOUND")))
		ctx, cancel := context.WithCancel(t.Context())
		last := tests.Watch(func(e prospectkit.Event) {
			if e.Kind == prospectkit.EventAttempt && e.Attempt == 2 {
				cancel()
			}
		})
		_, err = tests.NewClient(t, rt, twice, last).Account.Me(ctx)
		require.Equal(t, prospectkit.CodeListNotFound, prospectkit.CodeOf(err), "a context that ends after the last response does not hide it")
	})
}

// What net/http would need to retry a write automatically is not there, and what it needs to frame it well is.
func TestAttempt_RequestsCannotBeReplayed(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			attempts := 0
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				attempts++
				require.Nil(t, r.GetBody)
				require.NotContains(t, r.Header, "Idempotency-Key")
				require.NotContains(t, r.Header, "X-Idempotency-Key")
				require.Equal(t, r.Body == nil || r.Body == http.NoBody, r.ContentLength == 0)
				if r.Body != nil {
					body, err := io.ReadAll(r.Body)
					require.NoError(t, err)
					require.Len(t, body, int(r.ContentLength), "the whole body in each attempt")
				}
				return tests.Respond(421, ""), nil
			}), prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: 1, MaxDelay: 1}))
			require.Error(t, kind.call(t.Context(), client, prospectkit.WithQuery("x", "1")))
			require.Equal(t, 3, attempts)
		})
	}
}

// What the service did not process is retried by every kind of call, without permission: after a backoff, or after the wait of a 429.
func TestRetry_NotProcessedByEveryKind(t *testing.T) {
	for name, c := range map[string]struct {
		transport   http.RoundTripper
		least, most time.Duration
	}{
		"not sent": {tests.Dialing(tests.DialError(context.DeadlineExceeded)), 1, 2 * time.Millisecond},
		"421":      {tests.Always(421, "", tests.Room...), 1, 2 * time.Millisecond},
		"425":      {tests.Always(425, "", tests.Room...), 1, 2 * time.Millisecond},
		"429":      {tests.Always(429, ""), 500 * time.Millisecond, 2 * time.Minute}, // grows to a minute, and what the surface still holds
	} {
		for _, kind := range kinds {
			tests.InTime(t, name+"/"+kind.name, func(t *testing.T) {
				client := tests.NewClient(t, c.transport, prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}))
				for range 20 {
					var info prospectkit.Info
					err := kind.call(t.Context(), client, prospectkit.WithInfo(&info))
					require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
					require.Len(t, info.Attempts, 3)
					for _, attempt := range info.Attempts[:2] {
						require.GreaterOrEqual(t, attempt.Wait, c.least)
						require.LessOrEqual(t, attempt.Wait, c.most)
					}
				}
			})
		}
	}
}

// A 429 holds its surface, whatever kind of call got it.
func TestRetry_EveryKindHoldsTheSurface(t *testing.T) {
	for _, kind := range kinds {
		tests.InTime(t, kind.name, func(t *testing.T) {
			var sent []time.Time
			client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				sent = append(sent, time.Now())
				return tests.Respond(429, "", "Retry-After", "30"), nil
			}), tests.OneAttempt)
			for range 2 {
				require.Error(t, kind.call(t.Context(), client, prospectkit.WithInfo(new(prospectkit.Info))))
			}
			require.Len(t, sent, 2)
			require.GreaterOrEqual(t, sent[1].Sub(sent[0]), 30*time.Second)
		})
	}
}

// What these allocate is held against testdata/allocations.txt: see .ci/allocations.

// canned gives the same response to every request, at the least cost to the benchmark.
type canned struct {
	status int
	header http.Header
	body   []byte
}

// RoundTrip returns the response.
func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: c.status, ProtoMajor: 1, ProtoMinor: 1, Header: c.header, Request: r,
		Body: io.NopCloser(bytes.NewReader(c.body)), ContentLength: int64(len(c.body)),
	}, nil
}

// serve makes a response with a JSON body, of a service that has room for more.
func serve(status int, body string) *canned {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i < len(tests.Room); i += 2 {
		h.Set(tests.Room[i], tests.Room[i+1])
	}
	return &canned{status, h, []byte(body)}
}

// cannedPages are the pages of a collection.
type cannedPages []*canned

func (c cannedPages) RoundTrip(r *http.Request) (*http.Response, error) {
	_, number, _ := strings.Cut(r.URL.RawQuery, "pageNum=")
	n, _ := strconv.Atoi(number) // the first is asked for without
	return c[max(n-1, 0)].RoundTrip(r)
}

// hold fails a benchmark, and costs nothing when it does not.
func hold(b *testing.B, ok bool) { //nolint:thelper // Helper would cost more than what is measured
	if !ok {
		b.Helper()
		require.Fail(b, "not what the benchmark is about")
	}
}

// joined makes a page of elements.
func joined(elements []string) string { return joinedPage(elements, 1, 1, len(elements)) }

func joinedPage(elements []string, number, of, total int) string {
	return fmt.Sprintf(`{"entityType":"contactList","data":[%s],"pagination":{"pageNum":%d,"totalPages":%d,"totalRecords":%d}}`,
		strings.Join(elements, ","), number, of, total)
}

func pageOfLists(n int) string { return joined(someLists(0, n)) }

func someLists(from, n int) []string {
	lists := make([]string, n)
	for i := range lists {
		lists[i] = fmt.Sprintf(`{"id":"%024x","name":"List %d","entityType":"contactList","folderId":null,"contactsCount":%d,`+
			`"companiesCount":0,"createdAt":"2026-03-01T09:30:00.000Z"}`, from+i+1, from+i, 10*i)
	}
	return lists
}

// pageOfRows has people as the sandbox makes them up.
func pageOfRows(b *testing.B, n int) string {
	b.Helper()
	sb := sandbox.New(b, sandbox.Seed(fixture.Build(fixture.Config{Seed: 1, ContactLists: 1, Rows: n})))
	for _, list := range sb.Lists() {
		raw := sb.Rows(list.ID)
		if len(raw) != n {
			continue
		}
		rows := make([]string, n)
		for i := range rows {
			rows[i] = string(raw[i])
		}
		return joined(rows)
	}
	require.Fail(b, "no list has so many rows")
	return ""
}

func BenchmarkGet(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, tests.OneUser))
	b.ReportAllocs()
	for b.Loop() {
		_, err := client.Account.Me(b.Context())
		hold(b, err == nil)
	}
}

func BenchmarkErrorResponse(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusNotFound, tests.Envelope("LIST_NOT_FOUND")))
	b.ReportAllocs()
	for b.Loop() {
		_, err := client.Lists.Get(b.Context(), tests.ListID)
		hold(b, errors.Is(err, prospectkit.CodeListNotFound))
	}
}

func BenchmarkLists(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, pageOfLists(100)))
	b.ReportAllocs()
	for b.Loop() {
		page, err := client.Lists.Page(b.Context(), prospectkit.ListsParams{})
		hold(b, err == nil && len(page.Items) == 100)
	}
}

// BenchmarkWalk reads 99,999 lists, so that the last page is not full, and remembers which it has seen.
func BenchmarkWalk(b *testing.B) {
	const pages, each = 100, 1000
	const total = pages*each - 1
	answers := make(cannedPages, pages)
	for i := range answers {
		answers[i] = serve(http.StatusOK, joinedPage(someLists(i*each, min(each, total-i*each)), i+1, pages, total))
	}
	client := tests.NewClient(b, answers)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range client.Lists.All(b.Context(), prospectkit.ListsParams{Limit: each}) {
			hold(b, err == nil)
			n++
		}
		hold(b, n == total)
	}
}

func BenchmarkRows(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, pageOfRows(b, 100)))
	b.Run("kept", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page, err := client.Lists.RowsPage(b.Context(), tests.ListID, prospectkit.RowsParams{})
			hold(b, err == nil && len(page.Items) == 100)
		}
	})
	b.Run("compressed", func(b *testing.B) {
		packed := serve(http.StatusOK, tests.Zip(pageOfRows(b, 100)))
		packed.header.Set("Content-Encoding", "gzip")
		client := tests.NewClient(b, packed)
		b.ReportAllocs()
		for b.Loop() {
			page, err := client.Lists.RowsPage(b.Context(), tests.ListID, prospectkit.RowsParams{})
			hold(b, err == nil && len(page.Items) == 100)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page, err := client.Lists.RowsPage(b.Context(), tests.ListID, prospectkit.RowsParams{})
			hold(b, err == nil && len(page.Items) == 100)
			for i := range page.Items {
				row := &page.Items[i]
				hold(b, row.ID() != "" && row.Text("companies") == "")
			}
		}
	})
	b.Run("decoded", func(b *testing.B) {
		type person struct {
			ID        string `json:"id"`
			FirstName string `json:"firstName"`
			LastName  string `json:"lastName"`
			JobTitle  string `json:"jobTitle"`
		}
		b.ReportAllocs()
		for b.Loop() {
			for p, err := range prospectkit.RowsOf[person](b.Context(), client.Lists, tests.ListID, prospectkit.RowsParams{}) {
				hold(b, err == nil && p.ID != "")
			}
		}
	})
}

// A client that is closed refuses each call when the request is built and before it is sent.
func BenchmarkRequest(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, ""))
	require.NoError(b, client.Close())
	for name, params := range map[string]prospectkit.RowsParams{
		"plain": {},
		"filter": {
			Filter: filter.Contact{
				Country:   filter.AnyOf("Germany", "Austria").Except("Switzerland"),
				Employees: filter.AnyOf("51+"),
			},
			SortBy: "createdAt", Descending: true,
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := client.Lists.RowsPage(b.Context(), tests.ListID, params)
				hold(b, errors.As(err, new(*prospectkit.RefusedError)))
			}
		})
	}
}

func BenchmarkPath(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		path, ok := op.Expand("", op.ListsRows.Path, tests.ListID)
		hold(b, ok && path != "")
	}
}

// BenchmarkBudget is what a call costs when there is room: taking a permit, reading the headers, settling.
func BenchmarkBudget(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, ""))
	pass := client.PassBudget(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		hold(b, pass() == nil)
	}
}
