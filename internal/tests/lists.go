package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// Ensuring runs a test against a sandbox in virtual time.
func Ensuring(t *testing.T, seed sandbox.Workspace, opts []sandbox.Option, test func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		seed.Name = "main"
		state := sandbox.State{Workspaces: []sandbox.Workspace{seed}}
		sb := sandbox.New(t, append([]sandbox.Option{sandbox.Seed(state)}, opts...)...)
		time.Sleep(time.Hour) // so that what the seed holds is older than what the test makes
		test(t, sb, SandboxClient(t, sb))
	})
}

// Q1 is a list whose name is not trimmed.
var Q1 = prospectkit.NewList{Name: "  Q1 "}

// Firms is a list of the same name, and of another kind.
var Firms = prospectkit.NewList{Name: "Q1", Kind: prospectkit.CompanyList}

// SeededList is a workspace with one list.
func SeededList(name, kind string) sandbox.Workspace {
	return sandbox.Workspace{Lists: []sandbox.List{{ID: "a00000000000000000000001", Name: name, EntityType: kind, CreatedAt: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)}}}
}

// Contact is a row as a type of the test.
type Contact struct {
	ID   string `json:"id"`
	Name string `json:"firstName"`
	Age  int    `json:"age"`
	Home struct {
		City string `json:"city"`
	} `json:"address"`
}

// OnePage responds with records that are all of a listing.
func OnePage(records ...string) RoundTrip {
	return Always(http.StatusOK, fmt.Sprintf(`{"data":[%s],"pagination":{"pageNum":1,"totalPages":%d,"totalRecords":%d}}`,
		strings.Join(records, ","), min(1, len(records)), len(records)))
}

// Create is a call that creates a list.
func Create(t *testing.T, client *prospectkit.Client, in prospectkit.NewList) func() error {
	return func() error {
		_, err := client.Lists.Create(t.Context(), in)
		return err
	}
}

// Shelf serves a collection, newest first, that others change between our requests. It serves lists and rows alike.
type Shelf struct {
	Items    []string
	Edits    []func(*Shelf) // number n happens just before response n; nil: nothing happens
	NoTotals bool           // responses without totals
	Asked    []int          // numbers of the pages asked for
	made     int
	mu       sync.Mutex // pages are read ahead
}

// RoundTrip responds with a page.
func (s *Shelf) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.Asked); n < len(s.Edits) && s.Edits[n] != nil {
		s.Edits[n](s)
	}
	q := r.URL.Query()
	number, _ := strconv.Atoi(q.Get("pageNum"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	s.Asked = append(s.Asked, number)
	low := min((min(number, len(s.Items)+1)-1)*limit, len(s.Items))
	high := min(low+limit, len(s.Items))
	type record struct {
		ID string `json:"id"`
	}
	data := make([]record, 0, limit)
	for _, id := range s.Items[low:high] {
		data = append(data, record{id})
	}
	totals := map[string]int{"pageNum": number}
	if !s.NoTotals {
		totals["totalPages"], totals["totalRecords"] = (len(s.Items)+limit-1)/limit, len(s.Items)
	}
	body, err := json.Marshal(map[string]any{"entityType": "contactList", "data": data, "pagination": totals})
	return Respond(http.StatusOK, string(body)), err
}

// Stock fills a shelf with n records.
func (s *Shelf) Stock(n int) {
	for range n {
		s.made++
		s.Items = append([]string{strconv.Itoa(s.made)}, s.Items...)
	}
}

// ShelfOf is a shelf of records with names of one letter.
func ShelfOf(items string, edits ...func(*Shelf)) *Shelf {
	return &Shelf{Items: strings.Split(items, ""), Edits: edits}
}

// Add puts new records in front.
func Add(items string) func(*Shelf) {
	return func(s *Shelf) { s.Items = append(strings.Split(items, ""), s.Items...) }
}
