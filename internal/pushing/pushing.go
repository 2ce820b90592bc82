// Package pushing sends contacts in parts, and keeps the checkpoint of that. Package push has what users name of it.
package pushing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/errtext"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/settings"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/push"
)

// Sender is what sends the parts: the client.
type Sender struct {
	Target string // names where the parts go, in the checkpoint
	Size   int    // of a part
	// Send calls save right before it sends, after its ticket was stored. It sends nothing if that fails.
	Send    func(ctx context.Context, contactIDs []string, ticket string, save func() error) error
	Outcome func(error) journal.Outcome
	Ends    func(error) bool             // the same error would meet every other part
	Refuse  func(check.Violations) error // the error of arguments
	Unknown error                        // of a part that an earlier run sent

	// Of a journal that tells how calls have ended; otherwise nil.
	Ticket func() string                                             // makes the ID of the ticket of a Send, which otherwise has none
	Calls  func(ctx context.Context) iter.Seq2[journal.Entry, error] // those of Send, with their outcomes
	Early  func(error) error                                         // the error of a push that ends with parts left, or with an unstored checkpoint
}

// The states of parts in a checkpoint.
const (
	unsent  = '-'
	applied = 'a'
	unknown = 'u' // sent, or about to be
)

// run is the state of a push, which all ranges share: a second range continues the first.
type run struct {
	Sender
	settings.Push
	parts       [][]string
	fingerprint string
	states      []byte
	tickets     []string // of parts whose outcome is unknown, joined by "+"; empty: of a call without one
	shown       []byte   // the outcomes that were yielded in this process
	busy        atomic.Bool
	hangs       bool // SaveTo was abandoned: it may still store the checkpoint that it was given
}

// Each sends parts, and yields each with its outcome.
func Each(ctx context.Context, s Sender, contactIDs []string, opts []push.Option) iter.Seq2[*push.Part, error] {
	r := &run{Sender: s, Push: settings.Push{Except: make(map[string]bool)}}
	settings.Read(&r.Push, &r.Bad, opts)
	r.Bad.IDs("contactIds", contactIDs)
	r.plan(check.Distinct(contactIDs))
	return func(yield func(*push.Part, error) bool) {
		switch {
		case len(r.Bad) > 0:
			yield(nil, r.Refuse(r.Bad))
		case r.busy.Swap(true):
			yield(nil, r.Refuse(check.One("PushEach", "is already running in another loop")))
		default:
			defer r.busy.Store(false)
			if r.hangs {
				yield(nil, r.Early(errHangs))
				return
			}
			r.each(ctx, yield)
		}
	}
}

// plan divides the ids into parts, and reads the checkpoint.
func (r *run) plan(ids []string) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%d", r.Target, r.Size)
	for begin := 0; begin < len(ids); begin += r.Size {
		part := ids[begin:min(begin+r.Size, len(ids))]
		r.parts = append(r.parts, part)
		fmt.Fprint(sum, "\x00", strings.ToLower(strings.Join(part, "")))
	}
	r.fingerprint = "push1." + hex.EncodeToString(sum.Sum(nil)[:8]) + "."
	r.states = []byte(strings.Repeat(string(unsent), len(r.parts)))
	r.tickets = make([]string, len(r.parts))
	if r.From != "" {
		r.Bad.Must(r.resume(), "ResumeFrom", "is not a checkpoint of this push: its list, CRM or contact ids are others")
	}
	r.shown = make([]byte, len(r.parts))
	for _, n := range r.Repeats {
		r.Bad.Must(n >= 1 && n <= len(r.parts), "RepeatUnknown", "has no part %d: the push has %d", n, len(r.parts))
	}
}

// resume reads the checkpoint. It reports false if that is of another push.
func (r *run) resume() bool {
	text, ok := strings.CutPrefix(r.From, r.fingerprint)
	states, tickets, some := strings.Cut(text, ".")
	open := strings.Split(tickets, ".")
	if !ok || len(states) != len(r.parts) || strings.Trim(states, "-au") != "" || some && len(open) != strings.Count(states, string(unknown)) {
		return false
	}
	r.states = []byte(states)
	for i := 0; some && i < len(states); i++ {
		if states[i] == unknown {
			r.tickets[i], open = open[0], open[1:]
		}
	}
	return true
}

// checkpoint is what resume reads. Without tickets, it ends after the states.
func (r *run) checkpoint() string {
	var open strings.Builder
	for i, tickets := range r.tickets {
		if r.states[i] == unknown {
			open.WriteString("." + tickets)
		}
	}
	text := r.fingerprint + string(r.states)
	if strings.Trim(open.String(), ".") == "" {
		return text
	}
	return text + open.String()
}

// settle asks the journal for the outcomes of the parts that are unknown.
func (r *run) settle(ctx context.Context) error {
	if r.Calls == nil || strings.Join(r.tickets, "") == "" {
		return nil
	}
	known := map[string]journal.Outcome{}
	for e, err := range r.Calls(ctx) {
		if err != nil {
			return r.Early(err)
		}
		known[e.Ticket.ID] = e.Outcome
	}
	before := string(r.states)
	for i, tickets := range r.tickets {
		outcomes := map[journal.Outcome]bool{}
		for id := range strings.SplitSeq(tickets, "+") {
			outcomes[known[id]] = true
		}
		switch {
		case r.states[i] != unknown:
		case outcomes[journal.Applied]:
			r.states[i], r.tickets[i] = applied, ""
		case outcomes[journal.NotApplied] && len(outcomes) == 1:
			r.states[i], r.tickets[i] = unsent, ""
		}
	}
	if string(r.states) == before {
		return nil
	}
	return r.store(ctx) // the journal may drop the ticket later
}

func (r *run) each(ctx context.Context, yield func(*push.Part, error) bool) {
	if err := r.settle(ctx); err != nil {
		yield(nil, err)
		return
	}
	for i, ids := range r.parts {
		repeats := r.Repeat || slices.Contains(r.Repeats, i+1)
		part := &push.Part{Number: i + 1, Of: len(r.parts), Outcome: journal.NotApplied}
		part.ContactIDs, part.Excepted = r.split(ids)
		more := true
		switch {
		case r.states[i] == applied || r.states[i] == r.shown[i]:
		case r.states[i] == unknown && (!repeats || len(part.ContactIDs) == 0):
			part.Outcome, part.Earlier, r.shown[i] = journal.Unknown, true, unknown
			part.ContactIDs, part.Excepted = ids, nil // as far as this run knows
			part.Tickets = r.open(i)
			more = yield(part, r.Unknown)
		case len(part.ContactIDs) == 0:
			more = yield(part, nil)
		default:
			more = r.send(ctx, i, part, yield)
		}
		if !more {
			return
		}
	}
}

// send sends a part. It reports false if the push ends.
func (r *run) send(ctx context.Context, i int, part *push.Part, yield func(*push.Part, error) bool) bool {
	before, open := r.states[i], r.tickets[i]
	if before == unknown {
		part.MaybeSent, part.Excepted, part.Tickets = part.Excepted, nil, r.open(i)
	}
	r.states[i] = unknown
	ticket := ""
	if r.Ticket != nil {
		ticket = r.Ticket()
		r.tickets[i] = ticket
		if before == unknown {
			r.tickets[i] = open + "+" + ticket
		}
	}
	var unsaved error
	r.shown[i] = unknown // should Send panic
	err := r.Send(ctx, part.ContactIDs, ticket, func() error { unsaved = r.store(ctx); return unsaved })
	if unsaved != nil { // nothing was sent
		r.states[i], r.tickets[i], r.shown[i] = before, open, 0
		yield(part, unsaved)
		return false
	}
	switch part.Outcome = r.Outcome(err); part.Outcome {
	case journal.Applied:
		err, r.states[i], r.tickets[i] = nil, applied, ""
		if len(part.MaybeSent) == 0 {
			part.Tickets = nil
		}
	case journal.NotApplied:
		r.states[i], r.tickets[i], r.shown[i] = before, open, 0
	case journal.Unknown:
		part.Tickets = r.open(i)
	}
	unsaved = r.storeAfter(ctx)
	if !yield(part, err) || err != nil && r.Ends(err) {
		return false
	}
	switch {
	case unsaved != nil:
		yield(nil, unsaved)
		return false
	case strings.Trim(string(r.states[i+1:]), string(applied)) == "": // nothing is left
	case ctx.Err() != nil:
		yield(nil, r.Early(errtext.End(ctx, "before all parts were sent")))
		return false
	}
	return true
}

// storedWithin is how long after its context a push may take to store what a part has become.
const storedWithin = time.Second

var errHangs = errors.New("SaveTo did not return, although its context has ended")

// storeAfter stores the checkpoint after a part, also if the context has ended.
func (r *run) storeAfter(ctx context.Context) error {
	var err error
	if !exchange.Finish(ctx, storedWithin, func(ctx context.Context) { err = r.store(ctx) }) {
		r.hangs = true
		return r.Early(errHangs)
	}
	return err
}

// open are the tickets of a part.
func (r *run) open(i int) []string {
	return strings.FieldsFunc(r.tickets[i], func(c rune) bool { return c == '+' })
}

func (r *run) store(ctx context.Context) error {
	if r.Save == nil {
		return nil
	}
	if err := r.Save(ctx, r.checkpoint()); err != nil {
		return r.Early(err)
	}
	return nil
}

// split divides ids into those to send and those to keep back.
func (r *run) split(ids []string) (send, back []string) {
	for _, id := range ids {
		if r.Except[strings.ToLower(id)] {
			back = append(back, id)
		} else {
			send = append(send, id)
		}
	}
	return send, back
}
