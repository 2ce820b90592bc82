package prospectkit

import (
	"context"
	"errors"
	"net/http"
)

// RestartSkippingSeen lets a range over a search go on when the token of its next page is dead: refused, unusable, or sent with a
// request whose answer was lost. The search begins anew, at most so many times, and skips the profiles that it has delivered. Its
// first pages spend credits again and count against [MaxPaidPages]; [Report] says how many. The service shows no id of a
// profile: what tells one from another is its socialUrl, or its whole text where it has none. If a new beginning brings
// nothing new, there is no other.
//
// Without this option, the range ends with a [ScrollError].
func RestartSkippingSeen(times int) IterOption {
	return iterOption(func(c *iterConfig, bad *checks) {
		if times < 1 {
			bad.add("RestartSkippingSeen", "is %d, must be positive", times)
		}
		c.restarts = times
	})
}

// scrollWalk is one range over a scroll.
type scrollWalk[T any] struct {
	scroll[T]
	conf      iterConfig
	pages     int // read
	paid      int // those, and those that may have been paid for without an answer
	delivered int
	restarts  int
	fresh     int                // elements delivered since the last restart
	known     map[idKey]struct{} // what was delivered, if there may be a restart
	shown     seenIDs            // what was on the pages since the last restart
	empty     int                // pages without elements since the last that brought something new
	same      int                // pages that held nothing new, likewise
}

// So many pages that bring nothing are read, and may each be paid for.
const (
	mostEmpty = 10
	mostSame  = 2
)

// stuck reports a scroll that may never end: its pages bring nothing, but always a new token.
func (w *scrollWalk[T]) stuck(page *scrollPage[T]) error {
	fresh := false
	for i := range page.items {
		fresh = w.shown.add(w.identity(&page.items[i])) || fresh
	}
	switch {
	case fresh:
		w.empty, w.same = 0, 0
	case len(page.items) == 0:
		w.empty++
	default:
		w.same++
	}
	if page.next != nil && (w.empty == mostEmpty || w.same == mostSame) {
		return unusable(w.op, "the last %s brought nothing new, and another one is offered", plural(w.empty+w.same, "page"))
	}
	return nil
}

// handOut yields what is new on a page, and reports whether the loop goes on.
func (w *scrollWalk[T]) handOut(page *scrollPage[T], yield func(*T, error) bool) bool {
	w.pages++
	w.paid++
	w.conf.progress.request()
	skipped := 0
	defer func() { w.conf.progress.again(skipped) }()
	for i := range page.items {
		if w.repeated(&page.items[i]) {
			skipped++
			continue
		}
		w.delivered++
		w.fresh++
		w.conf.progress.delivered("")
		if !yield(&page.items[i], nil) {
			return false
		}
	}
	return true
}

// repeated reports whether an element was delivered before the last restart, and remembers it.
func (w *scrollWalk[T]) repeated(item *T) bool {
	if w.conf.restarts == 0 {
		return false
	}
	if w.known == nil {
		w.known = make(map[idKey]struct{})
	}
	key := keyOf(w.identity(item))
	seen := has(w.known, key)
	w.known[key] = struct{}{}
	return seen && w.restarts > 0
}

// restart reports whether the scroll is to begin anew after an error.
func (w *scrollWalk[T]) restart(ctx context.Context, err error) bool {
	if w.restarts == w.conf.restarts || w.fresh == 0 || ctx.Err() != nil || !deadToken(err) {
		return false
	}
	if OutcomeOf(err) != NotApplied {
		w.paid++
	}
	if w.capped() {
		return false
	}
	w.restarts, w.fresh, w.shown = w.restarts+1, 0, seenIDs{}
	w.conf.progress.restarted()
	return true
}

// capped reports whether no other page may be paid for.
func (w *scrollWalk[T]) capped() bool { return w.conf.paidPages > 0 && w.paid >= w.conf.paidPages }

// badTokenError says that the token of the next page cannot be used.
type badTokenError string

func (e badTokenError) Error() string { return string(e) }

// deadToken reports whether there is no way from a failed page to the next. Which code answers a token that has expired is not
// shown: as the same query was accepted before, any refusal of the request as such is taken for it.
func deadToken(err error) bool {
	if OutcomeOf(err) != NotApplied {
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
