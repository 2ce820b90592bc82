package sandbox

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// SavedSearch seeds a saved search.
type SavedSearch struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Companies bool            `json:"companies,omitempty"` // it stores filters of a company search
	Filters   json.RawMessage `json:"filters,omitempty"`   // as a search takes them; what is none makes it invalid
}

// Activity seeds a past or scheduled activity of a contact.
type Activity struct {
	ContactID string    `json:"contactId"`
	Type      string    `json:"type"` // any word
	At        time.Time `json:"at"`
	Scheduled bool      `json:"scheduled,omitempty"` // a campaign step that has not run yet
}

// Import seeds a file that was imported, or an upload that was reserved.
type Import struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"` // of the file
	Format   string `json:"format,omitempty"`
	Size     int64  `json:"size,omitempty"`
	Rows     int    `json:"rows,omitempty"`     // of data
	Reserved bool   `json:"reserved,omitempty"` // an upload, not an import
	Uploaded bool   `json:"uploaded,omitempty"` // and its file is there
}

// research is the data of the searches, timelines and imports of a workspace.
type research struct {
	options    map[string][]string
	prospects  []json.RawMessage // of the seed
	companies  []json.RawMessage
	saved      []SavedSearch
	activities []Activity
	imports    []Import
	scrolls    map[string]*scrollToken
	minted     uint64 // scroll tokens so far
}

func (ws *workspace) loadResearch(seed Workspace) {
	ws.research = research{
		options: maps.Clone(seed.FilterOptions), prospects: slices.Clone(seed.Prospects), companies: slices.Clone(seed.Companies),
		saved: slices.Clone(seed.SavedSearches), activities: slices.Clone(seed.Activities), imports: slices.Clone(seed.Imports),
		scrolls: map[string]*scrollToken{},
	}
	for i := range ws.saved {
		ws.fill(&ws.saved[i].ID)
	}
	for i := range ws.imports {
		ws.fill(&ws.imports[i].ID)
	}
}

func (ws *workspace) snapshotResearch(out *Workspace) {
	out.FilterOptions, out.Prospects, out.Companies = maps.Clone(ws.options), slices.Clone(ws.prospects), slices.Clone(ws.companies)
	out.SavedSearches, out.Activities, out.Imports = slices.Clone(ws.saved), slices.Clone(ws.activities), slices.Clone(ws.imports)
}

func validateResearch(ws Workspace, fail failing) {
	for what, objects := range map[string][]json.RawMessage{"prospect": ws.Prospects, "company": ws.Companies} {
		for i, raw := range objects {
			if !json.Valid(raw) || !isObject(raw) {
				fail("%s %d: %v", what, i, errNotObject)
			}
		}
	}
	for _, s := range ws.SavedSearches {
		if len(s.Filters) > 0 && !json.Valid(s.Filters) {
			fail("saved search %q: the filters are not JSON", s.Name)
		}
	}
	for _, a := range ws.Activities {
		if !isID(a.ContactID) || a.Type == "" {
			fail("an activity lacks its type, or the id of its contact: 24 hexadecimal digits")
		}
	}
}

const (
	inventedPeople = 250
	inventedFirms  = 60
)

// invented are the search results if the seed has none.
var (
	inventedProspects = sync.OnceValue(func() []json.RawMessage {
		rows := make([]Row, inventedPeople)
		for i := range rows {
			rows[i] = invent("prospects", i).profile(i)
		}
		return Rows(rows...)
	})
	inventedCompanies = sync.OnceValue(func() []json.RawMessage {
		rows := make([]Row, inventedFirms)
		for i := range rows {
			rows[i] = inventFirm(rand.New(rand.NewPCG(0, uint64(i)))).row()
		}
		return Rows(rows...)
	})
)

func (ws *workspace) searchable() []json.RawMessage {
	if len(ws.prospects) > 0 {
		return ws.prospects
	}
	return inventedProspects()
}

func (ws *workspace) searchableCompanies() []json.RawMessage {
	if len(ws.companies) > 0 {
		return ws.companies
	}
	return inventedCompanies()
}

// filterOptions are the keys of searches, and the values that each accepts.
func (ws *workspace) filterOptions() map[string][]string {
	if len(ws.options) > 0 {
		return ws.options
	}
	return map[string][]string{levelKey: levels}
}

// levelKey is the only documented filter key.
const levelKey = "job_title_levels"

// SavedSearches copies the saved searches.
func (w *Tenant) SavedSearches() []SavedSearch {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	return slices.Clone(w.ws.saved)
}

// Imports copies the imports and the reserved uploads, oldest first.
func (w *Tenant) Imports() []Import {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	return slices.Clone(w.ws.imports)
}

// AddActivity adds an activity of a contact. Without a time, it happened now.
func (tx *Tx) AddActivity(a Activity) {
	tx.change("AddActivity", func(now time.Time) bool {
		if a.At.IsZero() {
			a.At = stamp(now)
		}
		if !isID(a.ContactID) || a.Type == "" {
			return false
		}
		tx.ws.activities = append(tx.ws.activities, a)
		return true
	})
}

// SaveSearch adds a saved search and returns its id.
func (tx *Tx) SaveSearch(s SavedSearch) (id string) {
	tx.change("SaveSearch", func(time.Time) bool {
		seed := State{Workspaces: []Workspace{{SavedSearches: []SavedSearch{s}}}}
		if seed.Validate() != nil || s.ID != "" && tx.ws.savedSearch(s.ID) != nil {
			return false
		}
		tx.ws.seen(s.ID)
		tx.ws.fill(&s.ID)
		tx.ws.saved, id = append(tx.ws.saved, s), s.ID
		return true
	})
	return id
}
