package budget

import (
	"context"
	"errors"
	"time"
)

// SharedLimiter lets calls go when a state allows it that several processes share. Each process has its own line; the one who stands first
// asks for all, outside of the lock. While the store is away, the process lives by a part of its own.
type SharedLimiter struct {
	Limiter // its state is a copy of the store's, or the part of this process
	link    *Link
	store   func(context.Context, *Ask) (Reply, error)
	config  Config

	alone     bool     // the state is the part of this process
	elsewhere int      // requests that were sent alone, and that the store has not heard of
	unused    []Permit // of those who left meanwhile
	sent      int      // asks
	taken     int      // the latest of them whose answer was taken over
}

const (
	atOnce   = 16               // permits that are asked for together, so that every process has its turn
	pollNews = 50 * millisecond // between looks for answers that other processes got
	pollEach = 5 * millisecond  // the same for each process, if that is more
	pollRest = second           // between looks for anything else, at most
)

// NewShared returns the limiter of a surface whose state is in a store.
func NewShared(c Config, link *Link, store func(context.Context, *Ask) (Reply, error)) *SharedLimiter {
	return &SharedLimiter{Limiter: Limiter{line: Line{State: NewState(c)}}, link: link, store: store, config: c}
}

// Acquire waits like [Limiter.Acquire].
func (l *SharedLimiter) Acquire(ctx context.Context, r Request) (Permit, error) {
	if err := ctx.Err(); err != nil {
		return Permit{}, err
	}
	w := &Waiter{Priority: r.Priority, wake: make(chan struct{}, 1), waitDay: r.WaitDay, hasty: r.NoWait}
	l.mu.Lock()
	now := l.now()
	l.limit(ctx, r, w, now)
	ahead := l.line.Ahead(w.Priority)
	if ahead > 0 {
		if refusal := l.hopeless(now, ahead, w); refusal != nil {
			l.mu.Unlock()
			return Permit{}, refusal
		}
	}
	l.line.Join(w)
	l.mu.Unlock()
	l.serve(ctx, w, true)
	if refusal := l.settled(w, ahead); refusal != nil {
		return Permit{}, refusal
	}
	return l.stand(ctx, l, w)
}

// settled refuses a newcomer for whom waiting is hopeless by the latest news.
func (l *SharedLimiter) settled(w *Waiter, ahead int) *RefusedError {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.queued {
		return w.refusal
	}
	now := l.now()
	refusal := l.hopeless(now, ahead, w)
	if refusal == nil && w.hasty {
		refusal = l.tooLate(now, w, false)
	}
	if refusal != nil {
		l.quit(w)
	}
	return refusal
}

// Take leaves everything to Acquire: there is an exchange to wait for.
func (l *SharedLimiter) Take(time.Time, Priority, *Permit) bool { return false }

// Done reports like [Limiter.Done], but the time is that of the store.
func (l *SharedLimiter) Done(_ time.Time, r *Report) {
	r.spread()
	l.mu.Lock()
	l.travelled(l.now(), r)
	a := l.ask([]Report{*r}, l.line.order(l.asked, atOnce), nil)
	l.mu.Unlock()
	l.exchange(context.Background(), a, nil)
}

func (l *SharedLimiter) tend(ctx context.Context, w *Waiter) { l.serve(ctx, w, false) }

// serve asks for all who wait, if it is time and this is the one to do it.
func (l *SharedLimiter) serve(ctx context.Context, w *Waiter, arrived bool) {
	l.mu.Lock()
	first := l.line.Head() == w
	var a *Ask
	if w.queued && (first || arrived) && (l.now() >= l.due || first && arrived) {
		wanted := l.line.order(l.asked, atOnce)
		if len(wanted) == 0 && w.hasty { // another answer may come too late for it
			wanted = []Priority{w.Priority}
		}
		if len(wanted) > 0 {
			a = l.ask(nil, wanted, w)
		}
	}
	l.mu.Unlock()
	l.exchange(ctx, a, w)
}

// ask prepares an exchange. While the store is away it is nil, and the process has decided for itself.
func (l *SharedLimiter) ask(reports []Report, wanted []Priority, caller *Waiter) *Ask {
	if !l.link.usable() {
		l.decide(reports, caller)
		return nil
	}
	l.sent++
	a := &Ask{
		Config: l.config, Returned: l.alone, Elsewhere: l.elsewhere, Reports: reports, Wanted: wanted, number: l.sent,
	}
	l.asked += len(wanted)
	l.elsewhere = 0
	return a
}

// exchange carries an ask to the store, and permits that nobody needs any more back to it. Nobody waits for the store longer than
// the link allows, and nobody who is cancelled loses a permit by it.
func (l *SharedLimiter) exchange(ctx context.Context, a *Ask, caller *Waiter) {
	for a != nil {
		a = l.carry(ctx, a, caller)
	}
}

func (l *SharedLimiter) carry(ctx context.Context, a *Ask, caller *Waiter) (next *Ask) {
	panicked := true
	defer func() {
		if panicked {
			l.abandon(a, caller)
		}
	}()
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.link.Timeout)
	defer cancel()
	reply, err := l.store(bounded, a)
	if err != nil {
		l.link.lost(err)
	} else {
		l.link.reached(reply.Processes)
	}
	panicked = false
	return l.answered(a, &reply, err, caller)
}

var errPanicked = errors.New("budget: the store panicked")

// abandon ends an exchange in which the store, or the log, panicked: the caller is gone, and the others go on without an answer.
func (l *SharedLimiter) abandon(a *Ask, caller *Waiter) {
	if caller != nil {
		l.mu.Lock()
		if caller.queued {
			l.line.Leave(caller)
		} else if caller.refusal == nil {
			l.unused = append(l.unused, caller.Permit)
		}
		l.mu.Unlock()
	}
	l.answered(a, nil, errPanicked, nil)
	l.link.lost(errPanicked)
}

// answered takes what the store said over, and returns what there is to say next.
func (l *SharedLimiter) answered(a *Ask, reply *Reply, err error, caller *Waiter) *Ask {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked -= len(a.Wanted)
	if err != nil {
		l.elsewhere += a.Elsewhere
		l.decide(a.Reports, caller)
		return nil
	}
	for _, g := range reply.Grants { // first, so that the news refuses nobody who may go
		l.hand(g, caller)
	}
	if a.number > l.taken {
		l.taken = a.number
		l.adopt(reply, len(reply.Grants) < len(a.Wanted))
	}
	l.call(caller)
	if len(l.unused) == 0 {
		return nil
	}
	back := make([]Report, len(l.unused))
	for i, p := range l.unused {
		back[i] = Report{p, Observation{NotSent: true}}
	}
	l.unused = l.unused[:0]
	return l.ask(back, nil, caller)
}

// adopt takes over what the store knows.
func (l *SharedLimiter) adopt(r *Reply, denied bool) {
	l.follow(r.Now)
	news := l.alone || r.State.Epoch != l.line.State.Epoch || r.State.Figures.Remaining == 0 && l.line.State.Figures.Remaining > 0
	l.line.State, l.alone = r.State, false
	now := l.now()
	l.due = 0
	if denied {
		poll := pollRest
		if r.Denied.Reason == News {
			poll = min(max(pollNews, Instant(r.Processes)*pollEach), pollRest)
		}
		l.due = min(max(r.Denied.Until, now+millisecond), now+poll)
	}
	if news {
		l.review(now)
	}
}

// follow sets the clock by that of the store.
func (l *SharedLimiter) follow(now Instant) {
	change := now - l.now()
	l.ahead += change
	l.latest += change
	l.due += change
	for _, q := range l.line.queues {
		for w := q.first; w != nil; w = w.next {
			w.giveUp += change
		}
	}
}

// hand gives a permit to the first who may have it, or to a caller who cannot wait while all others are still asked for.
func (l *SharedLimiter) hand(g Grant, caller *Waiter) {
	w := l.line.queues[g.Priority].first
	if caller != nil && caller.hasty && caller.queued && caller.Priority == g.Priority && l.asked >= l.line.Waiting()-1 {
		w = caller
	}
	if w == nil && g.Priority == Batch { // it leaves the reserve alone, so anybody may
		w = l.line.queues[Interactive].first
	}
	if w == nil {
		l.unused = append(l.unused, g.Permit)
		return
	}
	l.line.passed(w)
	w.Permit = g.Permit
	w.nudge()
}

// decide goes by the part of this process.
func (l *SharedLimiter) decide(reports []Report, caller *Waiter) {
	now, s := l.now(), &l.line.State
	if !l.alone {
		l.line.State, l.alone = s.alone(now, l.link.parts()), true
		l.review(now)
	}
	for _, r := range reports {
		if p := r.Permit; p.Epoch >= s.Born && p.Epoch <= s.Epoch && !r.Observation.NotSent {
			l.elsewhere += 1 + r.Observation.Replays
		}
		s.Report(now, r.Permit, r.Observation)
	}
	l.pump(now, caller)
	if l.line.Waiting() > 0 {
		l.due = min(l.due, now+instant(probeEvery))
	}
	l.call(caller)
}
