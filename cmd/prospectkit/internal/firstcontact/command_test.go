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
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
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
	require.Contains(t, out, "Differs from what is documented or assumed: 0\n")
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
	require.Contains(t, out, "data[].folderId is missing: undocumented in its place: folder_id")
	require.Contains(t, out, "list.folderId is missing: undocumented in its place: folder_id")

	code, out, _ = command(t, env, "-json")
	require.Equal(t, cli.Differs, code)
	var report struct{ Differs []struct{ About string } }
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Len(t, report.Differs, 3) // lists, one list, and the field that an error names
}

// A server for people, or one that is away, is no service to check: one line says what to do.
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
		code, out, complaints := command(t, env)
		server.Close()
		require.Equal(t, cli.Failed, code, want)
		require.Empty(t, out)
		require.Equal(t, "prospectkit check: "+want+"\n", complaints)
	}
}

// Stopped in the middle, the check reports what it has found.
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
	var out, complaints bytes.Buffer
	require.Equal(t, cli.Failed, run(ctx, nil, env, &out, &complaints))
	require.Equal(t, "prospectkit check: stopped\n", complaints.String())
	require.Contains(t, out.String(), "data[].folderId is missing")
	require.Contains(t, out.String(), "the run ended before it was asked")

	complaints.Reset()
	require.Equal(t, cli.Failed, run(ctx, nil, env, &out, &complaints), "nothing was found")
	require.Equal(t, "prospectkit check: stopped\n", complaints.String())
}

func TestCommand_DryRun(t *testing.T) {
	code, out, complaints := command(t, func(string) string { return "" }, "-dry-run")
	require.Zero(t, code)
	require.Empty(t, complaints)
	require.NotContains(t, out, "POST")
	require.Contains(t, out, "GET /business/lists?limit=1&pageNum=2\n")
	require.Contains(t, out, "404 LIST_NOT_FOUND")
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
	none := filepath.Join(folder(t), "none")
	blank, key := filepath.Join(folder(t), "blank"), filepath.Join(folder(t), "key")
	require.NoError(t, os.WriteFile(blank, []byte("\n"), 0o600))
	require.NoError(t, os.WriteFile(key, []byte("wrong-key\n"), 0o600))
	without := func(missing string) func(string) string {
		return func(name string) string { return map[bool]string{true: "", false: env(name)}[name == missing] }
	}
	_, missing := os.ReadFile(none)
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
		{without("PROSPECTKIT_TOKEN"), []string{"-token-file", none}, inWords(missing)},
		{without("PROSPECTKIT_TOKEN"), []string{"-token-file", blank}, "is empty: it is an API key"},
		{without("PROSPECTKIT_TOKEN"), []string{"-token-file", key}, "the service rejects the key (401)"},
		{wrong, nil, "the service rejects the key (401)"},
		{func(string) string { return "https://sandbox.invalid/api/v2" }, nil, "PROSPECTKIT_BASE_URL must end in /api/v1\n"},
		{env, []string{"-nonsense"}, "prospectkit help check shows the flags"},
		{env, []string{"extra"}, "is not expected"},
		{env, []string{"-route", "contacts.timeline"}, "OPERATION=GET PATH"},
		{env, []string{"-route", "agents.pause=GET /x"}, "not an operation that this command asks"},
		{env, []string{"-timeout", "0s"}, "must be positive"},
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
