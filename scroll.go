package prospectkit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync/atomic"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/pagewalk"
)

// A scroll moves forward only, page by page, by a token that each page gives for the next. A token is short-lived, belongs to the
// query that gave it, and must not be stored: it lives in a closure between two calls and shows nowhere. A page that may have
// been delivered is never requested again.

// MaxPaidPages stops an iterator that spends credits after n pages. If there are more results, the range ends with a [RefusedError]
// of [RulePaidPages]. What was delivered until then is in the [Report].
func MaxPaidPages(n int) PageOption {
	return pageOption(func(c *pageConfig, bad *checks) {
		if n < 1 {
			bad.add("MaxPaidPages", "is %d, must be positive", n)
		}
		c.paidPages = n
	})
}

// UnlimitedPages lets an iterator that spends credits go on to the end of the results, whatever that costs. The range still ends with
// an error when ten pages in a row are empty, or two bring nothing but what came before, and another page is offered.
func UnlimitedPages() PageOption {
	return pageOption(func(c *pageConfig, _ *checks) { c.unlimited = true })
}

// WithRestarts lets a range over a search go on when the token of its next page is dead: refused, unusable, or sent with a request
// whose response was lost. The search begins again, at most so many times, and skips the profiles that it has delivered. Its
// first pages spend credits again and count against [MaxPaidPages]; [Report] says how many. The service shows no id of a
// profile: what tells one from another is its socialUrl, or its whole text where it has none. After a restart that brings
// nothing new, there is no other.
//
// To know what it has delivered, the range keeps up to 50 bytes for each profile.
//
// Without this option, the range ends with the error of the page.
func WithRestarts(times int) PageOption {
	return pageOption(func(c *pageConfig, bad *checks) {
		if times < 1 {
			bad.add("WithRestarts", "is %d, must be positive", times)
		}
		c.restarts = times
	})
}

// checkPaid demands a decision about the cost of an iterator that spends credits, and refuses one where nothing is spent.
func (c *pageConfig) checkPaid(o *op.Op, bad *checks) {
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
		bad.add("WithRestarts", "is for iterators that spend credits: this one begins again for nothing")
	}
}

// ScrollPage is one page of a search, or of the activities of a contact, and the way to the next.
type ScrollPage[T any] struct {
	Items     []T
	ContactID string // of a page of activities; empty otherwise

	op   *op.Op
	next func(context.Context, []CallOption) (*ScrollPage[T], error) // nil at the end; a closure, so that no dump shows the token
}

// More reports whether there is a page after this one.
func (p *ScrollPage[T]) More() bool { return p.next != nil }

// Next reads the page after this one, by the same query; the options of the first page still hold, and more can be added. A page of
// a search spends credits as the first one did. Next works once: the service's tokens move forward only. It can be called again
// after an error that says that nothing was applied.
//
// After a lost response, nothing sends the request of a search again: the error is an [OutcomeUnknownError], and the page may have
// been paid for.
func (p *ScrollPage[T]) Next(ctx context.Context, opts ...CallOption) (*ScrollPage[T], error) {
	switch {
	case p.op == nil:
		return nil, &RefusedError{Op: "scroll.next", Violations: []Violation{{"page", "was not made by a call"}}}
	case p.next == nil:
		return nil, refusal(p.op, Violation{"Next", "has nothing to read: this page is the last"})
	}
	return p.next(ctx, opts)
}

// scroll is one walk by token.
type scroll[T any] struct {
	op       *op.Op
	identity func(*T) string // what tells elements apart
	fetch    func(ctx context.Context, token string, opts []CallOption) (page *ScrollPage[T], next jsonscan.Text, err error)
	opts     []CallOption // of the first page: they hold for the later ones, so that all are the same query
	tokens   pagewalk.Set // that were given
}

// first makes the call of the first page.
func (s *scroll[T]) first(ctx context.Context, opts []CallOption) (*ScrollPage[T], error) {
	s.opts, s.tokens = opts, make(pagewalk.Set)
	return s.page(ctx, "", nil)
}

func (s *scroll[T]) page(ctx context.Context, token string, opts []CallOption) (*ScrollPage[T], error) {
	page, text, err := s.fetch(ctx, token, append(slices.Clip(s.opts), opts...))
	if err != nil {
		return nil, err
	}
	page.op = s.op
	token, err = nextToken(text)
	switch {
	case err != nil:
		page.next = s.broken(err)
	case token == "":
	case !s.tokens.Add(token):
		page.next = s.broken(badTokenError("the service gave the same token twice"))
	default:
		page.next = s.once(token)
	}
	return page, nil
}

// maxToken bounds the token of a next page, which is sent as it came.
const maxToken = 64 << 10

// nextToken reads the token of the next page from its JSON text. Null is no token, and neither is an empty string, with which the
// scroll would begin again and cost again.
func nextToken(text jsonscan.Text) (string, error) {
	c := jsonscan.New(text)
	if len(text) == 0 || c.Is('n') {
		return "", nil
	}
	if !c.Is('"') {
		return "", badTokenError("the token of the next page is no string")
	}
	token := c.String()
	if len(token) > maxToken {
		return "", badTokenError(fmt.Sprintf("the token of the next page has %d bytes, more than the %d that are sent back", len(token), maxToken))
	}
	return token, nil
}

// badTokenError says that the token of the next page cannot be used.
type badTokenError string

func (e badTokenError) Error() string { return string(e) }

// once makes the call of the next page. After a success, and after a call that may have been delivered, the token is spent.
func (s *scroll[T]) once(token string) func(context.Context, []CallOption) (*ScrollPage[T], error) {
	var spent atomic.Bool
	return func(ctx context.Context, opts []CallOption) (*ScrollPage[T], error) {
		if spent.Swap(true) {
			return nil, refusal(s.op, Violation{"Next", "was called already: a scroll moves forward only"})
		}
		page, err := s.page(ctx, token, opts)
		if err != nil && OutcomeOf(err) == OutcomeNotApplied {
			spent.Store(false)
		}
		return page, err
	}
}

// broken fails in place of the call of the next page, so that the page before it is not lost.
func (s *scroll[T]) broken(cause error) func(context.Context, []CallOption) (*ScrollPage[T], error) {
	return func(context.Context, []CallOption) (*ScrollPage[T], error) {
		return nil, &Error{Op: s.op.Name, Method: s.op.Method, Route: s.op.Path, outcome: OutcomeNotApplied, cause: cause}
	}
}

// items iterates over the elements of all pages. Each range is a walk of its own.
func (s scroll[T]) items(ctx context.Context, opts []PageOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		w := scrollWalk[T]{scroll: s}
		if err := w.begin(opts); err != nil {
			yield(nil, err)
			return
		}
		page, err := w.first(ctx, w.conf.calls)
		for err == nil {
			if !w.handOut(page, yield) {
				return
			}
			if page.next == nil {
				w.conf.progress.Update(func(r *pagewalk.Report) { r.Finished = true })
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
		yield(nil, err)
	}
}

// scrollWalk is one range over a scroll.
type scrollWalk[T any] struct {
	scroll[T]
	conf      pageConfig
	paid      int // pages read, and those that may have been paid for without a response
	restarts  int
	fresh     int             // elements delivered since the last restart
	delivered pagewalk.Set    // what was delivered, if there may be a restart
	shown     pagewalk.Recent // what was on the pages since the last restart
	empty     int             // pages without elements since the last that brought something new
	same      int             // pages that held nothing new, likewise
}

// So many pages that bring nothing are read, and may each be paid for.
const (
	mostEmptyPages = 10
	mostSamePages  = 2
)

// begin applies the options.
func (w *scrollWalk[T]) begin(opts []PageOption) error {
	var bad checks
	w.conf.apply(w.op, opts, &bad)
	if w.conf.resumes {
		bad.add("ResumeFrom", "is not possible here: the service forbids keeping the token of a scroll, so begin a new range")
	}
	if w.conf.prefetch != 0 {
		bad.add("Prefetch", "is not possible here: a page is asked for with what the one before it gave")
	}
	if len(bad) > 0 {
		return refusal(w.op, bad...)
	}
	if w.conf.restarts > 0 {
		w.delivered = make(pagewalk.Set)
	}
	w.conf.progress.Start("", false)
	return nil
}

// handOut yields what is new on a page, and reports whether the loop goes on.
func (w *scrollWalk[T]) handOut(page *ScrollPage[T], yield func(*T, error) bool) bool {
	w.paid++
	w.conf.progress.Update(func(r *pagewalk.Report) { r.Requests++ })
	skipped := 0
	defer func() {
		if skipped > 0 {
			w.conf.progress.Update(func(r *pagewalk.Report) { r.Repeats, r.PaidAgain = r.Repeats+skipped, r.PaidAgain+1 })
		}
	}()
	for i := range page.Items {
		if w.conf.restarts > 0 && !w.delivered.Add(w.identity(&page.Items[i])) && w.restarts > 0 {
			skipped++
			continue
		}
		w.fresh++
		w.conf.progress.Delivered("")
		if !yield(&page.Items[i], nil) {
			return false
		}
	}
	return true
}

// stuck is the error of a scroll that may never end: its pages bring nothing, but always a new token.
func (w *scrollWalk[T]) stuck(page *ScrollPage[T]) error {
	fresh := false
	for i := range page.Items {
		fresh = w.shown.Add(w.identity(&page.Items[i])) || fresh
	}
	switch {
	case fresh:
		w.empty, w.same = 0, 0
	case len(page.Items) == 0:
		w.empty++
	default:
		w.same++
	}
	if w.empty == mostEmptyPages || w.same == mostSamePages {
		return unusable(w.op, fmt.Sprintf("the last %s brought nothing new, and another one is offered", plural(w.empty+w.same, "page")))
	}
	return nil
}

// restart reports whether the scroll is to begin again after an error.
func (w *scrollWalk[T]) restart(ctx context.Context, err error) bool {
	if w.restarts == w.conf.restarts || w.fresh == 0 || ctx.Err() != nil || !deadToken(err) {
		return false
	}
	if OutcomeOf(err) != OutcomeNotApplied {
		w.paid++
	}
	if w.capped() {
		return false
	}
	w.restarts, w.fresh, w.shown = w.restarts+1, 0, pagewalk.Recent{}
	w.conf.progress.Update(func(r *pagewalk.Report) { r.Restarts++ })
	return true
}

// capped reports whether no other page may be paid for.
func (w *scrollWalk[T]) capped() bool { return w.conf.paidPages > 0 && w.paid >= w.conf.paidPages }

// deadToken reports whether there is no way from a failed page to the next. The code for an expired token is undocumented: as the
// same query was accepted before, any refusal of the request as such is taken for it.
func deadToken(err error) bool {
	if OutcomeOf(err) != OutcomeNotApplied {
		return true // the page may have been delivered, so its token is spent
	}
	if _, ok := errors.AsType[badTokenError](err); ok {
		return true
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || errors.Is(err, ErrInsufficientCredits) {
		return false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity:
		return true
	}
	return false
}
