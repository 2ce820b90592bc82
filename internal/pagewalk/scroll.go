package pagewalk

import (
	"cmp"
	"context"
	"fmt"
)

// Scroll says how to walk over pages that are read by the token of the page before, each of which may be paid for.
// It has no state: each walk is new.
type Scroll[T any] struct {
	First    func(context.Context) (*Part[T], error)
	ID       func(*T) string
	Progress *Progress // nil if nobody asked for it
	MaxPages int       // that may be paid for; 0: no limit
	Restarts int       // at most, after an error of a page

	// Dead reports whether the token of a page that failed is of no use any more, and whether the page may have been
	// paid for.
	Dead func(error) (dead, paid bool)

	Stalled func(what string) error // is the error of pages that bring nothing new
	Capped  func() error            // is the error of too many pages
}

// Part is one page of a scroll. Next reads the one after it; it is nil at the end.
type Part[T any] struct {
	Items []T
	Next  func(context.Context) (*Part[T], error)
}

// scroll is one walk.
type scroll[T any] struct {
	Scroll[T]
	paid      int // pages read, and pages that may have been paid for without a response
	restarts  int
	fresh     int    // items yielded since the last restart
	delivered Set    // if there may be a restart
	shown     Recent // on the pages since the last restart
	empty     int    // pages without items since the last that held something new
	same      int    // pages with nothing but known items, likewise
}

// So many pages in a row end a scroll. Each may have been paid for.
const (
	mostEmpty = 10
	mostSame  = 2
)

// Walk yields the items of all pages, without those that came before a restart, and an error as the last.
func (c Scroll[T]) Walk(ctx context.Context, yield func(*T, error) bool) {
	c.Progress = cmp.Or(c.Progress, new(Progress))
	w := scroll[T]{Scroll: c}
	if w.Restarts > 0 {
		w.delivered = make(Set)
	}
	w.Progress.Start("", false)
	page, err := w.First(ctx)
	for err == nil {
		if !w.handOut(page, yield) {
			return
		}
		if page.Next == nil {
			w.Progress.Update(func(r *Report) { r.Finished = true })
			return
		}
		if err = w.stuck(page); err != nil {
			break
		}
		if w.capped() {
			err = w.Capped()
			break
		}
		if page, err = page.Next(ctx); err != nil && w.restart(ctx, err) {
			page, err = w.First(ctx)
		}
	}
	yield(nil, err)
}

// handOut yields the new items of a page, and reports whether the walk goes on.
func (w *scroll[T]) handOut(page *Part[T], yield func(*T, error) bool) bool {
	w.paid++
	w.Progress.Update(func(r *Report) { r.Requests++ })
	skipped := 0
	defer func() {
		if skipped > 0 {
			w.Progress.Update(func(r *Report) {
				r.Repeats += skipped
				r.PaidAgain++
			})
		}
	}()
	for i := range page.Items {
		if w.Restarts > 0 && !w.delivered.Add(w.ID(&page.Items[i])) && w.restarts > 0 {
			skipped++
			continue
		}
		w.fresh++
		w.Progress.Delivered("")
		if !yield(&page.Items[i], nil) {
			return false
		}
	}
	return true
}

// stuck returns an error if the scroll may never end, because its pages bring nothing new.
func (w *scroll[T]) stuck(page *Part[T]) error {
	fresh := false
	for i := range page.Items {
		fresh = w.shown.Add(w.ID(&page.Items[i])) || fresh
	}
	switch {
	case fresh:
		w.empty, w.same = 0, 0
	case len(page.Items) == 0:
		w.empty++
	default:
		w.same++
	}
	if w.empty < mostEmpty && w.same < mostSame {
		return nil
	}
	return w.Stalled(fmt.Sprintf("the last %d pages brought nothing new, and another one is offered", w.empty+w.same))
}

// restart reports whether to read the first page again after an error.
func (w *scroll[T]) restart(ctx context.Context, err error) bool {
	if w.restarts == w.Restarts || w.fresh == 0 || ctx.Err() != nil {
		return false
	}
	dead, paid := w.Dead(err)
	if !dead {
		return false
	}
	if paid {
		w.paid++
	}
	if w.capped() {
		return false
	}
	w.restarts, w.fresh, w.shown = w.restarts+1, 0, Recent{}
	w.Progress.Update(func(r *Report) { r.Restarts++ })
	return true
}

// capped reports whether the pages are used up.
func (w *scroll[T]) capped() bool { return w.MaxPages > 0 && w.paid >= w.MaxPages }
