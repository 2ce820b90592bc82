package prospectkit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/go-querystring/query"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/pagewalk"
)

// Page is one page of a collection.
type Page[T any] struct {
	Items        []T
	Number       int // 1-based
	TotalPages   int // 0 if unknown
	TotalRecords int // 0 if unknown
	TotalKnown   bool
	Recovered    bool   // read again, because records had moved
	Kind         string `json:",omitempty"` // of the list, in a page of rows

	RequestID string    `json:"-"` // of an unsuccessful response before a retry
	Rate      RateLimit `json:"-"` // by the last rate headers

	last     bool          // the service says so, by the lack of a token or of any sign of more pages
	took     time.Duration // the attempt that brought it
	length   int           // of the response
	response *Object       // of a listing; a pointer, so that no dump of a page shows its records twice
}

// Raw returns the response of a page of agents, campaigns, steps or scheduled sends. It is zero for lists and rows.
func (p *Page[T]) Raw() Object {
	if p.response == nil {
		return Object{}
	}
	return *p.response
}

// hasContent reports whether totals or elements prove that this is a page.
func (p *Page[T]) hasContent() bool {
	return len(p.Items) > 0 || p.Number > 0 || p.TotalPages > 0 || p.TotalKnown
}

// Collect returns the first elements of an iterator, at most limit, which must be positive. With an error, it returns the elements before
// it.
func Collect[T any](seq iter.Seq2[*T, error], limit int) ([]T, error) {
	var all []T
	if limit < 1 {
		bad := check.One("limit", "must be positive: say how many you can hold")
		return nil, refusal(&op.Op{Name: "collect"}, bad)
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

// Report describes how complete a range over pages was.
type Report struct {
	Requests   int // pages read, Rereads included
	Delivered  int // records handed to you, in this range
	Total      int // last known number of records in the collection
	TotalKnown bool
	Repeats    int  // records that came a second time, and were dropped
	Rereads    int  // pages read again because the total had fallen
	Recovered  int  // records found on those
	Incomplete bool // some may have been skipped: the total kept falling, or a page was empty, against its total
	Rewound    bool // the checkpoint was unsure: some may have been delivered twice, or skipped if OrderKnown is false
	Finished   bool // the end was reached

	// Missing is the smallest total that the service sent, less the records of all pages, at the end of a range over the whole collection.
	// If a page or more is missing, the range ends with [ErrRecordsMissing].
	Missing int

	// OrderKnown says that new records come first, and that none moves: true for lists, unless a folder or a search selects them. If it
	// is false, records may have been skipped although the total did not fall.
	OrderKnown bool

	Joined int // by how much the total has risen since the walk began
}

// Progress follows one iterator; see [WithProgress]. Its methods are safe for concurrent use.
type Progress struct {
	// ResumeFrom is a checkpoint of an earlier walk of the same workspace (without a journal, key), collection and parameters. The iterator
	// starts after the record delivered last, or, if it is empty or the range was Finished, at the beginning. What has joined before this
	// position, as all new lists do, comes only in the next walk.
	ResumeFrom string

	walk pagewalk.Progress
}

// Report returns the state of the range, also after its end.
func (p *Progress) Report() Report { return Report(p.walk.Report()) }

// Checkpoint returns a string for ResumeFrom. It counts the current record as delivered: store both in one transaction, if possible. Take it
// after the loop, too: it then says that the walk has ended. It is empty before the first record, and always for a search or a timeline.
func (p *Progress) Checkpoint() string { return p.walk.Checkpoint() }

// WithProgress updates p while an iterator runs. A new range resets it.
func WithProgress(p *Progress) PageOption {
	return pageOption(func(c *pageConfig, bad *check.Violations) {
		if p == nil {
			bad.Add("WithProgress", "got nil")
			return
		}
		c.progress, c.checkpoint = &p.walk, p.ResumeFrom
	})
}

// Sequential reads a page when the loop needs it. Without it, up to four free numbered pages are read ahead, as the rate limit has room.
func Sequential() PageOption {
	return pageOption(func(c *pageConfig, _ *check.Violations) { c.sequential = true })
}

// pageOptions are those of an iterator over which the library itself looks for something.
func pageOptions(opts []CallOption) []PageOption {
	all := make([]PageOption, len(opts), len(opts)+1)
	for i, o := range opts {
		all[i] = o
	}
	return append(all, Sequential())
}

// MaxPaidPages stops an iterator that spends credits after n pages; math.MaxInt reads all, whatever they cost. If there are more results,
// the range ends with [RulePaidPages].
func MaxPaidPages(n int) PageOption {
	return pageOption(func(c *pageConfig, bad *check.Violations) {
		bad.Must(n >= 1, "MaxPaidPages", "is %d, must be positive", n)
		c.paidPages = n
	})
}

// collection is what an iterator walks over, whatever its type: that is known to itemsOf and pagesOf alone, because each package that
// iterates over a T compiles what depends on T.
type collection struct {
	conf       *config
	op         *op.Op
	first      int    // number of the first page
	limit      int    // elements a page; 0 if the default is unknown: then enough is read again after a change
	query      string // identifies the collection in a checkpoint
	orderKnown bool   // whether the order is documented

	// read reads a page by its number. Several pages may be read at the same time. Where each page leads to the next one, follow reads that.
	read   func(ctx context.Context, number int, opts []CallOption) (*pagewalk.Page, error)
	follow func(ctx context.Context, before *pagewalk.Page, opts []CallOption) (*pagewalk.Page, error)
}

// itemsOf iterates over the elements of the pages.
func itemsOf[T any](ctx context.Context, of collection, opts []PageOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		of.walk(ctx, opts, func(page *pagewalk.Page, progress *pagewalk.Progress, err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			for _, r := range page.Records {
				progress.Delivered(r.ID)
				if !yield(r.Of.(*T), nil) {
					return false
				}
			}
			return true
		})
	}
}

// pagesOf iterates over whole pages.
func pagesOf[T any](ctx context.Context, of collection, opts []PageOption) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		of.walk(ctx, opts, func(walked *pagewalk.Page, progress *pagewalk.Progress, err error) bool {
			if err != nil {
				return yield(nil, err)
			}
			page := walked.Of.(*Page[T])
			items := make([]T, len(walked.Records))
			for i, r := range walked.Records {
				progress.Delivered(r.ID)
				items[i] = *r.Of.(*T)
			}
			page.Items, page.Number, page.Recovered = items, walked.Number, walked.Recovered
			return yield(page, nil)
		})
	}
}

// recordsOf hands elements to a walk.
func recordsOf[T any](items []T, id func(*T) string) []pagewalk.Record {
	records := make([]pagewalk.Record, len(items))
	for i := range items {
		records[i] = pagewalk.Record{ID: id(&items[i]), Of: &items[i]}
	}
	return records
}

// walk applies the options and yields each page without its repeats, and an error as the last.
func (of collection) walk(ctx context.Context, opts []PageOption, yield func(*pagewalk.Page, *pagewalk.Progress, error) bool) {
	var options pageConfig
	var bad check.Violations
	eachOption(opts, &bad, func(option PageOption) { option.applyPage(&options, &bad) })
	each := settings{}.with(options.calls, new(check.Violations)) // their violations are those of the first call
	progress := cmp.Or(options.progress, new(pagewalk.Progress))
	query, err := "", error(nil)
	if of.follow == nil && options.progress != nil {
		query, err = of.fingerprint(ctx, each)
	}
	progress.Start(query, of.orderKnown)
	if err != nil {
		yield(nil, nil, err)
		return
	}
	resume := of.check(&options, query, &bad)
	if len(bad) > 0 {
		yield(nil, nil, refusal(of.op, bad))
		return
	}
	hand := func(page *pagewalk.Page, err error) bool { return yield(page, progress, err) }
	calls := append(slices.Clip(options.calls), inWalk)
	if of.follow != nil {
		n := 0
		pagewalk.Follow(progress, func(before *pagewalk.Page) (*pagewalk.Page, error) {
			if n++; options.paidPages > 0 && n > options.paidPages {
				return nil, ruleRefusal(of.op, RulePaidPages, nil)
			}
			return of.follow(ctx, before, calls)
		}, func(what string) error { return unusable(of.op, what) }, hand)
		return
	}
	var refused atomic.Bool // a page that was read early, although there was room
	read := func(ctx context.Context, number int, opts []CallOption) (*pagewalk.Page, error) {
		page, err := of.read(ctx, number, opts)
		if err == nil && (options.sequential || each.info != nil || refused.Load()) {
			page.Ahead = 0
		}
		return page, err
	}
	pagewalk.Each(ctx, pagewalk.Walk{
		First: of.first, Limit: of.limit, Resume: resume, Progress: progress, Fail: of.fail,
		Read: func(ctx context.Context, number int) (*pagewalk.Page, error) { return read(ctx, number, calls) },
		Early: func(ctx context.Context, number int) *pagewalk.Page {
			var info Info
			page, err := read(ctx, number, append(slices.Clip(calls), callOption(of.early), WithInfo(&info)))
			if err != nil {
				room := info.Rate.At.IsZero() || info.Rate.Remaining > 0
				refused.CompareAndSwap(false, info.Status == http.StatusTooManyRequests && room)
				return nil
			}
			return page
		},
	}, hand)
}

// check refuses options that do not fit the collection, and returns the place to go on from. A range that follows tokens cannot be resumed.
// A range that spends credits needs a bound.
func (of collection) check(options *pageConfig, query string, bad *check.Violations) (resume *pagewalk.Checkpoint) {
	spends, bounded := of.op.Class == op.PaidRead, options.paidPages != 0
	bad.Must(!spends || bounded, "MaxPaidPages", "is required, because each page may spend credits; math.MaxInt if you mean all")
	bad.Must(spends || !bounded, "MaxPaidPages", "is for iterators that spend credits: this one does not")
	switch {
	case options.checkpoint == "":
		return nil
	case of.follow != nil:
		bad.Add("ResumeFrom", "is not possible here: the service forbids storing its tokens, so start a new range")
		return nil
	}
	resume, err := pagewalk.Parse(options.checkpoint, query)
	if err != nil {
		bad.Add("ResumeFrom", "%v", err)
		return nil
	}
	bad.Must(of.first <= 1 || of.first == resume.First, "ResumeFrom", "was taken with another PageNum: leave PageNum out")
	return resume
}

// What is read ahead.
const (
	mostAhead = 4
	heldAhead = 16 << 20              // bytes of responses
	nearby    = 10 * time.Millisecond // a page that takes no longer is not worth it
	earlyWait = 20 * time.Second      // for the rate limit; then the page is needed, or soon will be
)

// inWalk makes a call that reads a page for a loop, and early one that reads a page ahead: once, and behind calls that somebody waits for,
// as long as there are any.
var inWalk = callOption(func(c *callConfig, _ *check.Violations) { c.inWalk = true })

func (of collection) early(c *callConfig, _ *check.Violations) {
	c.retry.MaxAttempts, c.maxWait = 1, min(c.maxWait, earlyWait)
	c.batch = c.batch || of.conf.limits.surface(of.op.Surface).busy(time.Now())
}

// ahead is how many pages are worth reading ahead: while a quarter of the minute is left, all that may be; then as many as the limit allows
// in the time that one takes, and one more.
func (p *Page[T]) ahead() int {
	if p.took < nearby {
		return 0
	}
	pages := min(mostAhead, heldAhead/max(1, p.length))
	if p.Rate.At.IsZero() || p.Rate.Remaining > p.Rate.Limit/4 {
		return pages
	}
	return min(pages, 1+int(p.took.Seconds()*float64(p.Rate.Limit)/60))
}

// about notes what the call of a page tells beside the page.
func (p *Page[T]) about(c *call) *Page[T] {
	p.RequestID, p.Rate, p.took, p.length = c.requestID, c.rate, c.attempts[len(c.attempts)-1].Duration, c.length
	return p
}

// fail is the error of a walk that cannot go on, or that has ended while a page of records or more is missing.
func (of collection) fail(what string, missing bool) error {
	if !missing {
		return unusable(of.op, what)
	}
	e := withoutEffect(of.op, nil)
	e.Status, e.classes, e.text = http.StatusOK, []ErrorClass{ErrRecordsMissing}, what
	return e
}

// numbered is a collection of pages that are read by number. The arguments of its request, without that, identify it in a checkpoint.
func numbered[T any](of collection, whole args, read func(context.Context, int, []CallOption) (*Page[T], error), id func(*T) string) collection {
	values, _ := query.Values(whole.query) // it is a struct, which cannot fail
	of.query = strings.Trim(strings.Join(whole.ids, "/")+"?"+values.Encode(), "?")
	of.read = func(ctx context.Context, number int, opts []CallOption) (*pagewalk.Page, error) {
		page, err := read(ctx, number, opts)
		if err != nil {
			return nil, err
		}
		return &pagewalk.Page{
			Records: recordsOf(page.Items, id), Of: page,
			Number: page.Number, TotalPages: page.TotalPages, TotalRecords: page.TotalRecords, TotalKnown: page.TotalKnown, Last: page.last, Ahead: page.ahead(),
		}, nil
	}
	return of
}

// fingerprint identifies a collection without storing the query: with what the options of each call add to it.
func (of collection) fingerprint(ctx context.Context, each callConfig) (string, error) {
	owner, err := of.owner(ctx)
	base, added := of.conf.base, ""
	if len(each.query) > 0 {
		added = fmt.Sprintf("\x00%q", each.query)
	}
	return pagewalk.Fingerprint([]byte(of.op.Name + "\x00" + base.Scheme + "\x00" + base.Host + base.Path + "\x00" + owner + "\x00" + of.query + added)), err
}

// owner is whose a checkpoint is: the workspace of the journal, or a hash of the key.
func (of collection) owner(ctx context.Context) (string, error) {
	if of.conf.journal != nil {
		return of.conf.workspace(), nil
	}
	keys := of.conf.keys()
	if keys.Current() == nil && ctx != nil { // nil is refused by the first call
		var c call // of which only the key is asked for
		c.conf, c.op, c.ctx, c.timeout = of.conf, of.op, ctx, op.UsualTimeout
		if cause := c.needKey(); cause != nil {
			return "", ruleRefusal(of.op, RuleToken, cause)
		}
	}
	return "\x01" + keys.Current().Mark(), nil
}

// listing is a collection whose response is undocumented: a bare array, or an array under its name
// or "data", with a pagination beside it. Further pages are requested with pageNum. All is assumed.
type listing[T any] struct {
	conf *config
	op   *op.Op
	ids  []string
	name string
	id   func(*T) string
}

// pager iterates over the pages. Their size is unknown: 1 makes the walk reread enough.
func (l listing[T]) pager() collection {
	return numbered(collection{conf: l.conf, op: l.op}, l.in(0), l.read, l.id)
}

func (l listing[T]) in(number int) args {
	var query struct {
		PageNum int `url:"pageNum,omitempty"`
	}
	if number > 1 {
		query.PageNum = number
	}
	return args{ids: l.ids, query: query}
}

func (l listing[T]) read(ctx context.Context, number int, opts []CallOption) (*Page[T], error) {
	var page *Page[T]
	response := new(Object)
	c, err := doCall(ctx, l.conf, l.op, l.in(number), opts, expected{
		out:   response,
		proof: func() bool { return page.hasContent() },
		accept: func() (err error) {
			page, err = l.pageOf(*response, number)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	return page.about(c), nil
}

func (l listing[T]) pageOf(response Object, number int) (*Page[T], error) {
	pagination, paged := response.Get("pagination")
	var totals pageTotals
	err := decodeObject(pagination, &totals)
	array, ok := elementsOf(response, l.name)
	if !ok && (!totals.promiseNothing() || !isNull(response.raw, l.name) && !isNull(response.raw, "data")) {
		return nil, otherShape(l.name, response)
	}
	var items []T
	if err := decodeObject(array, &items); err != nil {
		return nil, err
	}
	if err := validateAll(items); err != nil {
		return nil, err
	}
	p := newPage(items, &totals)
	p.response = &response
	switch {
	case goesOn(response) || goesOn(pagination): // the walk asks for the next number, and notices a page that comes again
	case !paged && number > 1: // the page before had a token
		p.TotalPages, p.last = number, true
	case !paged:
		p.Number, p.TotalPages, p.TotalRecords, p.TotalKnown, p.last = 1, 1, len(p.Items), true, true
	case p.Number == 0 && p.TotalPages == 0 && !p.TotalKnown:
		p.TotalPages, p.last = 1, true // there is no sign of more pages
	}
	return p, err
}

// goesOn reports whether a response holds one of the two tokens of a further page that are documented, for other operations.
func goesOn(o Object) bool { return o.Text("nextCursor") != "" || o.Text("scrollToken") != "" }

func elementsOf(response Object, name string) (array Object, ok bool) {
	for _, path := range []string{"", name, "data"} {
		if array, ok = response.Get(path); ok && array.begins('[') {
			return array, true
		}
	}
	return Object{}, false
}

// findNamed finds the only item with exactly this name, after trimming, and the others. Several are an error: names are documented as
// unique, but there is a code for ambiguous ones.
func findNamed[T any](items iter.Seq2[*T, error], o *op.Op, noun, name string, nameOf func(*T) string) (match *T, others []*T, err error) {
	name = strings.TrimSpace(name)
	for item, err := range items {
		switch {
		case err != nil:
			return nil, nil, err
		case strings.TrimSpace(nameOf(item)) != name:
			others = append(others, item)
		case match != nil:
			e := withoutEffect(o, nil)
			e.Status, e.Code, e.Message = http.StatusOK, CodeListNameAmbiguous, "several "+noun+" have this name"
			return nil, nil, e
		default:
			match = item
		}
	}
	return match, others, nil
}

// maxPageSize is the documented bound of lists and rows.
const maxPageSize = 1000

// roomFor is how many elements a page may have that was asked to have n. That bounds memory: no page is lost, or paid for
// in vain, because it has some more.
func roomFor(n int) int { return 2*n + 100 }

type pageResponse[T any] struct {
	Data       []T        `json:"data"`
	Kind       string     `json:"entityType"` // of rows
	Pagination pageTotals `json:"pagination"`
}

func (p *pageResponse[T]) validateText(text []byte) error {
	if p.Data == nil && p.Pagination.promiseNothing() && isNull(text, "data") {
		p.Data = []T{}
	}
	return cmp.Or(errorIf(p.Data == nil, "the page has no data"), validateAll(p.Data))
}

// promiseNothing reports whether a null in place of an array may be an empty one, as some write it.
func (t *pageTotals) promiseNothing() bool {
	return t.TotalPages <= 0 && (t.TotalRecords == nil || *t.TotalRecords == 0)
}

func isNull(text []byte, name string) bool {
	value, _ := jsonscan.Lookup(text, name)
	return string(value) == "null"
}

type pageTotals struct {
	PageNum      int  `json:"pageNum"`
	TotalPages   int  `json:"totalPages"`
	TotalRecords *int `json:"totalRecords"`
}

// readPage reads a page of about limit items.
func readPage[T any](ctx context.Context, conf *config, o *op.Op, in args, limit int, opts []CallOption) (*Page[T], error) {
	response := new(pageResponse[T])
	c, err := doCall(ctx, conf, o, in, opts, expected{
		out: response, maxItems: roomFor(cmp.Or(limit, maxPageSize)),
	})
	if err != nil {
		return nil, err
	}
	return response.page().about(c), nil
}

func (p *pageResponse[T]) hasContent() bool { return p.page().hasContent() }

func (p *pageResponse[T]) page() *Page[T] {
	page := newPage(p.Data, &p.Pagination)
	page.Kind = p.Kind
	return page
}

func newPage[T any](items []T, t *pageTotals) *Page[T] {
	p := &Page[T]{Items: items, Number: t.PageNum, TotalPages: t.TotalPages}
	if t.TotalRecords != nil && *t.TotalRecords >= len(items) { // fewer than there are is no total
		p.TotalRecords, p.TotalKnown = *t.TotalRecords, true
	}
	return p
}
