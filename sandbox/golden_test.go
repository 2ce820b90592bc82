package sandbox_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/sandbox"
)

// TestGoldenAnswers pins complete responses, headers included, for people and for reviews.
func TestGoldenAnswers(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("testdata", "seed.json"))
	require.NoError(t, err)
	var state sandbox.State
	require.NoError(t, json.Unmarshal(file, &state))
	sb := sandbox.New(t, sandbox.Seed(state), sandbox.WithClock(sandbox.NewManualClock(start)))
	people, firms := "/business/lists/"+id(1), "/business/lists/"+id(2)
	tells(t, sb, "responses.txt", func(s *story) {
		s.tell("GET", "/business/me", nil)
		s.tell("GET", "/business/credits", nil)
		s.tell("GET", "/business/prospects/filter-options", nil)
		s.tell("GET", "/business/folders?type=contactList", nil)
		s.tell("GET", "/business/lists?limit=1", nil)
		s.tell("GET", "/business/lists?limit=0&pageNum=0", nil)
		s.tell("POST", "/business/lists", object{"name": " Q1 "})
		s.tell("POST", "/business/lists", object{"name": "Q1"})
		s.tell("POST", "/business/lists", object{"name": "All Contacts"})
		s.tell("GET", people+"?include=columns", nil)
		s.tell("GET", "/business/lists/"+id(77), nil)
		s.tell("PATCH", people, object{"folderId": nil})
		s.tell("GET", people+"/rows?sortBy=lastName&sortOrder=desc&limit=1", nil)
		s.tell("GET", people+"/rows?filters="+`%7B%22companyName%22%3A%5B%22Engines%22%5D%7D`, nil)
		s.tell("GET", people+"/rows?filters=%7B", nil)
		s.tell("GET", people+"/rows?filters="+`%7B%22numberOfEmployees%22%3A%5B50%5D%7D`, nil)
		s.tell("GET", firms+"/rows", nil)
		s.tell("POST", people+"/crm-push", object{"crm": "crm-1"})
		s.tell("POST", people+"/crm-push", object{"crm": "crm-2"})
		s.tell("POST", people+"/contacts", object{"contacts": []object{{"firstName": "Eve"}}})
		s.tell("GET", "/business/nothing", nil)
		s.tell("GET", "/business/agents", nil)
		sb.Consume("lists", 1000)
		s.tell("GET", "/business/lists", nil)
		sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(500, ""))
		s.tell("GET", "/business/me", nil)
		s.token = "nobody"
		s.tell("GET", "/business/me", nil)
		s.token = sb.Key("search")
		s.tell("GET", "/business/lists", nil)
	})
}

// story is a conversation with a sandbox, as it was told so far.
type story struct {
	caller

	told strings.Builder
}

// tells compares a story with a file.
func tells(t *testing.T, sb *sandbox.Sandbox, name string, converse func(*story)) {
	t.Helper()
	s := &story{caller: inPlace(t, sb)}
	converse(s)
	golden.Equal(t, filepath.Join("testdata", name), s.told.String())
}

// tell makes a request and writes it down with its response.
func (s *story) tell(method, path string, body any) {
	s.t.Helper()
	s.sb.Advance(time.Second)
	r := s.do(method, path, body)
	fmt.Fprintf(&s.told, "%s %s\n", method, path)
	if body != nil {
		raw, err := json.Marshal(body)
		require.NoError(s.t, err)
		fmt.Fprintf(&s.told, "%s\n", raw)
	}
	fmt.Fprintf(&s.told, "\n%d\n", r.status)
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		fmt.Fprintf(&s.told, "%s: %s\n", name, r.header.Get(name))
	}
	fmt.Fprintf(&s.told, "\n%s\n\n----\n\n", r.raw)
}
