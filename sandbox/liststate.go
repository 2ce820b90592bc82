package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Folder seeds a folder of one kind: [ContactList], [CompanyList], [CampaignFolder] or [AgentFolder].
type Folder struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// List seeds a list and its rows.
type List struct {
	ID               string            `json:"id,omitempty"`
	Name             string            `json:"name"`
	EntityType       string            `json:"entityType,omitempty"` // empty is ContactList
	FolderID         string            `json:"folderId,omitempty"`   // empty is the root
	CreatedAt        time.Time         `json:"createdAt,omitzero"`
	System           bool              `json:"system,omitempty"`           // hidden from listings; its name is reserved
	VisibleAt        time.Time         `json:"visibleAt,omitzero"`         // until then listings leave it out
	ReachableAt      time.Time         `json:"reachableAt,omitzero"`       // until then no campaign reaches its contacts
	CompletionStatus string            `json:"completionStatus,omitempty"` // "processing" refuses to be a source
	Columns          []Column          `json:"columns,omitempty"`
	Rows             []json.RawMessage `json:"rows,omitempty"` // JSON objects; see Rows
}

// Column seeds a custom column. A row holds its value under customColumns, by column id.
type Column struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	Type string `json:"type"` // string, number or boolean
}

// Row is a contact or a company: any fields, and an id, which is filled in if it is missing.
type Row map[string]any

// Rows encodes rows for [List]. It panics if a value has no JSON form.
func Rows(rows ...Row) []json.RawMessage {
	encoded := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		raw, err := json.Marshal(row)
		if err != nil {
			panic(fmt.Sprintf("sandbox: row %d: %v", i, err))
		}
		encoded[i] = raw
	}
	return encoded
}

var folders = keeps(kind[Folder]{name: "folders", seeds: func(ws *Workspace) *[]Folder { return &ws.Folders }})

var folderTypes = []string{ContactList, CompanyList, CampaignFolder, AgentFolder}

func validateLists(ws Workspace, fail failing) {
	folders, named, lists := map[Folder]bool{}, map[Folder]bool{}, map[string]bool{}
	for _, folder := range ws.Folders {
		folders[Folder{ID: strings.ToLower(folder.ID), Type: folder.Type}] = true
		name := Folder{Name: folder.Name, Type: folder.Type}
		if named[name] {
			fail("folder %q: another %s folder has the name", folder.Name, folder.Type)
		}
		named[name] = true
		fail.among("folder", folder.Name, "type", folder.Type, folderTypes...)
	}
	claim := claims(fail)
	for _, list := range ws.Lists {
		claim("List", list.ID)
		column := claims(fail)
		for _, c := range list.Columns {
			column("column", c.ID)
		}
		if list.Name == "" {
			fail("list %q has no name", list.ID)
		}
		fail.among("list", list.Name, "entity type", list.EntityType, "", ContactList, CompanyList)
		kind := cmp.Or(list.EntityType, ContactList)
		if list.FolderID != "" && !folders[Folder{ID: strings.ToLower(list.FolderID), Type: kind}] {
			fail("list %q: no %s folder has the id %s", list.Name, kind, list.FolderID)
		}
		validateRows(list, fail)
		lists[list.ID] = true
	}
	for _, a := range ws.Agents {
		if a.ListID != "" && !lists[a.ListID] {
			fail("agent %q: no list has the id %s", a.Name, a.ListID)
		}
	}
}

func validateRows(list List, fail failing) {
	seen := make(map[string]bool, len(list.Rows))
	for i, row := range list.Rows {
		id, err := rowID(row)
		switch {
		case err != nil:
			fail("list %q, row %d: %v", list.Name, i, err)
		case id != "" && seen[id]:
			fail("list %q, row %d: another row has the id %s", list.Name, i, id)
		}
		seen[id] = true
	}
}

type list struct {
	List     // without rows
	rows     []json.RawMessage
	ids      []string // of the rows
	position map[string]int
	view     view
}

func (sb *Sandbox) addList(ws *workspace, seed List) *list {
	l := &list{List: seed}
	l.Rows, l.Columns = nil, slices.Clone(seed.Columns)
	l.EntityType = cmp.Or(l.EntityType, ContactList)
	ws.fill(&l.ID)
	for i := range l.Columns {
		ws.fill(&l.Columns[i].ID)
	}
	ws.lists = append(ws.lists, l)
	ws.byID[l.ID] = l
	ws.insert(l, 0, seed.Rows)
	ws.later(&l.VisibleAt, "list visible", l.ID, func() bool {
		l.VisibleAt = time.Time{}
		return ws.byID[l.ID] == l
	})
	return l
}

// inOrder puts lists in the order of their creation, if all of them have one.
func inOrder(lists []List) []List {
	lists = slices.Clone(lists)
	if !slices.ContainsFunc(lists, func(l List) bool { return l.CreatedAt.IsZero() }) {
		slices.SortStableFunc(lists, func(a, b List) int { return a.CreatedAt.Compare(b.CreatedAt) })
	}
	return lists
}

// makeList adds an empty list at the root.
func (sb *Sandbox) makeList(ws *workspace, name, kind string, now time.Time) *list {
	seed := List{Name: name, EntityType: cmp.Or(kind, ContactList), CreatedAt: stamp(now)}
	if sb.hideFor > 0 {
		seed.VisibleAt = now.Add(sb.hideFor)
	}
	return sb.addList(ws, seed)
}

// insert adds rows to a list, and ids to the rows that have none.
func (ws *workspace) insert(l *list, at int, rows []json.RawMessage) []string {
	added := make([]json.RawMessage, len(rows))
	ids := make([]string, len(rows))
	for i, row := range rows {
		id, ok := fieldString(row, "id")
		if !ok || id == "" {
			id = ws.newID()
			row = withID(row, id)
		}
		added[i], ids[i] = row, id
	}
	l.rows = slices.Insert(l.rows, at, added...)
	l.ids = slices.Insert(l.ids, at, ids...)
	l.position = nil
	if sb := ws.sb; sb.begun && sb.pace.reach > 0 && len(rows) > 0 {
		l.ReachableAt = stamp(sb.now.Add(sb.pace.reach))
	}
	ws.version++
	return ids
}

func withID(row json.RawMessage, id string) json.RawMessage {
	inner := bytes.TrimLeft(bytes.TrimSpace(row)[1:], " \t\r\n")
	out := append(make([]byte, 0, len(row)+len(id)+8), `{"id":"`+id+`"`...)
	if len(inner) > 1 {
		out = append(out, ',')
	}
	return append(out, inner...)
}

func (ws *workspace) remove(l *list, ids []string) {
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	keep := 0
	for i, id := range l.ids {
		if !gone[id] {
			l.rows[keep], l.ids[keep] = l.rows[i], id
			keep++
		}
	}
	clear(l.rows[keep:])
	l.rows, l.ids, l.position = l.rows[:keep], l.ids[:keep], nil
	ws.version++
}

func (l *list) row(id string) (json.RawMessage, bool) {
	if l.position == nil {
		l.position = make(map[string]int, len(l.ids))
		for i, id := range l.ids {
			l.position[id] = i
		}
	}
	i, ok := l.position[id]
	if !ok {
		return nil, false
	}
	return l.rows[i], true
}

func (l *list) has(id string) bool {
	_, there := l.row(id)
	return there
}

func (l *list) snapshot() List {
	c := l.List
	c.Columns, c.Rows = slices.Clone(c.Columns), slices.Clone(l.rows)
	return c
}

// list finds a list, whatever the case of its id.
func (ws *workspace) list(id string) *list {
	return cmp.Or(ws.byID[id], ws.byID[strings.ToLower(id)])
}

// folder finds the id of a folder for a kind of list, as it was given. The root is the folder without an id.
func (ws *workspace) folder(id, kind string) (found string, ok bool) {
	for _, f := range folders.in(ws) {
		if sameID(f.ID, id) && f.Type == kind {
			return f.ID, true
		}
	}
	return "", id == ""
}

// Lists returns the lists, including system lists, newest first.
func (w *Tenant) Lists() []List {
	return inspect(w, func(ws *workspace) []List { return newestFirst(appendEach([]List{}, ws.lists, (*list).snapshot)) })
}

// Rows returns the rows of a list, or none if there is no such list.
func (w *Tenant) Rows(listID string) []json.RawMessage {
	return inspect(w, func(ws *workspace) []json.RawMessage { return slices.Clone(cmp.Or(ws.byID[listID], new(list)).rows) })
}
