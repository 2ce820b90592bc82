package sandbox

import (
	"slices"
	"time"
)

// Event is something that happened by the clock.
type Event struct {
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`    // such as "agent expired" or "list visible"
	Subject string    `json:"subject"` // an id or a name, never a token
}

type pending struct {
	Event
	apply func() bool // false: it did not happen after all
}

// agenda has the later events, earliest first. Nothing runs in the background: every request and every inspection first applies
// those that are due.
type agenda []pending

// add puts an event behind those of the same instant.
func (a *agenda) add(at time.Time, kind, subject string, apply func() bool) {
	i, _ := slices.BinarySearchFunc(*a, at, func(p pending, at time.Time) int {
		if p.Time.After(at) {
			return 1
		}
		return -1
	})
	*a = slices.Insert(*a, i, pending{Event{at, kind, subject}, apply})
}

// later adds an event of a workspace, unless its time is zero. It does not happen if its time has changed until then. Prepared responses
// are not used after it.
func (ws *workspace) later(when *time.Time, kind, subject string, apply func() bool) {
	at := *when
	if at.IsZero() {
		return
	}
	ws.sb.agenda.add(at, kind, subject, func() bool {
		ws.version++
		return when.Equal(at) && apply()
	})
}

func (a *agenda) due(now time.Time) (happened []Event) {
	for len(*a) > 0 && !(*a)[0].Time.After(now) {
		next := (*a)[0]
		*a = (*a)[1:]
		if next.apply() {
			happened = append(happened, next.Event)
		}
	}
	return happened
}
