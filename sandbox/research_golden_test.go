package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// TestGoldenAgents pins whole answers of agents.
func TestGoldenAgents(t *testing.T) {
	sb := sandbox.New(t, watched(), manual(), sandbox.WithRoute("agents.pause", pauseRoute))
	golden(t, sb, "agents.txt", func(tell func(method, path string, body any)) {
		tell("POST", discovery, finder())
		tell("POST", watchers, watcher())
		tell("POST", monitors, object{"listName": "", "numResults": 101, "prompt": ""})
		tell("POST", monitors, with(monitor(), object{"start": true}))
		tell("POST", monitors, with(monitor(), object{"start": true}))
		tell("GET", agents+"/"+sb.Agents()[0].ID, nil)
		tell("GET", rowsOf(sb.Agents()[0].ListID), nil)
		tell("PATCH", agents+"/"+sb.Agents()[1].ID, object{"frequency": 7})
		tell("PATCH", agents+"/"+sb.Agents()[0].ID, object{"numResults": 7})
		sb.Advance(time.Hour)
		tell("POST", agents+"/"+sb.Agents()[0].ID+"/pause", nil)
		tell("POST", agents+"/"+sb.Agents()[1].ID+"/activate", nil)
		tell("POST", agents+"/"+id(27)+"/activate", nil)
		tell("GET", agents+"/autocomplete?field=region&text=berl", nil)
		tell("GET", agents, nil)
	})
}

// TestGoldenResearch pins whole answers of searches, contacts and imports. They are free: their price is no documented one.
func TestGoldenResearch(t *testing.T) {
	free := sandbox.WithPrices(sandbox.Prices{"search.prospects": 0, "search.run-saved": 0})
	sb := sandbox.New(t, prospects(), manual(), free)
	golden(t, sb, "research.txt", func(tell func(method, path string, body any)) {
		tell("POST", search, object{"filters": including("job_title_levels", "vp"), "size": 2})
		tell("POST", search, object{"filters": including("job_title_levels", "vp"), "size": 5})
		tell("POST", search, object{"filters": including("job_title_levels", "vp"), "size": 5, "scrollToken": "x"})
		tell("POST", search, object{"filters": object{"job_title_levels": "vp"}})
		tell("GET", saved, nil)
		tell("POST", saved+"/"+id(31)+"/run", object{"size": 1})
		tell("POST", saved+"/"+id(32)+"/run", nil)
		tell("POST", saved+"/"+id(33)+"/run", nil)
		tell("POST", companiesSearch, object{"savedSearchId": id(33)})
		tell("POST", companiesSearch, object{"filters": object{"headquartersCity": []string{"Atlantis"}}})
		tell("POST", search+"/save-to-list", object{"filters": including("job_title_levels", "manager"), "listName": "Managers"})
		tell("POST", resolve, object{"socialUrl": "https://social.example/in/4"})
		tell("POST", imports, object{})
		tell("POST", imports+"/presign", nil)
		tell("POST", imports, object{"importId": sb.Imports()[0].ID})
	})

	sb = sandbox.New(t, append(busyContact(), manual())...)
	golden(t, sb, "timeline.txt", func(tell func(method, path string, body any)) {
		tell("GET", timelineOf(101)+"?limit=1", nil)
		tell("GET", timelineOf(102), nil)
		tell("GET", timelineOf(101)+"?limit=101&cursor=", nil)
		tell("GET", timelineOf(999), nil)
	})
}

// golden compares a story with a file.
func golden(t *testing.T, sb *sandbox.Sandbox, name string, story func(tell func(method, path string, body any))) {
	t.Helper()
	c := inPlace(t, sb)
	var told strings.Builder
	story(func(method, path string, body any) { tellOne(t, &told, sb, c, method, path, body) })
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(told.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), told.String())
}
