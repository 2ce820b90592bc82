package prospectkit

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
)

type service struct{ conf *config }

// looks are the reads that show the effect of the service's writes, by operation.
func (service) looks() map[*op.Op]look { return nil }

func do[T any](ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption) (*T, error) {
	return doExpecting(ctx, conf, o, in, opts, new(T), expected{})
}

// doExpecting makes a call of whose response, made into out, the method knows more than its type.
func doExpecting[T any](ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption, out *T, want expected) (*T, error) {
	want.out = out
	if _, err := doCall(ctx, conf, o, in, opts, want); err != nil {
		return nil, err
	}
	return out, nil
}

// doRecord makes a call whose undocumented response holds a record with the key: see recordOf. Any other response is an error.
func doRecord[T any](ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption, name, key string) (*T, error) {
	record, response := new(T), new(Object)
	want := expected{out: response}
	want.accept = func() error { return recordOf(*response, name, key, record) }
	if o.Write() {
		want.resultID = idIn(response, name, key)
	}
	if _, err := doCall(ctx, conf, o, in, opts, want); err != nil {
		return nil, err
	}
	return record, nil
}

// doChange makes a call whose success, also without a readable body, means that the record named in the path was changed. If the
// response holds the record, that is the result. Otherwise the result has only the id.
func doChange[T any](ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption, name string, record *T, id *string) (*T, error) {
	response, changed := new(Object), in.ids[0]
	want := expected{out: response}
	want.proof = func() bool { return sameID(*id, changed) }
	want.accept = func() error {
		if recordOf(*response, name, "id", record) != nil {
			_ = decodeObject(*response, record) // to keep its text
		}
		return nil
	}
	if _, err := doCall(ctx, conf, o, in, opts, want); err != nil {
		return nil, err
	}
	if response.IsZero() {
		*record = *new(T)
	}
	*id = cmp.Or(*id, changed)
	return record, nil
}

// doCall makes a call. Every request of this package goes through it.
func doCall(ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption, want expected) (*call, error) {
	c := new(call)
	c.want, c.shape = want, cmp.Or(want.shape, o.Shape)
	return c, c.perform(ctx, conf, o, in, opts)
}

// perform prepares the call, and runs it unless something refuses it.
func (c *call) perform(ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption) error {
	err := c.prepare(ctx, conf, o, in, opts)
	c.ctx = c.emit(Event{Kind: EventStart, Start: c.began})
	if err == nil {
		err = c.checkActor()
	}
	for _, gate := range conf.gates { // the first refusal counts
		if err == nil {
			err = c.askGate(gate)
		}
	}
	if err == nil {
		err = c.onceBefore()
	}
	if err == nil && in.lastLook != nil {
		c.evidence, err = in.lastLook(c.ctx)
	}
	if err != nil {
		return c.deliver(err)
	}
	return c.finish(c.run())
}

// prepare makes a plan of arguments and options, or returns a refusal: all violations at once, or a rule. It looks into the
// file of an upload. It fills as much of the plan as observers of a refused call need.
func (c *call) prepare(ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption) error {
	c.conf, c.op, c.in, c.ctx = conf, o, in, ctx
	c.method, c.route = o.Method, o.Path
	c.opts.settings, c.began, c.attempts = conf.settings, time.Now(), c.first[:0]
	bad := &c.bad
	bad.Must(!conf.closed.Load(), "client", "is closed: use another one")
	if ctx == nil {
		bad.Add("context", "must not be nil")
		c.ctx = context.Background() // for observers
	}
	route := conf.routes[o]
	if c.template = cmp.Or(in.path, route[1]); c.method == "" {
		c.method, c.route = route[0], route[1]
	}
	eachOption(opts, bad, func(option CallOption) { option.applyCall(&c.opts, bad) })
	c.timeout = cmp.Or(max(c.opts.timeout, 0), o.Timeout)
	if in.check != nil {
		in.check(bad)
	}
	if in.upload != nil {
		in.upload.Check(c.ctx, c.timeout, bad)
	}
	bad.Must(c.opts.once == "" || o.Write() && conf.journal != nil, "Once", "is for writes, of a client with WithJournal")
	bad.Must(!c.opts.allowResume || in.lookup.Digest != "", "AllowResume", "is for Approve")
	for _, part := range []any{in.query, in.body} {
		if self, ok := part.(interface{ check(*check.Violations) }); ok {
			self.check(bad)
		}
	}
	c.buildURL()
	if in.path != "" && c.opts.once != "" { // a path of the caller has no ids that tell it from another
		c.opts.once += " " + in.path
	}
	c.spends, c.sends = consequences(o, in)
	c.spends = c.spends || !in.free && conf.guard.Priced(o.Name)
	for _, other := range c.leadsTo() { // the class decides what is retried, noted and refused; the name, what a lookup or a review finds
		bad.Must(!other.Write(), "route", "is that of another operation, which has a method: %s", other.Name)
		bad.Must(!o.FreeRead() || other.FreeRead() || other.Write(), "route", "leads to an operation of a stricter class: %s", other.Name)
		c.spends = c.spends || other.Spends.Possible() // it is a read
	}
	repeatable := o.FreeRead() || (o.Class == op.Idempotent || o.Class == op.GuardedByName) && !c.spends && !c.sends
	bad.Must(!c.opts.allowRetryUnknown || repeatable, "AllowRetryUnknown",
		"is not for this operation, whose effect a second request may repeat: omit it, and resolve an unknown outcome")
	c.encode()
	if c.opts.info != nil {
		// It clears the values of an earlier call.
		*c.opts.info = Info{Op: o.Name, Surface: string(o.Surface), MaxBody: c.opts.info.MaxBody}
	}
	if len(*bad) > 0 {
		return c.withRoute(refusal(c.op, *bad))
	}
	if rule := conf.safetyRule(o, c.spends, c.sends, &c.opts); rule != "" {
		return c.withRoute(ruleRefusal(c.op, rule, nil))
	}
	c.surface = conf.limits.surface(o.Surface)
	return nil
}

// safetyRule returns the rule that refuses a call, or "".
func (c *config) safetyRule(o *op.Op, spends, sends bool, opts *callConfig) SafetyRule {
	switch {
	case opts.readOnly && o.Write():
		return RuleReadOnly
	case opts.noSpend && spends:
		return RuleNoSpend
	case opts.noSend && sends:
		return RuleNoSend
	}
	return ""
}

// checkActor refuses an actor that no journal keeps as it is. An observer may have named it.
func (c *call) checkActor() error {
	var bad check.Violations
	if bad.Text("WithActor", actorOf(c.ctx)); len(bad) > 0 && c.journaled() {
		return c.withRoute(refusal(c.op, bad))
	}
	return nil
}

var errGatePanicked error = redact.OwnError("the gate panicked")

// askGate returns the refusal of a gate, if it refuses the call.
func (c *call) askGate(gate func(context.Context, Intent) error) (err error) {
	defer func() {
		if recover() != nil {
			err = errGatePanicked
		}
		if err != nil {
			err = c.withRoute(ruleRefusal(c.op, RuleGate, err))
		}
	}()
	return gate(c.ctx, Intent{
		Op: c.op.Name, IDs: slices.Clone(c.in.ids), Actor: actorOf(c.ctx), Writes: c.op.Write(), Spends: c.spends, Sends: c.sends, Digest: c.in.lookup.Digest,
	})
}

// run makes attempts until one decides the call. Each attempt is transport.RoundTrip in call_attempt.go. Between
// two, the loop asks whether c.next retries, and its PrepareRetry sleeps c.pause. If a panic or runtime.Goexit of the caller's code passes,
// the outcome is noted here, because no result is made.
func (c *call) run() error {
	c.callContext = callContext{c.ctx, c}
	c.request = *bareRequest.WithContext(&c.callContext)
	req := &c.request
	// send sets the Host: with one, http.Client would copy the URL.
	req.Method, req.URL, req.Header = c.method, &c.url, placeholderHeader
	c.loopRequest.Request = req
	if c.body != nil {
		if err := c.loopRequest.SetBody(c.body); err != nil {
			return err
		}
	}
	req.GetBody = nil // with it, net/http could rewind the body and resend a write
	c.cloneHeaderForCookies(req)
	returned := false
	defer func() {
		if !returned {
			c.noteEnd(c.result(nil))
		}
	}()
	resp, err := c.conf.loop.Do(&c.loopRequest)
	returned = true
	if resp != nil {
		_ = resp.Body.Close()
	}
	return err
}

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
			c.cloneHeaderForCookies(req)
			if err := waits.Sleep(c.ctx, c.pause); err != nil || c.next != stepRekey {
				return err
			}
			return c.rekey()
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

var (
	bareRequest = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

	// placeholderHeader keeps http.Client from copying the header for redirects, which are never
	// followed. The transport sends the header of the call.
	placeholderHeader = http.Header{}
)

// cloneHeaderForCookies clones the header for an attempt if net/http will add cookies to it.
func (c *call) cloneHeaderForCookies(req *http.Request) {
	if c.conf.httpClient.Jar != nil {
		req.Header = c.header.Clone()
	}
}

// believe believes a success of undocumented shape, if a free read of the same surface shows that something removes the rate headers.
func (c *call) believe() {
	if !c.doubted || c.op.Surface != op.ListsList.Surface || c.ctx.Err() != nil {
		return
	}
	var page struct {
		Pagination struct {
			TotalRecords *int `json:"totalRecords"`
		} `json:"pagination"`
	}
	query := struct {
		Limit int `url:"limit"`
	}{1}
	once := callOption(func(o *callConfig, _ *check.Violations) { o.settings = c.opts.settings; o.retry.MaxAttempts = 1 })
	_, err := doCall(c.ctx, c.conf, op.ListsList, args{query: query}, []CallOption{once}, expected{
		out: &page, proof: func() bool { return page.Pagination.TotalRecords != nil },
	})
	if err == nil && c.conf.headersSeen.Dropped() && c.take() == nil {
		c.done, c.open, c.next, c.unknown = true, false, stepStop, nil
	}
}

func (c *call) finish(loopErr error) error {
	c.believe()
	err := c.result(loopErr)
	c.noteEnd(err)
	if info := c.opts.info; info != nil {
		*info = Info{
			Op: c.op.Name, Surface: string(c.op.Surface), Status: c.status,
			Header: info.Header, RequestID: c.requestID, Rate: c.rate,
			Attempts: slices.Clone(c.attempts), Duration: time.Since(c.began),
			MaxBody: info.MaxBody, Body: info.Body, BodyCut: info.BodyCut,
		}
	}
	return c.deliver(err)
}

// deliver tells observers the end of the call, and returns its error. It is none if an earlier call has done what was asked for.
func (c *call) deliver(err error) error {
	if c.owesNothing(err) {
		err = nil
		if c.opts.info != nil {
			c.opts.info.Already = true
		}
	}
	c.emitEnd(err)
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
		if c.acceptWithoutBody() {
			return nil
		}
		e := c.asError()
		e.outcome = OutcomeApplied
		return e
	case c.unknown != nil: // no later refusal and no end of a wait makes it known
		t := c.ticket()
		c.unknown.Attempts, c.unknown.gaveUp, c.unknown.ticket = slices.Clone(c.attempts), c.gaveUp, func() journal.Ticket { return t }
		return c.unknown
	case c.rule != "": // kept the first attempt back
		return c.ruleRefused()
	case c.waitError != nil && len(c.attempts) == 0: // so did the rate limit
		refused := c.withRoute(ruleRefusal(c.op, RuleRateLimit, c.waitError))
		refused.FitsAt = c.waitError.fitsAt
		return refused
	}
	e := c.asError()
	if w := c.waitError; w != nil {
		e.cause = withCause(e.cause, w)
		e.RetryAfter, e.ResetAt = max(e.RetryAfter, w.wait), later(e.ResetAt, w.fitsAt)
	}
	if c.status == 0 && e.cause == nil {
		e.cause = c.redactError(loopErr)
	}
	e.cause = c.withContextErr(e.cause)
	if c.tooLate {
		e.cause = withCause(e.cause, errTooLate)
	}
	return e
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// noteEnd notes the outcome of the call. A guard or a journal that fails to do so keeps it in doubt. The
// guard is first: a crash in between leaves the ticket.
func (c *call) noteEnd(err error) {
	outcome := journal.Unknown
	defer func() { c.end(outcome) }() // also if the guard's store panics
	known := OutcomeOf(err)
	if alreadyDone(err) { // by another call
		known = journal.NotApplied
	}
	spent := known
	if c.in.refusalMaySpend != nil && c.in.refusalMaySpend(err) {
		spent = journal.Applied
	}
	if !c.reserved || c.conf.guard.Settle(c.ctx, c.ticketID, string(spent), c.results()) == nil {
		outcome = known
	}
}

func (c *call) end(outcome journal.Outcome) {
	if c.ticketID == "" || !c.journaled() {
		return
	}
	book, id, e := c.conf.journal, c.ticketID, journal.End{Outcome: outcome}
	if outcome == journal.Applied {
		e.ResultID = c.resultID()
	}
	var open *journal.Ticket
	if c.open && outcome == journal.Unknown {
		t := c.ticket()
		open = &t
	}
	// Half a second after the context of the call is what the guard took before, too.
	exchange.Finish(c.ctx, time.Second/2, func(ctx context.Context) {
		if open != nil { // for whoever resolves it
			_ = book.Sending(ctx, *open)
		}
		_ = book.Ended(ctx, id, e)
	})
}

func (c *call) emitEnd(err error) {
	now := time.Now()
	c.countPause(now)
	c.emit(Event{
		Kind: EventEnd, Attempt: len(c.attempts), Start: c.began, Duration: now.Sub(c.began), Waited: c.waited,
		Status: c.status, Code: c.errorResponse.Code, Outcome: OutcomeOf(err), Err: err, ErrorType: errorTypeOf(err),
	})
}
