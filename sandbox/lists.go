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
	op.ListsList: {handle: (*call).listLists, takes: slices.Concat(pages, []taking{
		optional("entityType", oneOf(ContactList, CompanyList)), optional("folderId", anID), optional("search", chars(200)),
	})},
	op.ListsCreate: {handle: (*call).createList, json: true, takes: []taking{
		required("name", aName), optional("entityType", oneOf(ContactList, CompanyList)), only("name", "entityType"),
	}},
	op.ListsGet:    {handle: (*call).getList},
	op.ListsMove:   {handle: (*call).moveList, json: true, takes: []taking{required("folderId", idOrNull), only("folderId")}},
	op.FoldersList: {handle: (*call).listFolders, takes: []taking{required("type", oneOf(folderTypes...))}},
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

func (l *List) wire() object {
	w := object{
		"id": l.ID, "name": l.Name, "entityType": l.EntityType, "contactsCount": 0, "companiesCount": 0, "createdAt": wireTime(l.CreatedAt),
		"folderId": orNull(l.FolderID),
	}
	if l.EntityType == CompanyList {
		w["companiesCount"] = len(l.Rows)
	} else {
		w["contactsCount"] = len(l.Rows)
	}
	return w
}

func (c *call) listLists() response {
	kind, folder, search := c.in.text("entityType"), c.in.text("folderId"), strings.ToLower(c.in.text("search"))
	found := kept(lists.in(c.ws), func(l *List) bool {
		return !l.System && l.VisibleAt.IsZero() && (kind == "" || kind == l.EntityType) &&
			(folder == "" || sameID(folder, l.FolderID)) && strings.Contains(strings.ToLower(l.Name), search)
	})
	found = newestFirst(found) // of one instant, the one that was added last
	slices.SortStableFunc(found, func(a, b *List) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return pageOf(c.paging(50), found, (*List).wire)
}

func (c *call) createList() response {
	name, kind := c.in.trimmed("name"), c.in.text("entityType")
	c.nameFree(name)

	l := &List{CreatedAt: stamp(c.now)}
	c.effect(func() { l = c.ws.makeList(name, kind, c.now) }, "list created: %q", name)
	return reply(http.StatusCreated, object{"list": l.wire()})
}

// nameFree rejects a name that a list or an agent has, or that is reserved.
func (c *call) nameFree(name string) {
	c.nameAllowed(name)
	listed := slices.ContainsFunc(lists.in(c.ws), func(l *List) bool { return strings.TrimSpace(l.Name) == name })
	if listed || slices.ContainsFunc(agents.in(c.ws), func(a *Agent) bool { return strings.TrimSpace(a.Name) == name }) {
		deny("LIST_NAME_TAKEN", fmt.Sprintf("A list or an agent is called %q.", name))
	}
}

func (c *call) nameAllowed(name string) {
	if foldContains([]string{"All Contacts", "All Companies"}, name) ||
		slices.ContainsFunc(lists.in(c.ws), func(l *List) bool { return l.System && strings.EqualFold(l.Name, name) }) {
		deny("LIST_NAME_RESERVED", "A system list has this title.")
	}
}

func (c *call) getList() response {
	l := c.list()
	w := l.wire()
	if l.CompletionStatus != "" {
		w["completionStatus"] = l.CompletionStatus
	}
	if c.in.text("include") == "columns" {
		w["columns"] = append([]Column{}, l.Columns...)
	}
	return reply(http.StatusOK, object{"list": w})
}

func idOrNull(c *call, v value) string {
	if problem := anID(c, v); v.raw != "null" && problem != "" {
		return problem + ", or null"
	}
	return ""
}

func (c *call) moveList() response {
	l := c.list()
	folder, ok := c.ws.folder(c.in.text("folderId"), l.EntityType)
	if !ok {
		deny("FOLDER_NOT_FOUND", "No folder for this kind of list has this id.")
	}
	c.effect(func() { l.FolderID = folder }, "list moved: %s to %s", l.ID, cmp.Or(folder, "the root"))
	return reply(http.StatusOK, object{"list": l.wire()})
}

func (c *call) listFolders() response {
	kind := c.in.text("type")
	return listing("folders", kept(folders.in(c.ws), func(f *Folder) bool { return f.Type == kind }), func(f *Folder) object {
		return object{"id": f.ID, "name": f.Name, "type": f.Type}
	})
}

func (c *call) list() *List { return lists.of(c, "listId") }

var folders = keeps(kind[Folder]{
	name: "folders", seeds: func(ws *Workspace) *[]Folder { return &ws.Folders },
	check: func(_ *Workspace, f Folder, fail failing) {
		fail.among("folder", f.Name, "type", f.Type, folderTypes...)
	},
	gone: func(ws *workspace, id string) {
		for _, l := range lists.in(ws) {
			if sameID(l.FolderID, id) {
				l.FolderID = ""
			}
		}
	},
})

var folderTypes = []string{ContactList, CompanyList, CampaignFolder, AgentFolder}

// lists of a workspace. Rows are found by an index, which is made when it is needed.
var lists = keeps(kind[List]{
	name: "lists", missing: refusal{"LIST_NOT_FOUND", "No list has this id.", ""},
	seeds: func(ws *Workspace) *[]List { return &ws.Lists },
	check: validateList,
	fill: func(ws *workspace, l *List) {
		l.EntityType = cmp.Or(l.EntityType, ContactList)
		l.Rows, _ = ws.identified(l.Rows)
	},
	gone: func(ws *workspace, id string) {
		for _, a := range agents.in(ws) {
			if sameID(a.ListID, id) {
				a.ListID = ""
			}
		}
	},
})

func (l *List) begin(ws *workspace, created, _ time.Time) {
	delete(ws.rows, l)
	if l.CreatedAt.IsZero() {
		l.CreatedAt = stamp(created)
	}
	ws.later(&l.VisibleAt, "list visible", l.ID, func() bool {
		l.VisibleAt = time.Time{}
		return true
	})
}

func validateList(ws *Workspace, l List, fail failing) {
	if l.Name == "" {
		fail("list %q has no name", l.ID)
	}
	kind := cmp.Or(l.EntityType, ContactList)
	fail.among("list", l.Name, "entity type", kind, ContactList, CompanyList)
	if l.FolderID != "" && !slices.ContainsFunc(ws.Folders, func(f Folder) bool { return sameID(f.ID, l.FolderID) && f.Type == kind }) {
		fail("list %q: no %s folder has the id %s", l.Name, kind, l.FolderID)
	}
	inList := func(format string, args ...any) { fail("list %q, "+format, append([]any{l.Name}, args...)...) }
	validateRows(l.Rows, inList, func(string) bool { return false })
}

// makeList adds an empty list at the root.
func (ws *workspace) makeList(name, kind string, now time.Time) *List {
	seed := List{Name: name, EntityType: kind}
	if ws.sb.hideFor > 0 {
		seed.VisibleAt = now.Add(ws.sb.hideFor)
	}
	l := lists.add(ws, seed)
	l.begin(ws, now, now)
	return l
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

// list finds a list, or nil.
func (ws *workspace) list(id string) *List { return lists.find(ws, id) }

// Lists returns the lists, including system lists, the one that was added last first.
func (w *Tenant) Lists() []List { return newestFirst(lists.copies(w)) }
