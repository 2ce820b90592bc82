package simulation

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/sim"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// The promises of the README, held after every step against the books of the service. What the client says about itself counts for
// nothing, except as a claim.

// laws are what is known about one run.
type laws struct {
	sync.Mutex

	service   *sandbox.Sandbox
	seen      int  // entries of the books
	news      bool // since the last check
	arrivals  bool // maybe
	calls     map[string]*made
	marks     []string       // of the calls, in order
	approvals map[string]int // by path
	approved  time.Time      // the last of them
	stopped   bool           // a teammate has stopped what was approved
	once      map[string]int // calls with a key that were applied, by process and key
	credits   int64          // that the guard allows
	repeated  bool           // a gateway has repeated a request, which costs twice
	empties   int64          // times that the store of the guards was lost, which then count afresh
	held      func() (int64, error)
	first     int64           // the balance at the beginning
	limits    bool            // the service refuses who is too fast
	restarted time.Time       // last, a process
	excuses   []time.Time     // for a 429 each: since then
	removed   map[string]bool // rows, by them
	appended  bool            // a row at the end, by them
	short     bool            // a walk has told that rows are missing
	empty     int             // pages of rows that came without them
	reached   map[string]bool
	paused    map[string]pause  // by process start and surface
	shaky     bool              // a store has failed
	owed      map[string]string // process starts, by tickets whose credits the guard has to settle when it reaches its store
	settled   map[string]bool   // tickets, by a person
	broken    error
}

func newLaws(r *run) *laws {
	return &laws{
		service: r.service, first: r.service.Balance(), limits: true,
		calls: map[string]*made{}, approvals: map[string]int{}, once: map[string]int{}, removed: map[string]bool{}, reached: map[string]bool{},
		paused: map[string]pause{}, owed: map[string]string{}, settled: map[string]bool{},
		held: func() (int64, error) {
			total, err := r.books()
			return total.Total.Committed + total.Total.InDoubt, err
		},
	}
}

// made is one call of a program, by its mark, which stands in its requests and its ticket.
type made struct {
	op        string
	process   string
	permitted bool // to be sent again although its outcome is unknown
	doubtful  bool // something went wrong with a request, so that its outcome may be unknown
	repeats   int  // requests that a gateway made of one, and told of itself
	tries     int  // requests
	old       int  // of those, on a connection that was idle for too long
	excused   bool // a gateway has delivered it twice, or a teammate has undone it as if at the same moment
	archived  bool // with a known outcome
	goal      bool // it makes several requests, each with a ticket of its own
	later     bool // page of a paid scroll, whose token a 500 may use up
	ends      bool // its context does
	start     int
	id        string // of its ticket
	once      string // the key in it

	key, given string // of a call with a key, and what tells its body from others
	sent       time.Time
	arrived    int // requests that the service got and did not refuse before work
	applied    int
	told       prospectkit.Outcome
	resolved   prospectkit.Outcome
}

func (l *laws) breach(law, format string, args ...any) {
	if l.broken == nil {
		l.broken = fmt.Errorf("%s: %s", law, fmt.Sprintf(format, args...))
	}
}

// The words of the laws.
const (
	nothingTwice     = "nothing that may have happened is sent twice"
	nothingForgotten = "nothing is forgotten: what was sent stands in the journal"
	claimsAreTrue    = "applied and not applied are true"
	resolutionsTrue  = "what is resolved as applied or not applied is true"
	capHolds         = "the cap of the guard is never exceeded"
	oneApproval      = "a campaign is approved once, also if a teammate stops it"
	onceAKey         = "a call with a key is made once"
	everyRowOnce     = "a walk delivers each living row once"
	contextsEnd      = "nothing outlives its context"
	noRefusal        = "nobody alone is refused for being too fast"
	pausesHold       = "a 429 pauses its surface"
	keyStays         = "no text holds the key"
	ticketsTellWhen  = "a ticket tells when its request was sent"
	creditsReturn    = "credits of a call that is settled do not stay reserved"
	closeKeeps       = "after Close, the journal has every outcome that was told"
	settlementsStay  = "a settlement is durable"
	insertsEndNoWalk = "inserts alone break no walk"
	journalOpens     = "a crash never damages the journal"
	doubtHasCause    = "an outcome is unknown only if something went wrong"
	idleFailsNothing = "a connection that was idle fails no write"
	reviewsCount     = "a review that shows fewer contacts than there are says so"
)

// check is asked after every step.
func (l *laws) check() error {
	l.Lock()
	defer l.Unlock()
	if !l.news {
		return l.broken
	}
	if l.arrivals {
		l.read(l.service.Journal())
	}
	l.news, l.arrivals = false, false
	for _, mark := range l.marks {
		l.judge(mark, l.calls[mark])
	}
	l.judgeCredits()
	return l.broken
}

// read takes what is new in the books.
func (l *laws) read(entries []sandbox.Entry) {
	for _, e := range entries[l.seen:] {
		if e.Op == "campaigns.approve" && e.Processed {
			l.approved = time.Now()
			blind := l.stopped && !strings.HasPrefix(markIn(e.Query), "approver") // ApproveUnreviewed resumes what was stopped
			if l.approvals[e.Path]++; l.approvals[e.Path] > 1 && !blind {
				l.breach(oneApproval, "%s: %d times", e.Path, l.approvals[e.Path])
			}
		}
		o, _ := op.ByName(e.Op)
		if o == nil {
			continue
		}
		if l.limits && e.Status == http.StatusTooManyRequests && e.Fault == "" {
			l.excuses = slices.DeleteFunc(l.excuses, func(t time.Time) bool { return time.Since(t) > forgetful })
			if len(l.excuses) == 0 {
				l.breach(noRefusal, "%s", e)
			}
			l.excuses = l.excuses[min(1, len(l.excuses)):]
		}
		c := l.calls[markIn(e.Query)]
		if c == nil || o.FreeRead() {
			continue
		}
		if !beforeWork(o, e.Status) || c.later && e.Status == http.StatusInternalServerError {
			c.arrived++
		}
		key := c.process + " " + c.once
		if c.once != "" && c.applied == 0 && l.once[key] > 0 && !c.excused {
			l.breach(onceAKey, "%s %s, %q: sent after it was applied", markIn(e.Query), e.Op, c.once)
		}
		if !e.Processed {
			continue
		}
		if c.applied++; c.once != "" && !c.excused {
			l.mark("a call with a key was applied")
			if l.once[key]++; l.once[key] > 1 {
				l.breach(onceAKey, "%s %s, %q: %d times", markIn(e.Query), e.Op, c.once, l.once[key])
			}
		}
	}
	l.seen = len(entries)
}

// judgeCredits holds the ledger of the service against the cap, and against what the guards hold in their store.
func (l *laws) judgeCredits() {
	if l.credits == 0 || l.repeated {
		return
	}
	spent := l.first - l.service.Balance()
	held, err := l.held()
	if l.empties > 0 { // docs: the cap is for the life of the state
		if most := l.credits * (l.empties + 1); spent > most {
			l.breach(capHolds, "spent %d, cap %d after %d states", spent, most, l.empties+1)
		}
		return
	}
	if err != nil || spent > l.credits || held < spent || held > l.credits {
		l.breach(capHolds, "spent %d, held %d, cap %d, %v", spent, held, l.credits, err)
	}
}

// beforeWork reports whether a response proves that the service has done nothing.
func beforeWork(o *op.Op, status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusMisdirectedRequest, http.StatusUnauthorized:
		return true
	}
	return o.Class == op.PaidRead && status == http.StatusInternalServerError // a failed request costs nothing
}

// judge holds one call against the books.
func (l *laws) judge(mark string, c *made) {
	switch {
	case c.arrived-c.repeats > 1 && !c.permitted && !c.excused && !c.goal:
		l.breach(nothingTwice, "%s %s arrived %d times", mark, c.op, c.arrived)
	case c.excused: // docs/safety.md: the client cannot see a gateway that repeats
	case c.told == prospectkit.OutcomeApplied && c.applied == 0:
		l.breach(claimsAreTrue, "%s %s is claimed as applied, but it was not", mark, c.op)
	case c.told == prospectkit.OutcomeNotApplied && c.applied > 0:
		l.breach(claimsAreTrue, "%s %s is claimed as not applied, but it was", mark, c.op)
	case c.goal:
	case c.told == prospectkit.OutcomeUnknown && !c.doubtful && !c.ends && c.key == "" && !strings.HasPrefix(c.process, "approver"): // earlier calls
		l.breach(doubtHasCause, "%s %s is claimed as unknown", mark, c.op)
	case c.told == prospectkit.OutcomeNotApplied && c.old > 0 && c.old == c.tries && !c.ends:
		l.breach(idleFailsNothing, "%s %s was tried %d times, and given up", mark, c.op, c.tries)
	case c.resolved == prospectkit.OutcomeApplied && c.applied == 0 && !absolute(c.op):
		l.breach(resolutionsTrue, "%s %s: resolved as applied, but it was not", mark, c.op)
	case c.resolved == prospectkit.OutcomeNotApplied && c.applied > 0:
		l.breach(resolutionsTrue, "%s %s: resolved as not applied, but it was", mark, c.op)
	}
}

// absolute are the writes whose state another call can bring about.
func absolute(name string) bool {
	o, _ := op.ByName(name)
	return o.Class == op.Idempotent || o.Class == op.GuardedByState
}

// leaves: before a write or a paid read leaves, its ticket is durable.
func (l *laws) leaves(s *sim.Start, o *op.Op, r *http.Request, wanted time.Time) {
	l.Lock()
	defer l.Unlock()
	l.news, l.arrivals = true, l.arrivals || o == nil || !o.FreeRead() // the books of a read tell the laws nothing
	mark := markOf(r)
	c := l.calls[mark]
	if o == nil || o.FreeRead() || s.Disk == nil {
		return
	}
	ticket := `"op":"` + o.Name + `"` // of a part of a call that makes several
	if c != nil {
		ticket = "#" + mark + `"`
	}
	text := s.Disk.Durable("journal")
	at := bytes.LastIndex(text, []byte(ticket))
	if at < 0 {
		l.breach(nothingForgotten, "%s %s leaves without a durable ticket", mark, o.Name)
		return
	}
	_, last, _ := bytes.Cut(text[at:], []byte(`"lastSent":"`))
	last, _, _ = bytes.Cut(last, []byte(`"`))
	if sent, err := time.Parse(time.RFC3339Nano, string(last)); c != nil && (err != nil || wanted.Sub(sent) > 2*time.Second) {
		l.breach(ticketsTellWhen, "%s %s leaves %v after the time in its ticket, %v", mark, o.Name, wanted.Sub(sent), err)
	}
}

// pause is what a 429 asked for.
type pause struct{ told, until time.Time }

// obeys: what wants to be sent after a process was told to wait has waited.
func (l *laws) obeys(s *sim.Start, o *op.Op, wanted time.Time) {
	l.Lock()
	defer l.Unlock()
	if p := l.paused[surfaceOf(s, o)]; wanted.After(p.told) && wanted.Before(p.until) && !s.Dawdled() { // it was admitted before its ticket took long to store
		l.breach(pausesHold, "%s: wanted %v before its end", surfaceOf(s, o), p.until.Sub(wanted))
	}
}

// refused notes a 429 that tells how long to wait.
func (l *laws) refused(s *sim.Start, o *op.Op, resp *http.Response) {
	l.Lock()
	defer l.Unlock()
	wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if at, bad := http.ParseTime(resp.Header.Get("Retry-After")); bad == nil {
		var date time.Time
		date, err = http.ParseTime(resp.Header.Get("Date"))
		wait = int(at.Sub(date) / time.Second)
	}
	if resp.StatusCode != http.StatusTooManyRequests || err != nil {
		return
	}
	now := time.Now()
	if until := now.Add(time.Duration(wait) * time.Second); until.After(l.paused[surfaceOf(s, o)].until) {
		l.paused[surfaceOf(s, o)] = pause{now.Add(time.Second), until} // it reads the response first
	}
}

func surfaceOf(s *sim.Start, o *op.Op) string {
	if o == nil {
		return ""
	}
	return s.Text + " " + string(o.Surface)
}

// opOf is the operation of a request with a mark.
func (l *laws) opOf(r *http.Request) (o *op.Op) {
	l.about(markOf(r), func(c *made) { o, _ = op.ByName(c.op) })
	return o
}

// remembers: what a dead start has sent, and was not told about, is in doubt or noted as applied.
func (l *laws) remembers(s *sim.Start, entries map[string][]journal.Entry, doubts []string, open []spend.Reservation) {
	l.Lock()
	defer l.Unlock()
	for mark, c := range l.calls {
		if c.process != s.Name || c.goal || c.excused || c.applied == 0 {
			continue
		}
		in := entries[mark]
		if !c.archived && !slices.ContainsFunc(in, func(e journal.Entry) bool { return e.Outcome != journal.NotApplied }) {
			l.breach(nothingForgotten, "%s %s was applied, and is neither known nor in doubt: %v", mark, c.op, in)
		}
	}
	for mark, in := range entries {
		for _, e := range in {
			if e.Outcome != journal.Unknown && reserved(open, e.Ticket.ID) {
				l.breach(creditsReturn, "%s %s, %s", mark, e.Ticket.Op, e.Outcome)
			}
			if l.settled[e.Ticket.ID] && e.By != person {
				l.breach(settlementsStay, "%s %s, by %q", mark, e.Ticket.Op, e.By)
			}
		}
		c := l.calls[mark]
		if c == nil || c.goal || c.excused {
			continue
		}
		left := c.archived // an approval that waited too long after its last look ends its ticket unsent, and begins another one
		for _, e := range in {
			left = left || e.Outcome != journal.NotApplied
		}
		for _, e := range in {
			if e.Outcome == journal.Unknown && doubts != nil && !slices.Contains(doubts, e.Ticket.ID) {
				l.breach(nothingForgotten, "%s %s is unknown, and not in doubt", mark, c.op)
			}
			if e.Outcome == journal.Applied && c.applied == 0 && !absolute(c.op) || !left && c.applied > 0 {
				l.breach(claimsAreTrue, "%s %s is noted as %s, applied: %d", mark, c.op, e.Outcome, c.applied)
			}
		}
	}
}

// note lets f change what is known.
func (l *laws) note(f func()) {
	l.Lock()
	defer l.Unlock()
	f()
}

// about lets f change what is known about a call; if there is none with the mark, nothing comes of it.
func (l *laws) about(mark string, f func(*made)) {
	l.note(func() { f(cmp.Or(l.calls[mark], new(made))) })
}

// begin notes a call that is about to be made.
func (l *laws) begin(mark string, c *made) {
	l.note(func() { l.calls[mark], l.marks = c, append(l.marks, mark) })
}

// forgetful is how long a new process depends on what responses tell: until nothing counts any more that the last one has sent.
const forgetful = 70 * time.Second

// restarts notes that a process begins again. It knows nothing of what the last one has sent, and its first request asks.
func (l *laws) restarts() {
	l.Lock()
	defer l.Unlock()
	l.restarted = time.Now()
	l.excuses = append(l.excuses, l.restarted)
}

// hides notes that a new process is not told what is left: by a response, or since a request of the last one arrives late.
func (l *laws) hides() {
	l.Lock()
	defer l.Unlock()
	if time.Since(l.restarted) < forgetful {
		l.excuses = append(l.excuses, time.Now())
	}
}

// again reads the books although no step is taken now.
func (l *laws) again() {
	l.Lock()
	defer l.Unlock()
	l.read(l.service.Journal())
	l.news = true
}

// archive takes what leaves a journal.
func (l *laws) archive(e journal.Entry) error {
	l.about(markOfTicket(e.Ticket), func(c *made) { c.archived = c.archived || e.Outcome == journal.Applied })
	return nil
}

// repeats notes that a gateway makes two requests of one, and tells of itself: nothing is excused but the second one, if that is not refused.
func (l *laws) repeats(mark string, arrives bool) {
	l.about(mark, func(c *made) {
		if l.limits, c.doubtful = false, true; arrives {
			c.repeats++
		}
	})
}

// meets notes that a request has left, and whether its sender can know the outcome.
func (l *laws) meets(mark string, harmless bool) {
	l.about(mark, func(c *made) { c.tries, c.doubtful = c.tries+1, c.doubtful || !harmless })
}

// idles notes that a request got a connection that was idle for too long.
func (l *laws) idles(mark string) {
	l.about(mark, func(c *made) { c.tries, c.old = c.tries+1, c.old+1 })
}

// shown notes what a review shows: the list of the campaign has two contacts or more.
func (l *laws) shown(r *prospectkit.Review) {
	if r.ContactsCount < 2 && !strings.Contains(r.String(), "of whom were read") {
		_ = l.fails(reviewsCount, errors.New(r.String()))
	}
}

// twice notes that a gateway has delivered a call twice, and tells nobody.
func (l *laws) twice(mark string) {
	l.about(mark, func(c *made) { l.repeated, l.limits, c.excused = true, false, true })
}

// undone: somebody has undone a call. Shortly after it, that counts as done at the same moment.
func (l *laws) undone(mark string, shortly time.Duration) {
	l.Lock()
	defer l.Unlock()
	for other, c := range l.calls {
		if other == mark || c.op == "lists.move" {
			c.excused = c.excused || time.Since(c.sent) < shortly
		}
	}
}

// told notes what a program hears, if it lives.
func (l *laws) told(s *sim.Start, mark string, err error) {
	l.Lock()
	defer l.Unlock()
	if err != nil && strings.Contains(fmt.Sprintf("%v %+v", err, err), keyPrefix) {
		l.breach(keyStays, "%s: %v", mark, err)
	}
	if !s.Alive() {
		return
	}
	if c := l.calls[mark]; c != nil {
		c.told, l.news = prospectkit.OutcomeOf(err), true
		if c.id != "" && c.told != prospectkit.OutcomeUnknown {
			l.owed[c.id] = s.Text
		}
	}
}

// keyed notes the key of a call that is about to be made, and its body.
func (l *laws) keyed(mark, key, given string) {
	l.about(mark, func(c *made) { c.key, c.given = key, given })
}

// already notes that a program hears that an earlier call has done what this one asked for: one with the key and the body.
func (l *laws) already(s *sim.Start, mark string) {
	l.Lock()
	defer l.Unlock()
	c := l.calls[mark]
	if !s.Alive() || c == nil {
		return
	}
	c.told, l.news = prospectkit.OutcomeNotApplied, true
	l.mark("done before, with this key")
	for _, other := range l.calls {
		same := other.process == c.process && other.key == c.key && other.given == c.given
		if other != c && (same || absolute(c.op) && other.op == c.op) && (other.applied > 0 || other.excused) { // resolved by a state that another call has brought about
			return
		}
	}
	l.breach(claimsAreTrue, "%s %s is claimed as done before, and it was not", mark, c.op)
}

// ticket notes the ticket of a call.
func (l *laws) ticket(t journal.Ticket) {
	l.about(markOfTicket(t), func(c *made) { c.id, c.sent, c.once = t.ID, t.LastSent, t.Once })
}

// truth is whether a call that was made long ago has happened.
func (l *laws) truth(mark string, t journal.Ticket) (happened, known bool) {
	l.Lock()
	defer l.Unlock()
	c := l.calls[mark]
	known = c != nil && !c.excused && !c.goal && time.Since(t.LastSent) > 2*time.Minute
	return known && c.applied > 0, known
}

// owes are the tickets that a start has to settle with the guard now.
func (l *laws) owes(s *sim.Start) (ids []string) {
	l.Lock()
	defer l.Unlock()
	for id, start := range l.owed {
		if start == s.Text {
			ids = append(ids, id)
		}
	}
	return ids
}

// returned: what a guard owed its store is not reserved any more.
func (l *laws) returned(ids []string, open []spend.Reservation) {
	l.Lock()
	defer l.Unlock()
	for _, id := range ids {
		if delete(l.owed, id); reserved(open, id) {
			l.breach(creditsReturn, "ticket %s", id)
		}
	}
}

// refusedBy notes what a store has reserved for calls of which it said that it failed.
func (l *laws) refusedBy(s *sim.Start, before, after []spend.Reservation) {
	l.Lock()
	defer l.Unlock()
	for _, r := range after {
		if !reserved(before, r.ID) {
			l.owed[r.ID] = s.Text
		}
	}
}

func reserved(open []spend.Reservation, id string) bool {
	return slices.ContainsFunc(open, func(r spend.Reservation) bool { return r.ID == id })
}

// closed: the journal was closed without an error.
func (l *laws) closed(s *sim.Start) {
	l.Lock()
	defer l.Unlock()
	text := s.Disk.Durable("journal")
	for mark, c := range l.calls {
		known := c.process == s.Name && c.start == s.Number && c.id != "" && c.told != "" && c.told != prospectkit.OutcomeUnknown
		if !known || c.goal || c.ends || l.shaky { // the guard is first: what it could not note stays in doubt
			continue
		}
		if bytes.Contains(text, []byte(`"`+c.id+`"`)) && !bytes.Contains(text, []byte(`"ended":"`+c.id+`"`)) {
			l.breach(closeKeeps, "%s %s, %s", mark, c.op, c.told)
		}
	}
}

// heard notes what was resolved about a call.
func (l *laws) heard(s *sim.Start, mark string, r *prospectkit.Resolution) {
	l.Lock()
	defer l.Unlock()
	if c := l.calls[mark]; c != nil && r != nil && s.Alive() {
		next := ""
		switch known, again := r.Outcome != prospectkit.OutcomeUnknown, !r.Again.IsZero(); {
		case known && again:
			l.breach(resolutionsTrue, "%s %s: %s", mark, c.op, r)
		case known:
			c.resolved, l.news = r.Outcome, true
		case again:
			next = ", to be read again"
		default:
			next = ", for a person"
		}
		l.mark("resolved: %s%s", r.Outcome, next)
	}
}

// recovered notes what a Recover says of the only call in doubt: in one group, which says the truth.
func (l *laws) recovered(s *sim.Start, mark string, r *prospectkit.Recovery, err error) {
	for group, all := range map[string][]prospectkit.Recovered{"settled": r.Settled, "later": r.Later, "for a person": r.Person} {
		for _, d := range all {
			unknown, again := d.Resolution.Outcome == prospectkit.OutcomeUnknown, !d.Resolution.Again.IsZero()
			honest := map[string]bool{"settled": !unknown && d.Err == nil, "later": again && (unknown || d.Err != nil), "for a person": unknown && !again && d.Err == nil}
			if !honest[group] || (d.Err != nil) != (err != nil) {
				_ = l.fails(resolutionsTrue, fmt.Errorf("%s: %s: %s, %w, %w", mark, group, d.Resolution, d.Err, err))
			}
			l.reach("recovered: %s", group)
			if d.Err == nil {
				l.heard(s, mark, d.Resolution)
			}
		}
	}
}

// reach marks what a night of seeds has to show at least once.
func (l *laws) reach(format string, args ...any) {
	l.note(func() { l.mark(format, args...) })
}

func (l *laws) mark(format string, args ...any) { l.reached[fmt.Sprintf(format, args...)] = true }

// fails breaks a law that a program finds out about itself.
func (l *laws) fails(law string, err error) error {
	l.Lock()
	defer l.Unlock()
	if err != nil {
		l.breach(law, "%v", err)
	}
	return err
}

// opened: what a crash leaves can be read.
func (l *laws) opened(err error) {
	if errors.Is(err, journal.ErrCorrupt) || errors.Is(err, journal.ErrForeign) || errors.Is(err, journal.ErrLocked) {
		_ = l.fails(journalOpens, err)
	}
}

func markOf(r *http.Request) string { return markIn(r.URL.RawQuery) }

func markOfTicket(t journal.Ticket) string {
	_, mark, _ := strings.Cut(t.Actor, "#")
	return mark
}

func markIn(query string) string {
	_, mark, _ := strings.Cut(query, "mark=")
	mark, _, _ = strings.Cut(mark, "&")
	return mark
}
