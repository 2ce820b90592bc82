package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.ListsList:   {handle: (*call).listLists},
	op.ListsCreate: {handle: (*call).createList, json: true},
	op.ListsGet:    {handle: (*call).getList},
	op.ListsMove:   {handle: (*call).moveList, json: true},
	op.FoldersList: {handle: (*call).listFolders},
})

const longestName = 255

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

func (l *list) wire() object {
	w := object{
		"id": l.ID, "name": l.Name, "entityType": l.EntityType, "contactsCount": 0, "companiesCount": 0, "createdAt": wireTime(l.CreatedAt),
		"folderId": optional(l.FolderID),
	}
	if l.EntityType == CompanyList {
		w["companiesCount"] = len(l.rows)
	} else {
		w["contactsCount"] = len(l.rows)
	}
	return w
}

func (c *call) listLists() response {
	q := c.params()
	page := q.paging(50)
	kind := q.choice("entityType", ContactList, CompanyList)
	folder := q.Get("folderId")
	if q.Has("folderId") {
		q.id("folderId", folder)
	}
	search := strings.ToLower(q.text("search", 200))
	q.valid()

	found := kept(c.ws.lists, func(l *list) bool {
		return !l.System && l.VisibleAt.IsZero() && (kind == "" || kind == l.EntityType) &&
			(folder == "" || sameID(folder, l.FolderID)) && strings.Contains(strings.ToLower(l.Name), search)
	})
	return pageOf(page, newestFirst(found), (*list).wire)
}

func (c *call) createList() response {
	body := c.body
	body.needs("name", body.has("name"))
	name, _ := body.name("name")
	kind := body.choice("entityType", ContactList, CompanyList)
	body.only("name", "entityType")
	body.valid()
	c.nameFree(name)

	l := &list{List: List{CreatedAt: stamp(c.now)}}
	c.effect(func() { l = c.sb.makeList(c.ws, name, kind, c.now) }, "list created: %q", name)
	return reply(http.StatusCreated, object{"list": l.wire()})
}

// nameFree rejects a name that a list or an agent has, or that is reserved.
func (c *call) nameFree(name string) {
	c.nameAllowed(name)
	listed := slices.ContainsFunc(c.ws.lists, func(l *list) bool { return l.Name == name })
	if listed || slices.ContainsFunc(agents.in(c.ws), func(a *Agent) bool { return strings.TrimSpace(a.Name) == name }) {
		deny("LIST_NAME_TAKEN", fmt.Sprintf("A list or an agent is called %q.", name))
	}
}

func (c *call) nameAllowed(name string) {
	if foldContains([]string{"All Contacts", "All Companies"}, name) ||
		slices.ContainsFunc(c.ws.lists, func(l *list) bool { return l.System && strings.EqualFold(l.Name, name) }) {
		deny("LIST_NAME_RESERVED", "A system list has this title.")
	}
}

func (c *call) getList() response {
	l := c.list()
	w := l.wire()
	if l.CompletionStatus != "" {
		w["completionStatus"] = l.CompletionStatus
	}
	if c.query.Get("include") == "columns" {
		w["columns"] = append([]Column{}, l.Columns...)
	}
	return reply(http.StatusOK, object{"list": w})
}

func (c *call) moveList() response {
	body := c.body
	folder, root := "", string(body.fields["folderId"]) == "null"
	if !root {
		folder = body.required("folderId")
	}
	if !root && len(body.messages) == 0 && !isID(folder) {
		body.fail("folderId", "has to be 24 hexadecimal digits, or null")
	}
	body.only("folderId")
	l := c.list()
	if !root {
		found, ok := c.ws.folder(folder, l.EntityType)
		if !ok {
			deny("FOLDER_NOT_FOUND", "No folder for this kind of list has this id.")
		}
		folder = found
	}
	c.effect(func() { l.FolderID = folder }, "list moved: %s to %s", l.ID, cmp.Or(folder, "the root"))
	return reply(http.StatusOK, object{"list": l.wire()})
}

func (c *call) listFolders() response {
	q := c.params()
	kind := q.choice("type", folderTypes...)
	q.needs("type", q.Has("type"))
	q.valid()
	return listing("folders", kept(folders.in(c.ws), func(f *Folder) bool { return f.Type == kind }), func(f *Folder) object {
		return object{"id": f.ID, "name": f.Name, "type": f.Type}
	})
}

func (c *call) list() *list { return must(c.listByID(c.pathID("listId"))) }

func (c *call) listByID(id string) (*list, error) {
	if l := c.ws.list(id); l != nil {
		return l, nil
	}
	return nil, refuse("LIST_NOT_FOUND", "No list has this id.")
}

var folders = keeps(kind[Folder]{
	name: "folders", seeds: func(ws *Workspace) *[]Folder { return &ws.Folders },
	check: func(f Folder, fail failing) { fail.among("folder", f.Name, "type", f.Type, folderTypes...) },
})

var folderTypes = []string{ContactList, CompanyList, CampaignFolder, AgentFolder}

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

func (l *list) snapshot(rows bool) List {
	c := l.List
	if c.Columns = slices.Clone(c.Columns); rows {
		c.Rows = slices.Clone(l.rows)
	}
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
	return inspect(w, func(ws *workspace) []List {
		return newestFirst(appendEach([]List{}, ws.lists, func(l *list) List { return l.snapshot(true) }))
	})
}
