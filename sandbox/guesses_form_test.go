package sandbox_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// altered sends a request that a test has changed.
func (c caller) altered(method, path string, body any, change func(*http.Request)) result {
	c.t.Helper()
	req := c.request(method, path, body)
	change(req)
	r, err := c.send(req)
	require.NoError(c.t, err)
	return r
}

// asForm sends parts of a multipart form, in their order: names and texts. A name with a dot is that of a file.
func (c caller) asForm(parts ...string) result {
	c.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for i := 0; i < len(parts); i += 2 {
		out, err := w.CreateFormField(parts[i])
		if strings.Contains(parts[i], ".") {
			out, err = w.CreateFormFile("file", parts[i])
		}
		require.NoError(c.t, err)
		_, err = out.Write([]byte(parts[i+1]))
		require.NoError(c.t, err)
	}
	require.NoError(c.t, w.Close())
	return c.altered("POST", imports, form.String(), func(r *http.Request) { r.Header.Set("Content-Type", w.FormDataContentType()) })
}

// Requests whose form, rather than what they ask for, depends on assumptions.
var _ = guessesIn([]sandbox.Option{guessSeed()}, map[string]func(caller) result{
	"paths.first":   func(c caller) result { return c.as("nobody").get("/business/nothing") },
	"paths.escaped": func(c caller) result { return c.get("/business/%6Cists") },
	"auth.password": func(c caller) result {
		return c.altered("GET", lists, nil, func(r *http.Request) { r.SetBasicAuth(c.token, "secret") })
	},
	"auth.repeated": func(c caller) result {
		return c.altered("GET", lists, nil, func(r *http.Request) { r.Header.Add("Authorization", "Basic x") })
	},
	"order":           func(c caller) result { return c.get(rowsOf(id(77)), "limit", "0") },
	"query.unknown":   func(c caller) result { return c.get(lists, "page", "2") },
	"query.repeated":  func(c caller) result { return c.get(lists + "?limit=1&limit=2") },
	"query.malformed": func(c caller) result { return c.get(lists + "?limit=1;x") },
	"integers":        func(c caller) result { return c.get(lists, "limit", "007") },
	"ids.case":        func(c caller) result { return c.get(lists + "/" + strings.ToUpper(mixed)) },
	"body.unasked":    func(c caller) result { return c.do("GET", "/business/me", object{}) },
	"body.repeated":   func(c caller) result { return c.do("POST", lists, `{"name":"a","name":"b"}`) },
	"text.malformed":  func(c caller) result { return c.do("POST", lists, `{"name":"a\ud800"}`) },
	"text.characters": func(c caller) result { return c.do("POST", lists, create(strings.Repeat("😀", 128))) },
	"body.id":         func(c caller) result { return c.do("POST", watchers, with(watcher(), object{"listId": "x"})) },
	"lists.names":     func(c caller) result { return c.do("POST", lists, create("Source")) },
	"rows.bounds":     func(c caller) result { return c.get(rowsOf(id(1)), "sortBy", strings.Repeat("x", 101)) },
	"rows.sort-order": func(c caller) result { return c.get(rowsOf(id(1)), "sortOrder", "asc") },
	"crm.kinds":       func(c caller) result { return c.do("POST", lists+"/"+id(1)+"/crm-push", object{"crm": "other"}) },
	"body.ignored": func(c caller) result {
		return c.do("POST", lists+"/"+id(1)+"/crm-push", object{"crm": "crm-1", "x": 1})
	},
	"agents.day": func(c caller) result {
		return c.do("POST", monitors, with(monitor(), object{"expirationDate": today()}))
	},
	"agents.blank":       func(c caller) result { return c.do("POST", monitors, with(monitor(), object{"listName": " "})) },
	"agents.name.form":   func(c caller) result { return c.do("POST", monitors, with(monitor(), object{"listName": " x"})) },
	"rows.filters.empty": func(c caller) result { return c.get(rowsOf(id(1)), "filters", `{"name":[]}`) },
	"agents.sources.empty": func(c caller) result {
		return c.do("POST", watchers, with(watcher(), object{"listId": gone, "listIds": []string{}}))
	},
	"agents.sources.kinds":    func(c caller) result { return c.do("POST", watchers, with(watcher(), object{"listId": id(3)})) },
	"lists.folder-unknown":    func(c caller) result { return c.get(lists, "folderId", id(66)) },
	"lists.completion-status": func(c caller) result { return c.get(lists + "/" + id(4)) },
})

// mixed is the id of a list of guessSeed that has letters.
const mixed = "00000000000000000000abcd"

func today() string { return time.Now().UTC().Format(time.DateOnly) }
