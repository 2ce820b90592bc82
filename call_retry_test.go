package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/event"
	"example.com/prospectkit/ratelimit"
)

// kinds are the calls that the decision table tells apart, and those that look different on the wire.
var kinds = []struct {
	name string
	call func(context.Context, *prospectkit.Client, prospectkit.CallOption) error
}{
	{"read", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		_, err := c.Account.Me(ctx, o)
		return err
	}},
	{"paid", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		return c.Call(ctx, described(http.MethodPost, catalogue.ClassPaidRead), map[string]int{"size": 100}, nil, o)
	}},
	{"later page", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		return c.CallLaterPage(ctx, o)
	}},
	{"write", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		_, err := c.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}, o)
		return err
	}},
	{"write without a body", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		return c.Call(ctx, described(http.MethodPost, catalogue.ClassGuardedByState), nil, nil, o)
	}},
	{"repeatable write", func(ctx context.Context, c *prospectkit.Client, o prospectkit.CallOption) error {
		_, err := c.Lists.Move(ctx, listID, listID, o)
		return err
	}},
}

func described(method string, class catalogue.Class) catalogue.Operation {
	return catalogue.Operation{
		Name: "test", Method: method, Path: "/business/test", Surface: ratelimit.SurfaceCampaigns, Class: class,
	}
}

// serves is a handler that gives one response.
func serves(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { write(w, status, body, header...) }
}

// otherServer is a response without rate headers.
func otherServer(status int, body string, header ...string) http.HandlerFunc {
	return serves(status, body, append(header, bare...)...)
}

func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { hijack(w, text) }
}

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// drips sends a head and the beginning of a body, then nothing.
func drips(w http.ResponseWriter, r *http.Request) {
	write(w, 200, `{"user":`)
	_ = http.NewResponseController(w).Flush()
	hangs(w, r)
}

const (
	// gatewayError looks like the service's envelope, with a code of its own.
	gatewayError = `{"error":{"code":"GATEWAY","message":"try later"}}`

	html        = "<!DOCTYPE html><title>Error</title>"
	htmlType    = "text/html"
	contentType = "Content-Type"
	bareHead    = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	jsonHead    = bareHead + "RateLimit-Remaining: 9\r\n"
)

// responses lists what the server can do to a request that it has read, how often each kind of call then sends it, and what the
// last attempt proves about the effect. All kinds of writes behave alike.
var responses = []struct {
	name                     string
	serve                    http.HandlerFunc
	read, paid, later, write string
}{
	{"500", serves(500, envelope("UNEXPECTED_ERROR")), "3 not applied", "3 not applied", "1 unknown", "1 unknown"},
	{"500 HTML", serves(500, html, contentType, htmlType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"500 empty", serves(500, ""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"501", serves(501, envelope("UNEXPECTED_ERROR")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"502", serves(502, envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"502 HTML", serves(502, html, contentType, htmlType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"503", serves(503, envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"503 HTML", serves(503, html, contentType, htmlType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"503 Retry-After", serves(503, "", "Retry-After", "7"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"504", serves(504, envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"504 HTML", serves(504, html, contentType, htmlType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"501 in place of a 404", serves(501, envelope("LIST_NOT_FOUND")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"505", serves(505, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"599", serves(599, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"429", serves(429, envelope("RATE_LIMITED")), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"429 HTML", serves(429, html, contentType, htmlType), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"429 Retry-After", serves(429, envelope("RATE_LIMITED"), "Retry-After", "7"), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"421", serves(421, ""), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"425", serves(425, ""), "3 not applied", "3 not applied", "3 not applied", "3 not applied"},
	{"408", serves(408, ""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"408 enveloped", serves(408, envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"499", serves(499, html), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"499 enveloped", serves(499, envelope("UNEXPECTED_ERROR")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"499 in place of a 404", serves(499, envelope("LIST_NOT_FOUND")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"400", serves(400, envelope("INVALID_REQUEST")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"401", serves(401, envelope("UNAUTHORIZED")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"402", serves(402, envelope("INSUFFICIENT_CREDITS")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"404", serves(404, envelope("LIST_NOT_FOUND")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"409", serves(409, envelope("LIST_NAME_TAKEN")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"409 that passes", serves(409, envelope("CAMPAIGN_BUSY")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"422", serves(422, envelope("VALIDATION_FAILED")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"403 HTML", serves(403, html, contentType, htmlType), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"403 HTML, rate headers", serves(403, html, contentType, htmlType, "RateLimit-Remaining", "7"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"404 HTML", serves(404, html, contentType, htmlType), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"300", serves(300, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"302", serves(302, "", "Location", "/api/v1/business/me"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"302 bad", serves(302, "", "Location", "http://[::1"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"304", serves(304, ""), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"307", serves(307, "", "Location", "https://elsewhere.example/"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"308", serves(308, "", "Location", "/api/v1/business/me"), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"cut without a response", raw(""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"cut in the status line", raw("HTTP/1.1 20"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"cut in the headers", raw("HTTP/1.1 200 OK\r\nContent-Le"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"not HTTP", raw("SSH-2.0-OpenSSH_9.6\r\n"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"no response in time", hangs, "3 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"400 of a new code", serves(400, envelope("NEW_CODE")), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"403 of a gateway", serves(403, gatewayError), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"403 of a gateway, rate headers", serves(403, gatewayError, "RateLimit-Remaining", "7"), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"403 of a documented code", serves(403, `{"error":{"code":"INSUFFICIENT_SCOPE"}}`), "1 not applied", "1 not applied", "1 not applied", "1 not applied"},
	{"403 in place of a 500", serves(403, envelope("UNEXPECTED_ERROR")), "1 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"500 of a gateway", serves(500, gatewayError), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},

	{"truncated", raw(jsonHead + "Content-Length: 99\r\n\r\n{\"user\":"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"truncated chunks", raw(jsonHead + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"truncated, no length", raw(jsonHead + "\r\n{\"user\":"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"truncated, bare", raw(bareHead + "Content-Length: 99\r\n\r\n{\"user\":"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"not all in time", drips, "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"200 HTML of the service", serves(200, html, contentType, htmlType), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"200 HTML of somebody else", otherServer(200, html, contentType, htmlType), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 HTML, truncated", raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n<html>"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 JSON of somebody else", otherServer(200, `{"status":"unavailable"}`), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 with an error envelope", serves(200, envelope("UNEXPECTED_ERROR")), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 with a gateway's envelope", otherServer(200, gatewayError), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 empty, of somebody else", otherServer(200, ""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"200 blank, of somebody else", otherServer(200, " \n"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"204 of somebody else", otherServer(204, ""), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
	{"201 two values", serves(201, "{}{}"), "3 not applied", "1 applied", "1 applied", "1 applied"},
	{"201 two values, of somebody else", otherServer(201, "{}{}"), "3 not applied", "1 unknown", "1 unknown", "1 unknown"},
}

func TestRetry_AttemptsPerResponse(t *testing.T) {
	for _, a := range responses {
		for _, kind := range kinds {
			want := map[string]string{"read": a.read, "paid": a.paid, "later page": a.later}[kind.name]
			if want == "" {
				want = a.write
			}
			t.Run(a.name+"/"+kind.name, func(t *testing.T) {
				inMemory(t, drained(a.serve), func(t *testing.T, m *memoryServer) {
					t.Helper()
					var info prospectkit.Info
					err := kind.call(t.Context(), m.Client(t), prospectkit.WithInfo(&info))
					require.Equal(t, want, fmt.Sprintf("%d %s", m.Requests.Load(), prospectkit.OutcomeOf(err)), "%v", err)
					require.Len(t, info.Attempts, int(m.Requests.Load()), "one attempt for each request")
					if kind.name == "repeatable write" && want == "1 applied" {
						require.NoError(t, err, "its success says all")
						require.Error(t, info.Attempts[0].Err)
						return
					}
					require.Error(t, err)
					requireFamily(t, err)
				})
			})
		}
	}
}

// drained reads the request's body first.
func drained(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		h(w, r)
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
		t.Run(body, func(t *testing.T) {
			inMemory(t, serves(200, body), func(t *testing.T, m *memoryServer) {
				t.Helper()
				_, err := m.Client(t).Account.Me(t.Context())
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
				require.EqualValues(t, 3, m.Requests.Load())
				_, err = m.Client(t).Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
				require.EqualValues(t, 4, m.Requests.Load())
				var lost *prospectkit.Error
				require.ErrorAs(t, err, &lost)
				require.ErrorIs(t, err, prospectkit.ErrResponseLost)
				require.Equal(t, 200, lost.Status)
				require.Equal(t, prospectkit.ActionVerifyFirst, lost.Advice().Action)
			})
		})
	}
}

// An upload that was cut short was not applied, and the file would end early again, whatever the class of the call.
func TestRetry_UploadCutShortOfEveryClass(t *testing.T) {
	for _, class := range []catalogue.Class{catalogue.ClassRead, catalogue.ClassPaidRead, catalogue.ClassUnsafe} {
		t.Run(string(class), func(t *testing.T) {
			rt, asked := inTurn(t, func(r *http.Request) (*http.Response, error) {
				_, err := io.Copy(io.Discard, r.Body)
				return nil, err
			})
			err := newClient(t, rt).CallUpload(t.Context(), class, prospectkit.UploadFrom("people.csv", 99, strings.NewReader("a,b\n")))
			require.Equal(t, 1, *asked)
			requireCutShort(t, err, "before the size that was given")
			requireFamily(t, err)
		})
	}
}

// If the context ends in the middle of an attempt, the last response that there was is the error, whatever failed since.
func TestRetry_LastResponseBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		rt, asked := inTurn(t, always(503, envelope("UNEXPECTED_ERROR")), breaks, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		_, err := newClient(t, rt).Account.Me(ctx)
		require.Equal(t, 3, *asked)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 503, asError(t, err).Status)
		require.Equal(t, prospectkit.CodeUnexpectedError, prospectkit.CodeOf(err))
	})
}

// The error is that of the last attempt: a failure of the network is not reported as the response that came before it.
func TestRetry_LastAttemptIsTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := always(500, envelope("UNEXPECTED_ERROR"))
		rt, _ := inTurn(t, failed, breaks)
		twice := prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 2})
		_, err := newClient(t, rt, twice).Account.Me(t.Context())
		require.ErrorIs(t, err, errBroken)
		require.Zero(t, asError(t, err).Status)
		require.Empty(t, prospectkit.CodeOf(err))
		require.Len(t, asError(t, err).Attempts, 2)

		rt, _ = inTurn(t, failed, always(404, envelope("LIST_NOT_FOUND")))
		ctx, cancel := context.WithCancel(t.Context())
		last := prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) {
			if e.Kind == event.KindAttempt && e.Attempt == 2 {
				cancel()
			}
		})
		_, err = newClient(t, rt, twice, last).Account.Me(ctx)
		require.Equal(t, prospectkit.CodeListNotFound, prospectkit.CodeOf(err), "a context that ends after the last response does not hide it")
	})
}

// What ended a call and what came before it advise together: a response is looked at, also where the time ran out after it.
func TestRetry_AdviceOfACallThatRanOutOfTime(t *testing.T) {
	for want, rt := range map[prospectkit.Action]roundTrip{
		prospectkit.ActionVerifyFirst: always(503, "<html>", "Content-Type", "text/html"),
		prospectkit.ActionMayPass:     breaks,
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			_, err := newClient(t, rt).Account.Me(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Equal(t, want, prospectkit.AdviceOf(err).Action)
		})
	}
}

// What net/http would need to retry a write automatically is not there, and what it needs to frame it well is.
func TestAttempt_RequestsCannotBeReplayed(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			attempts := 0
			client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
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
				return respond(421, ""), nil
			}), prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: 1, MaxDelay: 1}))
			require.Error(t, kind.call(t.Context(), client, prospectkit.WithHeader("X-Other", "1")))
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
		"not sent": {dialing(dialError(context.DeadlineExceeded)), 1, 2 * time.Millisecond},
		"421":      {always(421, ""), 1, 2 * time.Millisecond},
		"425":      {always(425, ""), 1, 2 * time.Millisecond},
		"429":      {always(429, ""), 500 * time.Millisecond, time.Minute},
	} {
		for _, kind := range kinds {
			t.Run(name+"/"+kind.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					client := newClient(t, c.transport, prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}))
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
			})
		}
	}
}

// A 429 holds its surface, whatever kind of call got it.
func TestRetry_EveryKindHoldsTheSurface(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent []time.Time
				client := newClient(t, roundTrip(func(*http.Request) (*http.Response, error) {
					sent = append(sent, time.Now())
					return respond(429, "", "Retry-After", "30"), nil
				}), prospectkit.WithRetry(prospectkit.NoRetry))
				for range 2 {
					require.Error(t, kind.call(t.Context(), client, prospectkit.WithInfo(new(prospectkit.Info))))
				}
				require.Len(t, sent, 2)
				require.GreaterOrEqual(t, sent[1].Sub(sent[0]), 30*time.Second)
			})
		})
	}
}
