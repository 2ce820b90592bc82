package prospectkit

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"example.com/prospectkit/internal/waits"
)

// newLoop makes the retry loop of all calls through an HTTP client. Of go-retryablehttp it uses the loop itself, which
// rewinds the body before each attempt. All else of it is switched off, because a call decides, waits and makes its
// result itself:
//
//   - RetryMax: the call counts its attempts, in schedule.
//   - CheckRetry: decideNext has decided. The default would retry writes.
//   - Backoff: PrepareRetry waits, and ends with the context of the call.
//   - ErrorHandler: finish makes the error. The default would discard the last response.
//   - Logger: there is none. The call tells its observers.
//
// The hooks get no call, but the context of its request. So the call is in that context: see callFrom.
func newLoop(h *http.Client) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: h,
		RetryMax:   math.MaxInt,
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (bool, error) {
			return callFrom(ctx).next.retries(), nil
		},
		Backoff: func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 },
		PrepareRetry: func(req *http.Request) error {
			c := callFrom(req.Context())
			c.headerForCookies(req)
			if err := waits.Sleep(c.ctx, c.pause); err != nil || c.next != stepRekey {
				return err
			}
			return c.rekey()
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// run makes attempts until one decides the call. Each attempt is transport.RoundTrip in call_attempt.go: admit,
// reserveAndJournal, openUpload, send, recordAttempt with readResponse and decideNext. Between
// two, the loop asks whether c.next retries, and sleeps c.pause.
func (c *call) run() error {
	c.callContext = callContext{c.ctx, c}
	c.request = *bareRequest.WithContext(&c.callContext)
	req := &c.request
	// send sets the Host: with one, http.Client would copy the URL.
	req.Method, req.URL, req.Header = c.method, &c.url, placeholderHeader
	c.retry.Request = req
	if c.body != nil {
		if err := c.retry.SetBody(c.body); err != nil {
			return err
		}
	}
	req.GetBody = nil // with it, net/http could rewind the body and resend a write
	c.headerForCookies(req)
	resp, err := c.conf.loop.Do(&c.retry)
	if resp != nil {
		_ = resp.Body.Close()
	}
	return err
}

var (
	bareRequest = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

	// placeholderHeader keeps http.Client from copying the header for redirects, which are never
	// followed. The transport sends the header of the call.
	placeholderHeader = http.Header{}
)

// headerForCookies clones the header for an attempt if net/http will add cookies to it.
func (c *call) headerForCookies(req *http.Request) {
	if c.conf.httpClient.Jar != nil {
		req.Header = c.header.Clone()
	}
}

var errSameKey = errors.New("the token source has no other key")

// rekey asks for another key after the service has rejected one.
func (c *call) rekey() error {
	c.rekeyed = true
	key, err := c.conf.keys().Get(c.ctx, c.timeout)
	if err == nil && key == c.key {
		err = errSameKey
	}
	c.cause = c.redactError(err)
	return err
}
