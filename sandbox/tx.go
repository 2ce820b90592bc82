package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
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

func (tx *Tx) change(what string, apply func(now time.Time) bool) {
	now := tx.sb.enter()
	done := apply(now)
	if done {
		tx.ws.version++
	}
	tx.sb.mu.Unlock()
	if !done {
		tx.sb.misuse("Tx.%s: nothing has this id or name, or it is not in a state for that", what)
	}
}

// Put adds an object of a kind, such as those in [Workspace.More], and returns its id. If one has the id in fields, these replace its own.
func (tx *Tx) Put(kind string, fields Row) (id string) {
	k, raw := kinds[kind], Rows(fields)[0]
	err := fmt.Errorf("no kind of object is called %q", kind)
	now := tx.sb.enter()
	if k != nil {
		id, err = k.put(tx.ws, raw, now)
		tx.ws.version++
	}
	tx.sb.mu.Unlock()
	if err != nil {
		tx.sb.misuse("Tx.Put: %v", err)
	}
	return id
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

// between runs while a client is between two requests of an operation.
type between struct {
	op     string
	act    func(*Tx)
	served map[*workspace]int
	ran    map[*workspace]int
}

// Between acts as a teammate between two requests of an operation: between two pages, for example. It acts in the workspace of the
// second request. [Tx.Gap] is the number of the gap.
func (sb *Sandbox) Between(opName string, act func(*Tx)) {
	if err := sb.checkTarget(opName); err != nil || opName == "*" || act == nil {
		sb.misuse("Between(%q): needs an operation that the sandbox serves, and a function", opName)
		return
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	sb.hooks = append(sb.hooks, &between{opName, act, map[*workspace]int{}, map[*workspace]int{}})
}

// Gap is the number of the gap of [Sandbox.Between]: 1 between the first and the second request.
func (tx *Tx) Gap() int { return tx.gap }

// runHooks runs the hooks of this gap. They are code of the test, which must not run under the lock.
func (sb *Sandbox) runHooks(t *target, r *http.Request) {
	now := sb.enter()
	if t.op == nil || len(sb.hooks) == 0 {
		sb.mu.Unlock()
		return
	}
	k := sb.findKey(r, now)
	var acts []func()
	for _, h := range sb.hooks {
		if h.op == t.op.Name && k != nil && h.ran[k.ws] < h.served[k.ws] {
			gap := h.served[k.ws]
			h.ran[k.ws] = gap
			acts = append(acts, func() { h.act(&Tx{sb, k.ws, gap}) })
		}
	}
	sb.mu.Unlock()
	for _, act := range acts {
		act()
	}
}

// servedHooks opens the next gap.
func (sb *Sandbox) servedHooks(o *op.Op, ws *workspace, status int) {
	for _, h := range sb.hooks {
		if o != nil && h.op == o.Name && ws != nil && status < 300 {
			h.served[ws]++
		}
	}
}
