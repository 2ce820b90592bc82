package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/journal"
)

// Sender is what sends the parts: the client.
type Sender struct {
	Target  string // names where the parts go, in the checkpoint
	Size    int    // of a part
	Send    func(ctx context.Context, contactIDs []string) error
	Outcome func(error) journal.Outcome
	Ends    func(error) bool             // the same error would meet every other part
	Refuse  func(check.Violations) error // the error of arguments
	Unknown error                        // of a part that an earlier run sent
	Unsaved func(error) error            // the error of a checkpoint that was not stored
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
	options
	parts       [][]string
	fingerprint string
	states      []byte
	shown       []byte // the outcomes that were yielded in this process
	busy        atomic.Bool
}

// Each sends parts, and yields each with its outcome. It is what PushEach of the client consists
// of: call that.
func Each(ctx context.Context, s Sender, contactIDs []string, opts []Option) iter.Seq2[*Part, error] {
	r := &run{Sender: s, options: read(opts)}
	r.bad.IDs("contactIds", contactIDs)
	r.plan(once(contactIDs))
	return func(yield func(*Part, error) bool) {
		switch {
		case len(r.bad) > 0:
			yield(nil, r.Refuse(r.bad))
		case r.busy.Swap(true):
			yield(nil, r.Refuse(check.One("PushEach", "is already running in another loop")))
		default:
			defer r.busy.Store(false)
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
	if r.resumes {
		states, ok := strings.CutPrefix(r.from, r.fingerprint)
		whole := len(states) == len(r.parts) && strings.Trim(states, "-au") == ""
		if r.bad.Must(ok && whole, "ResumeFrom", "is not a checkpoint of this push: its list, CRM or contact ids are others"); ok && whole {
			r.states = []byte(states)
		}
	}
	r.shown = make([]byte, len(r.parts))
}

func (r *run) each(ctx context.Context, yield func(*Part, error) bool) {
	for i, ids := range r.parts {
		part := &Part{Number: i + 1, Of: len(r.parts), Outcome: journal.NotApplied}
		part.ContactIDs, part.Excepted = r.split(ids)
		more := true
		switch {
		case r.states[i] == applied || r.states[i] == r.shown[i]:
		case r.states[i] == unknown && !r.repeat:
			part.Outcome, part.Earlier, r.shown[i] = journal.Unknown, true, unknown
			part.ContactIDs, part.Excepted = ids, nil // as far as this run knows
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
func (r *run) send(ctx context.Context, i int, part *Part, yield func(*Part, error) bool) bool {
	before := r.states[i]
	r.states[i] = unknown
	if err := r.store(ctx); err != nil {
		r.states[i] = before
		yield(part, err)
		return false
	}
	r.shown[i] = unknown // should Send panic
	err := r.Send(ctx, part.ContactIDs)
	switch part.Outcome = r.Outcome(err); part.Outcome {
	case journal.Applied:
		err, r.states[i] = nil, applied
	case journal.NotApplied:
		r.states[i], r.shown[i] = before, 0
	case journal.Unknown:
	}
	unsaved := r.store(context.WithoutCancel(ctx))
	if !yield(part, err) || ctx.Err() != nil || err != nil && r.Ends(err) {
		return false
	}
	if unsaved != nil {
		yield(nil, unsaved)
	}
	return unsaved == nil
}

func (r *run) store(ctx context.Context) error {
	if r.save == nil {
		return nil
	}
	if err := r.save(ctx, r.fingerprint+string(r.states)); err != nil {
		return r.Unsaved(err)
	}
	return nil
}
