package sandbox_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGoldenAnswers pins whole answers, headers included, for people and for reviews.
func TestGoldenAnswers(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("testdata", "seed.json"))
	require.NoError(t, err)
	state, err := sandbox.ReadState(strings.NewReader(string(file)))
	require.NoError(t, err)
	var rewritten strings.Builder
	_, err = state.WriteTo(&rewritten)
	require.NoError(t, err)
	require.Equal(t, string(file), rewritten.String(), "the seed is in the form in which states are written")

	sb := sandbox.New(t, sandbox.Seed(state), sandbox.WithClock(sandbox.NewManualClock(start)))
	c := inPlace(t, sb)
	var story strings.Builder
	tell := func(method, path string, body any) { tellOne(t, &story, sb, c, method, path, body) }
	people, firms := "/business/lists/"+id(1), "/business/lists/"+id(2)
	tell("GET", "/business/me", nil)
	tell("GET", "/business/credits", nil)
	tell("GET", "/business/prospects/filter-options", nil)
	tell("GET", "/business/folders?type=contactList", nil)
	tell("GET", "/business/lists?limit=1", nil)
	tell("GET", "/business/lists?limit=0&pageNum=0", nil)
	tell("POST", "/business/lists", object{"name": " Q1 "})
	tell("POST", "/business/lists", object{"name": "Q1"})
	tell("POST", "/business/lists", object{"name": "All Contacts"})
	tell("GET", people+"?include=columns", nil)
	tell("GET", "/business/lists/"+id(77), nil)
	tell("PATCH", people, object{"folderId": nil})
	tell("GET", people+"/rows?sortBy=lastName&sortOrder=desc&limit=1", nil)
	tell("GET", people+"/rows?filters="+`%7B%22companyName%22%3A%5B%22Engines%22%5D%7D`, nil)
	tell("GET", people+"/rows?filters=%7B", nil)
	tell("GET", people+"/rows?filters="+`%7B%22numberOfEmployees%22%3A%5B50%5D%7D`, nil)
	tell("GET", firms+"/rows", nil)
	tell("POST", people+"/crm-push", object{"crm": "crm-1"})
	tell("POST", people+"/crm-push", object{"crm": "crm-2"})
	tell("POST", people+"/contacts", object{"contacts": []object{{"firstName": "Eve"}}})
	tell("GET", "/business/nothing", nil)
	tell("GET", "/business/agents", nil)
	sb.Consume("lists", 1000)
	tell("GET", "/business/lists", nil)
	sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(500, ""))
	tell("GET", "/business/me", nil)
	c = c.as("nobody")
	tell("GET", "/business/me", nil)
	c = c.as(sb.Key("search"))
	tell("GET", "/business/lists", nil)

	golden := filepath.Join("testdata", "answers.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(story.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), story.String())
}

// tellOne makes a request and writes it down with its answer.
func tellOne(t *testing.T, story *strings.Builder, sb *sandbox.Sandbox, c caller, method, path string, body any) {
	t.Helper()
	sb.Advance(time.Second)
	r := c.do(method, path, body)
	fmt.Fprintf(story, "%s %s\n", method, path)
	if body != nil {
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		fmt.Fprintf(story, "%s\n", raw)
	}
	fmt.Fprintf(story, "\n%d\n", r.status)
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		fmt.Fprintf(story, "%s: %s\n", name, r.header.Get(name))
	}
	fmt.Fprintf(story, "\n%s\n\n----\n\n", r.raw)
}
