package sandbox

import (
	"cmp"
	"slices"
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

	crmInvented bool     // some of the supported kinds
	agents      []*agent // oldest first
	lists       []*list  // oldest first
	byID        map[string]*list
	windows     map[op.Surface]*quota
	ledger      []LedgerEntry
	pushes      []CRMPush
	ids         uint64 // how many were handed out
	version     int    // grows with every change, so that prepared responses are not used when they are stale
}

const (
	idPrefix       = "5a" // of the ids that the sandbox makes
	defaultCredits = 10_000
)

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
		folders: slices.Clone(seed.Folders), crm: seed.CRM.complete(), crmInvented: len(seed.CRM.Supported) == 0,
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
	seed.ids(func(_, id string) { ws.seen(id) })
	for _, l := range seed.Lists {
		for _, c := range l.Columns {
			ws.seen(c.ID)
		}
		for _, row := range l.Rows {
			id, _ := fieldString(row, "id")
			ws.seen(id)
		}
	}
}

// begin sets the times that the seed leaves open. It runs at the first use, because a sandbox may be made outside of the synctest
// bubble that uses it, years apart.
func (sb *Sandbox) begin(now time.Time) {
	for _, ws := range sb.workspaces {
		sb.beginOutreach(ws, now)
		sb.beginAgents(ws, now)
		for i, l := range ws.lists {
			if l.CreatedAt.IsZero() {
				l.CreatedAt = stamp(now.Add(time.Duration(i-len(ws.lists)) * time.Second))
			}
		}
	}
}

// snapshot copies a workspace. The bytes of rows are shared, because they are replaced and never changed.
func (ws *workspace) snapshot() Workspace {
	out := Workspace{
		Name: ws.name, User: ws.user, Plan: ws.plan, Credits: ws.balance, CRM: ws.crm.clone(),
		Folders: slices.Clone(ws.folders), Agents: appendEach(nil, ws.agents, (*agent).snapshot),
	}
	ws.snapshotOutreach(&out)
	ws.snapshotResearch(&out)
	out.Keys = appendEach(nil, ws.keys, (*key).snapshot)
	out.Lists = appendEach(nil, ws.lists, (*list).snapshot)
	return out
}
