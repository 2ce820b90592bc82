package budget

import (
	"context"
	"errors"
	"time"
)

// store is how a limiter shares its state with other processes. Each process has its own queue. One exchange carries
// an [Ask] to the store (reports on ended requests, and how many calls wait) and brings a [Reply] back (permits, and a copy of the state).
//
//   - Who asks: a call that arrives, a request that ends, and the first in the queue when it is time (due). One exchange is in flight, outside
//     of the lock: whoever gets the turn takes the reports of all along and asks for all that wait, so those that come next need not (round).
//   - What comes back: permits go to the first in the queue (hand), whoever asked. Those that nobody needs any more are unused, and
//     go back with the next ask.
//   - While the store is unavailable (alone), decide uses this process's part of the limits, and elsewhere counts what the store has
//     to be told of. Nobody waits for the turn then.
type store struct {
	client *StoreClient
	send   func(context.Context, *Ask) (Reply, error)
	config Config
	turn   chan struct{} // full while an exchange is in flight

	alone     bool      // the store is unavailable: the state is the part of this process, else a copy of the store's
	elsewhere int       // requests that were sent alone, and that the store has to be told of
	unused    []Permit  // of the store, to be returned: of calls that left the queue meanwhile, or whose end elsewhere counts
	pending   []Report  // for the next ask
	round     int       // how often the pending reports were taken, and all that waited were considered
	asked     time.Time // the last one
}

const (
	atOnce       = 16               // permits of one ask, so that every process gets some
	pollResponse = 50 * millisecond // between probes for answers that other processes got
	pollEach     = 5 * millisecond  // the same for each process, if that is more
	pollRest     = second           // between probes for anything else, at most
)

// NewShared returns the limiter of a surface whose state is in a store.
func NewShared(c Config, client *StoreClient, send func(context.Context, *Ask) (Reply, error)) *Limiter {
	now := time.Now() // the clock of the store, more or less: permits of a process that has not reached it yet may be reported to it
	return &Limiter{
		queue: Queue{State: NewState(c)}, start: now, ahead: Instant(now.UnixMicro()),
		store: &store{client: client, send: send, config: c, turn: make(chan struct{}, 1)},
	}
}

// tell takes a report to the store. It returns when it is there, or counts elsewhere.
func (l *Limiter) tell(r *Report) {
	l.mu.Lock()
	l.recordRoundTrip(l.now(), r)
	l.pending = append(l.pending, *r)
	round := l.round
	l.mu.Unlock()
	l.exchange(context.Background(), new(Waiter), func() bool { return l.round == round })
}

// askFor asks for all waiters, if it is time and this call has to do it.
func (l *Limiter) askFor(ctx context.Context, w *Waiter, arrived bool) {
	l.mu.Lock()
	round := l.round
	l.mu.Unlock()
	l.exchange(ctx, w, func() bool {
		first := l.queue.Head() == w
		return w.queued && (first || arrived) && (l.now() >= l.due || first && arrived && l.round == round)
	})
}

// exchange asks the store when it is the turn of this call, unless others that had the turn before have made it needless.
func (l *Limiter) exchange(ctx context.Context, caller *Waiter, needed func() bool) {
	for ctx.Err() == nil && l.needs(caller, needed) {
		select {
		case l.turn <- struct{}{}:
			l.useTurn(ctx, caller, needed)
			return
		case <-caller.wake: // it may go, or has to look again
		case <-ctx.Done():
		case <-time.After(3 * l.client.Timeout): // the exchange in flight and the next one take two
			if l.overdue() {
				l.client.heard(0, errOverdue)
			}
		}
	}
}

var errOverdue = errors.New("budget: the store does not return when the context ends")

// overdue reports whether the store keeps an exchange for longer than it may.
func (l *Limiter) overdue() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.asked) > 2*l.client.Timeout
}

// needs reports whether to ask the store. While it is unavailable, the process decides alone.
func (l *Limiter) needs(caller *Waiter, needed func() bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-caller.wake: // for this look: chance must not decide whether the turn comes first
	default:
	}
	switch {
	case !needed():
		return false
	case l.client.usable():
		return true
	}
	l.decide(caller)
	return false
}

// useTurn asks, and passes the turn on. A cancelled call loses no permit.
func (l *Limiter) useTurn(ctx context.Context, caller *Waiter, needed func() bool) {
	defer func() { <-l.turn }()
	var a *Ask
	l.mu.Lock()
	if needed() {
		a = l.ask()
	}
	l.mu.Unlock()
	for a != nil {
		a = l.carry(ctx, a, caller)
	}
}

// ask takes along what the store has to be told, and asks for those that wait.
func (l *Limiter) ask() *Ask {
	a := &Ask{Config: l.config, Returned: l.alone, Elsewhere: l.elsewhere, Reports: l.pending, Wanted: l.queue.order(atOnce)}
	for _, p := range l.unused {
		a.Reports = append(a.Reports, Report{p, Observation{NotSent: true}})
	}
	l.elsewhere, l.unused, l.pending = 0, nil, nil
	l.round++
	l.asked = time.Now()
	return a
}

// carry takes an ask to the store, for no longer than the client allows.
func (l *Limiter) carry(ctx context.Context, a *Ask, caller *Waiter) (next *Ask) {
	panicked := true
	defer func() {
		if panicked {
			l.abandon(a, caller)
		}
	}()
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.client.Timeout)
	defer cancel()
	reply, err := l.send(bounded, a)
	l.client.heard(reply.Processes, err)
	panicked = false
	return l.answered(a, &reply, err, caller)
}

var errPanicked = errors.New("budget: the store panicked")

// abandon ends an exchange in which the store, or the log, panicked: the caller is gone, and the others continue without a reply.
func (l *Limiter) abandon(a *Ask, caller *Waiter) {
	l.mu.Lock()
	if l.queue.Leave(caller); caller.Permit.Valid() {
		l.unused = append(l.unused, caller.Permit)
	}
	l.mu.Unlock()
	l.answered(a, nil, errPanicked, caller)
	l.client.heard(0, errPanicked)
}

// answered applies a reply, and returns another ask if permits came that nobody needs any more.
func (l *Limiter) answered(a *Ask, reply *Reply, err error, caller *Waiter) *Ask {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.elsewhere += a.Elsewhere
		l.pending = append(a.Reports, l.pending...)
		l.decide(caller)
		return nil
	}
	for _, g := range reply.Grants { // first, so that the new state refuses no call that may go
		l.hand(g)
	}
	l.adopt(reply, len(reply.Grants) < len(a.Wanted))
	l.call(caller)
	if len(l.unused) == 0 {
		return nil
	}
	return l.ask()
}

// adopt takes over the state of the store.
func (l *Limiter) adopt(r *Reply, denied bool) {
	l.follow(r.Now)
	news := l.alone || r.State.Epoch != l.queue.State.Epoch || r.State.Figures.Remaining == 0 && l.queue.State.Figures.Remaining > 0
	l.queue.State, l.alone = r.State, false
	now := l.now()
	l.due = 0
	if denied {
		poll := pollRest
		if r.Denied.News {
			poll = min(max(pollResponse, Instant(r.Processes)*pollEach), pollRest)
		}
		l.due = min(max(r.Denied.Until, now+millisecond), now+poll)
	}
	if news {
		l.review(now)
	}
}

// follow sets the clock to that of the store.
func (l *Limiter) follow(now Instant) {
	change := now - l.now()
	l.ahead += change
	l.latest += change
	l.due += change
	for _, q := range l.queue.queues {
		for _, w := range q {
			w.giveUp += change
		}
	}
}

// hand gives a permit to the first call that may have it.
func (l *Limiter) hand(g Grant) {
	w := l.queue.first(g.Priority)
	if w == nil && g.Priority == Batch { // it leaves the reserve untouched, so any call may have it
		w = l.queue.first(Interactive)
	}
	if w == nil {
		l.unused = append(l.unused, g.Permit)
		return
	}
	l.queue.passed(w)
	w.Permit = g.Permit
	w.signal()
}

// decide uses the part of this process.
func (l *Limiter) decide(caller *Waiter) {
	now, s := l.now(), &l.queue.State
	if !l.alone {
		l.queue.State, l.alone = s.alone(now, l.client.parts()), true
		l.review(now)
	}
	for _, r := range l.pending {
		if !r.Observation.NotSent {
			l.elsewhere += 1 + r.Observation.Replays
		}
		if p := r.Permit; p.Epoch < s.Born || p.Epoch > s.Epoch { // the store would take it for one in flight
			l.unused = append(l.unused, p)
		}
		s.report(now, &r.Permit, &r.Observation)
	}
	l.pending = nil
	l.round++
	l.dispatch(now, caller)
	if l.queue.Waiting() > 0 {
		l.due = min(l.due, now+instant(retryEvery))
	}
	l.call(caller)
}
