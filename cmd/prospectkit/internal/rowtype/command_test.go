package rowtype_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/rowtype"
	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

const (
	contacts  = "65f0c0ffee65f0c0ffee65f1"
	companies = "65f0c0ffee65f0c0ffee65f2"
	empty     = "65f0c0ffee65f0c0ffee65f3"
	many      = "65f0c0ffee65f0c0ffee65f4"
	score     = "a5f0c0ffee65f0c0ffee65f0"
	goal      = "b5f0c0ffee65f0c0ffee65f0"
	secret    = "CANARY"
)

// seed has a list of each kind. Every text in a row is secret.
func seed() sandbox.State {
	person := func(n int) sandbox.Row {
		return sandbox.Row{
			"id": fmt.Sprintf("75f0c0ffee65f0c0ffee%04d", n), "firstName": secret, "jobTitle": secret, "createdAt": "2026-01-02T03:04:05.000Z",
			"company": sandbox.Row{"name": secret, "revenue": n}, "it's": secret, "visits": n, "scores": sandbox.Row{secret + "@mail.example": n},
			"customColumns": sandbox.Row{score: n},
		}
	}
	columns := []sandbox.Column{{ID: score, Name: "Lead score", Type: "number"}, {ID: goal, Name: "🎯 goal", Type: "string"}}
	second := person(2)
	second["jobTitle"], second["company"] = nil, nil
	delete(second, "visits")
	var rows []sandbox.Row
	for n := range 2500 {
		rows = append(rows, sandbox.Row{"id": fmt.Sprintf("85f0c0ffee65f0c0ffee%04d", n), "n": n})
	}
	return sandbox.State{Workspaces: []sandbox.Workspace{{Lists: []sandbox.List{
		{ID: contacts, Name: secret, Columns: columns, Rows: sandbox.Rows(person(1), second, person(3))},
		{ID: companies, Name: "b", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(sandbox.Row{"name": secret, "revenue": 1.5})},
		{ID: empty, Name: "c", Columns: columns},
		{ID: many, Name: "d", Rows: sandbox.Rows(rows...)},
	}}}}
}

// newService makes a sandbox and sets the environment for it.
func newService(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	sb := sandbox.New(t, sandbox.Seed(seed()))
	t.Setenv(prospectkit.EnvBaseURL, sb.BaseURL())
	t.Setenv(prospectkit.EnvToken, sb.Token())
	t.Setenv("GOPACKAGE", "")
	return sb
}

// folder is removed at the end, except on Wine, which cannot.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rowtype") //nolint:usetesting // TempDir fails the test if it cannot remove the folder
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, transport http.RoundTripper) int {
	return rowtype.New(prospectkit.WithTransport(transport)).Main(ctx, cli.Std{Out: stdout, Err: stderr, Getenv: os.Getenv}, args)
}

// runWith runs the command against a transport. Nothing that it writes holds a value.
func runWith(t *testing.T, transport http.RoundTripper, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	code = run(t.Context(), args, &out, &complaints, transport)
	require.NotContains(t, out.String()+complaints.String(), secret)
	return code, out.String(), complaints.String()
}

// written runs the command with a file, and returns the file.
func written(t *testing.T, transport http.RoundTripper, args ...string) (path, text string) {
	t.Helper()
	path = filepath.Join(folder(t), "row_gen.go")
	code, stdout, stderr := runWith(t, transport, append(args, "-o", path)...)
	require.Equal(t, cli.OK, code, stderr)
	require.Empty(t, stdout)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(content), secret)
	return path, string(content)
}

func TestWrite(t *testing.T) {
	sb := newService(t)
	code, text, stderr := runWith(t, sb.Transport(), "-list", contacts, "-package", "crm")
	require.Equal(t, cli.OK, code, stderr)
	require.Equal(t, "Contact: made from 3 rows; 2 requests.\n", stderr)
	golden.Equal(t, filepath.Join("testdata", "contact.go.golden"), text)

	_, inFile := written(t, sb.Transport(), "-list", contacts, "-package", "crm")
	require.Equal(t, text, inFile)
}

func TestWrite_NamesAndKinds(t *testing.T) {
	sb := newService(t)
	_, text := written(t, sb.Transport(), "-list", companies)
	require.Contains(t, text, "\npackage main\n")
	require.Contains(t, text, "\ntype Company struct {\n")
	require.Regexp(t, "Revenue +float64 +`json:\"revenue\"`", text)
	require.Regexp(t, "Domain +json.RawMessage +`json:\"domain,omitzero\"` +// documented; no row had it", text)

	t.Setenv("GOPACKAGE", "generated")
	_, text = written(t, sb.Transport(), "-list", empty, "-type", "lead")
	require.Contains(t, text, "\npackage generated\n")
	require.Contains(t, text, "\ntype lead struct {\n")
	require.Contains(t, text, "made from 0 rows.")
	require.Contains(t, text, `//   - column "Lead score" `+score+` (number)`)
}

func TestWrite_JoinsThePackageOfTheFolder(t *testing.T) {
	sb := newService(t)
	dir := folder(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("no Go"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a_test.go"), []byte("package crm_test\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.go"), []byte("package crm\n"), 0o600))
	for range 2 {
		path := filepath.Join(dir, "row_gen.go")
		code, _, stderr := runWith(t, sb.Transport(), "-list", companies, "-o", path)
		require.Equal(t, cli.OK, code, stderr)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), "\npackage crm\n")
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "b.go"))) // then the file itself says it
	}
	_, text := written(t, sb.Transport(), "-list", companies, "-package", "other")
	require.Contains(t, text, "\npackage other\n")
}

// It reads as many pages as it needs, changes nothing and spends nothing.
func TestWrite_RequestsAreFewAndOnlyRead(t *testing.T) {
	for rows, want := range map[int]struct {
		text  string
		pages int
	}{
		1:       {"Contact: made from 1 of 2500 rows; 2 requests.\n", 1},
		1000:    {"Contact: made from 1000 of 2500 rows; 2 requests.\n", 1},
		1001:    {"Contact: made from 1001 of 2500 rows; 3 requests.\n", 2},
		100_000: {"Contact: made from 2500 rows; 4 requests.\n", 3},
	} {
		sb := newService(t)
		code, _, stderr := runWith(t, sb.Transport(), "-list", many, "-rows", strconv.Itoa(rows))
		require.Equal(t, cli.OK, code)
		require.Equal(t, want.text, stderr)
		require.Equal(t, want.pages, sb.Calls("lists.rows"))
		require.Len(t, sb.Journal(), want.pages+1)
		for _, entry := range sb.Journal() {
			require.Equal(t, http.MethodGet, entry.Method)
		}
		require.Empty(t, sb.Ledger())
	}
}

func TestWrite_ReplacesOnlyItsOwnFiles(t *testing.T) {
	sb := newService(t)
	path, text := written(t, sb.Transport(), "-list", companies)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(text, "\ntype ", "\n// changed\ntype ", 1)), 0o600))
	code, _, _ := runWith(t, sb.Transport(), "-list", companies, "-o", path)
	require.Equal(t, cli.OK, code)
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(again))

	require.NoError(t, os.WriteFile(path, []byte("package main\n"), 0o600))
	calls := len(sb.Journal())
	code, _, stderr := runWith(t, sb.Transport(), "-list", companies, "-o", path)
	require.Equal(t, cli.Failed, code)
	require.Contains(t, stderr, "this command has not written it")
	require.Len(t, sb.Journal(), calls, "nothing is asked for")
	again, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "package main\n", string(again))

	code, _, stderr = runWith(t, sb.Transport(), "-list", companies, "-o", filepath.Join(path, "no", "folder"))
	require.Equal(t, cli.Failed, code)
	require.NotEmpty(t, stderr)
}

// changed is a service whose rows differ from those of the sandbox.
type changed struct {
	http.RoundTripper

	row func(n int, row map[string]any)
}

func (c changed) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/rows") {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var page map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&page); err != nil {
		return nil, err
	}
	for n, row := range page["data"].([]any) {
		c.row(n, row.(map[string]any))
	}
	body, err = json.Marshal(page)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp, err
}

func in(row map[string]any, key string) map[string]any {
	inner, _ := row[key].(map[string]any)
	if inner == nil {
		inner = map[string]any{}
	}
	return inner
}

func TestCheck(t *testing.T) {
	sb := newService(t)
	path, _ := written(t, sb.Transport(), "-list", contacts)
	code, stdout, stderr := runWith(t, sb.Transport(), "-check", path)
	require.Equal(t, cli.OK, code, stderr)
	require.Equal(t, "Contact fits: looked at 3 rows.\n", stdout)
	for name, c := range map[string]struct {
		change func(n int, row map[string]any)
		says   string // empty if the rows fit
	}{
		"unchanged":          {func(int, map[string]any) {}, ""},
		"other values":       {func(_ int, row map[string]any) { row["firstName"], row["createdAt"] = "x", "2027-01-02T03:04:05.678Z" }, ""},
		"another address":    {func(_ int, row map[string]any) { row["scores"] = map[string]any{secret + "2@mail.example": 1} }, ""},
		"first of a column":  {func(_ int, row map[string]any) { in(row, "customColumns")[goal] = secret }, ""},
		"null of a pointer":  {func(_ int, row map[string]any) { row["jobTitle"] = nil }, ""},
		"a documented field": {func(_ int, row map[string]any) { row["lastName"] = secret }, ""},
		"a field":            {func(_ int, row map[string]any) { row["nickname"] = secret }, "nickname: new: the type has no such field; it is text (in 3 rows)"},
		"a field in one row": {func(n int, row map[string]any) {
			if n == 1 {
				row["tags"] = []any{secret}
			}
		}, "tags: new: the type has no such field; it is an array (in 1 row)"},
		"an odd field":      {func(_ int, row map[string]any) { row["say \"hi\""] = 1 }, `"say \"hi\"": new: the type has no such field; it is a number (in 3 rows)`},
		"an inner field":    {func(_ int, row map[string]any) { in(row, "company")["size"] = true }, "company.size: new: the type has no such field; it is true or false (in 2 rows)"},
		"data as a key":     {func(_ int, row map[string]any) { in(row, "company")["Jane "+secret] = 1 }, "company.(a key that may be data): new: the type has no such field; it is a number (in 2 rows)"},
		"another case":      {func(_ int, row map[string]any) { row["FirstName"] = row["firstName"] }, "FirstName: new: the type has no such field; it is text (in 3 rows)"},
		"a missing field":   {func(_ int, row map[string]any) { delete(row, "firstName") }, "firstName: missing, but the type expects it in every row (in 3 rows)"},
		"null":              {func(_ int, row map[string]any) { row["firstName"] = nil }, "firstName: null, but the type expects text (in 3 rows)"},
		"null for absent":   {func(_ int, row map[string]any) { row["visits"] = nil }, "visits: null, but the type only expects it to be absent (in 3 rows)"},
		"text for a number": {func(_ int, row map[string]any) { row["visits"] = secret }, "visits: text, but the type expects a whole number (in 3 rows)"},
		"a fraction":        {func(_ int, row map[string]any) { row["visits"] = 1.5 }, "visits: a number that int64 does not hold (in 3 rows)"},
		"a huge number":     {func(_ int, row map[string]any) { row["visits"] = json.Number("9223372036854775808") }, "visits: a number that int64 does not hold (in 3 rows)"},
		"an object":         {func(_ int, row map[string]any) { row["it's"] = map[string]any{secret: 1} }, `"it's": an object, but the type expects text (in 3 rows)`},
		"no object":         {func(_ int, row map[string]any) { row["company"] = []any{} }, "company: an array, but the type expects an object (in 3 rows)"},
		"whole seconds":     {func(_ int, row map[string]any) { row["createdAt"] = "2026-01-02T03:04:05Z" }, "createdAt: text that is not a timestamp in UTC with milliseconds (in 3 rows)"},
		"a column":          {func(_ int, row map[string]any) { in(row, "customColumns")[score] = secret }, "customColumns." + score + " (column \"Lead score\"): text, but the type expects a whole number (in 3 rows)"},
		"an unknown column": {func(_ int, row map[string]any) { in(row, "customColumns")["c5f0c0ffee65f0c0ffee65f0"] = secret }, "customColumns.(a key that may be data): new: the type has no such field; it is text (in 3 rows)"},
		"a value in a map":  {func(_ int, row map[string]any) { in(row, "scores")[secret+"@mail.example"] = secret }, "scores{}: text, but the type expects a whole number (in 3 rows)"},
	} {
		code, stdout, stderr := runWith(t, changed{sb.Transport(), c.change}, "-check", path)
		require.Empty(t, stderr, name)
		if c.says == "" {
			require.Equal(t, cli.OK, code, "%s: %s", name, stdout)
			continue
		}
		require.Equal(t, cli.Differs, code, name)
		require.Equal(t, "Contact no longer fits: 1 difference, looked at 3 rows.\n\n  "+c.says+
			"\n\nTo write the type again: prospectkit rowtype -list "+contacts+" -type Contact -o "+path+"\n", stdout, name)
	}
}

// A column that somebody has added since is named.
func TestCheck_NewColumn(t *testing.T) {
	sb := newService(t)
	path, text := written(t, sb.Transport(), "-list", contacts)
	lines := strings.SplitAfter(text, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, score) })
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	code, stdout, _ := runWith(t, sb.Transport(), "-check", path)
	require.Equal(t, cli.Differs, code)
	require.Contains(t, stdout, "\n  customColumns."+score+" (column \"Lead score\"): new: the type has no such field; it is a number (in 3 rows)\n")
}

func TestCheck_WhichRows(t *testing.T) {
	sb := newService(t)
	path, _ := written(t, sb.Transport(), "-list", companies)
	code, stdout, _ := runWith(t, sb.Transport(), "-check", path, "-list", empty)
	require.Equal(t, cli.OK, code)
	require.Equal(t, "The list has no rows, so there is nothing to compare with Company.\n", stdout)
	code, stdout, _ = runWith(t, sb.Transport(), "-check", path, "-list", many, "-rows", "1")
	require.Equal(t, cli.Differs, code)
	require.Contains(t, stdout, "looked at 1 of 2500 rows.")
	code, _, stderr := runWith(t, sb.Transport(), "-check", path, "-type", "Person")
	require.Equal(t, cli.Failed, code)
	require.Contains(t, stderr, "the file has no type Person")
}

func TestCheck_UnusableFiles(t *testing.T) {
	sb := newService(t)
	for text, complaint := range map[string]string{
		"":                                     "the file is not a Go file",
		"package main":                         "the file has no type",
		"package main\ntype A int":             "it has a type that this command does not write",
		"package main\ntype A struct{ X int }": "A.X: it has a type that this command does not write",
		"package main\ntype A struct{ X string }": "does not name its list: say -list ID",
	} {
		path := filepath.Join(folder(t), "x.go")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		code, _, stderr := runWith(t, sb.Transport(), "-check", path)
		require.Equal(t, cli.Failed, code, text)
		require.Contains(t, stderr, complaint)
	}
	code, _, _ := runWith(t, sb.Transport(), "-check", filepath.Join(folder(t), "missing.go"))
	require.Equal(t, cli.Failed, code)
	require.Empty(t, sb.Journal())
}

func TestCommandLine(t *testing.T) {
	sb := newService(t)
	for args, complaint := range map[string]string{
		"":                                       "-list is missing",
		"-list 65f0c0ffee65f0c0ffee65ff -rows 0": "-rows 0: it has to be 1 to 100000",
		"-list 65f0c0ffee65f0c0ffee65ff -rows 100001": "-rows 100001: it has to be 1 to 100000",
		"-list 65f0c0ffee65f0c0ffee65ff -rows many":   "invalid value",
		"-list 65f0c0ffee65f0c0ffee65ff -type type":   "the type needs a name",
		"-list 65f0c0ffee65f0c0ffee65ff -package a.b": "the package needs a name",
		"-list 65f0c0ffee65f0c0ffee65ff more":         `"more" is not expected`,
		"-check a -o b":                               "-check writes no file",
		"-lists x":                                    "not defined: -lists",
		"-list x":                                     "-list x: the id of a list has 24 characters",
		"-list 65f0c0ffee65f0c0ffee65ff":              "the key sees no list with this id",
	} {
		code, stdout, stderr := runWith(t, sb.Transport(), strings.Fields(args)...)
		require.Equal(t, cli.Failed, code, args)
		require.Empty(t, stdout, args)
		require.Contains(t, stderr, complaint, args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
	}
	for _, help := range []string{"-h", "-help"} {
		code, stdout, stderr := runWith(t, sb.Transport(), help)
		require.Equal(t, cli.OK, code)
		require.Empty(t, stderr)
		require.Contains(t, stdout, "costs no credits")
		require.Contains(t, stdout, "-rows rows")
		require.Contains(t, stdout, "Exit status: 0")
	}
}

func TestExplain(t *testing.T) {
	type fault struct {
		status int
		code   string
	}
	for fault, want := range map[fault]string{
		{401, "UNAUTHORIZED"}:       "the service does not accept the key: check PROSPECTKIT_TOKEN or -token-file, or create a new key in the app (status 401, UNAUTHORIZED, request ",
		{403, "INSUFFICIENT_SCOPE"}: "the key may not do this: create a key with the scope lists, or with full access (status 403, INSUFFICIENT_SCOPE, request ",
		{404, "ENDPOINT_NOT_FOUND"}: "the service does not know the address that was asked for: check PROSPECTKIT_BASE_URL (status 404, ENDPOINT_NOT_FOUND, request ",
		{409, "LIST_PROCESSING"}:    "the list is still being filled: try again later (status 409, LIST_PROCESSING, request ",
		{429, "RATE_LIMITED"}:       "the workspace has used up its requests for now: try again later",
		{500, "UNEXPECTED_ERROR"}:   "the service failed: try again later (status 500, UNEXPECTED_ERROR, request ",
		{422, "VALIDATION_FAILED"}:  "the service sent a response that cannot be used: check PROSPECTKIT_BASE_URL (status 422, VALIDATION_FAILED, request ",
	} {
		synctest.Test(t, func(t *testing.T) {
			sb := newService(t)
			sb.Fail("lists.rows", sandbox.Status(fault.status, fault.code), sandbox.Always())
			code, stdout, stderr := runWith(t, sb.Transport(), "-list", contacts)
			require.Equal(t, cli.Failed, code)
			require.Empty(t, stdout)
			require.Contains(t, stderr, "prospectkit rowtype: "+want)
		})
	}
}

func TestWithoutEnvironment(t *testing.T) {
	t.Setenv(prospectkit.EnvBaseURL, "")
	t.Setenv(prospectkit.EnvToken, "")
	code, _, stderr := runWith(t, http.DefaultTransport, "-list", contacts)
	require.Equal(t, cli.Failed, code)
	require.Equal(t, "prospectkit rowtype: the variable PROSPECTKIT_BASE_URL is not set: it is the address of the service, which ends in /api/v1\n", stderr)

	t.Setenv(prospectkit.EnvBaseURL, "https://service.example")
	t.Setenv(prospectkit.EnvToken, "key")
	_, _, stderr = runWith(t, http.DefaultTransport, "-list", contacts)
	require.Equal(t, "prospectkit rowtype: PROSPECTKIT_BASE_URL must end in /api/v1\n", stderr)
}

// refusing refuses connections.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("refused by the network")
}

func TestWithoutNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newService(t)
		code, _, stderr := runWith(t, refusing{}, "-list", contacts)
		require.Equal(t, cli.Failed, code)
		require.Equal(t, "prospectkit rowtype: refused by the network (3 attempts)\n", stderr)
	})
}

func TestStopped(t *testing.T) {
	sb := newService(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stderr bytes.Buffer
	require.Equal(t, cli.Failed, run(ctx, []string{"-list", contacts}, io.Discard, &stderr, sb.Transport()))
	require.Equal(t, "prospectkit rowtype: stopped\n", stderr.String())
}

// The lists of the fixture fit the types that are made from them.
// slow takes its time for each request, and may be stopped after some.
type slow struct {
	next http.RoundTripper
	left int
	stop context.CancelFunc
}

func (s *slow) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.left--; s.left < 0 {
		s.stop()
	}
	select {
	case <-req.Context().Done():
		return nil, req.Context().Err()
	case <-time.After(20 * time.Second):
	}
	return s.next.RoundTrip(req)
}

// Stopped by a person or by its time limit, the command uses the rows that it has read.
func TestStopped_KeepsWhatItHas(t *testing.T) {
	for timeout, c := range map[string]struct {
		requests int
		want     string
	}{"50s": {9, "the time limit was too short: -timeout gives it more"}, "1h": {2, "stopped"}} {
		synctest.Test(t, func(t *testing.T) {
			sb := newService(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			service := &slow{sb.Transport(), c.requests, stop}
			file := filepath.Join(folder(t), "row_gen.go")
			var out, complaints bytes.Buffer
			code := run(ctx, []string{"-list", many, "-rows", "2500", "-timeout", timeout, "-o", file}, &out, &complaints, service)
			require.Equal(t, cli.Failed, code)
			require.Equal(t, "Contact: made from 1000 of 2500 rows; 3 requests.\nprospectkit rowtype: "+c.want+"\n", complaints.String())
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(text), "type Contact struct")

			complaints.Reset()
			ctx, stop = context.WithCancel(t.Context())
			defer stop()
			service.left, service.stop = c.requests, stop
			code = run(ctx, []string{"-check", file, "-rows", "2500", "-timeout", timeout}, &out, &complaints, service)
			require.Equal(t, cli.Failed, code)
			require.Equal(t, "Contact fits: looked at 1000 of 2500 rows.\n", out.String())
			require.Equal(t, "prospectkit rowtype: "+c.want+"\n", complaints.String())
		})
	}
}

func TestFixture(t *testing.T) {
	state := fixture.Small(1)
	sb := sandbox.New(t, sandbox.Seed(state))
	t.Setenv(prospectkit.EnvBaseURL, sb.BaseURL())
	t.Setenv(prospectkit.EnvToken, sb.Token())
	lists := sb.Lists()
	require.NotEmpty(t, lists)
	for _, l := range lists {
		path, text := written(t, sb.Transport(), "-list", l.ID)
		for _, row := range sb.Rows(l.ID) {
			var values struct{ ID, FirstName, SocialURL string }
			require.NoError(t, json.Unmarshal(row, &values))
			require.NotContains(t, text, values.ID)
		}
		code, stdout, _ := runWith(t, sb.Transport(), "-check", path)
		require.Equal(t, cli.OK, code, stdout)
	}
}
