package sandbox

import (
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

// valid checks the seed of an object to add.
func (tx *Tx) valid(what string, seed Workspace) bool {
	err := State{Workspaces: []Workspace{seed}}.Validate()
	if err != nil {
		tx.sb.misuse("Tx.%s: %v", what, err)
	}
	return err == nil
}
