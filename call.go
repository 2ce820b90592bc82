package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
)

// request is what a method hands to the road: the arguments of one call, before any check.
type request struct {
	ids       []string // for the braces of the path, in order
	query     any      // a struct with url tags, or nil
	body      any      // anything encoding/json knows, or nil
	form      Fields   // a form that is small enough to hold, in place of body
	check     func(*checks)
	stream    *stream // a body that is read while it is sent, in place of body
	secret    string  // of the body: an answer that repeats it is not to show it
	laterPage bool    // of a scroll: its token may be spent by an attempt
	free      bool    // spends nothing, although the operation may
	look      lookup  // how an unknown outcome is resolved
	most      int     // elements that the response may have, of a page; 0: as many as pages have at most

	accept func(response any) error // what else has to be right with a response, which may be kept

	// What an undocumented response is taken for, as far as that is documented, and the names that it may stand under.
	holds reflect.Type
	under []string

	// proof tells whether an answer shows by itself that it is the service's: it holds what only the service can know of the call.
	// Without one, a read that has a shape proves itself by it, and nothing else does.
	proof func(answer any) bool
}

// do is the only road to the wire. It checks and encodes, waits for the rate limit, tries until the decision table says
// otherwise, and decodes the answer.
func do[T any](ctx context.Context, client *Client, o *op.Op, r request, opts []CallOption) (*T, error) {
	c := &callOf[T]{most: r.most, accepts: r.accept, holds: r.holds, under: r.under}
	err := c.prepare(ctx, client, o, r, opts)
	c.start()
	if err != nil {
		c.over(err)
		return nil, err
	}
	c.decoder = c
	if err := c.run(); err != nil {
		return nil, err
	}
	return c.out, nil
}

// callOf is a call that is answered by a T.
type callOf[T any] struct {
	call
	most    int
	accepts func(response any) error
	holds   reflect.Type
	under   []string
	out     *T // what was decoded last
}

func (c *callOf[T]) decode(body []byte) error {
	c.out = new(T)
	if err := decodeResponse(c.op, body, c.most, c.out); err != nil || c.accepts == nil {
		return err
	}
	return c.accepts(c.out)
}

func (c *callOf[T]) shape() *shape {
	if c.holds != nil {
		return responseShape(c.op, c.holds, c.under)
	}
	return responseShape(c.op, reflect.TypeFor[T](), nil)
}

func (c *callOf[T]) proved() bool {
	if c.proof != nil {
		return c.proof(c.out)
	}
	return c.op.Shape != op.Raw && !c.op.Write()
}

// call is one call on its way: the state that the attempts share.
type call struct {
	client *Client
	op     *op.Op
	ctx    context.Context //nolint:containedctx // the call is the scope of this context
	conf   callConfig
	pool   *pool
	bad    checks

	// Memory for what a call needs once, so that it is not allocated piece by piece.
	callContext callContext
	request     http.Request
	retry       retryablehttp.Request
	loop        retryablehttp.Client
	first       [1]Attempt

	url       url.URL
	header    http.Header
	body      []byte
	stream    *stream
	secret    string
	laterPage bool
	look      lookup
	proof     func(answer any) bool
	timeout   time.Duration
	decoder   interface {
		decode(body []byte) error
		proved() bool // of what was decoded
		shape() *shape
	}

	observers []Observer // of the client, and those that its hooks have for this call

	began    time.Time
	attempts []Attempt
	status   int // of the last answer
	headers  http.Header
	rate     RateWindow
	answer   Error                // the last answer that was no success
	earlier  *Error               // the answer before that, for when the time runs out during an attempt
	late     bool                 // no time was left for the next attempt
	inDoubt  *OutcomeUnknownError // from the first attempt that may have been delivered without an answer
	refusal  *WaitError
	next     step
	pause    time.Duration
	resting  time.Time     // since when it pauses before a repetition; zero when it does not
	waited   time.Duration // for rate limits and before repetitions
	hold     time.Duration // of the whole surface, after a 429
	cause    error         // of the last attempt without a usable answer
	done     bool          // a success was decoded
}

// callContext is the context of a call, which the transport finds the call in again.
type callContext struct {
	context.Context //nolint:containedctx // it is one
	call            *call
}

type callKey struct{}

// Value knows the call, and otherwise what the caller's context knows.
func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c.call
	}
	return c.Context.Value(key)
}

// callIn returns the call that a context belongs to, or nil.
func callIn(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// prepare turns arguments and options into a call, or refuses them with every violation at once. A refused call can only be
// observed.
func (c *call) prepare(ctx context.Context, client *Client, o *op.Op, r request, opts []CallOption) error {
	c.client, c.op, c.ctx, c.stream, c.secret, c.laterPage = client, o, ctx, r.stream, r.secret, r.laterPage
	c.look, c.proof = r.look, r.proof
	c.conf.settings, c.began, c.attempts = client.conf.settings, time.Now(), c.first[:0]
	bad := &c.bad
	if ctx == nil {
		bad.add("context", "must not be nil")
		c.ctx = context.Background() // for observers
	}
	for i, option := range opts {
		if option == nil {
			bad.add("option "+strconv.Itoa(i+1), "is nil")
			continue
		}
		option.applyCall(&c.conf, bad)
	}
	c.timeout = o.Timeout
	if c.conf.timeout > 0 {
		c.timeout = c.conf.timeout
	}
	if r.check != nil {
		r.check(bad)
	}
	if r.stream != nil {
		r.stream.check(c.ctx, c.timeout, bad)
	}
	for _, part := range []any{r.query, r.body} {
		if self, ok := part.(interface{ check(*checks) }); ok {
			self.check(bad)
		}
	}
	c.locate(r, bad)
	c.encode(r, bad)
	if c.conf.info != nil {
		*c.conf.info = Info{Op: o.Name, Surface: Surface(o.Surface)} // nothing of an earlier call shows if this one is refused
	}
	if len(*bad) > 0 {
		return refusal(c.op, *bad...)
	}
	if client.closed.Load() {
		return forbidden(c.op, RuleClosed)
	}
	if rule, ok := c.conf.forbids(o, r); ok {
		return forbidden(c.op, rule)
	}
	c.pool = client.conf.budget.pool(o.Surface)
	return nil
}

// bareRequest is what all requests have in common.
var bareRequest = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

// noHeader is what http.Client copies for redirects, which are never followed. The transport sends the header of the call.
var noHeader = http.Header{}

// run drives the retry loop. go-retryablehttp runs it; what it decides, how long it waits and what it returns is ours.
func (c *call) run() error {
	c.callContext = callContext{c.ctx, c}
	c.request = *bareRequest.WithContext(&c.callContext)
	req := &c.request
	req.Method, req.URL, req.Header = c.op.Method, &c.url, noHeader // with a Host, http.Client would copy the URL: an attempt sets it
	c.retry.Request = req
	if c.body != nil {
		if err := c.retry.SetBody(c.body); err != nil {
			return err
		}
	}
	req.GetBody = nil // with it, net/http would resend a write by itself
	loop := &c.loop
	loop.HTTPClient, loop.RetryMax, loop.ErrorHandler = c.client.conf.httpClient, c.conf.retry.MaxAttempts-1, retryablehttp.PassthroughErrorHandler
	loop.CheckRetry = func(ctx context.Context, _ *http.Response, _ error) (bool, error) {
		c := callIn(ctx)
		c.loop.RetryWaitMin = c.pause
		return c.next.again(), nil
	}
	loop.Backoff = func(pause, _ time.Duration, _ int, _ *http.Response) time.Duration { return pause }
	if c.client.conf.httpClient.Jar != nil { // net/http adds the cookies to the header of each attempt
		req.Header = c.header.Clone()
		loop.PrepareRetry = func(req *http.Request) error { req.Header = c.header.Clone(); return nil }
	}
	resp, err := loop.Do(&c.retry)
	if resp != nil {
		_ = resp.Body.Close()
	}
	return c.finish(err)
}

// record takes the result of an attempt and decides what comes next.
func (c *call) record(a *attempt, resp *http.Response, err error) {
	now := time.Now()
	a.ended = now
	try := Attempt{At: a.began, Duration: now.Sub(a.began), Evidence: a.evidence(resp, err)}
	if c.status != 0 {
		earlier := c.answer
		c.earlier = &earlier
	}
	c.status, c.answer = 0, Error{}
	if resp != nil {
		c.status, c.headers = resp.StatusCode, resp.Header
		if a.rate, a.rated = ratehdr.ParseRate(resp.Header, now); a.rated {
			c.rate = c.pool.observe(a.rate, now)
		}
		try.Status = resp.StatusCode
	}
	if c.cause = c.foreign(cmp.Or(err, a.bodyErr)); c.cause != nil {
		c.cause = c.ended(c.cause)
	}
	if end := c.ctx.Err(); end != nil && (errors.Is(err, end) || errors.Is(err, context.Cause(c.ctx))) {
		c.cause = c.stopped("while it waited for the response")
	}
	switch {
	case resp != nil && success(resp.StatusCode) && a.bodyErr == nil:
		if c.cause = c.accept(a, resp, now); c.cause == nil {
			c.done, c.next = true, stop
			c.pool.succeeded()
		}
		try.Code = c.answer.Code
	case resp != nil && !success(resp.StatusCode):
		c.fail(resp, *a.body, now)
		try.Code = c.answer.Code
	}
	try.Err = c.cause
	c.attempts = append(c.attempts, try)
	c.emit(Event{
		Kind: EventAttempt, Attempt: len(c.attempts), Start: a.began, Duration: try.Duration, Status: try.Status, Code: try.Code,
		Evidence: try.Evidence, Rate: c.rate, Err: try.Err,
	})
	c.inspect(a, resp)
	if !c.done {
		c.decideNext(a, resp, err, now)
	}
}

// fail reads an answer that is not a success.
func (c *call) fail(resp *http.Response, body []byte, now time.Time) {
	e := &c.answer
	e.Status, e.ContentType = resp.StatusCode, resp.Header.Get("Content-Type")
	e.envelope(body)
	e.clean(c, body)
	if asked, ok := retryAfter(resp, now); ok {
		e.RetryAfter = asked
		e.ResetAt = now.Add(min(asked, 100*365*24*time.Hour))
	} else if resp.StatusCode == http.StatusTooManyRequests {
		e.ResetAt = c.rate.ResetAt
	}
	if e.Status >= 300 && e.Status < 400 {
		if to, err := resp.Location(); err == nil && to.Host != "" {
			e.hint = "it points to host " + withoutIDs(oneLine(c.secrets().clean(to.Host, mostOfText)))
		}
	}
	switch e.Code {
	case CodeInsufficientScope:
		if c.op.Scope != "" && c.op.Scope != op.ScopeAny {
			e.hint = "this operation needs the scope " + strconv.Quote(string(c.op.Scope))
		}
	case CodeListNameTaken:
		if c.op.Class == op.GuardedByName {
			e.hint = "if what holds it is younger than this call, something in between has sent the request twice"
		}
	case CodeEndpointNotFound:
		if c.op.Provenance == op.AssumedPath && c.conf.path == "" {
			e.hint = "the path of this operation is assumed; set it with WithRoute"
		}
	}
}

// finish turns the last attempt into the call's result.
func (c *call) finish(loopErr error) error {
	err := c.result(loopErr)
	if info := c.conf.info; info != nil {
		*info = Info{
			Op: c.op.Name, Surface: Surface(c.op.Surface), Status: c.status, Header: c.secrets().header(c.headers), RequestID: c.answer.RequestID,
			Rate: c.rate, Attempts: slices.Clone(c.attempts), Duration: time.Since(c.began),
		}
	}
	c.over(err)
	return err
}

// over tells the observers how the call ended.
func (c *call) over(err error) {
	now := time.Now()
	c.rested(now)
	c.emit(Event{
		Kind: EventCall, Attempt: len(c.attempts), Start: c.began, Duration: now.Sub(c.began), Waited: c.waited, Status: c.status,
		Code: c.answer.Code, Rate: c.rate, Outcome: OutcomeOf(err), Err: err,
	})
}

func (c *call) result(loopErr error) error {
	switch {
	case c.done:
		return nil
	case c.inDoubt != nil && c.next != lost:
		c.inDoubt.Attempts = slices.Clone(c.attempts)
		return c.inDoubt
	case c.next == lost:
		return &AnswerLostError{
			Op: c.op.Name, Method: c.op.Method, Route: c.op.Path, Status: c.status, Attempts: slices.Clone(c.attempts), cause: c.cause,
		}
	case c.refusal != nil && len(c.attempts) == 0:
		return c.refusal
	}
	e := c.failed()
	if c.refusal != nil {
		e.cause = bothCauses(e.cause, c.refusal)
	}
	if c.status == 0 && e.cause == nil {
		e.cause = c.foreign(loopErr)
	}
	e.cause = c.ended(e.cause)
	if c.late {
		e.cause = bothCauses(e.cause, errTooLate)
	}
	return e
}

// errTooLate stands for the deadline of the context, ahead of it: to wait for it would have been in vain.
var errTooLate error = tooLateError{}

type tooLateError struct{}

func (tooLateError) Error() string        { return "the deadline is too near for another attempt" }
func (tooLateError) Is(target error) bool { return target == context.DeadlineExceeded }

// ended adds the end of the context to a cause that does not tell it.
func (c *call) ended(cause error) error {
	switch {
	case c.ctx.Err() == nil || errors.Is(cause, c.ctx.Err()):
		return cause
	case c.next.again():
		return bothCauses(cause, c.stopped("before the next attempt"))
	}
	return bothCauses(cause, c.stopped(""))
}

// stopped is the end of the context, with its cause and what the call was about.
func (c *call) stopped(when string) error {
	end := bothCauses(context.Cause(c.ctx), c.ctx.Err())
	if when == "" {
		return end
	}
	return fmt.Errorf("stopped %s: %w", when, end)
}

// bothCauses keeps a failure beside the end of a context.
func bothCauses(failure, end error) error {
	switch {
	case end == nil || errors.Is(failure, end):
		return failure
	case failure == nil:
		return end
	}
	return fmt.Errorf("%w; %w", failure, end)
}

// failed is the last attempt as an error.
func (c *call) failed() *Error {
	last := &c.answer
	if c.status == 0 && c.ctx.Err() != nil && c.earlier != nil {
		last = c.earlier
	}
	memory := struct { // for both at once
		Error
		first [1]Attempt
	}{Error: *last}
	e := &memory.Error
	e.Op, e.Method, e.Route, e.outcome = c.op.Name, c.op.Method, c.op.Path, NotApplied
	e.Attempts = append(memory.first[:0], c.attempts...)
	if c.status == 0 || success(c.status) {
		e.Status = cmp.Or(e.Status, c.status)
	}
	e.cause = c.cause // of an answer that was read there is none, unless something ended the wait after it
	if m, ok := errors.AsType[*misfitError](c.cause); ok {
		e.RowID = c.secrets().clean(m.rowID(), mostOfName)
	}
	return e
}

// doubtful is the last attempt as an unknown outcome.
func (c *call) doubtful(sentAt time.Time) *OutcomeUnknownError {
	cause := c.cause
	if c.status != 0 {
		e := c.failed()
		e.outcome = Unknown
		cause = e
	}
	return &OutcomeUnknownError{
		Op: c.op.Name, Method: c.op.Method, Route: c.op.Path, SentAt: sentAt, op: c.op, cause: cause, look: c.look,
	}
}

// rest sleeps, unless the context would end meanwhile. It reports whether there is time left.
func rest(ctx context.Context, d time.Duration) bool {
	at, ok := ctx.Deadline()
	return (!ok || time.Until(at) > d) && sleep(ctx, d) == nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
