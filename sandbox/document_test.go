package sandbox_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// What follows is written from the document alone: what each operation takes, and the codes that it lists. One step out of that,
// and what happens is undocumented.

// wire is a request whose every part can be changed.
type wire struct {
	method, path string
	query        [][2]string
	tail         string // of the query, as it is
	body         [][2]string
	bare         *string // instead of the body, as it is
	contentType  string
	change       func(*http.Request)
}

func (w wire) clone() wire {
	w.query, w.body = slices.Clone(w.query), slices.Clone(w.body)
	return w
}

func (w wire) send(c caller) result {
	c.t.Helper()
	values := make([]string, 0, len(w.query)+1)
	for _, q := range w.query {
		values = append(values, url.QueryEscape(q[0])+"="+url.QueryEscape(q[1]))
	}
	if w.tail != "" {
		values = append(values, w.tail)
	}
	path := w.path
	if len(values) > 0 {
		path += "?" + strings.Join(values, "&")
	}
	var body any
	switch {
	case w.bare != nil:
		body = *w.bare
	case w.body != nil:
		members := make([]string, len(w.body))
		for i, m := range w.body {
			members[i] = fmt.Sprintf("%q:%s", m[0], m[1])
		}
		body = "{" + strings.Join(members, ",") + "}"
	}
	return c.altered(w.method, path, body, func(r *http.Request) {
		switch w.contentType {
		case "":
		case "none":
			r.Header.Del("Content-Type")
		default:
			r.Header.Set("Content-Type", w.contentType)
		}
		if w.change != nil {
			w.change(r)
		}
	})
}

// step is a change of a request. One that leaves it within the document is valid.
type step struct {
	name, where string
	valid       bool
	take        func(*wire)
}

// known is what is documented about one parameter or field.
type known struct {
	name        string
	kind        string // integer, text, enum, id, ids, date, flag, filters or other
	least, most int
	values      []string
}

// base is a request that the document shows, and what it says of its parts. Codes are those that it lists besides the general ones.
type base struct {
	name   string
	wire   wire
	query  []known
	body   []known
	codes  string
	served bool // what is valid succeeds
}

func quote(s string) string { return fmt.Sprintf("%q", s) }

func members(pairs ...string) (out [][2]string) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, [2]string{pairs[i], pairs[i+1]})
	}
	return out
}

var (
	pagingOf  = []known{{name: "limit", kind: "integer", least: 1, most: 1000}, {name: "pageNum", kind: "integer", least: 1}}
	listKinds = []string{"contactList", "companyList"}
	agentOf   = []known{
		{name: "listName", kind: "other"},
		{name: "start", kind: "flag"},
		{name: "expirationDate", kind: "date"},
		{name: "maxCreditSpend", kind: "integer", least: 1000, most: 200_000},
	}
	creationCodes = "LIST_NAME_TAKEN LIST_NAME_RESERVED LIST_NOT_FOUND AGENT_SOURCE_LIST_EMPTY"
	rowQuery      = append([]known{{name: "sortBy", kind: "text", most: 100}, {name: "sortOrder", kind: "enum", values: []string{"asc", "desc"}}, {name: "filters", kind: "filters"}}, pagingOf...)
	listQuery     = append([]known{
		{name: "entityType", kind: "enum", values: listKinds}, {name: "folderId", kind: "id"}, {name: "search", kind: "text", most: 200},
	}, pagingOf...)
	factBody = []known{
		{name: "claim", kind: "text", most: 1000},
		{name: "category", kind: "enum", values: strings.Fields("overview products pricing icp-use-cases differentiators competitors faq source-digest custom objection faq-insight")},
	}
)

// documented are requests to the sandbox of documentSeed.
func documented() []base {
	get := func(path string, query ...string) wire {
		return wire{method: "GET", path: path, query: members(query...)}
	}
	send := func(method, path string, body ...string) wire {
		return wire{method: method, path: path, body: append([][2]string{}, members(body...)...)}
	}
	person := send("POST", monitors, "listName", `"Openings"`, "entityType", `"person"`, "prompt", `"offices"`)
	watch := send("POST", watchers, "listName", `"Changes"`, "eventType", `"social-person-post-updates"`, "listId", quote(id(1)))
	many := send("POST", watchers, "listName", `"Changes"`, "eventType", `"social-person-profile-updates"`, "listIds", `["`+id(1)+`","`+id(2)+`"]`)
	monitorOf := append([]known{
		{name: "entityType", kind: "enum", values: []string{"person", "company"}},
		{name: "prompt", kind: "text", most: 2000},
		{name: "searchPeriod", kind: "enum", values: []string{"1h", "6h", "1d", "7d"}},
		{name: "numResults", kind: "integer", least: 1, most: 100},
	}, agentOf...)
	watcherOf := append([]known{
		{name: "eventType", kind: "enum", values: []string{"social-person-profile-updates", "social-person-post-updates"}},
		{name: "frequency", kind: "integer", least: 1, most: 90},
	}, agentOf...)
	scroll := []known{{name: "filters", kind: "other"}, {name: "size", kind: "integer", least: 1, most: 100}, {name: "scrollToken", kind: "other"}}
	return []base{
		{"lists", get(lists), listQuery, nil, "", true},
		{"lists, all", get(lists, "limit", "5", "pageNum", "1", "entityType", "companyList", "folderId", id(8), "search", "f"), listQuery, nil, "", true},
		{"create", send("POST", lists, "name", `"Q1"`), nil, []known{{name: "entityType", kind: "enum", values: listKinds}, {name: "name", kind: "text", most: 255}}, "LIST_NAME_TAKEN LIST_NAME_RESERVED", true},
		{"create, all", send("POST", lists, "name", `" Q1 "`, "entityType", `"companyList"`), nil, nil, "LIST_NAME_TAKEN", true},
		{"get", get(lists + "/" + mixed), []known{{name: "include", kind: "enum", values: []string{"columns"}}}, nil, "LIST_NOT_FOUND", true},
		{"rows", get(rowsOf(mixed)), rowQuery, nil, "LIST_NOT_FOUND INVALID_ROW_FILTERS UNEXPECTED_ERROR", true},
		{"rows, all", get(rowsOf(id(2)), "limit", "1", "sortBy", "nonsense", "sortOrder", "desc", "filters", "{}"), pagingOf, nil, "LIST_NOT_FOUND INVALID_ROW_FILTERS", true},
		{"push", send("POST", lists+"/"+mixed+"/crm-push", "crm", `"crm-1"`), nil, []known{{name: "crm", kind: "other"}, {name: "contactIds", kind: "ids", most: 500}}, "LIST_NOT_FOUND CONTACT_LIST_REQUIRED CRM_NOT_CONNECTED", false},
		{"folders", get("/business/folders", "type", "companyList"), nil, nil, "", true},
		{"monitor", person, nil, monitorOf, creationCodes, true},
		{"watcher", watch, nil, watcherOf, creationCodes, true},
		{"watcher of lists", many, nil, watcherOf, creationCodes, false}, // one of them holds companies
		{"discovery", send("POST", discovery, "listName", `"Sellers"`, "titles", `["Data Engineer"]`), nil, agentOf, creationCodes, false},
		{"approve", wire{method: "POST", path: campaignPath(letters, "approve")}, nil, nil, "CAMPAIGN_NOT_FOUND CAMPAIGN_NOT_APPROVABLE CAMPAIGN_BUSY CAMPAIGN_NOT_READY", true},
		{"fact", send("PATCH", facts+letters, "claim", `"Saves a day."`, "category", `"faq"`), nil, factBody, "LEARNED_FACT_NOT_FOUND LEARNED_FACT_NOT_ANONYMIZED", true},
		{"search", send("POST", search, "filters", `{"job_title_levels":[{"status":"include","value":"vp"}]}`, "size", "5"), nil, scroll, "SEARCH_FILTERS_INVALID", false},
		{"run", send("POST", saved+"/"+letters+"/run", "size", "5"), nil, scroll[1:], "SAVED_SEARCH_NOT_FOUND SAVED_SEARCH_INVALID SAVED_SEARCH_TYPE_MISMATCH", false},
		{"me", get("/business/me"), nil, nil, "", true},
		{"credits", get("/business/credits"), nil, nil, "", false},
		{"hub", get(hubs + "/" + letters), nil, nil, "KNOWLEDGE_HUB_NOT_FOUND", false},
		{"agent", get(agents + "/" + letters), nil, nil, "AGENT_NOT_FOUND", false},
		{"activate", wire{method: "POST", path: agents + "/" + letters + "/activate"}, nil, nil, "AGENT_NOT_FOUND AGENT_NOT_A_DRAFT", false},
	}
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

// stepsOf are the ways out of a request, and some that stay within.
func stepsOf(b base) (steps []step) {
	add := func(where, name string, valid bool, take func(*wire)) {
		steps = append(steps, step{b.name + ": " + where + " " + name, where, valid, take})
	}
	for name, take := range map[string]func(*wire){
		"unknown": func(w *wire) { w.query = append(w.query, [2]string{"page", "2"}) }, "case": func(w *wire) { w.query = append(w.query, [2]string{"Limit", "2"}) },
		"semicolon": func(w *wire) { w.tail = "a;b" }, "escape": func(w *wire) { w.tail = "%zz=1" }, "empty name": func(w *wire) { w.tail = "=" },
	} {
		add("query", name, false, take)
	}
	add("path", "escaped", false, func(w *wire) { w.path = strings.Replace(w.path, "/business", "/%62usiness", 1) })
	add("path", "slash", false, func(w *wire) { w.path += "/" })
	add("path", "more", false, func(w *wire) { w.path += "/x" })
	add("path", "method", false, func(w *wire) { w.method, w.body, w.bare = "DELETE", nil, nil })
	for _, one := range []string{mixed, letters} {
		if strings.Contains(b.wire.path, one) {
			add("path", "upper case", false, func(w *wire) { w.path = strings.Replace(w.path, one, strings.ToUpper(one), 1) })
			add("path", "short id", false, func(w *wire) { w.path = strings.Replace(w.path, one, one[1:], 1) })
			add("path", "no id", false, func(w *wire) { w.path = strings.Replace(w.path, one, "all", 1) })
			add("path", "unknown id", false, func(w *wire) { w.path = strings.Replace(w.path, one, id(77), 1) })
			if strings.HasPrefix(b.wire.path, lists) {
				add("path", "system list", false, func(w *wire) { w.path = strings.Replace(w.path, one, id(9), 1) })
			}
		}
	}
	for name, change := range map[string]func(*http.Request){
		"password": func(r *http.Request) { token, _, _ := r.BasicAuth(); r.SetBasicAuth(token, "x") },
		"twice":    func(r *http.Request) { r.Header.Add("Authorization", "Basic eDo=") },
		"nobody":   func(r *http.Request) { r.SetBasicAuth("nobody", "") },
		"missing":  func(r *http.Request) { r.Header.Del("Authorization") },
		"bearer":   func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") },
	} {
		add("auth", name, false, func(w *wire) { w.change = change })
	}
	for _, k := range b.query {
		queryStepsOf(k, add)
	}
	for _, q := range b.wire.query {
		add(q[0], "twice", false, func(w *wire) { w.query = append(w.query, q) })
	}
	if b.wire.body == nil {
		for _, text := range []string{"{}", "[]", " ", `{"status":"active"}`, "x"} {
			add("body", text, false, func(w *wire) { w.bare = &text })
		}
		return steps
	}
	bodyStepsOf(b, add)
	return steps
}

type adder func(where, name string, valid bool, take func(*wire))

// queryStepsOf are values of a query parameter.
func queryStepsOf(k known, add adder) {
	set := func(value string, valid bool) {
		add(k.name, "= "+value[:min(len(value), 30)], valid, func(w *wire) {
			w.query = slices.DeleteFunc(w.query, func(q [2]string) bool { return q[0] == k.name })
			w.query = append(w.query, [2]string{k.name, value})
		})
	}
	set("", false)
	set("\xff", false)
	switch k.kind {
	case "integer":
		for v := range strings.FieldsSeq("0 -1 +5 007 1e2 5.0 0x5 five 99999999999999999999 1,000 5_0") {
			set(v, false)
		}
		set(" 5", false)
		set(strconv.Itoa(k.least), true)
		if k.most > 0 {
			set(strconv.Itoa(k.most), true)
			set(strconv.Itoa(k.most+1), false)
		}
	case "enum":
		for _, v := range k.values {
			set(v, k.name != "sortOrder") // which has nothing to sort by
			set(strings.ToUpper(v), false)
			set(" "+v, false)
			set(v+","+v, false)
		}
		set("other", false)
	case "id":
		for _, v := range []string{id(77), "12", strings.ToUpper(mixed), id(8) + "0", "null"} {
			set(v, false)
		}
	case "text":
		set("x", true)
		set(strings.Repeat("x", k.most), true)
		set(strings.Repeat("x", k.most+1), false)
		set(strings.Repeat("😀", k.most/2+1), false)
	case "filters":
		set("{}", true)
		for _, v := range rowFilterSteps() {
			set(v, false)
		}
	}
}

// rowFilterSteps are filters whose results are undocumented.
func rowFilterSteps() []string {
	out := []string{"[]", "null", "x", `"x"`, "{", `{"name":["x"],"name":["y"]}`, `{"unknown":["x"]}`, `{"Name":["x"]}`, `{"keywords":"\ud800"}`, " {} x"}
	keys := strings.FieldsSeq(`name title dept level industryName country state personalLocation companyName companyIndustry
		companyHeadQuartersCountry companyLocation website campaignEngagement otherLists numberOfEmployees revenue keywords socialUrl
		enrichedEmail enrichedPhone emailValidity icpMatch customColumns`)
	for key := range keys {
		for _, value := range []string{
			`[]`, `{}`, `""`, `"x"`, `null`, `5`, `true`, `[null]`, `[5]`, `["x"]`, `["x","x"]`, `[["x"]]`, `{"include":[]}`, `{"exclude":[]}`, `{"include":"x"}`, `{"include":["x"],"other":["y"]}`,
			`{"include":["x"],"exclude":["x"]}`, `{"INCLUDE":["x"]}`, `{"c":{}}`, `{"c":{"dataType":"string","include":[]}}`, `{"c":{"dataType":"other"}}`,
			`{"c":{"dataType":"number"}}`, `{"c":{"dataType":"boolean","value":null}}`, `{"c":{"dataType":"boolean","include":["x"]}}`, `["yes","no"]`, `["maybe"]`, `["Yes"]`,
		} {
			out = append(out, fmt.Sprintf(`{%q:%s}`, key, value))
		}
	}
	return out
}

// bodyStepsOf are other bodies.
func bodyStepsOf(b base, add adder) {
	whole := func(text string) {
		add("body", "is "+text[:min(len(text), 12)], false, func(w *wire) { w.bare = &text })
	}
	for _, text := range []string{"", " ", "[]", "null", `"x"`, "5", "{", "{} {}", "\uFEFF{}", `{"\ud800":1}`, "{\"a\":\"\xff\"}"} {
		whole(text)
	}
	for _, kind := range []string{"none", "text/plain", "application/json; charset=latin1", "application/xml", "multipart/form-data"} {
		add("type", kind, false, func(w *wire) { w.contentType = kind })
	}
	for _, key := range []string{"unknown", "Name", "data", ""} {
		add("body", "key "+key, false, func(w *wire) { w.body = append(w.body, [2]string{key, "1"}) })
	}
	for _, m := range b.wire.body {
		add(m[0], "twice", false, func(w *wire) { w.body = append(w.body, m) })
		add(m[0], "in capitals", false, func(w *wire) {
			if i := slices.Index(w.body, m); i >= 0 {
				w.body[i][0] = strings.ToUpper(m[0])
			}
		})
	}
	for _, k := range b.body {
		fieldStepsOf(k, add)
	}
	if strings.Contains(b.name, "watcher") {
		sourceStepsOf(add)
	}
}

func fieldStepsOf(k known, add adder) {
	set := func(raw string, valid bool) {
		add(k.name, "= "+raw[:min(len(raw), 30)], valid, func(w *wire) {
			w.body = slices.DeleteFunc(w.body, func(m [2]string) bool { return m[0] == k.name })
			w.body = append(w.body, [2]string{k.name, raw})
		})
	}
	for _, raw := range []string{"{}", "[]", "[1]", `{"a":1}`, `[null]`} {
		set(raw, false)
	}
	if k.kind != "date" {
		set("null", false)
	}
	if k.kind != "flag" {
		set("true", false)
	}
	if k.kind != "integer" {
		set("5", false)
	}
	switch k.kind {
	case "integer":
		for _, raw := range []string{`"5"`, "1e3", "1000.0", "1.5", "-1", "0", "99999999999999999999", strconv.Itoa(k.least - 1), strconv.Itoa(k.most + 1)} {
			set(raw, false)
		}
		set(strconv.Itoa(k.least), true)
		set(strconv.Itoa(k.most), true)
	case "enum":
		for _, v := range k.values {
			set(quote(v), true)
			set(quote(strings.ToUpper(v)), false)
			set(quote(v+" "), false)
			set(quote("["+v+"]"), false)
		}
		set(`""`, false)
	case "text":
		textStepsOf(k, set)
	case "flag":
		for _, raw := range []string{`"true"`, `"false"`, "0", "1", "true"} {
			set(raw, false) // the response of a start is undocumented
		}
		set("false", true)
	case "date":
		for _, date := range []string{"2026-03-01", "2026-02-28", "2026-3-2", "2026-02-30", "01.03.2027", "2027-01-01T00:00:00.000Z", "tomorrow", ""} {
			set(quote(date), false)
		}
		set(`"2026-03-02"`, true)
		set("null", true)
	case "ids":
		for _, raw := range []string{`[]`, `["x"]`, `["` + id(1) + `",null]`, quote(id(1))} {
			set(raw, false)
		}
	}
	if k.name == "listName" {
		for _, name := range []string{"", " ", " x", "x ", strings.Repeat("x", 256), "People", "Let ters", "everybody", "people", "Alerts", "alerts", "All Contacts", "all companies"} {
			set(quote(name), false)
		}
		set(quote(strings.Repeat("x", 255)), true)
	}
}

func textStepsOf(k known, set func(raw string, valid bool)) {
	set(quote(strings.Repeat("x", k.most)), true)
	set(quote(strings.Repeat("x", k.most+1)), false)
	set(quote(strings.Repeat("ä", k.most)), true)
	set(quote(strings.Repeat("😀", k.most/2+1)), false)
	set(`""`, false)
	set(`"\ud800"`, false)
	if k.name == "name" {
		for _, name := range []string{"People", "PEOPLE", "let ters", " Letters", "alerts", "everybody", "ALL CONTACTS", "All Companies", "\u00a0x", "x\u3000", "\ufeffx", "people", "Everybody", "  "} {
			set(quote(name), false)
		}
	}
	if k.name == "claim" {
		for _, claim := range []string{"contract terms", "three NDAs", "$500 discounts", "auto-renewal", "sow", "nda", "12 34 56 78 90", "me@home", "5 dollars, agreed", "a contract | term", "NDA", "a@b.example", "123456789", "$5 quote"} {
			set(quote(claim), false)
		}
	}
}

// sourceStepsOf are sources of a watcher.
func sourceStepsOf(add adder) {
	for _, raw := range []string{"null", `""`, `"x"`, quote(id(77)), quote(id(2)), quote(id(9)), quote(strings.ToUpper(mixed)), `["` + id(1) + `"]`} {
		add("source", "list "+raw, false, func(w *wire) {
			w.body = slices.DeleteFunc(w.body, func(m [2]string) bool { return strings.HasPrefix(m[0], "listId") })
			w.body = append(w.body, [2]string{"listId", raw})
		})
	}
	for _, raw := range []string{"null", `[]`, `[null]`, `["x"]`, `["` + id(77) + `"]`, `["` + id(2) + `"]`, quote(id(1)), `["` + id(1) + `",5]`} {
		add("source", "lists "+raw, false, func(w *wire) {
			w.body = slices.DeleteFunc(w.body, func(m [2]string) bool { return strings.HasPrefix(m[0], "listId") })
			w.body = append(w.body, [2]string{"listIds", raw})
		})
	}
	add("source", "both", false, func(w *wire) {
		w.body = slices.DeleteFunc(w.body, func(m [2]string) bool { return strings.HasPrefix(m[0], "listId") })
		w.body = append(w.body, [2]string{"listId", quote(id(1))}, [2]string{"listIds", `["` + id(1) + `"]`})
	})
	add("source", "none", false, func(w *wire) {
		w.body = slices.DeleteFunc(w.body, func(m [2]string) bool { return strings.HasPrefix(m[0], "listId") })
	})
}

// TestWhatTheDocumentShowsAndDoesNotShow goes one step out of the document, and two, some thousands of times. What stays within is served,
// and what is refused changes nothing and has a code that is documented there.
func TestWhatTheDocumentShowsAndDoesNotShow(t *testing.T) {
	const pairs = 150 // of each request
	c, random, outside, refused := inPlace(t, sandbox.New(t, documentSeed()...)), rand.New(rand.NewPCG(1, 2)), 0, 0
	before := c.sb.Snapshot()
	try := func(b base, steps ...step) {
		w, valid, names := b.wire.clone(), true, b.name
		for _, s := range steps {
			s.take(&w)
			valid = valid && s.valid
			names += "; " + strings.TrimPrefix(s.name, b.name+": ")
		}
		r := w.send(c)
		if !valid {
			outside++
		}
		if r.status < 300 {
			if w.method != http.MethodGet {
				c = inPlace(t, sandbox.New(t, documentSeed()...))
			}
			return
		}
		refused++
		require.False(t, valid && b.served, "%s: %s", names, r.raw)
		require.Contains(t, strings.Fields(anywhereCodes+" "+b.codes), at(r.json(), "error", "code"), "%s: %s", names, r.raw)
		if !reflect.DeepEqual(before, c.sb.Snapshot()) {
			require.Fail(t, "refused, and the state has changed", names)
		}
	}
	for _, b := range documented() {
		try(b)
		steps := stepsOf(b)
		for _, s := range steps {
			try(b, s)
		}
		for range pairs {
			one, other := steps[random.IntN(len(steps))], steps[random.IntN(len(steps))]
			if one.where != other.where {
				try(b, one, other)
			}
		}
	}
	require.Greater(t, outside, 4_000)
	require.Greater(t, refused, 2_000)
}

const anywhereCodes = "VALIDATION_FAILED UNAUTHORIZED ENDPOINT_NOT_FOUND INVALID_REQUEST"

// TestDocumentedRefusals sends requests that are rejected whatever is undocumented about them.
func TestDocumentedRefusals(t *testing.T) {
	preparing := sandbox.ReadyCampaign("Preparing", id(1))
	preparing.ID, preparing.InitializationStatus = id(51), "running"
	state := sandbox.State{Workspaces: []sandbox.Workspace{{
		Lists:     []sandbox.List{{ID: id(1), Name: "people"}},
		Campaigns: []sandbox.Campaign{preparing, {ID: id(52), Name: "bare"}, {ID: id(53), Name: "no account", ListIDs: []string{id(1)}, Channels: []string{"email"}}},
	}}}
	sb := sandbox.New(t, sandbox.Seed(state))
	c := inPlace(t, sb)
	for _, r := range []struct {
		method, path string
		body         any
		status       int
		code         string
	}{
		{"PATCH", campaignPath(id(51)), object{"listIds": []string{id(1)}}, 409, "CAMPAIGN_INITIALIZING"},
		{"PATCH", campaignPath(id(77)), object{"listIds": []string{id(1)}}, 404, "CAMPAIGN_NOT_FOUND"},
		{"POST", campaignPath(id(52), "approve"), nil, 422, "CAMPAIGN_NOT_READY"},
		{"POST", campaignPath(id(53), "approve"), nil, 422, "CAMPAIGN_NOT_READY"},
		{"POST", discovery, object{"listName": "x"}, 422, "VALIDATION_FAILED"},
		{"POST", discovery, object{"listName": "x", "maxCreditSpend": 1}, 422, "VALIDATION_FAILED"},
		{"GET", rowsOf(id(1)) + "?filters=" + url.QueryEscape(`{"icpMatch":[]}`), nil, 422, "INVALID_ROW_FILTERS"},
		{"GET", rowsOf(id(1)) + "?filters=" + url.QueryEscape(`{"enrichedEmail":[]}`), nil, 422, "INVALID_ROW_FILTERS"},
		{"GET", rowsOf(id(1)) + "?filters=" + url.QueryEscape(`{"name":[],"other":["x"]}`), nil, 422, "INVALID_ROW_FILTERS"},
	} {
		c.do(r.method, r.path, r.body).fails(r.status, r.code)
	}
}
