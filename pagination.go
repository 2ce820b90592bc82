package prospectkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"example.com/prospectkit/internal/novelty"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/pagewalk"
)

// Page is one page of a collection.
type Page[T any] struct {
	Items        []T
	Number       int // 1-based
	TotalPages   int // 0 when not told
	TotalRecords int // at the time of the request; 0 when not told
	TotalKnown   bool
	Kind         ListKind // of a page of rows; empty otherwise
	Recovered    bool     // read again, because records had moved across a page boundary
}

// shown reports whether a page proves itself by its totals or elements.
func (p *Page[T]) shown() bool {
	return len(p.Items) > 0 || p.Number > 0 || p.TotalPages > 0 || p.TotalKnown
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

// Report says how complete a range over pages was.
type Report struct {
	Requests   int // pages read, all included
	Delivered  int // records handed to you, in this range
	Total      int // records in the collection when it was last told
	TotalKnown bool
	Repeats    int  // records that came a second time and were dropped
	Rereads    int  // pages read again because the total had fallen
	Recovered  int  // records found by that, which a plain loop would have skipped
	Incomplete bool // records kept vanishing while a page boundary was read again: some may have been skipped
	Rewound    bool // the checkpoint's records were gone: some records may have been delivered twice
	Finished   bool // the end was reached

	// Missing is how many more records the service has told of than have come, at the end of a range over the whole collection: the
	// smallest total that was told, less the records of all pages. Some may have come in and others gone meanwhile.
	Missing int

	Restarts  int // of a search whose token was dead: see WithRestarts
	PaidAgain int // pages read after a restart that held something delivered before; Repeats says how much

	// OrderKnown says that the service promises an order. It does so for all lists, not for those of a folder or a search. Without an
	// order, records may have been skipped where the total did not fall.
	OrderKnown bool
}

// Progress follows one iterator; see [WithProgress]. The zero value is ready. It is safe to read while the iterator runs.
type Progress struct{ walk pagewalk.Progress }

// Report returns the state of the range. It stays when the range has ended, also by an error.
func (p *Progress) Report() Report { return Report(p.walk.Report()) }

// Checkpoint returns a string for [ResumeFrom]. Inside the loop it counts the current record as delivered: take it once the
// record is stored, in the same transaction if you can. It is empty before the first record, and for a search or a timeline,
// whose token must not be kept. It names the ids of the last records, but no token and no other content.
func (p *Progress) Checkpoint() string { return p.walk.Checkpoint() }

// WithProgress fills p while an iterator runs: the report, and a checkpoint from which another process can go on. A new range
// starts it afresh.
func WithProgress(p *Progress) PageOption {
	return pageOption(func(c *pageConfig, bad *checks) {
		if p == nil {
			bad.add("WithProgress", "got nil")
			return
		}
		c.progress = &p.walk
	})
}

// ResumeFrom starts an iterator after the record that was delivered last when the checkpoint was taken. It has to be the same
// collection, with the same filter, sort order and page size. An empty checkpoint, as there is before a first run, starts at the
// beginning.
func ResumeFrom(checkpoint string) PageOption {
	return pageOption(func(c *pageConfig, _ *checks) { c.resumes, c.checkpoint = true, checkpoint })
}

// maxPrefetch is how many idle connections the default transport keeps.
const maxPrefetch = 64

// Prefetch reads up to n pages, 1 to 64, ahead of the one that the loop works on or waits for, so that the service's time is
// divided by nearly n+1. The elements, their order, checkpoints and the rate limit are what they are without it. So many
// pages are held in memory. Where others change the collection at the same time, pages read ahead are read again, and
// fewer pages are ahead for a while. It is for iterators over page numbers: those that follow a token refuse it.
func Prefetch(n int) PageOption {
	return pageOption(func(c *pageConfig, bad *checks) {
		if n < 1 || n > maxPrefetch {
			bad.add("Prefetch", "is %d, must be 1 to %d", n, maxPrefetch)
		}
		c.prefetch = n
	})
}

// pageConfig is what the options of an iterator add up to.
type pageConfig struct {
	calls      []CallOption // for the call of each page
	progress   *pagewalk.Progress
	resumes    bool
	checkpoint string
	paidPages  int // at most so many, of an iterator that spends credits
	unlimited  bool
	prefetch   int // pages read ahead
	restarts   int // of a scroll, at most
}

func (c *pageConfig) apply(o *op.Op, opts []PageOption, bad *checks) {
	for i, opt := range opts {
		if opt == nil {
			bad.add(fmt.Sprintf("option %d", i+1), "is nil")
			continue
		}
		opt.applyPage(c, bad)
	}
	c.checkPaid(o, bad)
}

// pager iterates over a collection by page number. It has no state of its own: every range is a walk.
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

// items iterates over the elements of the pages.
func (p pager[T]) items(ctx context.Context, opts []PageOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		p.walk(ctx, opts, func(page *Page[T], progress *pagewalk.Progress, err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			for i := range page.Items {
				p.delivered(progress, &page.Items[i])
				if !yield(&page.Items[i], nil) {
					return false
				}
			}
			return true
		})
	}
}

// pages iterates over whole pages, repeats removed.
func (p pager[T]) pages(ctx context.Context, opts []PageOption) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		p.walk(ctx, opts, func(page *Page[T], progress *pagewalk.Progress, err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			for i := range page.Items {
				p.delivered(progress, &page.Items[i])
			}
			return yield(page, nil)
		})
	}
}

func (p pager[T]) delivered(progress *pagewalk.Progress, item *T) {
	if progress != nil {
		progress.Delivered(p.id(item))
	}
}

// walk applies the options and hands each page to yield, and an error as the last.
func (p pager[T]) walk(ctx context.Context, opts []PageOption, yield func(*Page[T], *pagewalk.Progress, error) bool) {
	r := &pageRange[T]{pager: p}
	conf := pagewalk.Config[T, ListKind]{Source: r, ID: p.id, First: p.first, Limit: p.limit}
	var bad checks
	r.conf.apply(p.op, opts, &bad)
	conf.Prefetch, conf.Progress = r.conf.prefetch, r.conf.progress
	conf.Progress.Start(p.fingerprint(), p.order)
	if r.conf.checkpoint != "" {
		var err error
		if conf.Resume, err = pagewalk.Parse(r.conf.checkpoint, p.fingerprint()); err != nil {
			bad.add("ResumeFrom", "%v", err)
		}
	}
	if len(bad) > 0 {
		yield(nil, nil, refusal(p.op, bad...))
		return
	}
	conf.Walk(ctx, func(page *pagewalk.Page[T, ListKind], err error) bool {
		return yield((*Page[T])(page), conf.Progress, err)
	})
}

// pageRange is one range of a pager, and reads its pages.
type pageRange[T any] struct {
	pager[T]
	conf pageConfig
}

// Fetch reads a page in its turn.
func (r *pageRange[T]) Fetch(ctx context.Context, number int) (*pagewalk.Page[T, ListKind], error) {
	page, err := r.fetch(ctx, number, r.conf.calls)
	return (*pagewalk.Page[T, ListKind])(page), err
}

// FetchAhead keeps what [WithInfo] gets until it is the page's turn.
func (r *pageRange[T]) FetchAhead(ctx context.Context, number int) (*pagewalk.Page[T, ListKind], func(), error) {
	var info Info
	var caller *Info
	keep := callOption(func(c *callConfig, _ *checks) {
		if c.info != nil {
			caller, c.info = c.info, &info
		}
	})
	page, err := r.fetch(ctx, number, append(slices.Clip(r.conf.calls), keep))
	deliver := func() {
		if caller != nil {
			*caller = info
		}
	}
	return (*pagewalk.Page[T, ListKind])(page), deliver, err
}

// TooEarly reports a refused wait for the rate limit: in its turn, a page waits less than ahead of it.
func (r *pageRange[T]) TooEarly(err error) bool {
	_, ok := errors.AsType[*WaitError](err)
	return ok
}

// Broken is the error of a walk that cannot go on.
func (r *pageRange[T]) Broken(what string) error { return unusable(r.op, what) }

// fingerprint tells collections apart without storing what was asked.
func (p pager[T]) fingerprint() string {
	sum := sha256.Sum256([]byte(p.op.Name + "\x00" + p.client.conf.base.Host + "\x00" + p.query))
	return hex.EncodeToString(sum[:8])
}

// unusable is the error of a success that the service should not have sent.
func unusable(o *op.Op, what string) error {
	return &Error{Op: o.Name, Method: o.Method, Route: o.Path, Status: http.StatusOK, outcome: OutcomeNotApplied, cause: errors.New(what)}
}

// listing is a collection whose response is undocumented: an array that is bare, or under its name or "data", where a pagination
// stands beside it. Further pages are requested by pageNum, as those of lists are. All of that is assumed.
type listing[T any] struct {
	client *Client
	op     *op.Op
	ids    []string
	name   string
}

// pager iterates over the pages. Their size is unknown: 1 makes the walk go back far enough when records vanish.
func (l listing[T]) pager(id func(*T) string) pager[T] {
	return pager[T]{client: l.client, op: l.op, limit: 1, query: strings.Join(l.ids, "/"), id: id, fetch: l.page}
}

func (l listing[T]) page(ctx context.Context, number int, opts []CallOption) (*Page[T], error) {
	var query struct {
		PageNum int `url:"pageNum,omitempty"`
	}
	if number > 1 {
		query.PageNum = number
	}
	var page *Page[T]
	_, err := do[Object](ctx, l.client, l.op, args{
		ids: l.ids, query: query, responseType: reflect.TypeFor[T](), responseKeys: []string{l.name, "data"}, proof: func(any) bool { return page.shown() },
		accept: func(response any) (err error) {
			page, err = l.read(*response.(*Object)) //nolint:forcetypeassert // it is what do was asked for
			return err
		},
	}, opts)
	if err != nil {
		return nil, err
	}
	return page, nil
}

func (l listing[T]) read(response Object) (*Page[T], error) {
	array, ok := elementsOf(response, l.name)
	if !ok {
		return nil, fmt.Errorf("the answer shows no %s: it is %s", l.name, novelty.Outline(response.raw))
	}
	items, err := recordOf[[]T](array)
	if err != nil {
		return nil, err
	}
	if what := missingIn(*items); what != "" {
		return nil, errors.New(what)
	}
	pagination, paged := response.Get("pagination")
	t, err := recordOf[pageTotals](pagination)
	p := newPage(*items, "", t)
	switch {
	case !paged:
		p.Number, p.TotalPages, p.TotalRecords, p.TotalKnown = 1, 1, len(p.Items), true
	case p.Number == 0 && p.TotalPages == 0 && !p.TotalKnown:
		p.TotalPages = 1 // nothing says that there are more, or how to request them
	}
	return p, err
}

// elementsOf finds the array of a listing.
func elementsOf(response Object, name string) (array Object, ok bool) {
	for _, path := range []string{"", name, "data"} {
		if array, ok = response.Get(path); ok && array.isArray() {
			return array, true
		}
	}
	return Object{}, false
}
