package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/credential"
	"example.com/prospectkit/internal/errtext"
	"example.com/prospectkit/internal/novelty"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/upload"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// args are the arguments of a method, before any check.
type args struct {
	ids    []string // for the parameters of the path, in order
	query  any      // a struct with url tags, or nil
	body   any      // anything encoding/json knows, or nil
	form   bool     // the body goes as a multipart form
	upload *upload.Body
	check  func(*check.Violations)

	secret    string // the scroll token or cursor that the call sends: hidden in every quote of a response
	laterPage bool   // of a scroll: an attempt may use up its token
	free      bool   // spends no credits, although the operation may

	cost   spend.Call     // what is known of its cost, beside operation, ids and body
	lookup journal.Lookup // what a search for its effect needs, beside the ids

	maxItems int      // of a page; 0: as many as a page may have
	shape    op.Shape // of the response, if it differs from the operation's
	accept   func(response any) error

	// The documented part of a raw response: its type, and the keys that may wrap it.
	responseType reflect.Type
	responseKeys []string

	// proof reports whether a response holds what only the service can know about the call. If nil,
	// the documented shape of its response proves a read, and nothing proves a write.
	proof func(response any) bool
}

// service is what the services of a client share.
type service struct{ client *Client }

// do makes a call, and returns its response.
func do[T any](ctx context.Context, client *Client, o *op.Op, in args, opts []CallOption) (*T, error) {
	c, err := doCall[T](ctx, client, o, in, opts)
	if err != nil {
		return nil, err
	}
	return c.out, nil
}

// doCall makes a call. Every request of this package goes through it.
func doCall[T any](ctx context.Context, client *Client, o *op.Op, in args, opts []CallOption) (*callOf[T], error) {
	c := new(callOf[T])
	c.response = c
	err := c.prepare(ctx, client, o, in, opts)
	c.runHooks()
	if err == nil {
		err = c.askGates()
	}
	if err != nil {
		c.emitCall(err)
		return nil, err
	}
	if err := c.run(); err != nil {
		return nil, err
	}
	return c, nil
}

// callOf is a call whose response is a T.
type callOf[T any] struct {
	call
	out *T // the last response that was decoded
}

func (c *callOf[T]) decode(body []byte) error {
	c.out = new(T)
	if err := decodeResponse(c.op, c.shape, body, c.in.maxItems, c.out); err != nil || c.in.accept == nil {
		return err
	}
	return c.in.accept(c.out)
}

func (c *callOf[T]) fields() *novelty.Shape {
	if c.in.responseType != nil {
		return c.responseShape(c.in.responseType, c.in.responseKeys...)
	}
	return c.responseShape(reflect.TypeFor[T]())
}

func (c *callOf[T]) results() int {
	if page, ok := any(c.out).(interface{ count() int }); ok && c.done {
		return page.count()
	}
	return -1
}

func (c *callOf[T]) proved() bool {
	if c.in.proof != nil {
		return c.in.proof(c.out)
	}
	return c.shape != op.Raw && !c.op.Write()
}

// call is one call: its plan, the results of its attempts, and preallocated buffers.
type call struct {
	plan
	tally
	scratch
}

// plan is what is sent, and within which limits. Nothing changes it after prepare and the call hooks,
// with one exception: an exchange that is abandoned keeps the header, and the call goes on with a copy.
type plan struct {
	client    *Client
	op        *op.Op
	in        args
	method    string
	route     string          // the path template, as errors and events show it
	ctx       context.Context //nolint:containedctx // the call is the scope of this context
	opts      callConfig
	timeout   time.Duration // of one attempt
	surface   *surfaceState
	observers []Observer // of the client, and those that call hooks returned

	url      url.URL
	header   http.Header
	body     []byte
	shape    op.Shape // of the response
	response interface {
		decode(body []byte) error
		proved() bool // reports whether the service must have sent what was decoded
		fields() *novelty.Shape
		results() int // that may have a price each; -1 if the response does not tell
	}
}

// tally is the results of the attempts so far.
type tally struct {
	began         time.Time
	attempts      []Attempt
	status        int // of the last response
	headers       http.Header
	rate          RateWindow
	requestID     string // of the last unsuccessful response that had one
	errorResponse Error  // the last unsuccessful response
	earlier       *Error // the previous one, reported if the context ends mid-attempt
	cause         error  // why the last attempt has no usable response
	done          bool   // a success was decoded

	next        step                 // that follows the last attempt
	pause       time.Duration        // before the next one
	pausing     time.Time            // since when it pauses; zero if it does not
	waited      time.Duration        // for rate limits and before retries
	surfaceHold time.Duration        // of the whole surface, after a 429
	tooLate     bool                 // no time was left for the next attempt
	unknown     *OutcomeUnknownError // of the first attempt whose outcome is unknown
	ticketID    string               // empty until the call needs a ticket
	firstSent   time.Time            // the first attempt that may have had an effect
	lastSent    time.Time
	key         *credential.Key // of the last attempt, if the client has a source of keys
	rekeyed     bool            // another one was asked for
	reserved    bool            // credits, by the guard
	rule        SafetyRule      // that kept an attempt from being sent
	ruleErr     error           // why
	waitError   *WaitError      // of the limiter
}

// scratch is the buffers that every call needs once, allocated together.
type scratch struct {
	bad         check.Violations
	callContext callContext
	request     http.Request
	retry       retryablehttp.Request
	first       [1]Attempt
}

// callContext is the context of a call, in which the transport finds the call.
type callContext struct {
	context.Context //nolint:containedctx // callContext implements Context
	call            *call
}

type callKey struct{}

// Value returns the call, or the value of the caller's context.
func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c.call
	}
	return c.Context.Value(key)
}

// callFrom returns the call that a context belongs to, or nil.
func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// prepare makes a plan of arguments and options, or returns all violations at once. It fills as much
// of the plan as observers of a refused call need.
func (c *call) prepare(ctx context.Context, client *Client, o *op.Op, in args, opts []CallOption) error {
	c.client, c.op, c.in, c.ctx = client, o, in, ctx
	c.method, c.route, c.shape = o.Method, o.Path, cmp.Or(in.shape, o.Shape)
	c.opts.settings, c.began, c.attempts = client.conf.settings, time.Now(), c.first[:0]
	bad := &c.bad
	if ctx == nil {
		bad.Add("context", "must not be nil")
		c.ctx = context.Background() // for observers
	}
	if route, ok := client.conf.routes[o]; ok {
		c.opts.method, c.opts.path = route[0], route[1]
	}
	for i, option := range opts {
		if option == nil {
			bad.Add("option "+strconv.Itoa(i+1), "is nil")
			continue
		}
		option.applyCall(&c.opts, bad)
	}
	c.timeout = cmp.Or(max(c.opts.timeout, 0), o.Timeout)
	if in.check != nil {
		in.check(bad)
	}
	if in.upload != nil {
		in.upload.Check(c.ctx, c.timeout, bad)
	}
	for _, part := range []any{in.query, in.body} {
		if self, ok := part.(interface{ check(*check.Violations) }); ok {
			self.check(bad)
		}
	}
	c.buildURL()
	c.encode()
	if c.opts.info != nil {
		// It clears the values of an earlier call.
		*c.opts.info = Info{Op: o.Name, Surface: Surface(o.Surface), MaxBody: c.opts.info.MaxBody}
	}
	if rule := client.forbids(o, in, &c.opts); rule != "" || len(*bad) > 0 {
		return c.refusal(*bad, rule)
	}
	c.surface = client.conf.budget.surface(o.Surface)
	return nil
}

// refusal returns the error of violations, or else of a safety rule. The route may be the caller's.
func (c *call) refusal(bad check.Violations, rule SafetyRule) *RefusedError {
	e := refusal(c.op, bad)
	e.Method, e.Route = c.method, c.route
	if len(bad) == 0 {
		e.Rule = rule
	}
	return e
}

// mayCost reports whether a call may spend credits, and whether it may send messages or write into a
// CRM.
func mayCost(o *op.Op, in args) (spends, outside bool) {
	return o.Spends.Possible() && !in.free, o.Sends.Possible() || o.WritesOutside.Possible()
}

// forbids returns the rule that refuses a call, or "".
func (c *Client) forbids(o *op.Op, in args, conf *callConfig) SafetyRule {
	spends, outside := mayCost(o, in)
	sameState := o.Class == op.Read || o.Class == op.Idempotent || o.Class == op.GuardedByName
	switch {
	case c.closed.Load():
		return RuleClosed
	case conf.readOnly && o.Write():
		return RuleReadOnly
	case conf.noSpend && spends:
		return RuleNoSpend
	case conf.noSend && outside:
		return RuleNoSend
	case conf.allowRetryUnknown && (!sameState || o.Class != op.Read && (spends || outside)):
		return RuleRetryUnknown
	}
	return ""
}

var (
	bareRequest = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

	// placeholderHeader keeps http.Client from copying the header for redirects, which are never
	// followed. The transport sends the header of the call.
	placeholderHeader = http.Header{}
)

// run makes attempts until one decides the call. Each attempt is transport.RoundTrip in
// call_attempt.go: admit, journal, send, decode, decide. The loop only asks whether c.next retries, and
// sleeps c.pause.
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
	resp, err := c.client.conf.loop.Do(&c.retry)
	if resp != nil {
		_ = resp.Body.Close()
	}
	return c.finish(err)
}

// newLoop makes the retry loop for all calls through an HTTP client. go-retryablehttp loops and
// rewinds the body; the call decides, waits and makes the result.
func newLoop(h *http.Client) *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: h,
		RetryMax:   math.MaxInt, // the call counts its attempts
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (bool, error) {
			return callFrom(ctx).next.retries(), nil
		},
		Backoff: func(_, _ time.Duration, _ int, _ *http.Response) time.Duration {
			return 0 // PrepareRetry waits
		},
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

// headerForCookies clones the header for an attempt if net/http will add cookies to it.
func (c *call) headerForCookies(req *http.Request) {
	if c.client.conf.httpClient.Jar != nil {
		req.Header = c.header.Clone()
	}
}

// finish makes the result of the call.
func (c *call) finish(loopErr error) error {
	err := c.result(loopErr)
	c.noteEnd(err)
	if info := c.opts.info; info != nil {
		*info = Info{
			Op: c.op.Name, Surface: Surface(c.op.Surface), Status: c.status,
			Header: c.secrets().Header(c.headers), RequestID: c.requestID, Rate: c.rate,
			Attempts: slices.Clone(c.attempts), Duration: time.Since(c.began),
			MaxBody: info.MaxBody, Body: info.Body, BodyCut: info.BodyCut,
		}
	}
	c.emitCall(err)
	return err
}

func (c *call) result(loopErr error) error {
	switch {
	case c.done:
		return nil
	case c.next == stepLost:
		e := c.asError()
		e.outcome = OutcomeApplied
		return e
	case c.unknown != nil:
		t := c.ticket()
		c.unknown.Attempts, c.unknown.ticket = slices.Clone(c.attempts), func() journal.Ticket { return t }
		return c.unknown
	case c.rule != "":
		return &RefusedError{Op: c.op.Name, Method: c.method, Route: c.route, Rule: c.rule, cause: c.ruleErr}
	case c.waitError != nil && len(c.attempts) == 0:
		return c.waitError
	}
	e := c.asError()
	if c.waitError != nil {
		e.cause = errtext.With(e.cause, c.waitError)
	}
	if c.status == 0 && e.cause == nil {
		e.cause = c.redactError(loopErr)
	}
	e.cause = c.withContextErr(e.cause)
	if c.tooLate {
		e.cause = errtext.With(e.cause, errtext.ErrTooLate)
	}
	return e
}

// asError makes an error of the last attempt.
func (c *call) asError() *Error {
	last := &c.errorResponse
	if c.status == 0 && c.ctx.Err() != nil && c.earlier != nil {
		last = c.earlier
	}
	memory := struct { // one allocation
		Error
		first [1]Attempt
	}{Error: *last}
	e := &memory.Error
	e.Op, e.Method, e.Route, e.outcome = c.op.Name, c.method, c.route, OutcomeNotApplied
	e.Attempts = append(memory.first[:0], c.attempts...)
	if c.status == 0 || isSuccess(c.status) {
		e.Status = cmp.Or(e.Status, c.status)
	}
	e.cause = c.cause
	if m, ok := errors.AsType[*misfitError](c.cause); ok {
		e.RowID = c.secrets().Clean(m.rowID(), maxName)
	}
	return e
}

// asOutcomeUnknown makes an unknown outcome of the last attempt.
func (c *call) asOutcomeUnknown(sentAt time.Time) *OutcomeUnknownError {
	cause := c.cause
	if c.status != 0 {
		e := c.asError()
		e.outcome = OutcomeUnknown
		cause = e
	}
	return &OutcomeUnknownError{
		Op: c.op.Name, Method: c.method, Route: c.route, SentAt: sentAt,
		client: c.client, op: c.op, cause: cause,
	}
}

// runHooks runs the call hooks, each in the context of the one before it.
func (c *call) runHooks() {
	c.observers = c.client.conf.observers
	for _, f := range c.client.conf.hooks {
		c.runHook(f)
	}
}

func (c *call) runHook(f CallHook) {
	defer func() { _ = recover() }()
	ctx, observer := f(c.ctx, c.event(Event{Kind: EventStart, Start: c.began}))
	if ctx != nil {
		c.ctx = ctx
	}
	if observer != nil {
		c.observers = append(slices.Clip(c.observers), observer)
	}
}

// askGates returns the refusal of the first gate that refuses the call.
func (c *call) askGates() error {
	for _, gate := range c.client.conf.gates {
		if err := c.askGate(gate); err != nil {
			return &RefusedError{Op: c.op.Name, Method: c.method, Route: c.route, Rule: RuleGate, cause: err}
		}
	}
	return nil
}

var errGatePanicked = errors.New("the gate panicked")

func (c *call) askGate(gate Gate) (err error) {
	defer func() {
		if recover() != nil {
			err = errGatePanicked
		}
	}()
	spends, outside := mayCost(c.op, c.in)
	return gate(c.ctx, operationOf(c.op), Intent{
		IDs: slices.Clone(c.in.ids), Actor: actorOf(c.ctx), Writes: c.op.Write(), Spends: spends, Sends: outside,
	})
}

// emitCall reports the end of the call.
func (c *call) emitCall(err error) {
	now := time.Now()
	c.countPause(now)
	c.emit(Event{
		Kind: EventCall, Attempt: len(c.attempts), Start: c.began, Duration: now.Sub(c.began), Waited: c.waited,
		Status: c.status, Code: c.errorResponse.Code, Rate: c.rate, Outcome: OutcomeOf(err), Err: err,
	})
}

func (c *call) emit(e Event) {
	if len(c.observers) == 0 {
		return
	}
	e = c.event(e)
	for _, f := range c.observers {
		notify(c.ctx, f, e)
	}
}

func (c *call) event(e Event) Event {
	e.Op, e.Method, e.Route, e.Surface = c.op.Name, c.method, c.route, Surface(c.op.Surface)
	e.Host = c.client.conf.base.Host
	return e
}

// withContextErr adds the end of the context to a cause that does not have it.
func (c *call) withContextErr(cause error) error {
	switch {
	case c.ctx.Err() == nil || errors.Is(cause, c.ctx.Err()):
		return cause
	case c.next.retries():
		return errtext.With(cause, c.contextErr("before the next attempt"))
	}
	return errtext.With(cause, c.contextErr(""))
}

// contextErr returns the end of the context with its cause, and what the call was doing.
func (c *call) contextErr(when string) error {
	end := errtext.With(context.Cause(c.ctx), c.ctx.Err())
	if when == "" {
		return end
	}
	return fmt.Errorf("stopped %s: %w", when, end)
}
