package prospectkit

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

// A scroll moves forward only, page by page, by a token that each page gives for the next. A token is short-lived, belongs to the
// query that gave it, and must not be stored: it lives in a closure between two calls and shows nowhere. A page that may have
// been delivered is never asked for again.

// MaxPaidPages stops an iterator that spends credits after n pages. If there are more results, the range ends with an error: a
// [ScrollError] with a [RefusedError] of [RulePaidPages] in it.
func MaxPaidPages(n int) IterOption {
	return iterOption(func(c *iterConfig, bad *checks) {
		if n < 1 {
			bad.add("MaxPaidPages", "is %d, must be positive", n)
		}
		c.paidPages = n
	})
}

// UnlimitedPages lets an iterator that spends credits go on to the end of the results, whatever that costs. The range still ends with
// an error when ten pages in a row are empty, or two bring nothing but what came before, and another page is offered.
func UnlimitedPages() IterOption {
	return iterOption(func(c *iterConfig, _ *checks) { c.unlimited = true })
}

// checkPaid demands a decision about the cost of an iterator that spends credits, and refuses one where nothing is spent.
func (c *iterConfig) checkPaid(o *op.Op, bad *checks) {
	decided := c.paidPages != 0 || c.unlimited
	switch metered := o.Class == op.MeteredRead; {
	case metered && !decided:
		bad.add("MaxPaidPages", "is required, because each page may spend credits; UnlimitedPages if you mean it")
	case !metered && decided:
		bad.add("MaxPaidPages", "is for iterators that spend credits: this one does not")
	case c.paidPages != 0 && c.unlimited:
		bad.add("MaxPaidPages", "contradicts UnlimitedPages")
	}
	if o.Class != op.MeteredRead && c.restarts != 0 {
		bad.add("RestartSkippingSeen", "is for iterators that spend credits: this one begins anew for nothing")
	}
}

// ScrollError says that a range over a scroll ended before the results did, after its first page. What was delivered was paid
// for; there is no way to go on from there, because the service forbids keeping its tokens. [RestartSkippingSeen] begins anew.
type ScrollError struct {
	Op        string
	Pages     int // read, and paid for where pages cost credits; not counting the one that failed
	Delivered int // elements handed to the loop
	Restarts  int // see RestartSkippingSeen

	cause error
}

// Error says how far the range got and why it ended.
func (e *ScrollError) Error() string {
	text := "the range ended before the results did"
	if e.Pages > 0 {
		text = fmt.Sprintf("after %s and %s", plural(e.Pages, "page"), plural(e.Delivered, "element"))
	}
	if e.Restarts > 0 {
		text = strings.Replace(text, " and", ", "+plural(e.Restarts, "restart")+" and", 1)
	}
	return describe(e.Op, text, causeText(e.cause, e.Op))
}

// Unwrap returns why the range ended.
func (e *ScrollError) Unwrap() error { return e.cause }

// Outcome is that of the page that failed: [Unknown] if it may have been paid for.
func (e *ScrollError) Outcome() Outcome { return outcomeOfCause(e.cause) }

// Advice is that of the page that failed.
func (e *ScrollError) Advice() Advice {
	if advice, ok := adviceOf(e.cause); ok {
		return advice
	}
	return Advice{Action: ActionVerifyFirst, Hint: "look at the cause"}
}

// LogValue groups the fields that are safe to log.
func (e *ScrollError) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("op", e.Op), slog.Int("pages", e.Pages), slog.Int("delivered", e.Delivered), slog.Int("restarts", e.Restarts),
		slog.String("code", CodeOf(e.cause).logged()), slog.String("outcome", string(e.Outcome())),
	)
}

// scroll is one walk by token.
type scroll[T any] struct {
	op    *op.Op
	fetch func(ctx context.Context, token string, opts []CallOption) (*scrollAnswer[T], error)
	opts  []CallOption       // of the first page: they hold for the later ones, so that all are the same query
	seen  map[idKey]struct{} // hashes of the tokens

	identity func(*T) string // what tells elements apart
}

// scrollAnswer is what the answer of one page holds.
type scrollAnswer[T any] struct {
	items []T
	owner string // of a timeline
	token string // empty at the end
	odd   string // why the token cannot be sent
}

// maxToken bounds the token of a next page, which is sent as it came.
const maxToken = 64 << 10

// newScrollAnswer takes the token of the next page from its JSON text. Null is no token, and neither is an empty string, with which the
// scroll would begin anew and cost again.
func newScrollAnswer[T any](items []T, owner string, token jsonscan.Text) *scrollAnswer[T] {
	a, c := &scrollAnswer[T]{items: items, owner: owner}, jsonscan.New(token)
	switch {
	case len(token) == 0 || c.Is('n'):
	case !c.Is('"'):
		a.odd = "the token of the next page is no string"
	default:
		if a.token = c.String(); len(a.token) > maxToken {
			a.odd = fmt.Sprintf("the token of the next page has %d bytes, more than the %d that are sent back", len(a.token), maxToken)
		}
	}
	return a
}

// scrollPage is one page of a scroll. The way to the next one is a closure, so that no dump shows the token.
type scrollPage[T any] struct {
	op    *op.Op
	items []T
	owner string
	next  func(context.Context, []CallOption) (*scrollPage[T], error) // nil at the end
}

func (p *scrollPage[T]) more() bool { return p != nil && p.next != nil }

// follow makes the call of the page after this one.
func (p *scrollPage[T]) follow(ctx context.Context, opts []CallOption) (*scrollPage[T], error) {
	switch {
	case p == nil:
		return nil, &RefusedError{Op: "scroll.next", Violations: []Violation{{"page", "was not made by a call"}}}
	case p.next == nil:
		return nil, refusal(p.op, Violation{"Next", "has nothing to read: this page is the last"})
	}
	return p.next(ctx, opts)
}

// first makes the call of the first page.
func (s *scroll[T]) first(ctx context.Context, opts []CallOption) (*scrollPage[T], error) {
	s.opts, s.seen = opts, make(map[idKey]struct{})
	return s.page(ctx, "", nil)
}

func (s *scroll[T]) page(ctx context.Context, token string, opts []CallOption) (*scrollPage[T], error) {
	answer, err := s.fetch(ctx, token, append(slices.Clip(s.opts), opts...))
	if err != nil {
		return nil, err
	}
	page := &scrollPage[T]{op: s.op, items: answer.items, owner: answer.owner}
	switch key := keyOf(answer.token); {
	case answer.odd != "":
		page.next = s.broken(answer.odd)
	case answer.token == "":
	case has(s.seen, key):
		page.next = s.broken("the service gave the same token twice")
	default:
		s.seen[key] = struct{}{}
		page.next = s.once(answer.token)
	}
	return page, nil
}

func has(set map[idKey]struct{}, key idKey) bool {
	_, ok := set[key]
	return ok
}

// once makes the call of the next page. After a success, and after a call that may have been delivered, the token is spent.
func (s *scroll[T]) once(token string) func(context.Context, []CallOption) (*scrollPage[T], error) {
	var spent atomic.Bool
	return func(ctx context.Context, opts []CallOption) (*scrollPage[T], error) {
		if spent.Swap(true) {
			return nil, refusal(s.op, Violation{"Next", "was called already: a scroll moves forward only"})
		}
		page, err := s.page(ctx, token, opts)
		if err != nil && OutcomeOf(err) == NotApplied {
			spent.Store(false)
		}
		return page, err
	}
}

// broken fails in place of the call of the next page, so that the page before it is not lost.
func (s *scroll[T]) broken(what string) func(context.Context, []CallOption) (*scrollPage[T], error) {
	return func(context.Context, []CallOption) (*scrollPage[T], error) {
		return nil, &Error{Op: s.op.Name, Method: s.op.Method, Route: s.op.Path, outcome: NotApplied, cause: badTokenError(what)}
	}
}

// items yields the elements of all pages. Each range is a walk of its own.
func (s scroll[T]) items(ctx context.Context, opts []IterOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		w := scrollWalk[T]{scroll: s}
		if err := w.conf.begin(s.op, opts); err != nil {
			yield(nil, err)
			return
		}
		page, err := w.first(ctx, w.conf.calls)
		for err == nil {
			if !w.handOut(page, yield) {
				return
			}
			if page.next == nil {
				w.conf.progress.finished(0)
				return
			}
			if err = w.stuck(page); err != nil {
				break
			}
			if w.capped() {
				err = forbidden(s.op, RulePaidPages)
				break
			}
			if page, err = page.next(ctx, nil); err != nil && w.restart(ctx, err) {
				page, err = w.first(ctx, w.conf.calls)
			}
		}
		if w.pages > 0 {
			err = &ScrollError{Op: s.op.Name, Pages: w.pages, Delivered: w.delivered, Restarts: w.restarts, cause: err}
		}
		yield(nil, err)
	}
}

// begin applies the options for one range over a scroll.
func (c *iterConfig) begin(o *op.Op, opts []IterOption) error {
	var bad checks
	c.apply(opts, &bad)
	c.checkPaid(o, &bad)
	if c.resumes {
		bad.add("ResumeFrom", "is not possible here: the service forbids keeping the token of a scroll, so begin a new range")
	}
	if c.prefetch != 0 {
		bad.add("Prefetch", "is not possible here: a page is asked for with what the one before it gave")
	}
	if len(bad) > 0 {
		return refusal(o, bad...)
	}
	c.progress.start("", false)
	return nil
}
