package journal

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program uses a journal and knows what it may rely on.
type program struct {
	t        *testing.T
	on       *disk
	j        *FileJournal
	calls    map[string]*made
	archived map[string]Outcome
}

// made is a call as its program knows it.
type made struct {
	stored  time.Time // the last LastSent for which Sending returned nil
	ended   Outcome
	durable bool // the outcome is
	lost    bool // a journal was closed, with an error, before the outcome was durable
}

var began = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func ticket(id string, attempt int) Ticket {
	return Ticket{
		Version: Version, ID: id, Op: "lists.create", Lookup: Lookup{Name: "list " + id}, Service: "https://service.test/api/v1",
		FirstSent: began, LastSent: began.Add(time.Duration(attempt) * time.Second),
	}
}

func (p *program) open() {
	for range 2 { // the first may fail
		j, err := openFile(p.on, "/d/journal")
		if err == nil {
			p.j = j
			return
		}
	}
	p.j = nil
}

// send makes the calls of the ids at the same time.
func (p *program) send(attempt int, ids ...string) {
	if p.j == nil {
		return
	}
	var b *batch
	for _, id := range ids {
		if p.calls[id] == nil {
			p.calls[id] = &made{}
		}
		body, err := sendingBody(ticket(id, attempt))
		require.NoError(p.t, err)
		b = p.j.join(&sending{Ticket: ticket(id, attempt), body: body})
	}
	p.j.turn <- struct{}{}
	p.j.commit()
	p.j.release()
	if b.err != nil {
		return
	}
	for _, id := range ids {
		p.calls[id].stored = ticket(id, attempt).LastSent
	}
	p.settle()
}

// end notes an outcome, which is not durable yet. A call that was refused has none.
func (p *program) end(id string, o Outcome) {
	c := p.calls[id]
	if p.j == nil || c == nil || c.stored.IsZero() {
		return
	}
	if err := p.j.Ended(p.t.Context(), id, o); !errors.Is(err, ErrClosed) {
		c.ended, c.durable, c.lost = o, false, false
	}
}

// settle says that all outcomes so far are durable.
func (p *program) settle() {
	for _, c := range p.calls {
		c.durable = !c.lost
	}
}

func (p *program) compact() {
	if p.j == nil {
		return
	}
	var ids []string
	err := p.j.Compact(p.t.Context(), time.Now().Add(time.Hour), func(e Entry) error {
		p.archived[e.Ticket.ID] = e.Outcome
		ids = append(ids, e.Ticket.ID)
		return nil
	})
	for _, id := range ids {
		p.calls[id].durable = p.calls[id].durable || err == nil
	}
}

func (p *program) close() {
	if p.j != nil && p.j.Close() == nil {
		p.settle()
	}
	for _, c := range p.calls {
		c.lost = !c.durable
	}
	p.j = nil
}

// run uses a journal in every way. A step that fails does not stop the next one.
func run(t *testing.T, on *disk) *program {
	t.Helper()
	p := &program{t: t, on: on, calls: map[string]*made{}, archived: map[string]Outcome{}}
	p.open()
	p.send(0, "a")
	p.send(0, "b")
	p.end("a", Applied)
	p.send(0, "c", "d", "e")
	p.send(1, "b")
	p.end("b", Unknown)
	p.end("d", NotApplied)
	p.compact()
	p.end("c", NotApplied)
	p.send(0, "f")
	p.end("f", Applied)
	p.close()
	p.open()
	p.end("b", Applied)
	p.send(0, "g", "h")
	p.end("g", Applied)
	return p
}

// wrong returns what is missing or false in a journal on a disk that the program left.
func (p *program) wrong(on *disk) (wrong []string) {
	note := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	before := map[string]Entry{}
	if on.names["/d/journal"] != nil {
		for e, err := range readEntries(on, "/d/journal", "") {
			if err != nil {
				note("read: %v", err)
			}
			before[e.Ticket.ID] = e
		}
	}
	j, err := openFile(on, "/d/journal")
	if err != nil {
		return append(wrong, err.Error())
	}
	unknown := map[string]Ticket{}
	for ticket, err := range j.InDoubt(p.t.Context()) {
		require.NoError(p.t, err)
		unknown[ticket.ID] = ticket
	}
	for id := range unknown {
		if p.calls[id] == nil {
			note("%s: a ticket that nobody sent", id)
		}
	}
	for id, c := range p.calls {
		got, found := unknown[id]
		settled := c.ended == Applied || c.ended == NotApplied
		outcome := before[id].Outcome
		if outcome == "" {
			outcome = p.archived[id]
		}
		switch {
		case !c.stored.IsZero() && !settled && (!found || got.LastSent.Before(c.stored)):
			note("%s: no ticket of the last attempt", id)
		case settled && c.durable && found:
			note("%s: the outcome is lost", id)
		case settled && c.durable && outcome != c.ended:
			note("%s: %s is %q for an audit", id, c.ended, outcome)
		case !settled && (outcome == Applied || outcome == NotApplied):
			note("%s: settled by nobody", id)
		}
	}
	if err := j.Sending(p.t.Context(), ticket("z", 0)); err != nil {
		note("next: %v", err)
	}
	if err := j.Close(); err != nil {
		note("close: %v", err)
	}
	return wrong
}

// faults are what can happen at each operation.
var faults = map[string][]fault{
	"write": {fails, half, before, halfway, after}, "sync": {fails, lies, before, after},
	"rename": {fails, lies, before, after}, "sync directory": {fails, lies, before, after},
	"open": {fails, before, after}, "remove": {fails, before, after},
	"truncate": {fails, before, after}, "close": {fails}, "read": {fails}, "stat": {fails}, "lock": {fails},
}

// walk runs the program once for each operation and fault: alone, for ever, and with a second
// operation that fails later. It yields what is wrong after each crash at the end.
func walk(t *testing.T, prepare func(*disk)) iter.Seq[[]string] {
	t.Helper()
	plain := newDisk()
	run(t, plain)
	return func(yield func([]string) bool) {
		for at, operation := range plain.calls {
			for _, first := range faults[operation] {
				for _, then := range seconds(operation, first) {
					on := newDisk()
					prepare(on)
					on.fault = both(at, first, then)
					p := run(t, on)
					for i, left := range on.crashes() {
						wrong := p.wrong(left)
						if len(wrong) > 0 {
							wrong = append(wrong, fmt.Sprintf("%d %s, fault %d, then %q, crash %d", at, operation, first, then, i))
						}
						if !yield(wrong) {
							return
						}
					}
				}
			}
		}
	}
}

// seconds returns what can fail after a fault: nothing after a crash.
func seconds(operation string, first fault) []string {
	switch {
	case first == before, first == halfway, first == after:
		return []string{""}
	case len(faults[operation]) < 4: // it changes no data
		return []string{"", "everything"}
	}
	return []string{"", "everything", "write", "truncate", "sync", "rename"}
}

// both is a fault at one operation, and then at everything, or at the next operation of a name.
func both(at int, first fault, then string) func(int, string) fault {
	return func(call int, operation string) fault {
		switch {
		case call == at:
			return first
		case call > at && then == "everything" && slices.Contains(faults[operation], first):
			return first
		case call > at && then == operation:
			then = ""
			return fails
		}
		return works
	}
}

func TestFile_EveryFaultAtEveryOperation(t *testing.T) {
	crashes := 0
	for wrong := range walk(t, func(*disk) {}) {
		crashes++
		require.Empty(t, wrong)
	}
	t.Log(crashes, "crashes")
	require.Greater(t, crashes, 1000)
}

// The walk finds a journal that is not durable when it says so.
func TestFile_WalkFindsWhatIsNotDurable(t *testing.T) {
	for name, mutate := range map[string]func(*disk){
		"file":      func(d *disk) { d.noSync = true },
		"directory": func(d *disk) { d.noSyncDir = true },
	} {
		t.Run(name, func(t *testing.T) {
			for wrong := range walk(t, mutate) {
				if len(wrong) > 0 {
					return
				}
			}
			require.Fail(t, "nothing is wrong")
		})
	}
}
