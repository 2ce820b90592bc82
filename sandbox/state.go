package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Format is the version of the state format that this package reads and writes.
const Format = 1

// The kinds of list, and of folder.
const (
	ContactList    = "contactList"
	CompanyList    = "companyList"
	CampaignFolder = "campaign"
	AgentFolder    = "agent"
)

// State seeds a sandbox and is what [Sandbox.Snapshot] returns: one format, in Go and as a JSON file.
//
// Ids, tokens and creation times may be omitted. They are filled in, the same in every run. The history (journal, ledger,
// rate windows) is not part of it.
type State struct {
	Format     int         `json:"format"`
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

	More map[string]json.RawMessage `json:"more,omitempty"` // of each kind of object without a field of its own, by its name: an array of objects

	Lists []List `json:"lists,omitempty"` // oldest first: the last one is listed first, unless CreatedAt says otherwise
}

// User seeds the account that a key belongs to.
type User struct {
	ID    string `json:"id,omitempty"`
	Email string `json:"email,omitempty"`
	Name  string `json:"name,omitempty"`
}

// ReadState reads and validates a state. An unknown field or another format is an error.
func ReadState(r io.Reader) (State, error) {
	var state State
	dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<16))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&state); err != nil {
		return State{}, fmt.Errorf("sandbox: read state: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return State{}, errors.New("sandbox: read state: data after the state")
	}
	if state.Format != Format {
		return State{}, fmt.Errorf("sandbox: read state: format %d, this package reads format %d", state.Format, Format)
	}
	return state, state.Validate()
}

// WriteTo writes the state as JSON, with one line for each list and row, so that two files are easy to compare.
func (s State) WriteTo(w io.Writer) (int64, error) {
	out := &stateWriter{Writer: bufio.NewWriterSize(w, 1<<16)}
	out.put(`{"format":`, strconv.Itoa(Format), `,"workspaces":[`)
	for i, ws := range s.Workspaces {
		out.separate(i, "\n")
		if err := out.workspace(ws); err != nil {
			return out.n - int64(out.Buffered()), fmt.Errorf("sandbox: write state: %w", err)
		}
	}
	out.put("\n]}\n")
	err := out.Flush()
	return out.n - int64(out.Buffered()), err
}

// stateWriter keeps its first error until Flush.
type stateWriter struct {
	*bufio.Writer
	n int64 // what was put
}

func (out *stateWriter) put(parts ...string) {
	for _, s := range parts {
		n, _ := out.WriteString(s)
		out.n += int64(n)
	}
}

func (out *stateWriter) separate(i int, space string) {
	if i > 0 {
		out.put(",")
	}
	out.put(space)
}

func (out *stateWriter) workspace(ws Workspace) error {
	lists := ws.Lists
	ws.Lists = nil
	if err := out.open(ws, "lists"); err != nil {
		return err
	}
	for i, list := range lists {
		out.separate(i, "\n ")
		rows := list.Rows
		list.Rows = nil
		if err := out.open(list, "rows"); err != nil {
			return err
		}
		for j, row := range rows {
			out.separate(j, "\n  ")
			n, _ := out.Write(row)
			out.n += int64(n)
		}
		out.put("]}")
	}
	out.put("]}")
	return nil
}

// open writes an object without its end, followed by the start of one more field: an array.
func (out *stateWriter) open(v any, field string) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	out.put(string(raw[:len(raw)-1]), `,"`, field, `":[`)
	return nil
}

// failing is told what is wrong with a seed.
type failing func(format string, args ...any)

// among rejects a value that is not one of those allowed.
func (fail failing) among(kind, name, what, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		fail("%s %q: unknown %s %q: %s", kind, name, what, value, strings.Join(allowed, ", "))
	}
}

// Validate reports everything that is invalid.
func (s State) Validate() error {
	var problems []error
	fail := failing(func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) })
	if s.Format != 0 && s.Format != Format {
		fail("format %d, want %d", s.Format, Format)
	}
	names, tokens := map[string]bool{}, map[string]bool{}
	for i, ws := range s.Workspaces {
		if names[ws.Name] {
			fail("workspace %q appears twice", ws.Name)
		}
		names[ws.Name] = true
		at := failing(func(format string, args ...any) { fail("workspace %d: "+format, append([]any{i}, args...)...) })
		claims(at)("User", ws.User.ID)
		if ws.Credits < 0 {
			at("credits are negative")
		}
		for _, key := range ws.Keys {
			if key.Token != "" && tokens[key.Token] {
				at("key %q: another key has its token", key.Name)
			}
			tokens[key.Token] = true
			validateKey(key, at)
		}
		validateLists(ws, at)
		for _, account := range ws.Accounts {
			at.among("workspace", ws.Name, "account", account, channels...)
		}
		for what, objects := range map[string][]json.RawMessage{"prospect": ws.Prospects, "company": ws.Companies} {
			for i, raw := range objects {
				if !json.Valid(raw) || !isObject(raw) {
					at("%s %d: %v", what, i, errNotObject)
				}
			}
		}
		for _, name := range kindNames() {
			kinds[name].validate(ws, at)
		}
		for name := range ws.More {
			if kinds[name] == nil {
				at("no kind of object is called %q", name)
			}
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("sandbox: invalid state: %w", err)
	}
	return nil
}
