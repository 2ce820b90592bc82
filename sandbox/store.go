package sandbox

import (
	"cmp"
	"time"

	"example.com/prospectkit/internal/op"
)

// workspace is what the keys and teammates of one account share.
type workspace struct {
	Workspace // as it is now, without what has its own place in the other fields
	sb        *Sandbox
	number    int
	keys      []*key

	objects   map[keeper]any        // of each kind, a slice of pointers
	specs     map[string]*agentSpec // of agents, by their configs
	lists     []*list               // oldest first
	byID      map[string]*list
	scrolls   map[string]*scrollToken
	minted    uint64 // scroll tokens so far
	approvals []approval
	sent      []Outgoing      // what would have been
	audited   int             // how many of them
	heard     map[string]bool // the sends of those
	windows   map[op.Surface]*quota
	ledger    []LedgerEntry
	ids       uint64 // how many were handed out
	version   int    // grows with every change, so that prepared responses are not used when they are stale
}

const (
	idPrefix       = "5a" // of the ids that the sandbox makes
	defaultCredits = 10_000
)

func (sb *Sandbox) addWorkspace(seed Workspace) *workspace {
	ws := &workspace{
		Workspace: copied(Workspace{
			Name: seed.Name, User: seed.User, Credits: seed.Credits, Plan: seed.Plan, CRM: seed.CRM.complete(), Accounts: seed.Accounts,
			FilterOptions: seed.FilterOptions, Prospects: seed.Prospects, Companies: seed.Companies,
		}),
		sb: sb, number: len(sb.workspaces) + 1,
		objects: map[keeper]any{}, specs: map[string]*agentSpec{}, byID: map[string]*list{}, scrolls: map[string]*scrollToken{},
		heard: map[string]bool{}, windows: map[op.Surface]*quota{},
	}
	sb.workspaces = append(sb.workspaces, ws)
	eachID(&seed, func(_ string, id *string) { ws.seen(*id) })
	for _, l := range seed.Lists {
		for _, row := range l.Rows {
			id, _ := fieldString(row, "id")
			ws.seen(id)
		}
	}
	ws.fill(&ws.User.ID)
	ws.User.Name = cmp.Or(ws.User.Name, "Sandbox User")
	ws.User.Email = cmp.Or(ws.User.Email, "user@sandbox.example")
	for _, l := range inOrder(seed.Lists) {
		sb.addList(ws, l)
	}
	for _, name := range kindNames() {
		kinds[name].load(ws, &seed)
	}
	for _, k := range seed.Keys {
		sb.addKey(ws, k)
	}
	if ws.ownerKey() == nil {
		sb.addKey(ws, Key{Name: "owner"})
	}
	return ws
}

// begin sets the times that the seed leaves open. It runs at the first use, because a sandbox may be made outside of the synctest
// bubble that uses it, years apart.
func (sb *Sandbox) begin(now time.Time) {
	for _, ws := range sb.workspaces {
		for _, name := range kindNames() {
			kinds[name].start(ws, now)
		}
		for i, l := range ws.lists {
			if l.CreatedAt.IsZero() {
				l.CreatedAt = stamp(now.Add(time.Duration(i-len(ws.lists)) * time.Second))
			}
		}
	}
}

// snapshot copies a workspace, with or without the rows of its lists. Their bytes are shared, because they are replaced and never changed.
func (ws *workspace) snapshot(rows bool) Workspace {
	out := copied(ws.Workspace)
	out.Keys = appendEach(nil, ws.keys, func(k *key) Key { return copied(k.Key) })
	out.Lists = appendEach(nil, ws.lists, func(l *list) List { return l.snapshot(rows) })
	for _, k := range kinds {
		k.save(ws, &out)
	}
	return out
}
