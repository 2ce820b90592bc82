// Package feed finds what has changed in a list: passes over its rows, checkpoints, reasons for a full sync. Package changes has what
// users name of it.
package feed

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"example.com/prospectkit/changes"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/settings"
)

// Source is where the rows come from: the client.
type Source[R, P any] struct {
	List  string // names the list, in checkpoints
	Limit int    // the largest page

	// Pages reads the list, last changed first, in pages of so many rows.
	Pages func(ctx context.Context, limit int) iter.Seq2[*P, error]
	View  func(*P) Page[R]

	// Moved reports whether, in the range over Pages before, rows came again, or pages were read again: others changed rows
	// meanwhile, or the order among equals did. It is asked after the range, which leaves out a page of nothing but such rows.
	Moved func() bool

	// At returns the service's time at an instant of this machine, as far as its responses tell.
	At func(time.Time) time.Time

	ID        func(*R) string
	UpdatedAt func(*R) time.Time
	Refuse    func(check.Violations) error               // the error of arguments
	Require   func(*changes.FullSyncRequiredError) error // the error of a feed that ends
}

// Page is what the feed needs of a page.
type Page[R any] struct {
	Rows       []R
	Ordered    bool // an order by time of change is documented for this list
	Total      int
	TotalKnown bool
}

const (
	backlog = 10 // largest pages of changed rows are held in memory
	passes  = 3
)

// smallPage is enough as long as little has changed.
func (s *Source[R, P]) smallPage() int { return s.Limit / 10 }

// window is how many changes of the overlap are remembered: a largest page has room for them, and for a small
// page of new ones.
func (s *Source[R, P]) window() int { return s.Limit - s.smallPage() }

// Each reads what has changed since the checkpoint, and yields it, first changed first.
func Each[R, P any](ctx context.Context, s Source[R, P], saved string, opts []changes.Option) iter.Seq2[*changes.Change[R], error] {
	return func(yield func(*changes.Change[R], error) bool) {
		f := &feed[R, P]{Source: s, starts: changes.ReasonNoCheckpoint}
		settings.Read(&f.Changes, &f.Bad, opts)
		last := &state{keep: s.window()}
		if saved != "" {
			var ok bool
			last, ok = parse(saved, s.List, s.window())
			f.Bad.Must(ok, "saved", "is not a checkpoint of this list, or is damaged")
			f.starts = ""
		}
		if len(f.Bad) > 0 {
			yield(nil, s.Refuse(f.Bad))
			return
		}
		if f.state = *last; f.starts != "" {
			f.state = f.state.begin(nil, time.Time{})
		}
		if err := f.run(ctx, yield); err != nil {
			yield(nil, err)
		}
	}
}

// feed is a range over the changes of a list.
type feed[R, P any] struct {
	Source[R, P]
	settings.Changes
	state  state
	starts changes.Reason // why it starts afresh; empty if it continues
}

// run makes passes over what has changed, until the service counts as many rows as it should.
func (f *feed[R, P]) run(ctx context.Context, yield func(*changes.Change[R], error) bool) error {
	for n := 1; ; n++ {
		p, err := f.read(ctx)
		if err != nil {
			return err
		}
		if f.starts == "" && f.state.due(p.now) { // a response has told the time
			f.starts, f.state.settled = changes.ReasonBurst, f.state.top
			f.state = f.state.begin(nil, p.now)
			continue
		}
		if (p.moved || p.mixed) && p.reason == "" && f.starts == "" {
			if n < passes {
				continue
			}
			if p.reason = changes.ReasonBurst; !p.moved {
				p.reason = changes.ReasonUnordered
			}
		}
		next := f.state.delivered(p.positions(), p.now, true)
		fits := next.counts(len(p.fresh), p.total, p.counted)
		switch {
		case p.reason != "":
		case f.starts != "":
			p.reason = f.starts
		case next.ahead(p.now):
			p.reason = changes.ReasonUnordered
		}
		if p.reason != "" {
			return f.require(p, p.from.begin(p.first, p.now))
		}
		if p.lost() || !fits && f.Held == nil && p.pages == 1 {
			p.from.low, next.low, fits = broken, broken, false
		}
		if !f.handOut(p, &next, yield) {
			return nil
		}
		f.state = next
		if f.Held != nil && p.counted {
			held, err := f.Held(ctx)
			if err != nil {
				return err
			}
			fits = held == p.total && next.low != broken
		}
		if fits {
			return nil
		}
		if p.pages == 1 || n == passes { // rows and total of one page belong together; others may have moved meanwhile
			p.reason = changes.ReasonCount
			left := p.from
			left.window = p.met
			return f.require(p, left.delivered(p.positions(), p.now, true))
		}
	}
}

// handOut yields what a pass has found, with the state after each row.
func (f *feed[R, P]) handOut(p *pass[R], next *state, yield func(*changes.Change[R], error) bool) bool {
	places := p.positions()
	for i := range p.fresh {
		row := p.fresh[i].row
		c := changes.NewChange(row, f.UpdatedAt(row), func() string {
			if i == len(places)-1 {
				return next.encode(f.List)
			}
			s := p.from.delivered(places[:i+1], p.now, false)
			s.counts(i+1, 0, false)
			return s.encode(f.List)
		})
		if !yield(c, nil) {
			return false
		}
	}
	return true
}

// require is the error that asks for a full sync. The feed continues after it with the given state, if the
// list can be followed at all.
func (f *feed[R, P]) require(p *pass[R], s state) error {
	e := &changes.FullSyncRequiredError{Reason: p.reason}
	switch {
	case p.reason == changes.ReasonNoOrder || p.reason == changes.ReasonUnordered:
	case s.ahead(p.now):
		e.Reason = changes.ReasonUnordered
	default:
		s.low, s.high = unknown, unknown
		s.counts(0, p.total, p.counted)
		e.After = s.encode(f.List)
	}
	return f.Require(e)
}

// read makes a pass. It begins with a small page. If that does not suffice, large ones need fewer requests.
func (f *feed[R, P]) read(ctx context.Context) (*pass[R], error) {
	for limit := min(f.Limit, len(f.state.window)+f.smallPage()); ; limit = f.Limit {
		began := time.Now()
		p := &pass[R]{from: f.state, now: f.At(began), known: make(map[string]int64, len(f.state.window))}
		for _, w := range f.state.window {
			p.known[w.id] = w.at
		}
		enough := true
		for page, err := range f.Pages(ctx, limit) {
			if _, unusable := errors.AsType[redact.OwnError](err); unusable && f.Moved() {
				break // such as two pages of nothing but rows that came again
			}
			if err != nil {
				return nil, err
			}
			if p.pages == 0 {
				p.now = f.At(began)
			}
			view := f.View(page)
			f.take(p, &view)
			enough = p.ended || f.starts != "" && (limit == f.Limit || p.covers())
			if enough || limit < f.Limit {
				break
			}
		}
		if enough || limit == f.Limit {
			p.moved = f.Moved()
			slices.SortFunc(p.fresh, func(a, b version[R]) int { return a.compare(b.position) })
			return p, nil
		}
	}
}

// pass is one reading of the rows, last changed first, down to the floor.
type pass[R any] struct {
	from  state
	known map[string]int64 // when the rows of its window changed
	now   time.Time        // when it began, by the service's clock

	pages   int
	first   []position // the rows of the first page
	before  int64      // the change of the row before
	total   int
	counted bool

	fresh  []version[R]
	later  int        // rows that are left for the next pass
	met    []position // what the window had already
	seen   int        // rows of the window, changed or not
	ended  bool       // nothing after this row can be new
	moved  bool       // rows may stand on no page, because they moved across a page boundary
	mixed  bool       // a later page is out of order: one of its rows became visible meanwhile, or the service ignores the order
	reason changes.Reason
}

// version is a row as it was read.
type version[R any] struct {
	position
	row *R
}

func (p *pass[R]) positions() []position {
	places := make([]position, len(p.fresh))
	for i := range p.fresh {
		places[i] = p.fresh[i].position
	}
	return places
}

// lost reports whether a row of the window is gone. Other pages than the first may have shown it before.
func (p *pass[R]) lost() bool { return p.pages == 1 && p.seen < len(p.known) }

// covers reports whether the first page shows all that a new feed has to remember.
func (p *pass[R]) covers() bool {
	s := p.from.begin(p.first, p.now)
	return len(p.first) > 0 && p.first[len(p.first)-1].at < s.floor.at
}

// take reads a page.
func (f *feed[R, P]) take(p *pass[R], page *Page[R]) {
	if p.pages++; p.pages == 1 {
		p.total, p.counted = page.Total, page.TotalKnown
		p.ended = len(page.Rows) == 0 || page.TotalKnown && page.Total <= len(page.Rows)
	}
	if !page.Ordered {
		p.fail(changes.ReasonNoOrder)
		return
	}
	for i := range page.Rows {
		row := &page.Rows[i]
		at, id := f.UpdatedAt(row), f.ID(row)
		v := version[R]{position{at.UnixMicro(), id}, row}
		switch {
		case at.IsZero() || id == "":
			p.fail(changes.ReasonUnordered)
			return
		case p.pages > 1 && v.at > p.first[0].at:
			p.later++ // it has changed since the first page was read
			continue
		case v.at > p.before && p.pages > 1:
			p.mixed, p.ended = true, true
			return
		case v.at > p.before && i > 0:
			p.fail(changes.ReasonUnordered)
			return
		}
		p.before = v.at
		if p.pages == 1 {
			p.first = append(p.first, v.position)
		}
		p.meet(v)
	}
	if len(p.fresh)+p.later > backlog*f.Limit {
		p.fail(changes.ReasonBacklog)
	}
}

// meet keeps a row if it is new.
func (p *pass[R]) meet(v version[R]) {
	known, ok := p.known[v.id]
	if ok {
		p.seen++
	}
	switch {
	case v.at < p.from.floor.at:
		p.ended = true
	case v.compare(p.from.floor) <= 0:
	case ok && v.at <= known:
		p.met = append(p.met, position{known, v.id})
	default:
		p.fresh = append(p.fresh, v)
	}
}

func (p *pass[R]) fail(reason changes.Reason) { p.reason, p.ended = reason, true }
