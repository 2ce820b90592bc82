package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// The kinds of list, and of folder.
const (
	ContactList    = "contactList"
	CompanyList    = "companyList"
	CampaignFolder = "campaign"
	AgentFolder    = "agent"
)

// State seeds a sandbox and is what [Sandbox.Snapshot] returns, in Go and as JSON.
//
// Ids, tokens and creation times may be omitted. They are filled in, the same in every run. The history (journal, ledger,
// rate windows) is not part of it.
type State struct {
	Workspaces []Workspace `json:"workspaces"`
}

// Workspace seeds one workspace. The methods of [Sandbox] itself use the first one of a state.
type Workspace struct {
	Name    string   `json:"name"`
	User    User     `json:"user"`
	Credits int64    `json:"credits"`
	Plan    string   `json:"plan,omitempty"` // "free" caps the agents at 10; anything else does not
	Keys    []Key    `json:"keys,omitempty"`
	Folders []Folder `json:"folders,omitempty"`
	CRM     CRM      `json:"crm,omitzero"`
	Agents  []Agent  `json:"agents,omitempty"`

	Accounts  []string   `json:"accounts,omitempty"`  // connected to send from: email, social
	Campaigns []Campaign `json:"campaigns,omitempty"` // oldest first
	Facts     []Fact     `json:"facts,omitempty"`
	Hubs      []Hub      `json:"hubs,omitempty"` // oldest first

	FilterOptions map[string][]string `json:"filterOptions,omitempty"` // of searches: keys and their values; without any, job_title_levels
	Prospects     []json.RawMessage   `json:"prospects,omitempty"`     // what searches find, JSON objects; without any, 250 invented people
	Companies     []json.RawMessage   `json:"companies,omitempty"`     // what company searches find, likewise; without any, 60 invented ones
	SavedSearches []SavedSearch       `json:"savedSearches,omitempty"`
	Activities    []Activity          `json:"activities,omitempty"` // of contacts, in any order
	Imports       []Import            `json:"imports,omitempty"`    // files that were imported, and uploads that were reserved

	Lists []List `json:"lists,omitempty"` // oldest first: the last one is listed first, unless CreatedAt says otherwise
}

// User seeds the account that a key belongs to.
type User struct {
	ID    string `json:"id,omitempty"`
	Email string `json:"email,omitempty"`
	Name  string `json:"name,omitempty"`
}

// failing is told what is wrong with a seed.
type failing func(format string, args ...any)

// mistakes are all that a check tells of.
func mistakes(check func(failing)) error {
	var all []error
	check(func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) })
	return errors.Join(all...)
}

// among rejects a value that is not one of those allowed.
func (fail failing) among(kind, name, what, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		fail("%s %q: unknown %s %q, which is none of %q", kind, name, what, value, allowed)
	}
}

// Validate reports everything that is invalid.
func (s State) Validate() error {
	if err := mistakes(s.validate); err != nil {
		return fmt.Errorf("sandbox: invalid state: %w", err)
	}
	return nil
}

func (s State) validate(fail failing) {
	names, tokens := map[string]bool{}, map[string]bool{}
	for i, ws := range s.Workspaces {
		fail := failing(func(format string, args ...any) { fail("workspace %d: "+format, append([]any{i}, args...)...) })
		if names[ws.Name] {
			fail("another one is called %q", ws.Name)
		}
		names[ws.Name] = true
		for _, key := range ws.Keys {
			if key.Token != "" && tokens[key.Token] {
				fail("key %q: another key has its token", key.Name)
			}
			tokens[key.Token] = true
			validateKey(key, fail)
		}
		ws.validate(fail)
	}
}

func (ws *Workspace) validate(fail failing) {
	if ws.Credits < 0 {
		fail("credits are negative")
	}
	claimed := map[string]bool{}
	eachID(ws, func(of string, id *string) {
		key := of + strings.ToLower(*id)
		switch {
		case *id == "":
		case !isID(*id):
			fail("%s %q: the id is not 24 hexadecimal digits", of, *id)
		case claimed[key] && of != "Column": // of another list
			fail("%s %s: the id appears twice", of, *id)
		}
		claimed[key] = true
	})
	named := map[Folder]bool{}
	for _, f := range ws.Folders {
		if f.ID = ""; named[f] {
			fail("folder %q: another %s folder has the name", f.Name, f.Type)
		}
		named[f] = true
	}
	for _, account := range ws.Accounts {
		fail.among("workspace", ws.Name, "account", account, channels...)
	}
	for i, raw := range slices.Concat(ws.Prospects, ws.Companies) {
		if !json.Valid(raw) || !isObject(raw) {
			fail("prospect or company %d: %v", i, errNotObject)
		}
	}
	for _, name := range kindNames() {
		kinds[name].validate(ws, fail)
	}
}

// workspace is what the keys and teammates of one account share.
type workspace struct {
	Workspace // as it is now, without what has its own place in the other fields
	sb        *Sandbox
	number    int
	keys      []*key

	objects    map[keeper]any // of each kind, a slice of pointers
	rows       map[*List]*rowIndex
	scrolls    map[string]*scrollToken
	minted     uint64            // scroll tokens so far
	approvedBy map[string]string // the last request that approved each campaign
	sent       []Outgoing        // what would have been
	windows    map[op.Surface]*quota
	ledger     []LedgerEntry
	ids        uint64 // how many were handed out
	version    int    // grows with every change, so that prepared responses are not used when they are stale
}

const (
	idPrefix       = "5a" // of the ids that the sandbox makes
	defaultCredits = 10_000
)

func (sb *Sandbox) addWorkspace(seed Workspace) *workspace {
	ws := &workspace{
		Workspace: copied(Workspace{
			Name: seed.Name, User: seed.User, Credits: seed.Credits, Plan: seed.Plan, CRM: seed.CRM, Accounts: seed.Accounts,
			FilterOptions: seed.FilterOptions, Prospects: seed.Prospects, Companies: seed.Companies,
		}),
		sb: sb, number: len(sb.workspaces) + 1,
		objects: map[keeper]any{}, rows: map[*List]*rowIndex{}, scrolls: map[string]*scrollToken{},
		approvedBy: map[string]string{}, windows: map[op.Surface]*quota{},
	}
	sb.workspaces = append(sb.workspaces, ws)
	eachID(&seed, func(_ string, id *string) { ws.seen(*id) })
	for _, l := range seed.Lists {
		ws.seenRows(l.Rows)
	}
	ws.fill(&ws.User.ID)
	ws.User.Name = cmp.Or(ws.User.Name, "Sandbox User")
	ws.User.Email = cmp.Or(ws.User.Email, "user@sandbox.example")
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
	}
}

// snapshot copies a workspace. Rows are shared, because they are replaced and never changed.
func (ws *workspace) snapshot() Workspace {
	out := copied(ws.Workspace)
	out.Keys = appendEach(nil, ws.keys, func(k *key) Key { return copied(k.Key) })
	for _, k := range kinds {
		k.save(ws, &out)
	}
	return out
}
