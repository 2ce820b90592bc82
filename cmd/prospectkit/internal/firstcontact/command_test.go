package firstcontact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/internal/shapes"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// service is a sandbox over the network of this machine, and its variables.
func service(t *testing.T, change func(http.ResponseWriter, *httptest.ResponseRecorder), opts ...sandbox.Option) (sb *sandbox.Sandbox, env func(string) string) {
	t.Helper()
	sb = sandbox.New(t, append(opts, sandbox.Seed(fixture.Small(1)))...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := httptest.NewRecorder()
		sb.Handler().ServeHTTP(kept, r)
		if change != nil {
			change(w, kept)
			return
		}
		maps.Copy(w.Header(), kept.Header())
		w.WriteHeader(kept.Code)
		_, _ = w.Write(kept.Body.Bytes())
	}))
	t.Cleanup(server.Close)
	return sb, func(name string) string {
		return map[string]string{"PROSPECTKIT_BASE_URL": server.URL + "/api/v1", "PROSPECTKIT_TOKEN": sb.Token()}[name]
	}
}

// renamed is a service that calls the lists of a page something else.
func renamed(w http.ResponseWriter, kept *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), kept.Header())
	text := bytes.ReplaceAll(kept.Body.Bytes(), []byte(`"folderId"`), []byte(`"folder_id"`))
	w.Header().Del("Content-Length")
	w.WriteHeader(kept.Code)
	_, _ = w.Write(text)
}

func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	return firstcontact.New().Main(ctx, cli.Std{Out: stdout, Err: stderr, Getenv: env}, args)
}

func command(t *testing.T, env func(string) string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	code = run(t.Context(), args, env, &out, &complaints)
	return code, out.String(), complaints.String()
}

func TestCommand_Held(t *testing.T) {
	sb, env := service(t, nil)
	code, out, complaints := command(t, env)
	require.Zero(t, code, out+complaints)
	require.Contains(t, out, "Differs from what is documented or assumed: 0")
	require.Contains(t, out, "Nothing was changed and nothing was spent.")
	require.Empty(t, complaints)
	require.Empty(t, sb.Ledger())
	for _, e := range sb.Journal() {
		require.Equal(t, http.MethodGet, e.Method)
	}
}

func TestCommand_Differs(t *testing.T) {
	_, env := service(t, renamed)
	code, out, _ := command(t, env)
	require.Equal(t, cli.Differs, code)
	require.Contains(t, out, "data[].folderId is now folder_id")
	require.Contains(t, out, "list.folderId is now list.folder_id")

	code, out, _ = command(t, env, "-json")
	require.Equal(t, cli.Differs, code)
	var report struct{ Differ, Held, Requests int }
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, 3, report.Differ) // lists, one list, and the field that an error names
	require.Positive(t, report.Held)
	require.LessOrEqual(t, report.Requests, firstcontact.MaxRequests())
}

func TestCommand_Compare(t *testing.T) {
	older, now := filepath.Join(folder(t), "old.json"), filepath.Join(folder(t), "new.json")
	_, env := service(t, nil)
	code, _, _ := command(t, env, "-o", older)
	require.Zero(t, code)
	code, out, _ := command(t, env, "-compare", older)
	require.Zero(t, code)
	require.Contains(t, out, "Since the older file, nothing differs.")

	_, env = service(t, renamed)
	code, out, _ = command(t, env, "-compare", older, "-o", now)
	require.Equal(t, cli.Differs, code)
	require.Contains(t, out, "Different since the older file: 3\n")
	require.Contains(t, out, "lists.list: data[].folderId is now folder_id\n")

	code, out, _ = command(t, env, "-compare", now) // it is still another service than the documented one, but as it was
	require.Zero(t, code, out)

	data, err := os.ReadFile(now)
	require.NoError(t, err)
	_, env = service(t, nil, sandbox.WithShapes(data))
	code, out, _ = command(t, env, "-compare", now)
	require.Zero(t, code, out)
}

// A server for people, or one that is away, is no service to check: one line says what to do, and nothing is written.
func TestCommand_NoService(t *testing.T) {
	for want, respond := range map[string]func(http.ResponseWriter){
		"the service sent a response that cannot be used: check PROSPECTKIT_BASE_URL (status 200, text/html)": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<!DOCTYPE html><title>Log in</title>"))
		},
		"the service redirects to another address: check PROSPECTKIT_BASE_URL (status 302)": func(w http.ResponseWriter) {
			w.Header().Set("Location", "/login")
			w.WriteHeader(http.StatusFound)
		},
		"the service does not know the address that was asked for: check PROSPECTKIT_BASE_URL (status 404)": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
		"the service failed: try again later (status 503)":                                                  func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"the service refuses every request: check the key in PROSPECTKIT_TOKEN, and PROSPECTKIT_BASE_URL (status 403)": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusForbidden)
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { respond(w) }))
		env := func(name string) string {
			return map[string]string{"PROSPECTKIT_BASE_URL": server.URL + "/api/v1", "PROSPECTKIT_TOKEN": "key"}[name]
		}
		file := filepath.Join(folder(t), "shapes.json")
		code, out, complaints := command(t, env, "-o", file)
		server.Close()
		require.Equal(t, cli.Failed, code, want)
		require.Empty(t, out)
		require.Equal(t, "prospectkit check: "+want+"\n", complaints)
		require.NoFileExists(t, file)
	}
}

// A file that the command has not written stays as it is, and nothing is sent. An earlier report is replaced, and an empty file filled.
func TestCommand_ReplacesOnlyItsOwnFile(t *testing.T) {
	sb, env := service(t, nil)
	for text, want := range map[string]int{
		"my notes":                             cli.Failed,
		"{}":                                   cli.Failed,
		`{"format":"prospectkit-shapes/9"}`:    cli.Failed,
		string(shapes.New().Encode()) + "more": cli.Failed,
		string(shapes.New().Encode()):          cli.OK,
		"":                                     cli.OK,
	} {
		file, before := filepath.Join(folder(t), "file"), len(sb.Journal())
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		code, _, complaints := command(t, env, "-o", file)
		require.Equal(t, want, code, "%s%s", text, complaints)
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		if want == cli.OK {
			_, err = shapes.Parse(kept)
			require.NoError(t, err)
			continue
		}
		require.Equal(t, text, string(kept))
		require.Contains(t, complaints, file+" is no report of this command")
		require.Contains(t, complaints, "choose another name, or delete it")
		require.Len(t, sb.Journal(), before)
	}
}

// What an operation responded with is kept, so that its failure shows.
func TestCommand_CompareLostOperation(t *testing.T) {
	older := filepath.Join(folder(t), "old.json")
	_, env := service(t, nil)
	code, _, _ := command(t, env, "-o", older)
	require.Zero(t, code)
	for status, want := range map[int]string{
		500: "search.saved: responded with 200, and responds with 500 to every request",
		304: "search.saved: responded with 200, and responds with 304 to every request",
		403: "search.saved: responded with 200, and responds with 403 to every request",
		0:   "search.saved: responded with 200, and responds with nothing at all",
	} {
		_, env := lost(t, "/business/saved-searches", status)
		now := filepath.Join(folder(t), "new.json")
		code, out, complaints := command(t, env, "-compare", older, "-o", now)
		require.Equal(t, cli.Differs, code, out+complaints)
		require.Contains(t, out, "Different since the older file: 1\n  "+want+"\n")
		code, out, _ = command(t, env, "-compare", now)
		require.Zero(t, code, out)
	}
}

// lost is a service of which one path responds with nothing but a status, or breaks the connection.
func lost(t *testing.T, path string, status int) (sb *sandbox.Sandbox, env func(string) string) {
	t.Helper()
	sb = sandbox.New(t, sandbox.Seed(fixture.Small(1)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasSuffix(r.URL.Path, path):
			sb.Handler().ServeHTTP(w, r)
		case status == 0:
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(server.Close)
	return sb, func(name string) string {
		return map[string]string{"PROSPECTKIT_BASE_URL": server.URL + "/api/v1", "PROSPECTKIT_TOKEN": sb.Token()}[name]
	}
}

// Stopped in the middle, the check reports and keeps what it has found.
func TestCommand_Stopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	n := 0
	_, env := service(t, func(w http.ResponseWriter, kept *httptest.ResponseRecorder) {
		if n++; n == 12 {
			stop()
		}
		renamed(w, kept)
	})
	file := filepath.Join(folder(t), "shapes.json")
	var out, complaints bytes.Buffer
	require.Equal(t, cli.Failed, run(ctx, []string{"-o", file}, env, &out, &complaints))
	require.Equal(t, "prospectkit check: stopped\n", complaints.String())
	require.Contains(t, out.String(), "data[].folderId is now folder_id")
	require.Contains(t, out.String(), "the run ended before it was asked")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	kept, err := shapes.Parse(data)
	require.NoError(t, err)
	require.Equal(t, 200, kept.Operations["lists.list"].Status)

	complaints.Reset()
	require.Equal(t, cli.Failed, run(ctx, nil, env, &out, &complaints), "nothing was found")
	require.Equal(t, "prospectkit check: stopped\n", complaints.String())
}

func TestCommand_DryRun(t *testing.T) {
	code, out, complaints := command(t, func(string) string { return "" }, "-dry-run")
	require.Zero(t, code)
	require.Empty(t, complaints)
	require.LessOrEqual(t, strings.Count(out, "\nGET "), 40)
	require.GreaterOrEqual(t, strings.Count(out, "\nGET "), 30)
	require.NotContains(t, out, "POST")
	require.Contains(t, out, "GET /business/lists?limit=1&pageNum=2\n")
	require.Contains(t, out, "404 LIST_NOT_FOUND")

	_, out, _ = command(t, func(string) string { return "" }, "-dry-run", "-route", "hubs.pages=GET /the/path/{hubId}")
	require.Contains(t, out, "GET /the/path/{hubId}\n")
	code, out, complaints = command(t, func(string) string { return "" }, "-dry-run", "-route", "hubs.pages=POST /the/path/{hubId}")
	require.Equal(t, cli.Failed, code)
	require.Empty(t, out)
	require.Contains(t, complaints, "must be GET")
}

// inWords is what the system says about a file, without its name.
func inWords(err error) string {
	var file *os.PathError
	errors.As(err, &file)
	return file.Err.Error()
}

// folder is removed at the end, except on Wine, which cannot.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "check") //nolint:usetesting // TempDir fails the test if it cannot remove the folder
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestCommand_CannotRun(t *testing.T) {
	_, env := service(t, nil)
	broken := filepath.Join(folder(t), "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"format":"prospectkit-shapes/9"}`), 0o600))
	blank, key := filepath.Join(folder(t), "blank"), filepath.Join(folder(t), "key")
	require.NoError(t, os.WriteFile(blank, []byte("\n"), 0o600))
	require.NoError(t, os.WriteFile(key, []byte("wrong-key\n"), 0o600))
	without := func(missing string) func(string) string {
		return func(name string) string { return map[bool]string{true: "", false: env(name)}[name == missing] }
	}
	_, missing := os.ReadFile(broken + ".none")
	below := os.WriteFile(filepath.Join(broken, "x"), nil, 0o600)
	wrong := func(name string) string {
		if name == "PROSPECTKIT_TOKEN" {
			return "wrong-key"
		}
		return env(name)
	}
	for _, c := range []struct {
		env  func(string) string
		args []string
		want string
	}{
		{without("PROSPECTKIT_BASE_URL"), nil, "PROSPECTKIT_BASE_URL is not set"},
		{without("PROSPECTKIT_TOKEN"), nil, "PROSPECTKIT_TOKEN is not set"},
		{without("PROSPECTKIT_TOKEN"), []string{"-token-file", broken + ".none"}, inWords(missing)},
		{without("PROSPECTKIT_TOKEN"), []string{"-token-file", blank}, "is empty: it is an API key"},
		{without("PROSPECTKIT_TOKEN"), []string{"-token-file", key}, "the service rejects the key (401)"},
		{wrong, nil, "the service rejects the key (401)"},
		{func(string) string { return "https://sandbox.invalid/api/v2" }, nil, "PROSPECTKIT_BASE_URL must end in /api/v1\n"},
		{env, []string{"-compare", broken}, "the format is"},
		{env, []string{"-compare", broken + ".none"}, inWords(missing)},
		{env, []string{"-nonsense"}, "prospectkit help check shows the flags"},
		{env, []string{"extra"}, "is not expected"},
		{env, []string{"-route", "contacts.timeline"}, "OPERATION=GET PATH"},
		{env, []string{"-route", "agents.pause=GET /x"}, "not an operation that this command asks"},
		{env, []string{"-timeout", "0s"}, "must be positive"},
		{env, []string{"-o", filepath.Join(broken, "x")}, inWords(below)},
	} {
		code, _, complaints := command(t, c.env, c.args...)
		require.Equal(t, cli.Failed, code, "%q", c.args)
		require.Contains(t, complaints, c.want)
		require.NotContains(t, complaints, "wrong-key")
	}
}

func TestCommand_Help(t *testing.T) {
	code, out, complaints := command(t, func(string) string { return "" }, "-help")
	require.Zero(t, code)
	require.Empty(t, complaints)
	require.Contains(t, out, "It changes nothing, spends no credits and sends no message.")
	require.Contains(t, out, "-dry-run")
}
