package sandbox_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// What follows is written from the document alone: requests that it shows, and the codes that it lists. One step out of that, and what
// happens is undocumented.

// shown is a request that the document shows. Codes are those that it lists besides the general ones.
type shown struct {
	method, path, query, body string
	fields                    string // that it takes besides
	codes                     string
}

const (
	agentFields = " listName start expirationDate maxCreditSpend"
	agentCodes  = "LIST_NAME_TAKEN LIST_NAME_RESERVED LIST_NOT_FOUND AGENT_SOURCE_LIST_EMPTY"
	rowFields   = "limit pageNum sortBy sortOrder filters"
	rowCodes    = "LIST_NOT_FOUND INVALID_ROW_FILTERS UNEXPECTED_ERROR"
)

// documented are requests to the sandbox of documentSeed.
var documented = []shown{
	{"GET", lists, "limit=5&pageNum=1&entityType=companyList&folderId=" + id(8) + "&search=f", "", "", ""},
	{"POST", lists, "", `{"name":" Q1 ","entityType":"companyList"}`, "", "LIST_NAME_TAKEN LIST_NAME_RESERVED"},
	{"GET", lists + "/" + mixed, "include=columns", "", "", "LIST_NOT_FOUND"},
	{"GET", rowsOf(mixed), "", "", rowFields, rowCodes},
	{"GET", rowsOf(id(2)), "limit=1&sortBy=nonsense&sortOrder=desc&filters=%7B%7D", "", rowFields, rowCodes},
	{"POST", lists + "/" + mixed + "/crm-push", "", `{"crm":"crm-1"}`, "contactIds", "LIST_NOT_FOUND CONTACT_LIST_REQUIRED CRM_NOT_CONNECTED"},
	{"GET", "/business/folders", "type=companyList", "", "", ""},
	{"POST", monitors, "", `{"listName":"Openings","entityType":"person","prompt":"offices"}`, "searchPeriod numResults" + agentFields, agentCodes},
	{"POST", watchers, "", `{"listName":"Changes","eventType":"social-person-post-updates","listId":"` + id(1) + `"}`, "listIds frequency" + agentFields, agentCodes},
	{"POST", discovery, "", `{"listName":"Sellers","titles":["Data Engineer"]}`, agentFields, agentCodes},
	{"POST", campaignPath(letters, "approve"), "", "", "", "CAMPAIGN_NOT_FOUND CAMPAIGN_NOT_APPROVABLE CAMPAIGN_BUSY CAMPAIGN_NOT_READY"},
	{"PATCH", facts + letters, "", `{"claim":"Saves a day.","category":"faq"}`, "", "LEARNED_FACT_NOT_FOUND LEARNED_FACT_NOT_ANONYMIZED"},
	{"POST", search, "", `{"filters":{"job_title_levels":[{"status":"include","value":"vp"}]},"size":5}`, "scrollToken", "SEARCH_FILTERS_INVALID"},
	{"POST", saved + "/" + letters + "/run", "", `{"size":5}`, "scrollToken", "SAVED_SEARCH_NOT_FOUND SAVED_SEARCH_INVALID SAVED_SEARCH_TYPE_MISMATCH"},
	{"GET", "/business/me", "", "", "", ""},
	{"GET", "/business/credits", "", "", "", ""},
	{"GET", hubs + "/" + letters, "", "", "", "KNOWLEDGE_HUB_NOT_FOUND"},
	{"GET", agents + "/" + letters, "", "", "", "AGENT_NOT_FOUND"},
	{"POST", agents + "/" + letters + "/activate", "", "", "", "AGENT_NOT_FOUND AGENT_NOT_A_DRAFT"},
}

// letters is an id of documentSeed that has a case.
const letters = "abcdefabcdefabcdefabcdef"

func documentSeed() []sandbox.Option {
	ready := sandbox.ReadyCampaign("Spring", mixed)
	ready.ID = letters
	return []sandbox.Option{manual(), sandbox.NoLimits(), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", Credits: 100_000, Accounts: []string{"email"}, CRM: sandbox.CRM{Connected: []string{"crm-1"}},
		Folders: []sandbox.Folder{{ID: id(8), Name: "f", Type: sandbox.CompanyList}},
		Lists: []sandbox.List{
			{ID: id(1), Name: "people", Rows: sandbox.Rows(sandbox.Row{"id": id(101), "socialUrl": "https://social.example/a", "email": "a@x.example"})},
			{ID: id(2), Name: "firms", EntityType: sandbox.CompanyList, FolderID: id(8), Rows: sandbox.Rows(sandbox.Row{"id": id(102), "name": "A"})},
			{ID: mixed, Name: "letters", Rows: sandbox.Rows(sandbox.Row{"id": id(103), "email": "b@x.example"})},
			{ID: id(9), Name: "Everybody", System: true},
		},
		Campaigns:     []sandbox.Campaign{ready},
		Facts:         []sandbox.Fact{{ID: letters, Claim: "Saves time."}},
		Hubs:          []sandbox.Hub{{ID: letters, Name: "Hub"}},
		Agents:        []sandbox.Agent{{ID: letters, Name: "Alerts", Type: sandbox.WebMonitor, Status: "active"}},
		SavedSearches: []sandbox.SavedSearch{{ID: letters, Name: "vps", Filters: []byte(`{"job_title_levels":[{"status":"include","value":"vp"}]}`)}},
	}}})}
}

// wire is a request whose every part can be changed.
type wire struct {
	shown
	change func(*http.Request)
}

// step is a change of a request, which leads out of the document.
type step struct {
	name string
	take func(*wire)
}

// stepsOf are the ways out of a request.
func stepsOf(b shown) (steps []step) {
	add := func(name string, take func(*wire)) { steps = append(steps, step{name, take}) }
	replace := func(from, to string) {
		if strings.Contains(b.path, from) {
			add("path "+to, func(w *wire) { w.path = strings.Replace(w.path, from, to, 1) })
		}
	}
	for _, one := range []string{mixed, letters, id(2)} {
		for _, other := range []string{strings.ToUpper(one), one[1:], "all", id(77), id(9)} {
			replace(one, other)
		}
	}
	replace("/business", "/%62usiness")
	for _, more := range []string{"/", "/x"} {
		add("path and "+more, func(w *wire) { w.path += more })
	}
	add("method", func(w *wire) { w.method = "DELETE" })
	for name, change := range map[string]func(*http.Request){
		"password":  func(r *http.Request) { token, _, _ := r.BasicAuth(); r.SetBasicAuth(token, "x") },
		"nobody":    func(r *http.Request) { r.SetBasicAuth("nobody", "") },
		"no key":    func(r *http.Request) { r.Header.Del("Authorization") },
		"two keys":  func(r *http.Request) { r.Header.Add("Authorization", "Basic eDo=") },
		"no type":   func(r *http.Request) { r.Header.Del("Content-Type") },
		"text":      func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"a charset": func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=latin1") },
	} {
		add(name, func(w *wire) { w.change = change })
	}
	for _, tail := range []string{"page=2", "Limit=2", "a;b", "%zz=1", "=", b.query} {
		add("query "+tail, func(w *wire) { w.query += "&" + tail })
	}
	given, _ := url.ParseQuery(b.query)
	if b.method == "GET" {
		for name := range given {
			b.fields += " " + name
		}
		for name := range strings.FieldsSeq(b.fields) {
			for _, value := range queryJunk(name) {
				add(name+" "+value[:min(len(value), 30)], func(w *wire) {
					query, _ := url.ParseQuery(w.query)
					query.Set(name, value)
					w.query = query.Encode()
				})
			}
		}
	}
	return append(steps, bodySteps(b)...)
}

// queryJunk are values whose results are undocumented.
func queryJunk(name string) []string {
	values := append(strings.Split("|\xff|0|-1|+5|007|1e2|5.0|five|99999999999999999999| 5|1001|other|ASC|asc,asc|12|null|"+id(77), "|"),
		strings.Repeat("x", 201), strings.Repeat("😀", 101))
	if name != "filters" {
		return values
	}
	for key := range strings.FieldsSeq(`name title dept level industryName country state personalLocation companyName companyIndustry unknown
		companyHeadQuartersCountry companyLocation website campaignEngagement otherLists numberOfEmployees revenue keywords socialUrl
		enrichedEmail enrichedPhone emailValidity icpMatch customColumns`) {
		for _, value := range []string{
			`[]`, `{}`, `""`, `"x"`, `null`, `5`, `true`, `[null]`, `[5]`, `["x"]`, `[["x"]]`, `{"include":[]}`, `{"include":"x"}`, `{"include":["x"],"other":["y"]}`,
			`{"include":["x"],"exclude":["x"]}`, `{"c":{}}`, `{"c":{"dataType":"string","include":[]}}`, `{"c":{"dataType":"other"}}`,
			`{"c":{"dataType":"number"}}`, `{"c":{"dataType":"boolean","value":null}}`, `{"c":{"dataType":"boolean","include":["x"]}}`, `["yes","no"]`, `["Yes"]`,
		} {
			values = append(values, fmt.Sprintf(`{%q:%s}`, key, value))
		}
	}
	return append(values, "[]", `"x"`, "{", `{"name":["x"],"name":["y"]}`, `{"keywords":"\ud800"}`, " {} x")
}

// bodySteps are other bodies, and other fields of the body. The last of several equal fields counts.
func bodySteps(b shown) (steps []step) {
	for _, text := range []string{"{}", "[]", " ", "null", `"x"`, "5", "{", "{} {}", "\uFEFF{}", `{"\ud800":1}`, "{\"a\":\"\xff\"}", `{"status":"active"}`} {
		steps = append(steps, step{"body " + text, func(w *wire) { w.body = text }})
	}
	for name := range strings.FieldsSeq(strings.NewReplacer(`"`, " ", ":", " ", ",", " ", "{", " ", "}", " ").Replace(b.body) + " unknown Name data " + b.fields) {
		for _, raw := range append(strings.Fields(`null true 5 0 -1 1.5 1e3 1000.0 1000 200001 99999999999999999999 "" "x" "5" "true" [] [1] [null] ["x"] {} {"a":1} "\ud800" "NDA"
			"a@b.example" "123456789" "2026-02-30" "2026-02-28" "people" "Alerts" "alerts" "everybody" "company" "COMPANY" "crm-2"`),
			`" x"`, `"All Contacts"`, `"$5 quote"`, fmt.Sprintf("%q", id(77)), fmt.Sprintf("[%q]", id(2)), fmt.Sprintf("%q", strings.Repeat("😀", 2001))) {
			steps = append(steps, step{name + " " + raw[:min(len(raw), 30)], func(w *wire) {
				if body, open := strings.CutSuffix(w.body, "}"); open {
					w.body = fmt.Sprintf("%s,%q:%s}", body, name, raw)
				}
			}})
		}
	}
	return steps
}

// TestWhatTheDocumentShowsAndDoesNotShow goes one step out of the document, and two, some thousands of times. What it shows is served, and
// what is refused changes nothing and has a code that is documented there.
func TestWhatTheDocumentShowsAndDoesNotShow(t *testing.T) {
	t.Parallel()
	const pairs = 60 // of each request
	c, random, outside, refused := inPlace(t, sandbox.New(t, documentSeed()...)), rand.New(rand.NewPCG(1, 2)), 0, 0
	before := c.sb.Snapshot()
	try := func(b shown, steps ...step) {
		w, names := wire{b, func(*http.Request) {}}, b.method+" "+b.path
		for _, s := range steps {
			s.take(&w)
			names += "; " + s.name
		}
		var body any
		if w.body != "" {
			body = w.body
		}
		r := c.altered(w.method, strings.TrimSuffix(w.path+"?"+w.query, "?"), body, w.change)
		outside += min(1, len(steps))
		if r.status < 300 {
			if w.method != http.MethodGet {
				c = inPlace(t, sandbox.New(t, documentSeed()...))
			}
			return
		}
		refused++
		require.True(t, len(steps) > 0 || strings.HasSuffix(b.path, "activate"), "%s: %s", names, r.raw) // it is active
		require.Contains(t, strings.Fields(anywhereCodes+" "+b.codes), at(r.json(), "error", "code"), "%s: %s", names, r.raw)
		if !reflect.DeepEqual(before, c.sb.Snapshot()) {
			require.Fail(t, "refused, and the state has changed", names)
		}
	}
	for _, b := range documented {
		try(b)
		steps := stepsOf(b)
		for _, s := range steps {
			try(b, s)
		}
		for range pairs {
			try(b, steps[random.IntN(len(steps))], steps[random.IntN(len(steps))])
		}
	}
	require.Greater(t, outside, 4_000)
	require.Greater(t, refused, 2_000)
}

const anywhereCodes = "VALIDATION_FAILED UNAUTHORIZED ENDPOINT_NOT_FOUND INVALID_REQUEST"
