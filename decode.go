package prospectkit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

// A response is a struct with tags, or an array of such: what the document shows is read leniently, and what is not there, or of another
// type, reads as zero. A type that has to hold something says so by a method missing, which names what is not there.
type complete interface{ missing() string }

// decodeResponse reads a success: the value under the operation's entity key, or the whole body where the document shows no key. It
// keeps nothing of the body, which is memory that is used again.
func decodeResponse[T any](o *op.Op, body []byte, most int, out *T) error {
	if len(bytes.TrimSpace(body)) == 0 {
		if o.Shape == op.Typed || o.Class == op.MeteredRead || o.Shape == op.Partial && o.Class == op.Read { // nothing is no page and no record
			return errors.New("the answer is empty")
		}
		return nil
	}
	value, err := unwrap(o, body)
	if err != nil {
		return err
	}
	return decodeRecord(value, most, out)
}

func decodeRecord[T any](text []byte, most int, out *T) error {
	d, c := jsonscan.NewRecordDecoder[T](), jsonscan.New(text)
	defer d.Release()
	d.Most(most)
	if _, raw := any(out).(*Object); !raw && reflect.TypeFor[T]().Kind() == reflect.Struct && c.Err() == nil && !c.Is('{') {
		return cmp.Or(jsonscan.Valid(text), errNoObject)
	}
	if err := cmp.Or(d.Decode(&c, out), c.End()); err != nil {
		if misfit, ok := errors.AsType[*jsonscan.MisfitError](err); ok {
			return newMisfit("a row", misfit.Type, misfit.ID, misfit.Err)
		}
		return err
	}
	if r, ok := any(out).(complete); ok {
		if what := r.missing(); what != "" {
			return errors.New(what)
		}
	}
	return nil
}

var errNoObject = errors.New("the answer is no object")

// recordOf reads a record from a value that was read before.
func recordOf[T any](from Object) (*T, error) {
	out := new(T)
	if from.IsZero() {
		return out, nil
	}
	d, c := jsonscan.NewRecordDecoder[T](), jsonscan.New(from.raw)
	defer d.Release()
	return out, cmp.Or(d.Decode(&c, out), c.End())
}

func noID(id, what string) string {
	if id == "" {
		return what
	}
	return ""
}

// missingIn names what the first element lacks that lacks something.
func missingIn[T any](items []T) string {
	if _, ok := any(new(T)).(complete); !ok {
		return ""
	}
	for i := range items {
		if r, ok := any(&items[i]).(complete); ok {
			if what := r.missing(); what != "" {
				return what
			}
		}
	}
	return ""
}

// unwrap finds the entity in its envelope. Where the document does not show whether there is one, a bare object will do.
func unwrap(o *op.Op, body []byte) ([]byte, error) {
	if o.Entity == "" {
		return body, nil
	}
	c := jsonscan.New(body)
	var entity []byte
	if c.Object() {
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			if string(key) == o.Entity {
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
	case o.Shape != op.Typed:
		return body, nil
	}
	return nil, fmt.Errorf("the answer has no %q", o.Entity)
}

// pageOf is the response of an operation that pages by number.
type pageOf[T any] struct {
	Data       []T      `json:"data"`
	Kind       ListKind `json:"entityType"`
	Pagination totals   `json:"pagination"`
}

func (p *pageOf[T]) missing() string {
	if p.Data == nil {
		return "the page has no data"
	}
	return missingIn(p.Data)
}

type totals struct {
	PageNum      int  `json:"pageNum"`
	TotalPages   int  `json:"totalPages"`
	TotalRecords *int `json:"totalRecords"`
}

// readPage makes the call of a page. A page proves itself by its totals or elements. It has as many elements as were asked for at most, or
// as the service allows to ask for.
func readPage[T any](ctx context.Context, client *Client, o *op.Op, r request, opts []CallOption) (*Page[T], error) {
	r.most = cmp.Or(r.most, maxPageSize)
	r.proof = func(response any) bool { return response.(*pageOf[T]).page().shown() } //nolint:forcetypeassert // it is what do is asked for
	p, err := do[pageOf[T]](ctx, client, o, r, opts)
	if err != nil {
		return nil, err
	}
	return p.page(), nil
}

func (p *pageOf[T]) page() *Page[T] { return pageWith(p.Data, p.Kind, &p.Pagination) }

func pageWith[T any](items []T, kind ListKind, t *totals) *Page[T] {
	p := &Page[T]{Items: items, Kind: kind, Number: t.PageNum, TotalPages: t.TotalPages}
	if t.TotalRecords != nil {
		p.TotalRecords, p.TotalKnown = *t.TotalRecords, true
	}
	return p
}

// headersSeen is what a client has learnt about the rate headers, which the document promises with every success. Clients of With
// share it.
type headersSeen struct {
	on      sync.Map    // of *pool: the surfaces whose successes have come with them
	any     atomic.Bool // there is such a surface
	dropped atomic.Bool // a success of a documented shape has come without them: something in between drops them
}

func (h *headersSeen) learn(p *pool) {
	if !h.has(p) {
		h.on.Store(p, nil)
		h.any.Store(true)
	}
}

func (h *headersSeen) has(p *pool) bool {
	_, ok := h.on.Load(p)
	return ok
}

var (
	errEnveloped = errors.New("a success that holds an error envelope is none")
	errStrange   = errors.New("nothing shows that the success is the service's: it has no RateLimit headers, and not what was asked for")
)

// accept decodes a success, and refuses one that is not surely the service's: gateways and error pages answer with 2xx, too. The rate
// headers tell it, or the answer proves itself by what only the service can know of the call. Where the document shows no shape to
// prove it by, a read may pass unless its surface is known to have the headers. Anything else passes only where the headers are
// known to be dropped.
func (c *call) accept(a *attempt, resp *http.Response, now time.Time) error {
	err := c.decoder.decode(*a.body)
	seen, proved := c.client.conf.headersSeen, err == nil && c.decoder.proved()
	switch {
	case !proved && enveloped(*a.body):
		err = errEnveloped
	case err != nil:
	case a.rated:
		seen.learn(c.pool)
		return nil
	case proved:
		if c.op.Shape == op.Typed && !seen.dropped.Load() { // an id or an array, which a partial shape shows, an error page may have
			seen.dropped.Store(true)
		}
		return nil
	case c.op.Class == op.Read && c.op.Shape == op.Raw && !seen.has(c.pool) && plausible(*a.body):
		return nil
	case seen.dropped.Load() && !seen.any.Load() && saysJSON(resp) && plausible(*a.body):
		return nil
	default:
		err = errStrange
	}
	if !a.rated || err == errEnveloped { //nolint:errorlint // it is our own
		c.fail(resp, *a.body, now) // so that one can see who has answered
	}
	return err
}

// enveloped reports whether a body is an error envelope.
func enveloped(body []byte) bool {
	return bytes.Contains(body, []byte(`"error"`)) && new(Error).envelope(body)
}

// plausible reports whether a JSON text can be an answer of a shape that is not shown: an object or an array, and no error of anybody.
func plausible(body []byte) bool {
	c := jsonscan.New(body)
	fault, failed := jsonscan.Lookup(body, "error")
	return (c.Is('{') || c.Is('[')) && (!failed || string(fault) == "null")
}

func saysJSON(resp *http.Response) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}
