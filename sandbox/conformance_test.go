package sandbox_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// Sentences of the service's document that no other test takes up: see testdata/conformance.md in the root.

// A connection is requested with or without a note: what has no body goes out without words.
func TestAConnectionNeedsNoNote(t *testing.T) {
	for body, want := range map[string]string{"": "", "Shall we connect?": "Shall we connect?"} {
		onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
			t.Helper()
			c.do("PATCH", campaignPath(drafted), object{
				"channels": []string{"social"}, "steps": []object{{"type": "social_connection", "body": body}},
			}).ok(200)
			approvalOf(c, drafted).ok(202)
			sb.Advance(time.Hour)
			require.Equal(t, []string{id(102)}, sentBy(sb, drafted))
			require.Equal(t, want, sb.Sends(drafted)[0].Body)
		})
	}
}

// All keys of a workspace draw on the same windows; another workspace has its own.
func TestKeysOfAWorkspaceShareItsWindows(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		left := func(token, path string) int {
			_, remaining, _ := c.as(token).get(path).rate()
			return remaining
		}
		second, scoped, foreign := sb.Key(), sb.Key("lists"), sb.Workspace("b").Token()
		require.Equal(t, 119, left(c.token, lists))
		require.Equal(t, 118, left(second, lists))
		require.Equal(t, 117, left(scoped, "/business/folders?type=agent"), "folders are of the same surface")
		require.Equal(t, 119, left(foreign, lists))
		require.Equal(t, 119, left(second, "/business/me"))
		require.Equal(t, 118, left(c.token, "/business/credits"))
	})
}

// firstCycle is when an agent's second run begins after its start.
func firstCycle(t *testing.T, path string, body object) time.Duration {
	t.Helper()
	sb := sandbox.New(t, watched(), manual(), sandbox.Credits(100_000))
	inPlace(t, sb).do("POST", path, with(body, object{"start": true, "expirationDate": nil})).ok(201)
	for _, e := range sb.Advance(40 * 24 * time.Hour) {
		if e.Kind == "agent run began" {
			return e.Time.Sub(start)
		}
	}
	require.Fail(t, "no second run")
	return 0
}

// What is left out of a creation has the documented default.
func TestDefaultsOfAgents(t *testing.T) {
	const day = 24 * time.Hour
	require.Equal(t, day, firstCycle(t, monitors, monitor()))
	for period, want := range map[string]time.Duration{"1h": time.Hour, "6h": 6 * time.Hour, "1d": day, "7d": 7 * day} {
		require.Equal(t, want, firstCycle(t, monitors, with(monitor(), object{"searchPeriod": period})))
	}
	require.Equal(t, day, firstCycle(t, watchers, watcher()))
	require.Equal(t, 30*day, firstCycle(t, watchers, with(watcher(), object{"frequency": 30})))

	for _, pages := range []any{gone, 1, 10, 100} { // it caps the pages that are read, not the results
		sb := sandbox.New(t, watched(), manual())
		inPlace(t, sb).do("POST", monitors, with(monitor(), object{"start": true, "numResults": pages})).ok(201)
		sb.Advance(time.Hour)
		require.Len(t, sb.Rows(sb.Agents()[0].ListID), 5)
	}
}

// A fact is edited by any key of its team, and what it says reaches no page at once.
func TestEveryMemberOfTheTeamEditsFacts(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		pages := sb.Snapshot().Workspaces[0].Hubs
		theirs := c.as(sb.Key("campaigns"))
		theirs.do("PATCH", facts+fact, object{"claim": "Theirs now."}).ok(200)
		require.Equal(t, "Theirs now.", sb.Snapshot().Workspaces[0].Facts[0].Claim)
		edited, err := theirs.api().Facts.Edit(t.Context(), fact, prospectkit.FactEdit{Claim: "Theirs again."})
		require.NoError(t, err)
		require.Equal(t, "Theirs again.", edited.Claim)
		require.Equal(t, pages, sb.Snapshot().Workspaces[0].Hubs)
	})
}

// A folder listing may relay what the owning service of agent and campaign folders refuses.
func TestFoldersRelayARefusal(t *testing.T) {
	for _, kind := range []string{"agent", "campaign"} {
		sb := sandbox.New(t)
		sb.Fail("folders.list", sandbox.Nth(1), sandbox.Status(400, "INVALID_REQUEST"))
		sb.Fail("folders.list", sandbox.Nth(2), sandbox.FutureCode(400, "A_CODE_OF_ITS_OWN"))
		for _, code := range []string{"INVALID_REQUEST", "A_CODE_OF_ITS_OWN"} {
			inPlace(t, sb).get("/business/folders", "type", kind).fails(400, code)
		}
	}
}

// Any contact field sorts; so do the documented company fields behind their prefix.
func TestDocumentedSortKeysAreRecognised(t *testing.T) {
	two := []sandbox.Row{{"id": rid("b")}, {"id": rid("a")}}
	for list, keys := range map[string]string{
		sandbox.ContactList: `firstName lastName jobTitle createdAt updatedAt address.city address.country company.name company.domain
			company.industry company.country company.type company.revenue company.socialHeadCount company.address.city company.address.state
			company.address.country customColumns_` + id(99),
		sandbox.CompanyList: "name domain industry revenue socialHeadCount customColumns_" + id(99),
	} {
		for key := range strings.FieldsSeq(keys) {
			rows := []sandbox.Row{field(two[0], key, "2"), field(two[1], key, "1")}
			sb := sandbox.New(t, oneList(sandbox.List{ID: id(1), Name: "l", EntityType: list, Rows: sandbox.Rows(rows...)}))
			sorted := inPlace(t, sb).get(rowsOf(id(1)), "sortBy", key, "sortOrder", "asc").ok(200)
			require.Equal(t, []string{"a", "b"}, names(sorted, "id"), "%s by %s", list, key)
		}
	}
}

// field puts a value at a dotted path of a copy of a row, custom columns where the sandbox keeps them.
func field(row sandbox.Row, path string, value any) sandbox.Row {
	path = strings.Replace(path, "customColumns_", "customColumns.", 1)
	parts := strings.Split(path, ".")
	for i := len(parts) - 1; i > 0; i-- {
		value = object{parts[i]: value}
	}
	return sandbox.Row{"id": row["id"], parts[0]: value}
}

// Exports and templates have a documented scope and limits, and no path: no route exists, and no scope is rejected.
func TestExportsAndTemplatesHaveNoPath(t *testing.T) {
	c := inPlace(t, sandbox.New(t))
	for _, path := range []string{"/business/exports", "/business/exports/" + id(1), "/business/templates", campaigns + "/templates"} {
		c.get(path).fails(404, "ENDPOINT_NOT_FOUND")
	}
}

// A location is a country or an area in one, as autocomplete spells them.
func TestLocationsAreCountriesAndAreas(t *testing.T) {
	for _, place := range []string{"Germany", "Munich, Bavaria, Germany"} {
		sb := sandbox.New(t, watched(), manual())
		c := inPlace(t, sb)
		require.Contains(t, c.get(agents+"/autocomplete", "field", "region").ok(200)["values"], place)
		c.do("POST", discovery, object{"listName": "x", "locations": []string{place}, "start": true}).ok(201)
		country, _, _ := strings.Cut(place, ",")
		var row object
		require.NoError(t, json.Unmarshal(sb.Rows(sb.Agents()[0].ListID)[0], &row))
		require.Equal(t, "Germany", at(row, "address", "country"))
		require.Equal(t, map[string]any{"Germany": "", "Munich": "Munich"}[country], at(row, "address", "city"))
	}
}

// A profile holds the five fields that the document shows, wherever it comes from.
func TestProfilesShowTheDocumentedFieldsOnly(t *testing.T) {
	for _, sb := range []*sandbox.Sandbox{sandbox.New(t), sandbox.New(t, sandbox.Seed(fixture.Small(1)))} {
		c := inPlace(t, sb)
		page := c.do("POST", search, object{"filters": including("job_title_levels", "vp"), "size": 3}).ok(200)
		require.Len(t, page["profiles"], 3)
		for _, profile := range page["profiles"].([]any) {
			require.ElementsMatch(t, []string{"firstName", "lastName", "jobTitle", "companyName", "socialUrl"}, slices.Collect(maps.Keys(profile.(object))))
		}
	}
}

// An upload is imported by a multipart form, as documented; a JSON body is an assumption.
func TestAnUploadIsImportedByAForm(t *testing.T) {
	sb := sandbox.New(t)
	c := inPlace(t, sb)
	importID := c.do("POST", imports+"/presign", nil).ok(201)["importId"].(string)
	sb.Do(func(tx *sandbox.Tx) { tx.Upload(importID, "x.csv", []byte("a\nb\n")) })
	r := c.asForm("importId", importID)
	require.Equal(t, importID, at(r.ok(201), "import", "importId"))
}

// The gate goes by the claim alone.
func TestTheGateIsDeterministic(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		for claim, status := range map[string]int{"Saves time.": 200, "A discount of $5.": 422, "three NDAs": 422, "agenda": 200} {
			for range 3 {
				require.Equal(t, status, c.do("PATCH", facts+fact, object{"claim": claim}).status, claim)
			}
		}
	})
}
