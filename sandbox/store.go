package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// workspace is what the keys and teammates of one account share.
type workspace struct {
	outreach
	research
	sb      *Sandbox
	number  int
	name    string
	user    User
	plan    string
	balance int64
	keys    []*key
	folders []Folder
	crm     CRM
	agents  []*agent // oldest first
	lists   []*list  // oldest first
	byID    map[string]*list
	windows map[op.Surface]*quota
	ledger  []LedgerEntry
	pushes  []CRMPush
	ids     uint64 // how many were handed out
	version int    // grows with every change, so that prepared answers know when they are stale
}

type list struct {
	List     // without rows
	rows     []json.RawMessage
	ids      []string // of the rows
	position map[string]int
	view     view
}

type key struct {
	Key
	ws *workspace
}

const (
	idPrefix       = "5a" // of the ids that the sandbox makes
	defaultCredits = 10_000
)

// newID makes an id that no earlier one equals, the same in every run.
func (ws *workspace) newID() string {
	ws.ids++
	return fmt.Sprintf("%s%06x%016x", idPrefix, ws.number, ws.ids)
}

// seen keeps newID away from an id of a seed, which may stem from an earlier run.
func (ws *workspace) seen(id string) {
	if len(id) != 24 || !strings.HasPrefix(id, idPrefix) {
		return
	}
	if n, err := strconv.ParseUint(id[8:], 16, 64); err == nil && n < 1<<62 {
		ws.ids = max(ws.ids, n)
	}
}

func (sb *Sandbox) load(state State) {
	if len(state.Workspaces) == 0 {
		state.Workspaces = []Workspace{{Name: "main", Credits: defaultCredits}}
	}
	for _, seed := range state.Workspaces {
		sb.addWorkspace(seed)
	}
}

func (sb *Sandbox) addWorkspace(seed Workspace) *workspace {
	ws := &workspace{
		sb: sb, number: len(sb.workspaces) + 1, name: seed.Name, user: seed.User, plan: seed.Plan, balance: seed.Credits,
		folders: slices.Clone(seed.Folders), crm: seed.CRM.complete(),
		byID: map[string]*list{}, windows: map[op.Surface]*quota{},
	}
	sb.workspaces = append(sb.workspaces, ws)
	ws.noteIDs(seed)
	ws.loadOutreach(seed)
	ws.fill(&ws.user.ID)
	ws.user.Name = cmp.Or(ws.user.Name, "Sandbox User")
	ws.user.Email = cmp.Or(ws.user.Email, "user@sandbox.example")
	for i := range ws.folders {
		ws.fill(&ws.folders[i].ID)
	}
	for _, l := range inOrder(seed.Lists) {
		sb.addList(ws, l)
	}
	for _, a := range seed.Agents {
		sb.addAgent(ws, a)
	}
	ws.loadResearch(seed)
	for _, k := range seed.Keys {
		sb.addKey(ws, k)
	}
	if ws.ownerKey() == nil {
		sb.addKey(ws, Key{Name: "owner"})
	}
	return ws
}

func (ws *workspace) noteIDs(seed Workspace) {
	ws.seen(seed.User.ID)
	seed.outreachIDs(ws.seen)
	for _, f := range seed.Folders {
		ws.seen(f.ID)
	}
	for _, a := range seed.Agents {
		ws.seen(a.ID)
	}
	seed.researchIDs(ws.seen)
	for _, l := range seed.Lists {
		ws.seen(l.ID)
		for _, c := range l.Columns {
			ws.seen(c.ID)
		}
		for _, row := range l.Rows {
			id, _ := fieldString(row, "id")
			ws.seen(id)
		}
	}
}

func (ws *workspace) fill(id *string) {
	if *id == "" {
		*id = ws.newID()
	}
}

// inOrder puts lists in the order of their creation, if all of them tell it.
func inOrder(lists []List) []List {
	lists = slices.Clone(lists)
	if !slices.ContainsFunc(lists, func(l List) bool { return l.CreatedAt.IsZero() }) {
		slices.SortStableFunc(lists, func(a, b List) int { return a.CreatedAt.Compare(b.CreatedAt) })
	}
	return lists
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
	if !l.VisibleAt.IsZero() {
		sb.agenda.add(l.VisibleAt, "list visible", l.ID, func() bool {
			l.VisibleAt = time.Time{}
			ws.version++
			return ws.byID[l.ID] == l
		})
	}
	return l
}

func (sb *Sandbox) addKey(ws *workspace, seed Key) *key {
	k := &key{Key: seed, ws: ws}
	k.Scopes, k.Widens = slices.Clone(seed.Scopes), maps.Clone(seed.Widens)
	n := len(ws.keys) + 1
	k.Name = cmp.Or(k.Name, fmt.Sprintf("key-%d", n))
	for k.Token == "" || sb.keys[k.Token] != nil {
		k.Token = fmt.Sprintf("sandbox_%02d_%03d", ws.number, n)
		n++
	}
	ws.keys = append(ws.keys, k)
	sb.keys[k.Token] = k
	sb.scheduleExpiry(k)
	for _, scope := range slices.Sorted(maps.Keys(k.Widens)) {
		sb.scheduleWidening(k, scope)
	}
	return k
}

// ownerKey finds a key with full access.
func (ws *workspace) ownerKey() *key {
	for _, k := range ws.keys {
		if len(k.Scopes) == 0 && !k.Revoked {
			return k
		}
	}
	return nil
}

// insert puts rows into a list, and ids into the rows that have none.
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

// withID puts an id in front of the other fields.
func withID(row json.RawMessage, id string) json.RawMessage {
	inner := bytes.TrimLeft(bytes.TrimSpace(row)[1:], " \t\r\n")
	out := append(make([]byte, 0, len(row)+len(id)+8), `{"id":"`+id+`"`...)
	if len(inner) > 1 {
		out = append(out, ',')
	}
	return append(out, inner...)
}

// remove takes rows out of a list.
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

// row finds a row by its id.
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

// begin dates what the seed left undated. It waits for the first use: a sandbox may be made outside the synctest bubble
// it is used in, years apart.
func (sb *Sandbox) begin(now time.Time) {
	for _, ws := range sb.workspaces {
		sb.beginOutreach(ws, now)
		sb.beginAgents(ws, now)
		for i, l := range ws.lists {
			if l.CreatedAt.IsZero() {
				l.CreatedAt = now.Add(time.Duration(i-len(ws.lists)) * time.Second).UTC().Truncate(time.Millisecond)
			}
		}
	}
}

// snapshot copies a workspace. The bytes of rows are shared: nobody changes them, they are replaced.
func (ws *workspace) snapshot() Workspace {
	out := Workspace{
		Name: ws.name, User: ws.user, Plan: ws.plan, Credits: ws.balance, CRM: ws.crm.clone(),
		Folders: slices.Clone(ws.folders), Agents: ws.copyAgents(),
	}
	ws.snapshotOutreach(&out)
	ws.snapshotResearch(&out)
	for _, k := range ws.keys {
		c := k.Key
		c.Scopes, c.Widens = slices.Clone(c.Scopes), maps.Clone(c.Widens)
		out.Keys = append(out.Keys, c)
	}
	for _, l := range ws.lists {
		out.Lists = append(out.Lists, l.snapshot())
	}
	return out
}

func (l *list) snapshot() List {
	c := l.List
	c.Columns, c.Rows = slices.Clone(c.Columns), slices.Clone(l.rows)
	return c
}

func (c CRM) clone() CRM {
	return CRM{Supported: slices.Clone(c.Supported), Connected: slices.Clone(c.Connected)}
}

// complete names five kinds, as many as the service supports: the connected ones, then invented names.
func (c CRM) complete() CRM {
	c = c.clone()
	if len(c.Supported) > 0 {
		return c
	}
	c.Supported = slices.Clone(c.Connected)
	for n := 1; len(c.Supported) < crmKinds; n++ {
		if name := fmt.Sprintf("crm-%d", n); !slices.Contains(c.Supported, name) {
			c.Supported = append(c.Supported, name)
		}
	}
	return c
}
