package sandbox

import (
	"encoding/json"
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

// do makes one change, or reports why it cannot.
func (tx *Tx) do(what string, apply func(now time.Time) error) {
	err := func() error {
		now := tx.sb.enter()
		defer tx.sb.mu.Unlock()
		err := apply(now)
		if err == nil {
			tx.ws.version++
		}
		return err
	}()
	if err != nil {
		tx.sb.misuse("Tx.%s: %v", what, err)
	}
}

// valid says what would be wrong with the workspace after a change.
func (tx *Tx) valid(change func(*Workspace)) error {
	whole := tx.ws.snapshot()
	for i := range whole.Lists {
		whole.Lists[i].Rows = nil // valid, and perhaps many
	}
	change(&whole)
	return mistakes(whole.validate)
}

// Put changes the fields of the object that has the id in fields, or adds an object, and returns its id. The kinds are those of
// [Workspace] in JSON: lists, agents, campaigns and so on. Fields are those of [List], [Agent] and so on.
func (tx *Tx) Put(kind string, fields any) (id string) {
	raw, err := json.Marshal(fields)
	if err != nil {
		tx.sb.misuse("Tx.Put: %v", err)
	} else if k := tx.kind("Put", kind); k != nil {
		return k.put(tx, raw)
	}
	return ""
}

// Delete removes the object with an id. The kinds are those of [Tx.Put].
func (tx *Tx) Delete(kind, id string) {
	if k := tx.kind("Delete", kind); k != nil {
		tx.do("Delete", func(time.Time) error { return k.remove(tx.ws, id) })
	}
}

// kind finds a kind of object, or reports that there is none.
func (tx *Tx) kind(what, name string) keeper {
	if kinds[name] == nil {
		tx.sb.misuse("Tx.%s: %q is no kind of object: the kinds are %q", what, name, kindNames())
	}
	return kinds[name]
}

// CreateList adds a list and returns its id.
func (tx *Tx) CreateList(l List) (id string) { return lists.create(tx, "CreateList", l) }

// CreateAgent adds an agent and returns its id.
func (tx *Tx) CreateAgent(a Agent) (id string) { return agents.create(tx, "CreateAgent", a) }

// CreateCampaign adds a campaign and returns its id.
func (tx *Tx) CreateCampaign(c Campaign) (id string) {
	return campaigns.create(tx, "CreateCampaign", c)
}

// connect adds a word to a set, if it is a known one.
func (tx *Tx) connect(what string, set *[]string, known []string, word string) {
	tx.do(what, func(time.Time) error {
		if !slices.Contains(known, word) {
			return fmt.Errorf("%q is none of %q", word, known)
		}
		if !slices.Contains(*set, word) {
			*set = append(*set, word)
		}
		return nil
	})
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
