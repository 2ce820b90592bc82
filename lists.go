package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/pagewalk"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
)

// ListsService manages prospect lists of people (contact lists) and of companies. No operation to rename, copy or delete one is
// documented.
type ListsService struct{ service }

// ListKind is the kind of a list.
type ListKind string

// The kinds of lists.
const (
	ContactList ListKind = "contactList"
	CompanyList ListKind = "companyList"
)

var listKinds = []ListKind{ContactList, CompanyList}

// Known reports whether it is documented.
func (k ListKind) Known() bool { return slices.Contains(listKinds, k) }

// List is a prospect list. Raw has its undocumented fields, such as completionStatus.
type List struct {
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	Kind           ListKind  `json:"entityType"`
	ContactsCount  int       `json:"contactsCount"`
	CompaniesCount int       `json:"companiesCount"`
	CreatedAt      time.Time `json:"createdAt,omitzero"`
	FolderID       string    `json:"folderId,omitempty"` // empty at the folder root
	Columns        []Column  `json:"columns,omitempty"`  // only from GetWithColumns
	partial
}

// String returns its JSON.
func (l List) String() string { return textOf(l.raw, l) }

// Column is a custom column of a list.
type Column struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"` // its values are undocumented
	record
}

// String returns its JSON.
func (c Column) String() string { return textOf(Object{}, c) }

const maxCRMContacts = 500 // of one push

// ListsParams selects lists; the zero value all.
type ListsParams struct {
	Limit    int      `url:"limit,omitempty"`   // per page, 1 to 1000; default: 1000, and 50 for Page
	PageNum  int      `url:"pageNum,omitempty"` // first page, from 1; default 1
	Kind     ListKind `url:"entityType,omitempty"`
	FolderID string   `url:"folderId,omitempty"` // only lists of this folder
	Search   string   `url:"search,omitempty"`   // part of the name, 1 to 200 characters; no wildcards
}

func (p ListsParams) check(bad *check.Violations) {
	bad.Between("limit", p.Limit, 1, maxPageSize)
	bad.AtLeast("pageNum", p.PageNum, 1)
	check.OneOf(bad, "entityType", p.Kind, listKinds...)
	bad.OptionalID("folderId", p.FolderID)
	bad.OptionalLength("search", p.Search, 1, 200)
}

// All iterates over the lists, newest first: a request for each 1,000 by default. Lists that come or go meanwhile cause no repeats and no
// gaps, but see [Report].
//
// Errors: those of [ListsService.Page].
//
// GET /business/lists, scope lists.
func (s *ListsService) All(ctx context.Context, p ListsParams, opts ...PageOption) iter.Seq2[*List, error] {
	return itemsOf[List](ctx, listPager(s, p), opts)
}

// Pages iterates over the pages of [ListsService.All].
//
// Errors: those of [ListsService.Page].
//
// GET /business/lists, scope lists.
func (s *ListsService) Pages(ctx context.Context, p ListsParams, opts ...PageOption) iter.Seq2[*Page[List], error] {
	return pagesOf[List](ctx, listPager(s, p), opts)
}

// Page reads one page of lists. A page past the end is empty.
//
// Errors: documented: [CodeValidationFailed].
//
// GET /business/lists, scope lists.
func (s *ListsService) Page(ctx context.Context, p ListsParams, opts ...CallOption) (*Page[List], error) {
	return readPage[List](ctx, s.conf, op.ListsList, args{query: p}, p.Limit, opts)
}

func listPager(s *ListsService, p ListsParams) collection {
	p.Limit = cmp.Or(p.Limit, maxPageSize)
	of := collection{conf: s.conf, op: op.ListsList, first: p.PageNum, limit: p.Limit, orderKnown: p.FolderID == "" && p.Search == ""}
	read := func(ctx context.Context, number int, opts []CallOption) (*Page[List], error) {
		p := p // pages are read at the same time
		p.PageNum = number
		return s.Page(ctx, p, opts...)
	}
	p.PageNum = 0
	return numbered(of, args{query: p}, read, func(l *List) string { return l.ID })
}

// NewList is a list to create, at the folder root: see [ListsService.Move].
type NewList struct {
	Name string   `json:"name"`                // 1 to 255 characters after trimming; unique in the workspace
	Kind ListKind `json:"entityType,omitzero"` // default: contact list
}

func (n NewList) check(bad *check.Violations) {
	bad.Length("name", strings.TrimSpace(n.Name), 1, 255)
	check.OneOf(bad, "entityType", n.Kind, listKinds...)
}

// Create creates an empty list at the folder root. After an unknown outcome, Resolve looks for it; [ListsService.Ensure] does so, and
// creates it again if need be.
//
// Errors: documented: [CodeListNameTaken] (also when an agent has the name), [CodeValidationFailed]; likely: [CodeListNameReserved].
//
// POST /business/lists, scope lists.
func (s *ListsService) Create(ctx context.Context, in NewList, opts ...CallOption) (*List, error) {
	in.Name = strings.TrimSpace(in.Name)
	a, made := args{body: in, lookup: journal.Lookup{Name: in.Name, Kind: string(in.kind())}, look: s.lookForNew}, new(List)
	want := repeatsName(in.Name, &made.Name)
	want.resultID, want.made = made.resultID, func() time.Time { return made.CreatedAt }
	return doExpecting(ctx, s.conf, op.ListsCreate, a, opts, made, want)
}

func (l *List) resultID() string { return l.ID }

// looks are the reads that show the effects of writes, by operation: for tickets.
func (s *ListsService) looks() map[*op.Op]look {
	return map[*op.Op]look{op.ListsCreate: s.lookForNew, op.ListsMove: s.lookForFolder}
}

// lookForNew looks for the list that a creation may have made, by name, kind and age.
func (s *ListsService) lookForNew(ctx context.Context, q *resolver, opts []CallOption) (finding, error) {
	list, near, err := s.named(ctx, q.ticket.Lookup.Name, opts)
	switch {
	case err != nil:
		return finding{}, err
	case list == nil && slices.ContainsFunc(near, q.mayHaveMade):
		return finding{note: "a list's name differs in case, spaces or accents only, or is cut off: it may be this one, if the service changes names"}, nil
	case list == nil:
		return finding{sight: absent}, nil
	case list.Kind == "":
		return doesNotTell(list, "the list of that name has no kind")
	}
	older, certain := q.older(list)
	switch {
	case string(list.Kind) != q.ticket.Lookup.Kind:
		return finding{sight: absent, object: list, note: "a list of the other kind holds the name", sure: true, kept: certain}, nil
	case list.CreatedAt.IsZero():
		return doesNotTell(list, "the list of that name does not say when it was created")
	case certain:
		return finding{sight: absent, object: list, note: "a list of that name is older than the call", sure: true, kept: true}, nil
	case older:
		return finding{object: list, note: "a list of that name seems older than the call, but its clock is not known so well: a person has to look"}, nil
	case q.sent.Younger(assumedKept, list.CreatedAt, q.evidence.header(q.info)):
		return finding{object: list, note: "a list of that name is younger than the call: that of the call may have been renamed or deleted before, so a person has to look"}, nil
	}
	return finding{sight: shown, object: list, note: op.ListsCreate.Verify}, nil
}

// older reports whether a list is older than the call, and whether that is certain.
func (q *resolver) older(list *List) (older, certain bool) {
	if list.CreatedAt.IsZero() {
		return false, false
	}
	return q.sent.Older(list.CreatedAt, q.evidence.header(q.info))
}

// mayHaveMade reports whether the call may have made a list, if the service has changed its name.
func (q *resolver) mayHaveMade(list *List) bool {
	_, older := q.older(list)
	return !older && (list.Kind == "" || string(list.Kind) == q.ticket.Lookup.Kind)
}

// Get reads one list, without its columns.
//
// Errors: documented: [CodeListNotFound] (also for a list of another workspace).
//
// GET /business/lists/{listId}, scope lists.
func (s *ListsService) Get(ctx context.Context, listID string, opts ...CallOption) (*List, error) {
	list := new(List)
	return doExpecting(ctx, s.conf, op.ListsGet, args{ids: []string{listID}}, opts, list, repeatsID(listID, &list.ID))
}

// GetWithColumns reads one list with its custom columns, under "columns" (assumed). If they are not there, Columns is nil: see Raw.
//
// Errors: those of [ListsService.Get].
//
// GET /business/lists/{listId}, scope lists.
func (s *ListsService) GetWithColumns(ctx context.Context, listID string, opts ...CallOption) (*List, error) {
	return s.Get(ctx, listID, append([]CallOption{WithQuery("include", "columns")}, opts...)...)
}

// WaitFor reads a list until test returns true, for example for its undocumented completionStatus in Raw. Beside an error that matches
// [ErrNotSettled] stands the list as last seen.
//
// Errors: those of [ListsService.Get].
//
// GET /business/lists/{listId}, scope lists.
func (s *ListsService) WaitFor(ctx context.Context, listID string, test func(*List) bool, opts ...CallOption) (*List, error) {
	if test == nil {
		return nil, refusal(op.ListsGet, check.One("test", "must not be nil"))
	}
	read := func(ctx context.Context) (*List, error) { return s.Get(ctx, listID, opts...) }
	judge := func(l *List) waits.Sighting { return waits.Sighting{Settled: test(l), State: "failing the test"} }
	return waitFor(ctx, s.conf, op.ListsGet, read, judge)
}

// Move puts a list into a folder. After an unknown outcome, Resolve reads its folder.
//
// Errors: likely: [CodeListNotFound], [CodeFolderNotFound].
//
// PATCH /business/lists/{listId}, scope lists.
func (s *ListsService) Move(ctx context.Context, listID, folderID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.ListsMove, args{
		ids: []string{listID}, body: Fields{"folderId": folderID}, lookup: journal.Lookup{FolderID: folderID}, look: s.lookForFolder,
		check: func(bad *check.Violations) { bad.ID("folderId", folderID) },
	}, opts)
}

// MoveToRoot moves a list out of its folder, by sending null (assumed).
//
// Errors: those of [ListsService.Move].
//
// PATCH /business/lists/{listId}, scope lists.
func (s *ListsService) MoveToRoot(ctx context.Context, listID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.ListsMove, args{ids: []string{listID}, body: Fields{"folderId": nil}, look: s.lookForFolder}, opts)
}

// lookForFolder reads whether a list is in the requested folder: its id, or null for the root. Any other folderId proves nothing.
func (s *ListsService) lookForFolder(ctx context.Context, q *resolver, opts []CallOption) (finding, error) {
	list, err := s.Get(ctx, q.id(), opts...)
	switch {
	case errors.Is(err, CodeListNotFound):
		return gone("the list")
	case err != nil:
		return finding{}, err
	}
	folder, _ := list.raw.Get("folderId")
	switch {
	case list.FolderID == "" && folder.String() != "null":
		return doesNotTell(list, "the list has no folderId")
	case sameID(list.FolderID, q.ticket.Lookup.FolderID):
		return finding{sight: shown, object: list}, nil
	}
	return finding{sight: absent, object: list}, nil
}

// CRMPush selects contacts of a list and a CRM to push them into.
type CRMPush struct {
	CRM        string   `json:"crm"`                  // one of five kinds, whose names are undocumented
	ContactIDs []string `json:"contactIds,omitempty"` // 1 to 500
	All        bool     `json:"-"`                    // instead of ContactIDs: the whole list
}

func (p CRMPush) check(bad *check.Violations) {
	bad.Must(strings.TrimSpace(p.CRM) != "", "crm", "must not be blank")
	n := len(p.ContactIDs)
	bad.Must(n <= maxCRMContacts, "contactIds", "has %d ids, must have at most %d", n, maxCRMContacts)
	bad.IDs("contactIds", p.ContactIDs)
	bad.Chosen("contactIds", n > 0, p.All)
}

// CRMPushed is what the service will push in the background, without a job to poll.
type CRMPushed struct {
	CRM     string   `json:"crm"`
	ListIDs []string `json:"listIds"`
	record
}

// String returns its JSON.
func (p CRMPushed) String() string { return textOf(Object{}, p) }

// PushToCRM pushes contacts into the CRM of the team's designated sync user, in the background, for no credits. It cannot be undone. With
// ContactIDs, it overwrites CRM records; with All, nothing. To make it once, pass [Once]. After an unknown outcome, check the CRM.
//
// Errors: documented: [CodeListNotFound], [CodeContactListRequired], [CodeCRMNotConnected], [CodeValidationFailed].
//
// POST /business/lists/{listId}/crm-push, scope lists.
func (s *ListsService) PushToCRM(ctx context.Context, listID string, in CRMPush, opts ...CallOption) (*CRMPushed, error) {
	pushed := new(CRMPushed)
	a := args{ids: []string{listID}, body: in, lookup: journal.Lookup{Kind: in.CRM}} // the kind is for whoever looks there
	want := repeatsName(in.CRM, &pushed.CRM)
	want.proof = func() bool { return pushed.CRM == in.CRM && pushed.ListIDs != nil }
	want.take = func() error {
		pushed.CRM = cmp.Or(pushed.CRM, in.CRM)
		return nil
	}
	return doExpecting(ctx, s.conf, op.ListsCRMPush, a, opts, pushed, want)
}

// AddMembers adds existing contacts to a list. The sandbox takes contactIds, 1 to 500 (assumed: rule lists.add-members). It counts as
// spending credits (undocumented). A second call may add twice: pass [Once].
//
// Errors: likely: [CodeListNotFound], [CodeContactNotFound], [CodeInsufficientCredits].
//
// POST /business/lists/{listId}/members, scope lists.
func (s *ListsService) AddMembers(ctx context.Context, listID string, in Fields, opts ...CallOption) (*Object, error) {
	names := func(bad *check.Violations) {
		in.checkNames(bad, "contactIds")
		in.checkChoice(bad)
	}
	return do[Object](ctx, s.conf, op.ListsAddMembers, args{ids: []string{listID}, body: in, check: names}, opts)
}

// AddContacts adds new rows to a list. The sandbox takes contacts, 1 to 500 objects without ids (assumed: rule lists.add-contacts). It
// counts as spending credits (undocumented). A second call may add twice: pass [Once].
//
// Errors: likely: [CodeListNotFound], [CodeInsufficientCredits].
//
// POST /business/lists/{listId}/contacts, scope lists.
func (s *ListsService) AddContacts(ctx context.Context, listID string, in Fields, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.ListsAddContacts, args{ids: []string{listID}, body: in}, opts)
}

// ContactSave selects contacts of a list, and the list to save them into (fields assumed). The name of the source list is undocumented:
// supply it in Extra.
type ContactSave struct {
	ListID     string   `json:"listId,omitzero"`     // the list to save into
	ListName   string   `json:"listName,omitzero"`   // or its name: not of several lists, nor of a system list
	ContactIDs []string `json:"contactIds,omitzero"` // rows of the source list
	All        bool     `json:"-"`                   // instead of ContactIDs: without them it saves all rows (assumed)
	Extra      Fields   `json:"-"`
}

func (c ContactSave) check(bad *check.Violations) {
	bad.OptionalID("listId", c.ListID)
	bad.IDs("contactIds", c.ContactIDs)
	bad.Chosen("contactIds", len(c.ContactIDs) > 0 || c.Extra.has("contactIds"), c.All)
	c.Extra.checkChoice(bad)
}

// SaveContacts saves contacts of one list into another. Beyond [ContactSave], body and response are undocumented. The sandbox takes
// sourceListId, optionally contactIds, and listId or listName (assumed: rule lists.save-to-list). It counts as spending credits. To make
// it once, pass [Once].
//
// Errors: likely: [CodeListNotFound], [CodeListNameAmbiguous], [CodeListNameTaken], [CodeListNameReserved], [CodeListProcessing],
// [CodeContactNotInList], [CodeAllContactsAlreadyEnriched], [CodeInsufficientCredits].
//
// POST /business/lists/save-to-list, scope lists.
func (s *ListsService) SaveContacts(ctx context.Context, in ContactSave, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.ListsSave, args{body: in, extra: []Fields{in.Extra}}, opts)
}

// FolderKind is the kind of a folder.
type FolderKind string

// The kinds of folders.
const (
	ContactListFolder FolderKind = "contactList"
	CompanyListFolder FolderKind = "companyList"
	CampaignFolder    FolderKind = "campaign"
	AgentFolder       FolderKind = "agent"
)

var folderKinds = []FolderKind{ContactListFolder, CompanyListFolder, CampaignFolder, AgentFolder}

// Known reports whether it is documented.
func (k FolderKind) Known() bool { return slices.Contains(folderKinds, k) }

// Folder holds lists, campaigns or agents.
type Folder struct {
	ID   string     `json:"id"`
	Name string     `json:"name"` // unique among the folders of its kind
	Kind FolderKind `json:"type"`
	record
}

// String returns its JSON.
func (f Folder) String() string { return textOf(Object{}, f) }

// Folders lists the folders of one kind, without pages.
//
// Errors: documented: [CodeValidationFailed], [CodeInvalidRequest] (for agents and campaigns, whose service may also send a code of
// its own).
//
// GET /business/folders, scope lists.
func (s *ListsService) Folders(ctx context.Context, kind FolderKind, opts ...CallOption) ([]Folder, error) {
	folders, err := do[folderList](ctx, s.conf, op.FoldersList, args{query: foldersQuery{kind}}, opts)
	if err != nil {
		return nil, err
	}
	return *folders, nil
}

func (l *List) validate() error { return errorIf(l.ID == "", "a list has no id") }

type foldersQuery struct {
	Kind FolderKind `url:"type"`
}

func (q foldersQuery) check(bad *check.Violations) {
	check.Required(bad, "type", q.Kind, folderKinds...)
}

type folderList []Folder

func (l *folderList) validate() error {
	return cmp.Or(errorIf(*l == nil, "the folders are not an array"), validateAll(*l))
}

func (f *Folder) validate() error { return errorIf(f.ID == "", "a folder has no id") }

func (n NewList) kind() ListKind { return cmp.Or(n.Kind, ContactList) }

// named finds the list with this name, of either kind, and those whose name the service may have made of it.
func (s *ListsService) named(ctx context.Context, name string, opts []CallOption) (match *List, near []*List, err error) {
	lists := s.All(ctx, ListsParams{Search: pagewalk.SearchFor(name)}, pageOptions(opts)...)
	match, others, err := findNamed(lists, op.ListsList, "lists", name, func(l *List) string { return l.Name })
	for _, other := range others {
		if other.Name == "" || pagewalk.Near(other.Name, name) { // one without a name may have any
			near = append(near, other)
		}
	}
	return match, near, err
}
