package journal

import (
	"maps"
	"slices"
)

// A fold turns records into entries, one for each ticket.
type fold struct {
	entries map[string]*folded
	count   int
	forget  bool // leave out settled entries
}

type folded struct {
	Entry

	order  int
	stored bool // the ticket is durable
}

// sending notes a ticket. A ticket that is sent again keeps its place.
func (f *fold) sending(t Ticket) *folded {
	e := f.entries[t.ID]
	if e == nil {
		f.count++
		e = &folded{order: f.count}
		if f.entries == nil {
			f.entries = map[string]*folded{}
		}
		f.entries[t.ID] = e
	}
	e.Entry = Entry{Ticket: t, Outcome: Unknown}
	return e
}

// ended notes an outcome and reports whether that changed anything. The first settled outcome stays.
func (f *fold) ended(c content) bool {
	e := f.entries[c.Ended]
	if e == nil || e.Outcome != Unknown || c.Outcome == Unknown && !e.Ended.IsZero() {
		return false
	}
	e.Outcome, e.ResultID, e.By, e.Because, e.Ended, e.InProgress = c.Outcome, c.ResultID, c.By, c.Because, c.At, false
	if f.forget && c.Outcome != Unknown {
		delete(f.entries, c.Ended)
	}
	return true
}

// settle notes a settlement, if the ticket is in doubt.
func (f *fold) settle(c content) bool {
	e := f.entries[c.Ended]
	return e != nil && !e.InProgress && f.ended(c)
}

// add notes a record.
func (f *fold) add(r record) {
	switch {
	case r.Sending != nil:
		f.sending(*r.Sending).stored = true
	case r.Ended != "":
		f.ended(r.content)
	}
}

// list returns the entries in the order of their first records.
func (f *fold) list() []*folded {
	return slices.SortedFunc(maps.Values(f.entries), func(a, b *folded) int { return a.order - b.order })
}

// unknown returns the tickets without a known outcome, oldest first, except those of calls in progress.
func (f *fold) unknown() []Ticket {
	var tickets []Ticket
	for _, e := range f.list() {
		if e.Outcome == Unknown && !e.InProgress {
			tickets = append(tickets, e.Ticket)
		}
	}
	slices.SortStableFunc(tickets, func(a, b Ticket) int {
		return a.FirstSent.Compare(b.FirstSent)
	})
	return tickets
}

func (o Outcome) known() bool { return o == Applied || o == NotApplied || o == Unknown }
