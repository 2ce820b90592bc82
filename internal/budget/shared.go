package budget

import (
	"context"
	"errors"
	"time"
)

// store is how a limiter shares its state with other processes. Each process has its own queue. One exchange carries
// an [Ask] to the store (reports on ended requests, and how many calls wait) and brings a [Reply] back (permits, and a copy of the state).
//
//   - Who asks: a call that arrives, a request that ends, and the first in the queue when it is time (due). They ask for all that
//     wait, outside of the lock: asked is for how many an exchange is in flight.
//   - What comes back: permits go to the first in the queue (hand), whoever asked. Those that nobody needs any more are unused, and
//     go back with the next ask.
//   - While the store is unavailable (alone), decide uses this process's part of the limits, and elsewhere counts what the store has
//     to be told of.
type store struct {
	client *StoreClient
	send   func(context.Context, *Ask) (Reply, error)
	config Config

	alone     bool     // the store is unavailable: the state is the part of this process, else a copy of the store's
	elsewhere int      // requests that were sent alone, and that the store has to be told of
	unused    []Permit // of the store, to be returned: of calls that left the queue meanwhile, or whose end elsewhere counts
	sent      int      // asks, which are numbered
	taken     int      // the one whose state was adopted last
	decided   Instant  // when the store decided on it, by its clock
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
		queue: Queue{State: NewState(c)}, start: now, ahead: Instant(now.UnixMicro()), store: &store{client: client, send: send, config: c},
	}
}

// tell takes a report to the store, and asks for all waiters.
func (l *Limiter) tell(r *Report) {
	l.mu.Lock()
	l.recordRoundTrip(l.now(), r)
	a := l.ask([]Report{*r}, l.queue.order(l.asked, atOnce), nil)
	l.mu.Unlock()
	l.exchange(context.Background(), a, nil)
}

// askFor asks for all waiters, if it is time and this call has to do it.
func (l *Limiter) askFor(ctx context.Context, w *Waiter, arrived bool) {
	l.mu.Lock()
	first := l.queue.Head() == w
	var a *Ask
	if w.queued && (first || arrived) && (l.now() >= l.due || first && arrived) {
		wanted := l.queue.order(l.asked, atOnce)
		if len(wanted) == 0 && w.noWait { // another reply may come too late for it
			wanted = []Priority{w.Priority}
		}
		if len(wanted) > 0 {
			a = l.ask(nil, wanted, w)
		}
	}
	l.mu.Unlock()
	l.exchange(ctx, a, w)
}

// ask prepares an exchange. While the store is unavailable it is nil, and the process has decided alone.
func (l *Limiter) ask(reports []Report, wanted []Priority, caller *Waiter) *Ask {
	if !l.client.usable() {
		l.decide(reports, caller)
		return nil
	}
	l.sent++
	a := &Ask{Config: l.config, Returned: l.alone, Elsewhere: l.elsewhere, Reports: reports, Wanted: wanted, number: l.sent}
	for _, p := range l.unused {
		a.Reports = append(a.Reports, Report{p, Observation{NotSent: true}})
	}
	l.asked += len(wanted)
	l.elsewhere, l.unused = 0, nil
	return a
}

// exchange sends an ask to the store, and returns permits that are no longer needed. No call waits for the store longer than the
// client allows, and a cancelled call loses no permit.
func (l *Limiter) exchange(ctx context.Context, a *Ask, caller *Waiter) {
	for a != nil {
		a = l.carry(ctx, a, caller)
	}
}

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
	if caller != nil {
		l.mu.Lock()
		if caller.queued {
			l.queue.Leave(caller)
		} else if caller.refusal == nil {
			l.unused = append(l.unused, caller.Permit)
		}
		l.mu.Unlock()
	}
	l.answered(a, nil, errPanicked, nil)
	l.client.heard(0, errPanicked)
}

// answered applies a reply, and returns the next ask.
func (l *Limiter) answered(a *Ask, reply *Reply, err error, caller *Waiter) *Ask {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked -= len(a.Wanted)
	if err != nil {
		l.elsewhere += a.Elsewhere
		l.decide(a.Reports, caller)
		return nil
	}
	for _, g := range reply.Grants { // first, so that the new state refuses no call that may go
		l.hand(g, caller)
	}
	late := l.decided - reply.Now
	if late < 0 || late == 0 && a.number > l.taken || late > instant(l.client.Timeout) { // the clock of the store was set back
		l.taken, l.decided = a.number, reply.Now
		l.adopt(reply, len(reply.Grants) < len(a.Wanted))
	}
	l.call(caller)
	if len(l.unused) == 0 {
		return nil
	}
	return l.ask(nil, nil, caller)
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

// hand gives a permit to the first call that may have it, or to a caller that cannot wait while all others are still being asked for.
func (l *Limiter) hand(g Grant, caller *Waiter) {
	w := l.queue.first(g.Priority)
	if caller != nil && caller.noWait && caller.queued && caller.Priority == g.Priority && l.asked >= l.queue.Waiting()-1 {
		w = caller
	}
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
func (l *Limiter) decide(reports []Report, caller *Waiter) {
	now, s := l.now(), &l.queue.State
	if !l.alone {
		l.queue.State, l.alone = s.alone(now, l.client.parts()), true
		l.review(now)
	}
	for _, r := range reports {
		if !r.Observation.NotSent {
			l.elsewhere += 1 + r.Observation.Replays
		}
		if p := r.Permit; p.Epoch < s.Born || p.Epoch > s.Epoch { // the store would take it for one in flight
			l.unused = append(l.unused, p)
		}
		s.report(now, &r.Permit, &r.Observation)
	}
	l.dispatch(now, caller)
	if l.queue.Waiting() > 0 {
		l.due = min(l.due, now+instant(retryEvery))
	}
	l.call(caller)
}
