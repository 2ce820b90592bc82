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

var (
	systemTitles = []string{"All Contacts", "All Companies"}
	errReserved  = refuse("LIST_NAME_RESERVED", "A system list has this title.")
)

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

type wireList struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	EntityType       string   `json:"entityType"`
	ContactsCount    int      `json:"contactsCount"`
	CompaniesCount   int      `json:"companiesCount"`
	CreatedAt        string   `json:"createdAt"`
	FolderID         *string  `json:"folderId"`
	CompletionStatus string   `json:"completionStatus,omitempty"`
	Columns          []Column `json:"columns,omitzero"` // nil unless asked for
}

func (l *list) wire() wireList {
	w := wireList{
		ID: l.ID, Name: l.Name, EntityType: l.EntityType, CreatedAt: l.CreatedAt.UTC().Format(timeFormat), FolderID: optional(l.FolderID),
	}
	if l.EntityType == CompanyList {
		w.CompaniesCount = len(l.rows)
	} else {
		w.ContactsCount = len(l.rows)
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
	slices.Reverse(found)
	return pageOf(page, found, (*list).wire)
}

func (c *call) createList() response {
	body := c.body
	body.needs("name", body.has("name"))
	name, _ := body.name("name")
	kind := body.choice("entityType", ContactList, CompanyList)
	body.only("name", "entityType")
	body.valid()
	stop(c.nameFree(name))

	l := &list{List: List{CreatedAt: stamp(c.now)}}
	c.effect(func() { l = c.sb.makeList(c.ws, name, kind, c.now) }, "list created: %q", name)
	return reply(http.StatusCreated, object{"list": l.wire()})
}

// nameFree rejects a name that a list or an agent has, or that is reserved.
func (c *call) nameFree(name string) error {
	if err := c.nameAllowed(name); err != nil {
		return err
	}
	taken, alike := false, false
	look := func(other string) {
		taken = taken || other == name
		alike = alike || sameLetters(other, name)
	}
	for _, l := range c.ws.lists {
		look(l.Name)
	}
	for _, a := range agents.in(c.ws) {
		look(strings.TrimSpace(a.Name))
	}
	switch {
	case taken:
		return refuse("LIST_NAME_TAKEN", fmt.Sprintf("A list or an agent is called %q.", name))
	case alike:
	}
	return nil
}

// sameLetters reports whether two names differ in space and in the case of letters only.
func sameLetters(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), ""), strings.Join(strings.Fields(b), ""))
}

func (c *call) nameAllowed(name string) error {
	for _, l := range c.ws.lists {
		if l.System && strings.EqualFold(l.Name, name) {
			return errReserved
		}
	}
	if foldContains(systemTitles, name) {
		return errReserved
	}
	return nil
}

func (c *call) getList() response {
	l := c.list()
	w := l.wire()
	w.CompletionStatus = l.CompletionStatus
	switch include := c.query.Get("include"); {
	case !c.query.Has("include"):
	case include == "columns":
		w.Columns = append([]Column{}, l.Columns...)
	default:
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
	of := kept(folders.in(c.ws), func(f *Folder) bool { return f.Type == kind })
	return reply(http.StatusOK, object{"folders": appendEach([]Folder{}, of, copyOf)})
}

func (c *call) list() *list { return must(c.listByID(c.pathID("listId"))) }

func (c *call) listByID(id string) (*list, error) {
	if l := c.ws.list(id); l != nil {
		return l, nil
	}
	return nil, refuse("LIST_NOT_FOUND", "No list has this id.")
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
