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

// TestGoldenOutreach pins complete responses of campaigns, facts and hubs.
func TestGoldenOutreach(t *testing.T) {
	sb := sandbox.New(t, outreachOptions()...)
	tells(t, sb, "outreach.txt", func(s *story) {
		s.tell("POST", campaigns, object{"name": "Q1", "channels": []string{"email", "social"}, "listIds": []string{reached}})
		s.tell("GET", campaigns, nil)
		s.tell("PATCH", campaignPath(drafted), object{"listIds": []string{linked}})
		s.tell("PATCH", campaignPath(drafted), object{"steps": []object{{"type": "email", "subject": "Hi {{firstName}}", "topic": "savings"}}})
		s.tell("GET", campaignPath(drafted, "steps"), nil)
		s.tell("POST", campaignPath(drafted, "steps", id(51), "preview"), nil)
		s.tell("POST", campaignPath(bare, "approve"), nil)
		s.tell("POST", campaignPath(drafted, "approve"), nil)
		s.tell("POST", campaignPath(drafted, "approve"), nil)
		sb.Advance(time.Hour)
		s.tell("POST", campaignPath(drafted, "approve"), nil)
		s.tell("GET", campaignPath(drafted, "scheduled-sends"), nil)
		s.tell("PATCH", "/business/scheduled-sends/"+id(61), object{"subject": "New", "dueAt": "2026-04-01T08:00:00.000Z"})
		s.tell("PATCH", "/business/scheduled-sends/"+id(62), object{"subject": "New"})
		s.tell("PATCH", facts+fact, object{"claim": "Teams save two days a week."})
		s.tell("PATCH", facts+fact, object{"claim": "A discount of $5."})
		s.tell("PATCH", facts+fact, object{"category": "gossip", "claim": ""})
		s.tell("GET", hubs, nil)
		s.tell("GET", hubs+"/"+ready+"/pages", nil)
		s.tell("GET", hubs+"/"+ancient+"/pages", nil)
		s.tell("POST", hubs+"/default", object{"knowledgeHubId": foreign})
		s.tell("POST", hubs+"/default", object{"knowledgeHubId": ancient})
	})
}

// TestGoldenAgents pins complete responses of agents.
func TestGoldenAgents(t *testing.T) {
	sb := sandbox.New(t, watched(), manual(), sandbox.WithRoute("agents.pause", pauseRoute))
	tells(t, sb, "agents.txt", func(s *story) {
		s.tell("POST", discovery, finder())
		s.tell("POST", watchers, watcher())
		s.tell("POST", monitors, object{"listName": "", "numResults": 101, "prompt": ""})
		s.tell("POST", monitors, with(monitor(), object{"start": true}))
		s.tell("POST", monitors, with(monitor(), object{"start": true}))
		s.tell("GET", agents+"/"+sb.Agents()[0].ID, nil)
		s.tell("GET", rowsOf(sb.Agents()[0].ListID), nil)
		s.tell("PATCH", agents+"/"+sb.Agents()[1].ID, object{"frequency": 7})
		s.tell("PATCH", agents+"/"+sb.Agents()[0].ID, object{"numResults": 7})
		sb.Advance(time.Hour)
		s.tell("POST", agents+"/"+sb.Agents()[0].ID+"/pause", nil)
		s.tell("POST", agents+"/"+sb.Agents()[1].ID+"/activate", nil)
		s.tell("POST", agents+"/"+id(27)+"/activate", nil)
		s.tell("GET", agents+"/autocomplete?field=region&text=berl", nil)
		s.tell("GET", agents, nil)
	})
}

// TestGoldenResearch pins complete responses of searches, contacts and imports. They are free: their price is no documented one.
func TestGoldenResearch(t *testing.T) {
	free := sandbox.WithPrices(sandbox.Prices{"search.prospects": 0, "search.run-saved": 0})
	sb := sandbox.New(t, prospects(), manual(), free)
	tells(t, sb, "research.txt", func(s *story) {
		s.tell("POST", search, object{"filters": including("job_title_levels", "vp"), "size": 2})
		s.tell("POST", search, object{"filters": including("job_title_levels", "vp"), "size": 5})
		s.tell("POST", search, object{"filters": including("job_title_levels", "vp"), "size": 5, "scrollToken": "x"})
		s.tell("POST", search, object{"filters": object{"job_title_levels": "vp"}})
		s.tell("GET", saved, nil)
		s.tell("POST", saved+"/"+id(31)+"/run", object{"size": 1})
		s.tell("POST", saved+"/"+id(32)+"/run", nil)
		s.tell("POST", saved+"/"+id(33)+"/run", nil)
		s.tell("POST", companiesSearch, object{"savedSearchId": id(33)})
		s.tell("POST", companiesSearch, object{"filters": object{"headquartersCity": []string{"Atlantis"}}})
		s.tell("POST", search+"/save-to-list", object{"filters": including("job_title_levels", "manager"), "listName": "Managers"})
		s.tell("POST", resolve, object{"socialUrl": "https://social.example/in/4"})
		s.tell("POST", imports, object{})
		s.tell("POST", imports+"/presign", nil)
		s.tell("POST", imports, object{"importId": sb.Imports()[0].ID})
	})

	sb = sandbox.New(t, append(busyContact(), manual())...)
	tells(t, sb, "timeline.txt", func(s *story) {
		s.tell("GET", timelineOf(101)+"?limit=1", nil)
		s.tell("GET", timelineOf(102), nil)
		s.tell("GET", timelineOf(101)+"?limit=101&cursor=", nil)
		s.tell("GET", timelineOf(999), nil)
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
