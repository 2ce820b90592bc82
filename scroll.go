package prospectkit

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/pagewalk"
	"example.com/prospectkit/internal/redact"
)

// ScrollPage is one page of a search, or of the activities of a contact, and leads to the next.
type ScrollPage[T any] struct {
	Items []T

	RequestID string    `json:"-"` // of an unsuccessful response before a retry
	Rate      RateLimit `json:"-"` // by the last rate headers

	op   *op.Op
	next func(context.Context, []CallOption) (*ScrollPage[T], error) // nil at the end; no dump shows its token
}

// More reports whether another page follows, for which Next asks.
func (p *ScrollPage[T]) More() bool { return p.next != nil }

// Next reads the following page of the same query, with the options of the first page and opts. Each page of a search spends credits. Next
// works once, and again after [OutcomeNotApplied]. After an [OutcomeUnknownError], the page may have been paid for.
func (p *ScrollPage[T]) Next(ctx context.Context, opts ...CallOption) (*ScrollPage[T], error) {
	switch {
	case p.op == nil:
		return nil, refusal(&op.Op{Name: "scroll.next"}, check.One("page", "was not made by a call"))
	case p.next == nil:
		return nil, refusal(p.op, check.One("Next", "has nothing to read: this page is the last"))
	}
	return p.next(ctx, opts)
}

// scroll is one walk by token. A token is short-lived, belongs to its query, and must not be stored:
// a closure holds it between two calls, so that no dump shows it.
type scroll[T any] struct {
	op       *op.Op
	identity func(*T) string // identifies an element
	opts     []CallOption    // of the first page, applied to all, so that the query stays the same

	// fetch makes the call of a page; an empty token asks for the first.
	fetch func(ctx context.Context, token string, opts []CallOption) (page *ScrollPage[T], next jsonscan.Text, err error)
}

func (s scroll[T]) first(ctx context.Context, opts []CallOption) (*ScrollPage[T], error) {
	s.opts = slices.Clone(opts)
	return s.page(ctx, "", nil)
}

func (s scroll[T]) page(ctx context.Context, token string, opts []CallOption) (*ScrollPage[T], error) {
	page, text, err := s.fetch(ctx, token, append(slices.Clip(s.opts), opts...))
	if err != nil {
		return nil, err
	}
	page.op = s.op
	switch next, err := tokenOf(text); {
	case err != nil:
		page.next = func(context.Context, []CallOption) (*ScrollPage[T], error) { // so that this page is not lost
			return nil, withoutEffect(s.op, err)
		}
	case next != "": // perhaps the same again: pages that bring nothing new end a range
		page.next = s.once(next)
	}
	return page, nil
}

// maxToken bounds the token of the next page.
const maxToken = 64 << 10

// tokenOf reads the token of the next page from its JSON. Null is no token, and neither is an empty
// string: with it, the walk would restart and cost again.
func tokenOf(text jsonscan.Text) (string, error) {
	c := jsonscan.New(text)
	if len(text) == 0 || c.Is('n') {
		return "", nil
	}
	if !c.Is('"') {
		return "", redact.OwnError("the token of the next page is not a string")
	}
	token := c.String()
	if n := len(token); n > maxToken {
		what := fmt.Sprintf("the token of the next page has %d bytes, more than the %d that are sent back", n, maxToken)
		return "", redact.OwnError(what)
	}
	return token, nil
}

// once makes the call of the next page. A call that may have been processed uses up the token.
func (s scroll[T]) once(token string) func(context.Context, []CallOption) (*ScrollPage[T], error) {
	var spent atomic.Bool
	return func(ctx context.Context, opts []CallOption) (*ScrollPage[T], error) {
		if spent.Swap(true) {
			return nil, refusal(s.op, check.One("Next", "was called already: a scroll moves forward only"))
		}
		page, err := s.page(ctx, token, opts)
		if OutcomeOf(err) == OutcomeNotApplied {
			spent.Store(false)
		}
		return page, err
	}
}

// pages are those of a range, which is a walk of its own.
func (s scroll[T]) pages() collection {
	follow := func(ctx context.Context, before *pagewalk.Page, opts []CallOption) (*pagewalk.Page, error) {
		var page *ScrollPage[T]
		var err error
		if before == nil {
			page, err = s.first(ctx, opts)
		} else {
			page, err = before.Of.(*ScrollPage[T]).next(ctx, nil)
		}
		if err != nil {
			return nil, err
		}
		return &pagewalk.Page{Records: recordsOf(page.Items, s.identity), Last: !page.More(), Of: page}, nil
	}
	return collection{op: s.op, follow: follow}
}
