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
	"time"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

// readResponse decodes a success, and refuses one that may not be the service's: gateways and error
// pages have status 2xx, too. The rate headers prove that it is, or what only the service can know
// about the call. A read of undocumented shape passes unless its surface is known to send the
// headers. Anything else passes only if an intermediary is known to drop them.
func (c *call) readResponse(a *attempt, resp *http.Response, now time.Time) error {
	err := c.response.decode(*a.Body)
	seen, proved := c.client.conf.headersSeen, err == nil && c.response.proved()
	switch {
	case (!proved || c.op.Class != op.Read) && isEnvelope(*a.Body): // a record may have an "error"
		err = errEnveloped
	case err != nil:
	case a.rated:
		seen.Learn(c.surface)
		return nil
	case proved && (c.op.Class == op.Read || isPlausible(*a.Body)):
		if c.shape == op.Typed { // an error page may have the id or array of a partial shape
			seen.Missed()
		}
		return nil
	case c.op.Class == op.Read && c.shape == op.Raw && !seen.Has(c.surface) && isPlausible(*a.Body):
		return nil
	case seen.Dropped() && isJSON(resp) && isPlausible(*a.Body):
		return nil
	default:
		err = errNotProved
	}
	if !a.rated || err == errEnveloped { //nolint:errorlint // it is our own
		c.readErrorResponse(resp, *a.Body, now) // so that the error shows who sent it
	}
	return err
}

var (
	errEnveloped = errors.New("the successful response holds an error envelope")
	errNotProved = errors.New("the successful response may not be the service's: " +
		"it has no RateLimit headers, and not what was requested")
)

func isEnvelope(body []byte) bool {
	return bytes.Contains(body, []byte(`"error"`)) && new(Error).envelope(body)
}

// isPlausible reports whether a JSON text can be a response of undocumented shape: an object or an
// array without an error.
func isPlausible(body []byte) bool {
	c := jsonscan.New(body)
	fault, failed := jsonscan.Lookup(body, "error")
	return (c.Is('{') || c.Is('[')) && (!failed || string(fault) == "null")
}

func isJSON(resp *http.Response) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}

// readErrorResponse reads an unsuccessful response into the failure of the call.
func (c *call) readErrorResponse(resp *http.Response, body []byte, now time.Time) {
	e := &c.errorResponse
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
			e.hint = "it points to host " + redact.WithoutIDs(oneLine(c.secrets().Clean(to.Host, redact.MaxText)))
		}
	}
	switch {
	case e.Code == CodeInsufficientScope && c.op.Scope != "" && c.op.Scope != op.ScopeAny:
		e.hint = "this operation needs the scope " + strconv.Quote(string(c.op.Scope))
	case e.Code == CodeListNameTaken && c.op.Class == op.GuardedByName:
		e.hint = "if what holds the name is younger than this call, an intermediary has sent the request twice"
	case e.Code == CodeEndpointNotFound && c.op.Provenance == op.AssumedPath && c.opts.path == "":
		e.hint = "the path of this operation is assumed; set it with WithRoute"
	}
}

// secrets are hidden in everything that a response is quoted in: the key, and the token of a
// scroll.
func (c *call) secrets() redact.Secrets {
	s := c.client.conf.secrets()
	if c.in.secret != "" {
		s = s.Key(c.in.secret)
	}
	return s
}

// secretsAndURL are the secrets, and what is hidden in every text about the call: URL and query.
func (c *call) secretsAndURL() redact.Secrets {
	return c.secrets().Plain(c.url.String(), c.url.RequestURI(), c.url.RawQuery)
}

// redactError hides the request in the text of an error of a transport or of a caller's reader.
func (c *call) redactError(err error) error {
	if err == nil {
		return nil
	}
	s := c.secretsAndURL()
	for _, all := range c.url.Query() {
		for _, value := range all {
			if len(value) > len("100") {
				s = s.Plain(value)
			}
		}
	}
	text := redact.Unquoted(redact.WithoutURL(err).Error())
	return redact.Opaque(redact.WithoutIDs(s.Clean(text, redact.MaxText)), err)
}

// completeness is a response that says what it lacks. A response is a struct with tags, or an array
// of such structs. It is read leniently: what is missing, or of another type, is zero.
type completeness interface{ missing() string }

// decodeResponse decodes the value under the operation's entity key, or the whole body if no key is
// documented. It keeps nothing of the body, whose memory is reused.
func decodeResponse[T any](c *call, body []byte, maxItems int, out *T) error {
	if len(bytes.TrimSpace(body)) == 0 {
		if c.shape == op.Typed || c.op.Class == op.MeteredRead || c.shape == op.Partial && c.op.Class == op.Read {
			return errors.New("the response is empty")
		}
		return nil
	}
	value, err := unwrapEntity(c.op.Entity, c.shape != op.Typed, body)
	if err != nil {
		return err
	}
	return decodeRecord(value, maxItems, out)
}

// unwrapEntity returns the entity in its envelope, or, if the envelope is optional, a bare object.
func unwrapEntity(name string, optional bool, body []byte) ([]byte, error) {
	if name == "" {
		return body, nil
	}
	c := jsonscan.New(body)
	var entity []byte
	if c.Object() {
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			if string(key) == name {
				entity = c.Span()
			} else {
				c.Skip()
			}
		}
	}
	switch err := c.End(); {
	case err != nil:
		return nil, err
	case len(entity) > 0 && (entity[0] == '{' || entity[0] == '['):
		return entity, nil
	case optional:
		return body, nil
	}
	return nil, fmt.Errorf("the response has no %q", name)
}

func decodeRecord[T any](text []byte, maxItems int, out *T) error {
	c := jsonscan.New(text)
	_, raw := any(out).(*Object)
	isRecord := !raw && reflect.TypeFor[T]().Kind() == reflect.Struct
	if isRecord && c.Err() == nil && !c.Is('{') {
		return cmp.Or(jsonscan.Valid(text), errNoObject)
	}
	d := jsonscan.NewRecordDecoder[T]()
	defer d.Release()
	d.Most(maxItems)
	if err := d.DecodeText(text, out); err != nil {
		if misfit, ok := errors.AsType[*jsonscan.MisfitError](err); ok {
			return newMisfit("a row", misfit.Type, misfit.ID, misfit.Err)
		}
		return err
	}
	if r, ok := any(out).(completeness); ok {
		if what := r.missing(); what != "" {
			return errors.New(what)
		}
	}
	return nil
}

var errNoObject = errors.New("the response is not an object")

// recordOf decodes a record from a value that was decoded before.
func recordOf[T any](from Object) (*T, error) {
	out := new(T)
	if from.IsZero() {
		return out, nil
	}
	d := jsonscan.NewRecordDecoder[T]()
	defer d.Release()
	return out, d.DecodeText(from.raw, out)
}

func noID(id, what string) string {
	if id == "" {
		return what
	}
	return ""
}

// missingIn says what the first incomplete element lacks.
func missingIn[T any](items []T) string {
	for i := range items {
		r, ok := any(&items[i]).(completeness)
		if !ok {
			return ""
		}
		if what := r.missing(); what != "" {
			return what
		}
	}
	return ""
}

// pageResponse is the response of an operation that pages by number.
type pageResponse[T any] struct {
	Data       []T        `json:"data"`
	Kind       ListKind   `json:"entityType"`
	Pagination pageTotals `json:"pagination"`
}

func (p *pageResponse[T]) missing() string {
	if p.Data == nil {
		return "the page has no data"
	}
	return missingIn(p.Data)
}

type pageTotals struct {
	PageNum      int  `json:"pageNum"`
	TotalPages   int  `json:"totalPages"`
	TotalRecords *int `json:"totalRecords"`
}

// readPage reads a page of at most as many items as were requested. Totals or items prove that it
// is the service's.
func readPage[T any](ctx context.Context, client *Client, o *op.Op, in args, opts []CallOption) (*Page[T], error) {
	in.maxItems = cmp.Or(in.maxItems, maxPageSize)
	in.proof = func(response any) bool {
		return response.(*pageResponse[T]).page().shown() //nolint:forcetypeassert // do decodes into it
	}
	p, err := do[pageResponse[T]](ctx, client, o, in, opts)
	if err != nil {
		return nil, err
	}
	return p.page(), nil
}

func (p *pageResponse[T]) page() *Page[T] { return newPage(p.Data, p.Kind, &p.Pagination) }

func newPage[T any](items []T, kind ListKind, t *pageTotals) *Page[T] {
	p := &Page[T]{Items: items, Kind: kind, Number: t.PageNum, TotalPages: t.TotalPages}
	if t.TotalRecords != nil {
		p.TotalRecords, p.TotalKnown = *t.TotalRecords, true
	}
	return p
}

// misfitError is a response of the service that does not fit the caller's type. A retry would not
// change that. Its text holds only type and field, because errors of encoding/json, and of types
// that decode themselves, quote values.
type misfitError struct {
	redact.OpaqueError
	rowID func() string // a closure, so that no dump shows it
}

// newMisfit returns the error of a value that does not fit a type of the caller.
func newMisfit(what string, t reflect.Type, rowID string, err error) error {
	if errors.Is(err, jsonscan.ErrTooMuch) { // which quotes nothing
		return err
	}
	text := fmt.Sprintf("%s does not fit %s: %s", what, jsonscan.TypeName(t), jsonscan.Reason(t, err))
	return &misfitError{*redact.Opaque(text, err), func() string { return rowID }}
}

// isMisfit reports whether a second response would fail to decode, too.
func isMisfit(err error) bool {
	_, ok := errors.AsType[*misfitError](err)
	return ok || errors.Is(err, jsonscan.ErrTooMuch)
}
