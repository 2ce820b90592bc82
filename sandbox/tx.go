package sandbox

import (
	"slices"
	"time"
)

// Tx changes a workspace as a teammate does in the app: outside of the API, without keys, limits or checks.
//
// Each method is one change. An invalid one, such as of a list that does not exist, is reported to the test.
type Tx struct {
	sb  *Sandbox
	ws  *workspace
	gap int
}

// Do makes changes as a teammate.
func (w *Tenant) Do(act func(*Tx)) { act(&Tx{sb: w.sb, ws: w.ws}) }

// change applies one change.
func (tx *Tx) change(what string, apply func(now time.Time) bool) {
	now := tx.sb.enter()
	done := apply(now)
	if done {
		tx.ws.version++
	}
	tx.sb.mu.Unlock()
	if !done {
		tx.sb.misuse("Tx.%s: no object has this id", what)
	}
}

// connect adds a word to a set, if it is a known one.
func (tx *Tx) connect(what string, set *[]string, known []string, word string) {
	tx.change(what, func(time.Time) bool {
		is := slices.Contains(known, word)
		if is && !slices.Contains(*set, word) {
			*set = append(*set, word)
		}
		return is
	})
}

// disconnect removes a word from a set that has it.
func (tx *Tx) disconnect(what string, set *[]string, word string) {
	tx.change(what, func(time.Time) bool {
		at := slices.Index(*set, word)
		if at >= 0 {
			*set = slices.Delete(*set, at, at+1)
		}
		return at >= 0
	})
}

// valid checks the seed of an object to add.
func (tx *Tx) valid(what string, seed Workspace) bool {
	err := State{Workspaces: []Workspace{seed}}.Validate()
	if err != nil {
		tx.sb.misuse("Tx.%s: %v", what, err)
	}
	return err == nil
}
