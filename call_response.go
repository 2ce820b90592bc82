package prospectkit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/mismatch"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/internal/redact"
)

// noteResponse records what a response of any status tells: its header, the rate limit, and its body for WithInfo.
func (c *call) noteResponse(a *attempt, resp *http.Response, now time.Time) {
	c.status, c.respHeader = resp.StatusCode, resp.Header
	c.conf.idle.Hear(resp.Header)
	c.conf.relayed.Hear(resp.Header)
	a.rate, a.hasRateHeaders = ratehdr.ParseRate(resp.Header, now, c.conf.clock)
	if isSuccess(resp.StatusCode) && (a.truncated || isForeign(resp, *a.Body, a.BodyErr == nil)) { // some gateways send such headers, too
		a.hasRateHeaders = false
	}
	if a.hasRateHeaders {
		c.rate = c.surface.headers(a.rate, now)
	}
	took := now.Sub(a.began)
	c.cached = clock.Cached(resp.Header, took)
	if e := c.opts.evidence; e != nil {
		e.cached, e.older, e.responses = e.cached || c.cached, max(e.older, clock.Older(resp.Header, took)), e.responses+1
	}
	info := c.opts.info
	if info == nil {
		return
	}
	info.Header = c.secrets().Header(resp.Header)
	if info.MaxBody > 0 {
		text, cut := c.secrets().Body(*a.Body, info.MaxBody)
		info.Body, info.BodyCut = []byte(text), cut || a.BodyErr != nil
	}
}

// readResult reads the response of an attempt, and returns why there is none that can be used.
func (c *call) readResult(a *attempt, resp *http.Response, err error, now time.Time) (cause error) {
	if cause = c.redactError(cmp.Or(err, a.BodyErr)); cause != nil {
		cause = c.withContextErr(cause)
	}
	if end := c.ctx.Err(); end != nil && (errors.Is(err, end) || errors.Is(err, context.Cause(c.ctx))) {
		cause = contextEnd(c.ctx, "while it waited for the response")
	}
	switch {
	case resp == nil:
	case !isSuccess(resp.StatusCode):
		if c.readErrorResponse(resp, *a.Body, now); resp.StatusCode == 0 {
			cause = errNoStatus
		}
	case a.BodyErr != nil:
		c.readBeginning(a)
	default:
		if cause = c.readResponse(a, resp, now); cause == nil {
			c.done = true
			c.surface.allowance.Succeeded()
		}
	}
	return cause
}

// readResponse decodes a 2xx response, and refuses one that may be a gateway's.
//
// A 2xx alone proves nothing: login pages and caches between here and the service send it, too, also as
// JSON. Taken for the service's, it would turn a write that never arrived into a success. The more a
// call may have changed or cost, the more evidence its response needs. The first line that applies
// decides. A response is proved if it holds what only the service can know: see expected.proof. In this table, a read
// is a free one. Rate headers beside a foreign body, or one
// about something else, do not count: see isForeign and call.other.
//
//	the end of the upload was not sent by then                      refused
//	an error envelope, except in a proved read                      refused
//	another error, in a call that is neither proved nor a read      refused
//	it comes from a cache (Age), except in a read                   refused
//	it cannot be decoded                                            refused
//	its documented id or name is of something else                  refused
//	it has the rate headers                                         accepted
//	a proved read                                                   accepted
//	any other proved call                                           accepted if plausible
//	a raw read, if the surface is not known to send rate headers    accepted if plausible
//	JSON, if an intermediary is known to drop the headers           accepted if plausible
//	anything else                                                   refused
func (c *call) readResponse(a *attempt, resp *http.Response, now time.Time) error {
	body := *a.Body
	err := errTruncated
	if !a.truncated {
		err = c.judge(resp, body, a.hasRateHeaders)
	}
	if err == nil {
		err = c.take()
	} else if errors.Is(err, errOther) || errors.Is(err, errStored) || errors.Is(err, errNotProved) {
		a.hasRateHeaders, c.open = false, true // it may still be that of the call, rewritten on the way
	} else if a.hasRateHeaders && jsonscan.Valid(body) != nil {
		c.readBeginning(a)
	}
	if err != nil && (!a.hasRateHeaders || err == errEnveloped) { //nolint:errorlint // it is our own
		c.readErrorResponse(resp, body, now) // so that the error shows who sent it
		if errors.Is(err, errNotProved) && !c.op.FreeRead() && c.conf.headersSeen.Nothing() && isJSON(resp) && isPlausible(body) {
			c.errorResponse.hint = "something on the way may rename or remove them: make Account.Me the first call of the client, which learns that by it"
		}
	}
	return err
}

// readBeginning looks into a 2xx whose body broke off, is damaged or too long: what would refuse the whole of it refuses its beginning.
// One that does not begin as an object with a field is read from its error on.
func (c *call) readBeginning(a *attempt) {
	text := jsonscan.Completed(*a.Body)
	if at := bytes.Index(*a.Body, []byte(`"error"`)); at >= 0 && (len(text) <= len("{}") || text[0] != '{') {
		text = jsonscan.Completed(append([]byte("{"), (*a.Body)[at:]...))
	}
	switch _, err := c.decode(text); {
	case errors.Is(err, errEnveloped):
		a.hasRateHeaders = false
	case errors.Is(err, errOther), errors.Is(err, errStored):
		a.hasRateHeaders, c.open = false, true // as for a whole one
	}
}

// decodeBody decodes the value under the operation's entity key, or the whole body if no key is documented, in place of the result of
// an earlier attempt. The result shares no memory with the body, whose buffer is reused. Unknown fields are ignored, except that an Object
// keeps the whole text.
func (c *call) decodeBody(body []byte) error {
	reflect.ValueOf(c.want.out).Elem().SetZero()
	var err error
	if len(bytes.TrimSpace(body)) > 0 {
		if body, err = unwrapEntity(c.op.Entity, c.shape != op.Typed, body); err == nil {
			err = decodeRecord(body, c.want.maxItems, c.want.out)
		}
	} else if c.shape == op.Typed || c.op.Class == op.PaidRead || c.shape == op.Partial && c.op.Confirms != op.Yes {
		err = redact.OwnError("the response is empty")
	}
	if err == nil && c.want.accept != nil {
		err = c.want.accept()
	}
	return err
}

// proved reports whether the service must have sent what was decoded.
func (c *call) proved() bool {
	page, paged := c.want.out.(interface{ hasContent() bool })
	switch {
	case c.want.proof != nil:
		return c.want.proof()
	case c.want.shown != nil:
		return c.want.same(*c.want.shown, c.want.sent)
	case paged:
		return page.hasContent()
	}
	return c.shape != op.Raw && !c.op.Write()
}

// other reports whether what was decoded is about another thing than the call.
func (c *call) other() bool {
	return c.want.shown != nil && *c.want.shown != "" && !c.want.near(*c.want.shown, c.want.sent)
}

// take hands what was decoded to the method, once it is known to be the service's.
func (c *call) take() error {
	if c.want.take == nil {
		return nil
	}
	return c.want.take()
}

// acceptWithoutBody makes the result of a success whose body was lost, if the body says nothing new, and reports whether it did.
func (c *call) acceptWithoutBody() bool {
	if c.op.Confirms != op.Yes {
		return false
	}
	reflect.ValueOf(c.want.out).Elem().SetZero()
	return c.take() == nil
}

// results is how many results a response has that may have a price each, or -1 if it does not tell.
func (c *call) results() int {
	if page, ok := c.want.out.(interface{ count() int }); ok && c.done {
		return page.count()
	}
	return -1
}

// decode decodes a response, and returns what speaks against it: the first lines of the table.
func (c *call) decode(body []byte) (proved bool, err error) {
	err = c.decodeBody(body)
	read := c.op.FreeRead()
	switch proved = err == nil && c.proved(); {
	case (!proved || !read) && isEnvelope(body), !proved && !read && hasError(body):
		err = errEnveloped
	case !read && c.cached:
		err = errStored
	case err == nil && c.other():
		err = errOther
	}
	return proved, err
}

func (c *call) judge(resp *http.Response, body []byte, hasRateHeaders bool) error {
	proved, err := c.decode(body)
	headers, read := c.conf.headersSeen, c.op.FreeRead()
	switch {
	case err != nil:
	case hasRateHeaders:
		headers.Learn(c.surface)
		return nil
	case proved && (read || isPlausible(body)):
		if c.shape == op.Typed { // an error page may have the id or array of a partial shape
			headers.Missed()
		}
		return nil
	case read && c.shape == op.Raw && !headers.Has(c.surface) && isPlausible(body):
		return nil
	case headers.Dropped() && isJSON(resp) && isPlausible(body):
		return nil
	default:
		err = errNotProved
	}
	return err
}

var (
	errNoStatus  error = redact.OwnError("the response has no status, like a redirect in a browser")
	errEnveloped error = redact.OwnError("the 2xx response contains an error")
	errNotProved error = redact.OwnError("the 2xx response may not be the service's: " +
		"it has no RateLimit headers and not the requested content")
	errOther error = redact.OwnError("the 2xx response may not be the service's: " +
		"it is about something else, by its id or name")
	errTruncated error = redact.OwnError("the 2xx response came before the file was sent to its end")
	errStored    error = redact.OwnError("the 2xx response may not be to this request: its Age is that of a cache, or of a gateway that finds Date too old")
)

func isEnvelope(body []byte) bool {
	return bytes.Contains(body, []byte(`"error"`)) && new(Error).envelope(body)
}

func hasError(body []byte) bool {
	fault, ok := jsonscan.Lookup(body, "error")
	return ok && string(fault) != "null" && string(fault) != "false" && string(fault) != `""`
}

// isPlausible reports whether a JSON text is an object or an array without an error.
func isPlausible(body []byte) bool {
	c := jsonscan.New(body)
	return (c.Is('{') || c.Is('[')) && !hasError(body)
}

func isJSON(resp *http.Response) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}

// utf8Mark is what some servers begin a text with.
var utf8Mark = []byte("\uFEFF")

// isForeign reports whether the body of a 2xx, or as much of it as came, cannot be the service's, whose responses are JSON: it is a
// page, or neither declared as JSON nor the beginning of it. JSON that is damaged, or compressed by an intermediary, is not foreign.
// Something that broke off is if it is declared as something else.
func isForeign(resp *http.Response, body []byte, whole bool) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(body, utf8Mark))
	switch {
	case bytes.HasPrefix(text, []byte("<")):
		return true
	case isJSON(resp):
		return false
	case !whole && resp.Header.Get("Content-Type") != "": // what is left of it cannot tell
		return true
	}
	return len(text) > 0 && jsonscan.Valid(text) != nil && !jsonscan.Begins(text)
}

// readErrorResponse reads a response that is unsuccessful or was refused into c.errorResponse.
func (c *call) readErrorResponse(resp *http.Response, body []byte, now time.Time) {
	e := new(Error)
	c.errorResponse = e
	e.Status, e.ContentType = resp.StatusCode, resp.Header.Get("Content-Type")
	e.envelope(body)
	e.clean(c, body)
	if asked, ok := c.retryAfter(resp, now); ok {
		e.RetryAfter = asked
		e.ResetAt = now.Add(min(asked, 100*365*24*time.Hour))
	} else if resp.StatusCode == http.StatusTooManyRequests {
		e.ResetAt = c.rate.ResetAt
	}
	if e.Status >= 300 && e.Status < 400 {
		if to, err := resp.Location(); err == nil && to.Host != "" {
			e.hint = "it points to host " + redact.WithoutIDs(redact.OneLine(c.secrets().Clean(to.Host, redact.MaxText)))
		}
	}
	status := e.Status
	if status == http.StatusBadRequest && c.urlIsLong() {
		status = http.StatusRequestURITooLong // in the words of Squid and HAProxy
	}
	if e.Code == "" {
		e.hint = cmp.Or(e.hint, unreadHints[status])
	}
	switch {
	case e.Code == CodeInsufficientScope && c.op.Scope != "" && c.op.Scope != op.ScopeAny:
		e.hint = "this operation needs the scope " + strconv.Quote(string(c.op.Scope)) + ": create a key that has it"
	case e.Code == CodeEndpointNotFound && c.op.Provenance == op.AssumedPath && c.template == "":
		e.hint = "the path of this operation is assumed; set it with WithRoutes"
	case e.Code != CodeRateLimited && e.Code != CodeUnexpectedError: // of which the text says when, or for how long it was tried
		known, _ := op.CodeByName(string(e.Code))
		e.hint = cmp.Or(known.Hint, e.hint)
	}
}

// errorCode is that of the last response, or "".
func (c *call) errorCode() Code {
	if c.errorResponse == nil {
		return ""
	}
	return c.errorResponse.Code
}

// urlIsLong reports whether HTTP servers may find the URL too long, alone or with the header.
func (c *call) urlIsLong() bool { return len(c.url.RequestURI()) > 8<<10 }

// unreadHints say what helps about statuses of gateways and servers in front of the service.
var unreadHints = map[int]string{
	http.StatusProxyAuthRequired:           "a proxy on the way asks for its own password",
	http.StatusLengthRequired:              "what is between here and the service demands a Content-Length",
	http.StatusRequestEntityTooLarge:       "what is between here and the service takes no body as long as this one (nginx: client_max_body_size): send less at a time",
	http.StatusRequestURITooLong:           "the URL is too long for what is between here and the service, mostly because of filters: use fewer or shorter values",
	http.StatusRequestHeaderFieldsTooLarge: "URL and header are too long for what is between here and the service, mostly because of filters: use fewer or shorter values",
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// retryAfter returns the wait that a response of any status asks for: a 429 that does not say it, and has nothing left, asks for the
// reset of its window. A date is one of the service's clock.
func (c *call) retryAfter(resp *http.Response, now time.Time) (wait time.Duration, given bool) {
	if resp == nil {
		return 0, false
	}
	if wait, given = ratehdr.ParseRetryAfter(resp.Header, now, c.conf.clock); given || resp.StatusCode != http.StatusTooManyRequests {
		return wait, given
	}
	if rate, _ := ratehdr.ParseRate(resp.Header, now, c.conf.clock); rate.Remaining == 0 && rate.HasReset {
		const rounding = time.Second
		return min(rate.Reset, budget.LongestHold-rounding) + rounding, true
	}
	return 0, false
}

// envelope fills the error from the service's envelope and reports whether the body was one.
func (e *Error) envelope(body []byte) bool {
	var in struct {
		Error struct {
			Code      string `json:"code"`
			Message   string `json:"message"`
			Param     string `json:"param"`
			DocURL    string `json:"doc_url"`
			RequestID string `json:"request_id"`
		} `json:"error"`
	}
	if err := decodeRecord(body, 0, &in); err != nil || in.Error.Code == "" {
		return false
	}
	from := &in.Error
	e.Code, e.Message, e.Param = Code(from.Code), from.Message, from.Param
	e.DocURL, e.RequestID = from.DocURL, from.RequestID
	return true
}

// clean hides the secrets that a response echoes, and shortens its texts.
func (e *Error) clean(c *call, body []byte) {
	secrets := c.secrets()
	if !e.Code.Known() {
		e.Code = Code(secrets.Clean(string(e.Code), maxName))
	}
	fields := []*string{&e.ContentType, &e.Message, &e.Param, &e.DocURL, &e.RequestID}
	if e.Body, _ = secrets.Body(body, redact.MaxText); e.Body == string(body) && utf8.Valid(body) && !strings.Contains(e.Body, `\`) {
		fields = fields[:1] // the others stand in the body, as they are
	}
	for _, field := range fields {
		*field = secrets.Clean(*field, redact.MaxText)
	}
	if message := e.Message; strings.ContainsAny(message, `/=%&\`) {
		to := c.url
		e.withoutURL = func() string { return redact.Secrets{}.URL(&to).Hide(message) } // the keys are hidden by now
	}
}

// validator is implemented by responses with required fields. All other fields are read leniently:
// one that is missing or of another type is zero.
type validator interface{ validate() error }

func (p partial) validate() error { return errorIf(!p.raw.begins('{'), "a record is not an object") }

// unwrapEntity returns the entity in its envelope, or, if the envelope is optional, a bare object.
func unwrapEntity(name string, optional bool, body []byte) ([]byte, error) {
	if name == "" {
		return body, nil
	}
	if err := jsonscan.Valid(body); err != nil {
		return nil, err
	}
	entity, _ := jsonscan.Lookup(body, name)
	switch {
	case len(entity) > 0 && (entity[0] == '{' || entity[0] == '['):
		return entity, nil
	case optional:
		return body, nil
	}
	return nil, redact.OwnError("the response has no " + strconv.Quote(name))
}

func decodeRecord(text []byte, maxItems int, out any) error {
	c := jsonscan.New(text)
	_, raw := out.(*Object)
	isRecord := !raw && reflect.TypeOf(out).Elem().Kind() == reflect.Struct
	if isRecord && c.Err() == nil && !c.Is('{') {
		return cmp.Or(jsonscan.Valid(text), errNoObject)
	}
	if err := jsonscan.DecodeRecord(text, maxItems, out); err != nil {
		return err
	}
	switch r := out.(type) {
	case interface{ validateText(text []byte) error }:
		return r.validateText(text)
	case validator:
		return r.validate()
	}
	return nil
}

var errNoObject error = redact.OwnError("the response is not an object")

// decodeObject decodes a record from an Object: the zero record of no value.
func decodeObject[T any](from Object, out *T) error {
	if *out = *new(T); from.IsZero() {
		return nil
	}
	return jsonscan.DecodeRecord(from.raw, 0, out)
}

// recordOf decodes the record of an undocumented response.
func recordOf[T any](response Object, name, key string, out *T) error {
	record, id := holderOf(response, name, key)
	if id == "" {
		return otherShape(key, response)
	}
	return decodeObject(record, out)
}

// holderOf is the object itself, or the one under its name, whichever has the key, and what that is.
func holderOf(response Object, name, key string) (record Object, id string) {
	for _, path := range []string{"", name} {
		record, _ = response.Get(path)
		if id, _ = record.TextOK(key); id != "" {
			break
		}
	}
	return record, id
}

func idIn(response *Object, name, key string) func() string {
	return func() string {
		_, id := holderOf(*response, name, key)
		return id
	}
}

// otherShape is the error of a response that has another shape than was assumed. It names the keys that are there.
func otherShape(want string, response Object) error {
	return fmt.Errorf("%w: it is %s", redact.OwnError("the response has no "+want), mismatch.Outline(response.raw))
}

// errorIf returns an error if something is missing from a response.
func errorIf(missing bool, text string) error {
	if missing {
		return redact.OwnError(text)
	}
	return nil
}

// validateAll returns the error of the first incomplete element.
func validateAll[T any](items []T) error {
	for i := range items {
		r, ok := any(&items[i]).(validator)
		if !ok {
			return nil
		}
		if err := r.validate(); err != nil {
			return err
		}
	}
	return nil
}

// withContextErr adds the end of the context to a cause that does not have it.
func (c *call) withContextErr(cause error) error {
	switch {
	case c.ctx.Err() == nil || errors.Is(cause, c.ctx.Err()):
		return cause
	case c.next.retries():
		return withCause(cause, contextEnd(c.ctx, "before the next attempt"))
	}
	return withCause(cause, contextEnd(c.ctx, ""))
}

// secrets are hidden in every quote of a request or response: the key, and the tokens and cursors that the call sends.
func (c *call) secrets() redact.Secrets {
	return c.conf.secrets().Key(c.in.pageToken).Sent(&c.url, c.body)
}

// redactError hides the request in the text of an error of a transport or an upload.
func (c *call) redactError(err error) error {
	if err == nil {
		return nil
	}
	s, to := c.secrets(), c.url
	all := sync.OnceValue(func() redact.Secrets { return s.URL(&to).Query(to.Query()) })
	hide := func(text string) string { return redact.WithoutIDs(all().Clean(redact.Unquoted(text), redact.MaxText)) }
	return redact.Opaque(err, func() string { return hide(redact.WithoutURL(err).Error()) }, func() string { return hide(wholeReason(err)) })
}
