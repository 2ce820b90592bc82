package prospectkit

import (
	"context"
	"fmt"
	"iter"

	"example.com/prospectkit/internal/op"
)

// Page is one page of a collection.
type Page[T any] struct {
	Items        []T
	Number       int // 1-based
	TotalPages   int // 0 when not told
	TotalRecords int // at the time of the request; 0 when not told
	TotalsKnown  bool
	Kind         ListKind // of a page of rows; empty otherwise
	Recovered    bool     // read again, because records had moved across the border of a page

	size int // how many items came
}

func (p *Page[T]) shown() bool {
	return len(p.Items) > 0 || p.Number > 0 || p.TotalPages > 0 || p.TotalsKnown
}

// Collect gathers at most limit elements of an iterator. On an error it returns what came before it, too.
func Collect[T any](seq iter.Seq2[*T, error], limit int) ([]T, error) {
	var all []T
	if limit < 1 {
		return nil, &RefusedError{Op: "collect", Violations: []Violation{{"limit", "must be positive: say how many you can hold"}}}
	}
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		if all = append(all, *v); len(all) == limit {
			break
		}
	}
	return all, nil
}

// iterConfig is what the options of an iterator add up to.
type iterConfig struct {
	calls      []CallOption // for the call of each page
	progress   *Progress
	resumes    bool
	checkpoint string
	paidPages  int // at most so many, of an iterator that spends credits
	unlimited  bool
	prefetch   int // pages read ahead
	restarts   int // of a scroll, at most
}

func (c *iterConfig) apply(opts []IterOption, bad *checks) {
	for i, o := range opts {
		if o == nil {
			bad.add(fmt.Sprintf("option %d", i+1), "is nil")
			continue
		}
		o.applyIter(c, bad)
	}
}

// pager walks over a collection by page number. It has no state of its own: every range makes a walk.
type pager[T any] struct {
	client *Client
	op     *op.Op
	first  int    // number of the first page
	limit  int    // elements a page
	query  string // what tells this collection from others; part of a checkpoint
	order  bool   // the service promises one
	id     func(*T) string
	fetch  func(ctx context.Context, number int, opts []CallOption) (*Page[T], error)
}

// items yields the elements of the pages.
func (p pager[T]) items(ctx context.Context, opts []IterOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		w, err := p.begin(ctx, opts)
		if err != nil {
			yield(nil, err)
			return
		}
		for page, err := range w.pages {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				w.delivered(page, i)
				if !yield(&page.Items[i], nil) {
					return
				}
			}
		}
	}
}

// pages yields whole pages, repeats removed.
func (p pager[T]) pages(ctx context.Context, opts []IterOption) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		w, err := p.begin(ctx, opts)
		if err != nil {
			yield(nil, err)
			return
		}
		for page, err := range w.pages {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				w.delivered(page, i)
			}
			if !yield(page, nil) {
				return
			}
		}
	}
}

// begin applies the options for one range.
func (p pager[T]) begin(ctx context.Context, opts []IterOption) (*walk[T], error) {
	w := &walk[T]{pager: p, ctx: ctx, number: p.first, least: -1, barren: -1}
	if w.number == 0 {
		w.number = 1
	}
	w.first = w.number
	var bad checks
	w.conf.apply(opts, &bad)
	w.conf.checkPaid(p.op, &bad)
	w.ahead.width = w.conf.prefetch
	w.progress = w.conf.progress
	w.progress.start(p.fingerprint(), p.order)
	if w.conf.checkpoint != "" {
		cp, err := parseCheckpoint(w.conf.checkpoint, p.fingerprint())
		if err != nil {
			bad.add("ResumeFrom", "%v", err)
		}
		if w.resume = cp; cp != nil {
			w.progress.resume(cp)
		}
	}
	if len(bad) > 0 {
		return nil, refusal(p.op, bad...)
	}
	return w, nil
}
