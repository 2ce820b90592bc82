package prospectkit

import (
	"bytes"
	"cmp"
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

// reader reads one value into T. It is strict about what the document promises and lenient about everything else. It keeps
// nothing of the cursor's data, which is memory that is used again.
type reader[T any] func(*jsonscan.Cursor, *T) error

// decodeAnswer reads a success: the value under the operation's entity key, or the whole body where the document shows no key.
func decodeAnswer[T any](c *jsonscan.Cursor, o *op.Op, body []byte, out *T, read reader[T]) error {
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
	*c = jsonscan.New(value)
	if err := read(c, out); err != nil {
		return err
	}
	return c.End()
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

// readPage reads { data: [...], pagination: {...} }, each element by item. It accepts as many elements as were asked for, or as the
// service allows to ask for.
func readPage[T any](item reader[T], limit int) reader[Page[T]] {
	return func(c *jsonscan.Cursor, p *Page[T]) error {
		if !c.Object() {
			return errors.New("the page is no object")
		}
		found := false
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			switch string(key) {
			case "data":
				found = c.Is('[')
				if err := readElements(c, &p.Items, cmp.Or(limit, maxPageSize), item); err != nil {
					return err
				}
			case "pagination":
				p.readTotals(c)
			case "entityType":
				p.Kind = ListKind(c.String())
			default:
				c.Skip()
			}
		}
		if c.Err() == nil && !found {
			return errors.New("the page has no data")
		}
		return c.Err()
	}
}

// mostElements bounds arrays of which nobody says how many elements they have at most.
const mostElements = 10_000

// readElements reads an array of at most so many elements. From the length of its first ones it guesses how many there are.
func readElements[T any](c *jsonscan.Cursor, items *[]T, most int, item reader[T]) error {
	*items = nil // of duplicate keys the last one counts
	if !c.Array() {
		return c.Err()
	}
	var all []T
	size := int(reflect.TypeFor[T]().Size())
	for start := c.Mark(); c.Element(); {
		n := len(all)
		if n == most {
			c.Refuse()
		}
		if !c.Spend(size) {
			return c.Err()
		}
		if n == cap(all) {
			room := 1
			if n > 0 {
				room = n + min(c.Left()/((c.Mark()-start)/n)+1, max(n, maxPageSize), most-n, c.Affords(size)+1)
			}
			all = append(make([]T, 0, room), all...)
		}
		all = all[:n+1]
		if err := item(c, &all[n]); err != nil {
			return err
		}
	}
	*items = all
	return c.Err()
}

func (p *Page[T]) readTotals(c *jsonscan.Cursor) {
	if !c.Object() {
		return
	}
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "pageNum":
			p.Number = c.Int()
		case "totalPages":
			p.TotalPages = c.Int()
		case "totalRecords":
			p.TotalRecords, p.TotalsKnown = c.IntOK()
		default:
			c.Skip()
		}
	}
}

// headersSeen is what a client has learnt about the rate headers, which the document promises with every success. Clients of With
// share it.
type headersSeen struct {
	on      sync.Map    // of *pool: the surfaces whose successes have come with them
	any     atomic.Bool // there is such a surface
	dropped atomic.Bool // a success that was surely the service's has come without them: something in between drops them
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
		if !seen.dropped.Load() {
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
