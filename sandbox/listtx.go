package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// CreateList adds a list and returns its id.
func (tx *Tx) CreateList(l List) (id string) {
	tx.do("CreateList", func(now time.Time) error {
		if err := tx.valid(func(whole *Workspace) { whole.Lists = append(whole.Lists, l) }); err != nil {
			return err
		}
		if l.CreatedAt.IsZero() {
			l.CreatedAt = stamp(now)
		}
		tx.ws.seen(l.ID)
		id = tx.sb.addList(tx.ws, l).ID
		return nil
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
		folder, ok := tx.ws.folder(folderID, l.EntityType)
		if ok {
			l.FolderID = folder
		}
		return ok
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

// ChangeRow replaces some fields of the row that has the id in row. Its updatedAt is then the time of the clock, unless row sets one:
// a row of your own has one only if you give it one.
func (tx *Tx) ChangeRow(listID string, row Row) {
	tx.change("ChangeRow", func(now time.Time) bool {
		l := tx.ws.byID[listID]
		if l == nil {
			return false
		}
		id := fmt.Sprint(row["id"])
		old, there := l.row(id)
		if !there {
			return false
		}
		fields := map[string]json.RawMessage{}
		_ = json.Unmarshal(old, &fields) // every row is an object
		changed := Row{}
		for name, value := range fields {
			changed[name] = value
		}
		changed["updatedAt"] = now.UTC().Format(timeFormat)
		maps.Copy(changed, row)
		l.rows[l.position[id]] = Rows(changed)[0]
		return true
	})
}

// fit reports whether the rows are valid, and new to the list.
func (l *list) fit(rows []json.RawMessage) bool {
	valid := true
	(&List{Name: "rows", Rows: rows}).validate(&Workspace{}, func(string, ...any) { valid = false })
	return valid && !slices.ContainsFunc(rows, func(row json.RawMessage) bool {
		id, _ := fieldString(row, "id")
		return l.has(id)
	})
}

// RemoveRows removes rows from a list.
func (tx *Tx) RemoveRows(listID string, ids ...string) {
	tx.withList("RemoveRows", listID, func(l *list) bool {
		if slices.ContainsFunc(ids, func(id string) bool { return !l.has(id) }) {
			return false
		}
		tx.ws.remove(l, ids)
		return true
	})
}

func (tx *Tx) withList(what, listID string, apply func(*list) bool) {
	tx.change(what, func(time.Time) bool {
		l := tx.ws.byID[listID]
		return l != nil && apply(l)
	})
}
