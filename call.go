package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/credential"
	"example.com/prospectkit/internal/errtext"
	"example.com/prospectkit/internal/novelty"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/upload"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// args are the arguments of a method, before any check.
type args struct {
	// The request.
	ids       []string // for the parameters of the path, in order
	query     any      // a struct with url tags, or nil
	body      any      // anything encoding/json knows, or nil
	form      bool     // the body goes as a multipart form
	upload    *upload.Body
	pageToken string // the scroll token or cursor of a later page: an attempt may use it up, and no error or log shows it
	check     func(*check.Violations)

	// What it means.
	free   bool           // spends no credits, although the operation may
	cost   spend.Call     // what is known of its cost, beside operation, ids and body
	lookup journal.Lookup // what a search for its effect needs, beside the ids
}

// expected is what a method knows of the response, beyond its type and the row of the operation.
type expected[T any] struct {
	// proof reports whether a response holds what only the service can know about the call. If nil,
	// the documented shape of its response proves a read, and nothing proves a write.
	proof func(*T) bool

	accept   func(*T) error // refuses a response that was decoded; nil accepts it
	shape    op.Shape       // if it differs from the operation's
	maxItems int            // of a page; 0: as many as a page may have

	// The documented part of a raw response: its type, and the keys that may wrap it.
	documented reflect.Type
	keys       []string
}

// provedBy expects a response that holds what only the service can know about the call.
func provedBy[T any](proof func(*T) bool) expected[T] { return expected[T]{proof: proof} }

// service is what the services of a client share.
type service struct{ client *Client }

// do makes a call, and returns its response. At most one expectation counts.
func do[T any](ctx context.Context, client *Client, o *op.Op, in args, opts []CallOption, want ...expected[T]) (*T, error) {
	c, err := doCall(ctx, client, o, in, opts, want...)
	if err != nil {
		return nil, err
	}
	return c.out, nil
}

// doCall makes a call. Every request of this package goes through it.
func doCall[T any](ctx context.Context, client *Client, o *op.Op, in args, opts []CallOption, want ...expected[T]) (*callOf[T], error) {
	c := new(callOf[T])
	if len(want) > 0 {
		c.want = want[0]
	}
	c.response, c.shape = c, cmp.Or(c.want.shape, o.Shape)
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
	want expected[T]
	out  *T // the last response that was decoded
}

func (c *callOf[T]) decode(body []byte) error {
	c.out = new(T)
	if err := decodeResponse(c.op, c.shape, body, c.want.maxItems, c.out); err != nil || c.want.accept == nil {
		return err
	}
	return c.want.accept(c.out)
}

func (c *callOf[T]) fields() *novelty.Shape {
	return c.responseShape(cmp.Or(c.want.documented, reflect.TypeFor[T]()), c.want.keys...)
}

func (c *callOf[T]) results() int {
	if page, ok := any(c.out).(interface{ count() int }); ok && c.done {
		return page.count()
	}
	return -1
}

func (c *callOf[T]) proved() bool {
	if c.want.proof != nil {
		return c.want.proof(c.out)
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

	url    url.URL
	header http.Header
	body   []byte
	shape  op.Shape // of the response

	response interface { // what depends on its type: the callOf around this call
		decode(body []byte) error
		proved() bool           // reports whether the service must have sent what was decoded
		fields() *novelty.Shape // that are documented
		results() int           // that may have a price each; -1 if the response does not tell
	}
}

// tally is the results of the attempts so far.
type tally struct {
	began         time.Time
	attempts      []Attempt
	status        int // of the last attempt; 0 without a response
	headers       http.Header
	rate          RateWindow
	requestID     string // of the last unsuccessful response that had one
	errorResponse Error  // of the last attempt; zero without an unsuccessful response
	earlier       *Error // the previous one, reported if the context ends mid-attempt
	cause         error  // why the last attempt has no usable response
	done          bool   // a success was decoded

	// What follows the last attempt.
	next        step
	pause       time.Duration // before the next one
	pausing     time.Time     // since when it pauses; zero if it does not
	waited      time.Duration // for rate limits and before retries
	surfaceHold time.Duration // of the whole surface, after a 429
	tooLate     bool          // no time was left for the next attempt

	// Why an attempt was not sent: a rule, or the limiter.
	rule      SafetyRule
	ruleErr   error
	waitError *WaitError

	// What may have happened, for resolution, journal and guard.
	unknown   *OutcomeUnknownError // of the first attempt whose outcome is unknown
	firstSent time.Time            // the first attempt that may have had an effect
	lastSent  time.Time
	ticketID  string // empty until the call needs a ticket
	reserved  bool   // credits, by the guard

	key     *credential.Key // of the last attempt, if the client has a source of keys
	rekeyed bool            // another one was asked for
}

// scratch is the buffers that every call needs once, allocated together.
type scratch struct {
	bad         check.Violations
	callContext callContext
	request     http.Request
	retry       retryablehttp.Request
	first       [1]Attempt
}

// prepare makes a plan of arguments and options, or returns a refusal: all violations at once, or a rule. It fills as much
// of the plan as observers of a refused call need.
func (c *call) prepare(ctx context.Context, client *Client, o *op.Op, in args, opts []CallOption) error {
	c.client, c.op, c.in, c.ctx = client, o, in, ctx
	c.method, c.route = o.Method, o.Path
	c.opts.settings, c.began, c.attempts = client.conf.settings, time.Now(), c.first[:0]
	bad := &c.bad
	if ctx == nil {
		bad.Add("context", "must not be nil")
		c.ctx = context.Background() // for observers
	}
	route := client.conf.routes[o]
	c.opts.method, c.opts.path = route[0], route[1]
	eachOption(opts, bad, func(option CallOption) { option.applyCall(&c.opts, bad) })
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
	if len(*bad) > 0 {
		return c.refused(refusal(c.op, *bad))
	}
	if rule := client.safetyRule(o, in, &c.opts); rule != "" {
		return c.refused(ruleRefusal(c.op, rule, nil))
	}
	c.surface = client.conf.budget.surface(o.Surface)
	return nil
}

// refused completes a refusal of the call, whose route may be the caller's.
func (c *call) refused(e *RefusedError) *RefusedError {
	e.Method, e.Route = c.method, c.route
	return e
}

// consequences reports whether a call may spend credits, and whether it may send messages or write into a
// CRM.
func consequences(o *op.Op, in args) (spends, sends bool) {
	return o.Spends.Possible() && !in.free, o.Sends.Possible() || o.WritesOutside.Possible()
}

// safetyRule returns the rule that refuses a call, or "".
func (c *Client) safetyRule(o *op.Op, in args, conf *callConfig) SafetyRule {
	spends, sends := consequences(o, in)
	repeatable := o.FreeRead() || o.Class == op.Idempotent || o.Class == op.GuardedByName
	switch {
	case c.closed.Load():
		return RuleClosed
	case conf.readOnly && o.Write():
		return RuleReadOnly
	case conf.noSpend && spends:
		return RuleNoSpend
	case conf.noSend && sends:
		return RuleNoSend
	case conf.allowRetryUnknown && (!repeatable || !o.FreeRead() && (spends || sends)):
		return RuleRetryUnknown
	}
	return ""
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

// result makes the error of the call, or nil. The order of the cases is their precedence: what is known
// about the effect of the call comes first, then why nothing was sent, then the last attempt with what
// kept the call from another one.
func (c *call) result(loopErr error) error {
	switch {
	case c.done: // whatever came before
		return nil
	case c.next == stepLost: // applied, so that no earlier outcome is unknown any more
		e := c.asError()
		e.outcome = OutcomeApplied
		return e
	case c.unknown != nil: // no later refusal and no end of a wait makes it known
		t := c.ticket()
		c.unknown.Attempts, c.unknown.ticket = slices.Clone(c.attempts), func() journal.Ticket { return t }
		return c.unknown
	case c.rule != "": // kept the first attempt back
		return c.refused(ruleRefusal(c.op, c.rule, c.ruleErr))
	case c.waitError != nil && len(c.attempts) == 0: // so did the rate limit
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
	e.Status = cmp.Or(e.Status, c.status)
	e.cause = c.cause
	if m, ok := errors.AsType[*novelty.MisfitError](c.cause); ok {
		e.RowID = c.secrets().Clean(m.RowID(), maxName)
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
			return c.refused(ruleRefusal(c.op, RuleGate, err))
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
	spends, sends := consequences(c.op, c.in)
	return gate(c.ctx, operationOf(c.op), Intent{
		IDs: slices.Clone(c.in.ids), Actor: actorOf(c.ctx), Writes: c.op.Write(), Spends: spends, Sends: sends,
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
		return errtext.With(cause, errtext.End(c.ctx, "before the next attempt"))
	}
	return errtext.With(cause, errtext.End(c.ctx, ""))
}
