package sandbox

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// Tx acts in a workspace as a teammate does in the app: next to the API, without keys, limits or checks.
//
// Each method is one change. What makes no sense, such as a list that does not exist, is reported to the test.
type Tx struct {
	sb  *Sandbox
	ws  *workspace
	gap int
}

// between runs while a client is between two requests of an operation.
type between struct {
	op     string
	act    func(*Tx)
	served map[*workspace]int
	ran    map[*workspace]int
}

// Do acts as a teammate.
func (w *Tenant) Do(act func(*Tx)) { act(&Tx{sb: w.sb, ws: w.ws}) }

// Between acts as a teammate before each further request of an operation, once one has been answered: between two pages,
// for example. It acts in the workspace of that request; [Tx.Gap] tells which gap it is.
func (sb *Sandbox) Between(opName string, act func(*Tx)) {
	if err := sb.checkTarget(opName); err != nil || opName == "*" || act == nil {
		sb.help()
		sb.misuse("Between(%q): needs one operation that the sandbox serves, and something to do", opName)
		return
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	sb.hooks = append(sb.hooks, &between{opName, act, map[*workspace]int{}, map[*workspace]int{}})
}

// runHooks acts for the teammates whose gap this is. They are code of the test, which must not run under the lock.
func (sb *Sandbox) runHooks(t *target, r *http.Request) {
	now := sb.enter()
	if t.op == nil || len(sb.hooks) == 0 {
		sb.mu.Unlock()
		return
	}
	var ws *workspace
	if k := sb.findKey(r, now); k != nil {
		ws = k.ws
	}
	type turn struct {
		act func(*Tx)
		gap int
	}
	var turns []turn
	for _, h := range sb.hooks {
		if h.op == t.op.Name && ws != nil && h.ran[ws] < h.served[ws] {
			h.ran[ws] = h.served[ws]
			turns = append(turns, turn{h.act, h.ran[ws]})
		}
	}
	sb.mu.Unlock()
	for _, turn := range turns {
		turn.act(&Tx{sb, ws, turn.gap})
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

// Gap counts the gaps of [Sandbox.Between], from one: it is 1 between the first and the second answer.
func (tx *Tx) Gap() int { return tx.gap }

// change applies one act.
func (tx *Tx) change(what string, apply func(now time.Time) bool) {
	now := tx.sb.enter()
	done := apply(now)
	if done {
		tx.ws.version++
	}
	tx.sb.mu.Unlock()
	if !done {
		tx.sb.help()
		tx.sb.misuse("Tx.%s: there is no such thing", what)
	}
}

// withList applies one act to a list.
func (tx *Tx) withList(what, listID string, apply func(*list) bool) {
	tx.change(what, func(time.Time) bool {
		l := tx.ws.byID[listID]
		return l != nil && apply(l)
	})
}

// CreateList adds a list and returns its id.
func (tx *Tx) CreateList(l List) (id string) {
	rootless := l
	rootless.FolderID = "" // looked at below
	if err := (State{Workspaces: []Workspace{{Lists: []List{rootless}}}}).Validate(); err != nil {
		tx.sb.help()
		tx.sb.misuse("Tx.CreateList: %v", err)
		return ""
	}
	tx.change("CreateList", func(now time.Time) bool {
		if tx.ws.byID[l.ID] != nil || l.FolderID != "" && tx.ws.folder(l.FolderID) == nil {
			return false
		}
		if l.CreatedAt.IsZero() {
			l.CreatedAt = stamp(now)
		}
		tx.ws.seen(l.ID)
		id = tx.sb.addList(tx.ws, l).ID
		return true
	})
	return id
}

// DeleteList removes a list and its rows.
func (tx *Tx) DeleteList(listID string) {
	tx.withList("DeleteList", listID, func(l *list) bool {
		delete(tx.ws.byID, listID)
		tx.ws.lists = slices.DeleteFunc(tx.ws.lists, func(other *list) bool { return other == l })
		return true
	})
}

// RenameList changes the name of a list.
func (tx *Tx) RenameList(listID, name string) {
	tx.withList("RenameList", listID, func(l *list) bool {
		if name == "" {
			return false
		}
		l.Name = name
		return true
	})
}

// MoveList moves a list into a folder: the root, if the id is empty.
func (tx *Tx) MoveList(listID, folderID string) {
	tx.withList("MoveList", listID, func(l *list) bool {
		if folderID != "" && tx.ws.folder(folderID) == nil {
			return false
		}
		l.FolderID = folderID
		return true
	})
}

// AddRows adds rows at the end of a list and returns their ids.
func (tx *Tx) AddRows(listID string, rows ...Row) []string {
	return tx.insert("AddRows", listID, -1, rows)
}

// InsertRows adds rows before the row at a position, counted from zero, and returns their ids.
func (tx *Tx) InsertRows(listID string, at int, rows ...Row) []string {
	return tx.insert("InsertRows", listID, max(at, 0), rows)
}

func (tx *Tx) insert(what, listID string, at int, rows []Row) (ids []string) {
	encoded := Rows(rows...)
	tx.withList(what, listID, func(l *list) bool {
		if at < 0 {
			at = len(l.rows)
		}
		if at > len(l.rows) || !l.fit(encoded) {
			return false
		}
		ids = tx.ws.insert(l, at, encoded)
		return true
	})
	return ids
}

// fit reports whether the rows are valid, and new to the list.
func (l *list) fit(rows []json.RawMessage) bool {
	seen := map[string]bool{}
	for _, row := range rows {
		id, err := rowID(row)
		_, there := l.row(id)
		if err != nil || there || id != "" && seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// RemoveRows takes rows out of a list.
func (tx *Tx) RemoveRows(listID string, ids ...string) {
	tx.withList("RemoveRows", listID, func(l *list) bool {
		for _, id := range ids {
			if _, there := l.row(id); !there {
				return false
			}
		}
		tx.ws.remove(l, ids)
		return true
	})
}

// AddCredits books credits in, or out if n is negative.
func (tx *Tx) AddCredits(n int64, reason string) {
	tx.change("AddCredits", func(now time.Time) bool {
		if tx.ws.balance+n < 0 {
			return false
		}
		tx.ws.book(LedgerEntry{Time: now, Amount: n, Reason: reason})
		return true
	})
}

// ConnectCRM connects a CRM kind, one of those that the workspace supports.
func (tx *Tx) ConnectCRM(kind string) {
	tx.change("ConnectCRM", func(time.Time) bool {
		crm := &tx.ws.crm
		supported := slices.Contains(crm.Supported, kind)
		if supported && !slices.Contains(crm.Connected, kind) {
			crm.Connected = append(crm.Connected, kind)
		}
		return supported
	})
}

// DisconnectCRM ends the connection of a CRM kind.
func (tx *Tx) DisconnectCRM(kind string) {
	tx.change("DisconnectCRM", func(time.Time) bool {
		at := slices.Index(tx.ws.crm.Connected, kind)
		if at >= 0 {
			tx.ws.crm.Connected = slices.Delete(tx.ws.crm.Connected, at, at+1)
		}
		return at >= 0
	})
}

func (ws *workspace) folder(id string) *Folder {
	for i := range ws.folders {
		if strings.EqualFold(ws.folders[i].ID, id) {
			return &ws.folders[i]
		}
	}
	return nil
}

// stamp is how the service keeps an instant: in UTC, to the millisecond.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
