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
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

type service struct{ conf *config }

// looks are the reads that show the effect of the service's writes, by operation: for tickets.
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

// doCall makes a call. Every request of this package goes through it, in ten steps:
//
//	 1 method     arguments, and what the response has to show   its service: lists.go and others
//	 2 options    those of the client, then of the call           prepare
//	 3 encode     URL, header, body                               call_encode.go
//	 4 check      all violations at once, then the modes          prepare
//	 5 gates      may it leave?                                   mayLeave
//	+6 permit     key, queue for the rate limit                   call_attempt.go
//	|7 reserve    credits once, the ticket before each attempt
//	|8 send       trace, time limit, the whole response
//	|9 judge      what it is, in call_response.go; then the table, in call_retry.go
//	+-            another attempt: run
//	10 end        outcome for guard and journal, observers        call_end.go
func doCall(ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption, want expected) (*call, error) {
	c := new(call)
	c.want, c.shape = want, cmp.Or(want.shape, o.Shape)
	err := c.prepare(ctx, conf, o, in, opts)
	c.ctx = c.emit(Event{Kind: EventStart, Start: c.began})
	if err == nil {
		err = c.mayLeave()
	}
	if err != nil {
		return c, c.deliver(err)
	}
	return c, c.finish(c.run())
}

// prepare makes a plan of arguments and options, or returns a refusal: all violations at once, or a rule. It looks into the
// file of an upload. It fills as much of the plan as observers of a refused call need.
func (c *call) prepare(ctx context.Context, conf *config, o *op.Op, in args, opts []CallOption) error {
	c.conf, c.op, c.in, c.ctx = conf, o, in, ctx
	c.method, c.route = o.Method, o.Path
	c.opts.settings, c.began, c.attempts = conf.settings, time.Now(), c.first[:0]
	if ctx == nil {
		c.bad.Add("context", "must not be nil")
		c.ctx = context.Background() // for observers
	}
	route := conf.routes[o]
	if c.template = cmp.Or(in.path, route[1]); c.method == "" {
		c.method, c.route = route[0], route[1]
	}
	eachOption(opts, &c.bad, func(option CallOption) { option.applyCall(&c.opts, &c.bad) })
	c.timeout = cmp.Or(max(c.opts.timeout, 0), o.Timeout)
	c.checkArguments()
	c.buildURL()
	c.encode()
	c.checkMeaning()
	if info := c.opts.info; info != nil {
		*info = Info{Op: o.Name, Surface: string(o.Surface), MaxBody: info.MaxBody} // not the values of an earlier call
	}
	if len(c.bad) > 0 {
		return c.withRoute(refusal(o, c.bad))
	}
	if rule := safetyRule(o, c.spends, c.sends, &c.opts); rule != "" {
		return c.withRoute(ruleRefusal(o, rule, nil))
	}
	c.surface = conf.limits.surface(o.Surface)
	return nil
}

// checkArguments checks what is documented of the arguments, and the options that need something of them.
func (c *call) checkArguments() {
	in, bad := &c.in, &c.bad
	bad.Must(!c.conf.closed.Load(), "client", "is closed: use another one")
	if in.check != nil {
		in.check(bad)
	}
	if in.upload != nil {
		in.upload.Check(c.ctx, c.timeout, bad)
	}
	bad.Must(c.opts.once == "" || c.op.Write() && c.conf.journal != nil, "Once", "is for writes, of a client with WithJournal")
	bad.Must(!c.opts.allowResume || in.lookup.Digest != "", "AllowResume", "is for Approve")
	for _, part := range []any{in.query, in.body} {
		if self, ok := part.(interface{ check(*check.Violations) }); ok {
			self.check(bad)
		}
	}
}

// checkMeaning finds out what the call may do, where its URL leads, and whether the options allow that.
func (c *call) checkMeaning() {
	o, bad := c.op, &c.bad
	c.spends, c.sends = consequences(o, c.in)
	c.spends = c.spends || !c.in.free && c.conf.guard.Priced(o.Name)
	for _, other := range c.leadsTo() { // the class decides what is retried, noted and refused; the name, what a lookup or a review finds
		bad.Must(!other.Write(), "route", "is that of another operation, which has a method: %s", other.Name)
		bad.Must(!o.FreeRead() || other.FreeRead() || other.Write(), "route", "leads to an operation of a stricter class: %s", other.Name)
		c.spends = c.spends || other.Spends.Possible() // it is a read
	}
	repeatable := o.FreeRead() || (o.Class == op.Idempotent || o.Class == op.GuardedByName) && !c.spends && !c.sends
	bad.Must(!c.opts.allowRetryUnknown || repeatable, "AllowRetryUnknown",
		"is not for this operation, whose effect a second request may repeat: omit it, and resolve an unknown outcome")
}

// safetyRule returns the rule that refuses a call, or "".
func safetyRule(o *op.Op, spends, sends bool, opts *callConfig) SafetyRule {
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

// mayLeave asks whoever may keep the call back before its first attempt. The first refusal counts.
func (c *call) mayLeave() error {
	if err := c.checkActor(); err != nil {
		return err
	}
	for _, gate := range c.conf.gates {
		if err := c.askGate(gate); err != nil {
			return err
		}
	}
	if err := c.onceBefore(); err != nil || c.in.lastLook == nil {
		return err
	}
	var err error
	c.evidence, err = c.in.lastLook(c.ctx)
	return err
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

// run makes attempts until one decides the call. Each is one RoundTrip of the call, in call_attempt.go. The loop is go-retryablehttp's, a
// client for each call, so that its functions know the call:
//
//   - CheckRetry is the decision, which the attempt has made by the table. The default would retry writes.
//   - Backoff is the pause before the next attempt; the loop waits for it, and ends with the context of the call.
//   - RetryMax counts nothing, because the table does, across the calls of a method.
//   - ErrorHandler makes no error: finish does. The default would discard the last response.
//
// If a panic or runtime.Goexit of the caller's code passes, the outcome is noted here, because no result is made.
func (c *call) run() error {
	h := c.conf.httpClient
	c.client = http.Client{Transport: roundTripper{c}, Jar: h.Jar, CheckRedirect: noRedirect}
	c.loop = retryablehttp.Client{
		HTTPClient: &c.client, CheckRetry: c.checkRetry, Backoff: c.backoff, RetryMax: math.MaxInt, ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	c.request = *bareRequest.WithContext(c.ctx)
	req := &c.request
	// send sets the Host: with one, http.Client would copy the URL.
	req.Method, req.URL, req.Header = c.method, &c.url, placeholderHeader
	if h.Jar != nil {
		req.Header = http.Header{}
	}
	c.loopRequest.Request = req
	if c.body != nil {
		if err := c.loopRequest.SetBody(c.body); err != nil {
			return err
		}
	}
	req.GetBody = nil // with it, net/http could rewind the body and resend a write
	returned := false
	defer func() {
		if !returned {
			c.noteEnd(c.result(nil))
		}
	}()
	resp, err := c.loop.Do(&c.loopRequest)
	returned = true
	if resp != nil {
		_ = resp.Body.Close()
	}
	return err
}

// checkRetry is the decision of the attempt.
func (c *call) checkRetry(context.Context, *http.Response, error) (bool, error) {
	if c.client.Jar != nil {
		delete(c.request.Header, "Cookie") // it adds its own before each attempt
	}
	return c.next.retries(), nil
}

// backoff is the pause of the attempt.
func (c *call) backoff(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return c.pause }

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

var (
	bareRequest = &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}

	// placeholderHeader keeps http.Client from copying the header for redirects, which are never
	// followed. An attempt sends the header of the call.
	placeholderHeader = http.Header{}
)
