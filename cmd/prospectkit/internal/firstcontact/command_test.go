package firstcontact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// service is a sandbox over the network of this machine, and its variables.
func service(t *testing.T, change func(http.ResponseWriter, *httptest.ResponseRecorder)) (sb *sandbox.Sandbox, env func(string) string) {
	t.Helper()
	sb = sandbox.New(t, sandbox.Seed(fixture.Small(1)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := httptest.NewRecorder()
		sb.Handler().ServeHTTP(kept, r)
		change(w, kept)
	}))
	t.Cleanup(server.Close)
	return sb, variables(server.URL+"/api/v1", sb.Token())
}

func variables(baseURL, token string) func(string) string {
	return func(name string) string {
		return map[string]string{"PROSPECTKIT_BASE_URL": baseURL, "PROSPECTKIT_TOKEN": token}[name]
	}
}

// renaming is a change of texts in responses.
func renaming(from, to string) func(http.ResponseWriter, *httptest.ResponseRecorder) {
	return func(w http.ResponseWriter, kept *httptest.ResponseRecorder) {
		maps.Copy(w.Header(), kept.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(kept.Code)
		_, _ = w.Write(bytes.ReplaceAll(kept.Body.Bytes(), []byte(from), []byte(to)))
	}
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

func TestCommand(t *testing.T) {
	sb, env := service(t, renaming(`"none"`, `"none"`))
	code, out, complaints := command(t, env)
	require.Zero(t, code, out+complaints)
	require.Contains(t, out, "Differs from what is documented or assumed: 0\n")
	require.Contains(t, out, "nothing was changed and nothing was spent.")
	require.Regexp(t, `too few elements to tell how many a page may have \(it looked at 3\)\n`, out)
	require.Empty(t, complaints)
	requireHarmless(t, sb)

	_, env = service(t, renaming(`"folderId":`, `"folder_id":`))
	code, out, _ = command(t, env)
	require.Equal(t, cli.Differs, code)
	require.Regexp(t, `lists.list +documented +key +missing: data\[\].folderId; undocumented in its place: data\[\].folder_id\n`, out)
	require.Regexp(t, `lists.get +in part +key +missing: list.folderId; undocumented in its place: list.folder_id\n`, out)

	code, out, _ = command(t, env, "-json")
	require.Equal(t, cli.Differs, code)
	var report struct{ Differs []firstcontact.Finding }
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Len(t, report.Differs, 2)
}

// A server for people, or one that is away, is no service to check: one line says what to do.
func TestCommand_NoService(t *testing.T) {
	const unusable = "the service sent a response that cannot be used: check PROSPECTKIT_BASE_URL "
	for status, want := range map[int]string{
		200: unusable + "(status 200)", 302: unusable + "(status 302)", 403: unusable + "(status 403)", 404: unusable + "(status 404)",
		429: "the workspace has used up its requests for now: try again later (status 429)", 503: "the service failed: try again later (status 503)",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Location", "/login")
			w.Header().Set("Retry-After", "100000")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<!DOCTYPE html><title>Log in</title>"))
		}))
		code, out, complaints := command(t, variables(server.URL+"/api/v1", "key"))
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
		renaming(`"folderId"`, `"folder_id"`)(w, kept)
	})
	var out, complaints bytes.Buffer
	require.Equal(t, cli.Failed, run(ctx, nil, env, &out, &complaints))
	require.Equal(t, "prospectkit check: stopped\n", complaints.String())
	require.Contains(t, out.String(), "missing: data[].folderId")
	require.Contains(t, out.String(), "the run ended before it was asked")

	complaints.Reset()
	require.Equal(t, cli.Failed, run(ctx, nil, env, &out, &complaints), "nothing was found")
	require.Equal(t, "prospectkit check: stopped\n", complaints.String())
}

// Whatever ends it, -write says which lists it leaves behind: also what a failure may have made, and also beside JSON.
func TestCommand_WriteEnds(t *testing.T) {
	for end, want := range map[string]string{
		"stop": "check: stopped", "429": "the workspace has used up its requests for now", "500": "the service failed: try again later (status 500", "403": "the key may not do this",
	} {
		ctx, stop := context.WithCancel(t.Context())
		creations := 0
		_, env := service(t, func(w http.ResponseWriter, kept *httptest.ResponseRecorder) {
			if kept.Code == http.StatusCreated {
				creations++
			}
			switch status, err := strconv.Atoi(end); {
			case creations < 2 || kept.Code != http.StatusCreated:
			case err != nil:
				stop()
			default:
				kept.Code, kept.Body = status, bytes.NewBufferString(`{"error":{"code":"`+map[int]string{403: "INSUFFICIENT_SCOPE"}[status]+`"}}`)
			}
			renaming("none", "none")(w, kept)
		})
		var out, complaints bytes.Buffer
		require.Equal(t, cli.Failed, run(ctx, []string{"-write", "-json"}, env, &out, &complaints))
		stop()
		require.Contains(t, complaints.String(), want)
		require.Contains(t, out.String(), "-write ended early: the rest was not measured")
		require.Contains(t, out.String(), late)
		require.Contains(t, complaints.String(), map[string]string{"429": "up to 1 list, ", "403": "up to 1 list, "}[end])
		require.Contains(t, complaints.String(), map[string]string{"stop": "up to 2 lists, ", "500": "up to 2 lists, "}[end])
		require.Contains(t, complaints.String(), `"prospectkit check `)
		require.Equal(t, 2, creations)
	}
}

// Help needs no key.
func TestCommand_Help(t *testing.T) {
	code, out, complaints := command(t, variables("", ""), "-help")
	require.Zero(t, code)
	require.Empty(t, complaints)
	require.Contains(t, out, "It changes nothing, spends no credits and sends no message.")
	require.Contains(t, out, "-write")
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
	sb, env := service(t, renaming(`"none"`, `"none"`))
	none, blank, key := filepath.Join(folder(t), "none"), filepath.Join(folder(t), "blank"), filepath.Join(folder(t), "key")
	require.NoError(t, os.WriteFile(blank, []byte("\n"), 0o600))
	require.NoError(t, os.WriteFile(key, []byte("wrong-key\n"), 0o600))
	noKey := variables(env("PROSPECTKIT_BASE_URL"), "")
	for _, c := range []struct {
		env  func(string) string
		args []string
		want string
	}{
		{variables("", sb.Token()), nil, "PROSPECTKIT_BASE_URL is not set"},
		{noKey, nil, "PROSPECTKIT_TOKEN is not set"},
		{noKey, []string{"-token-file", none}, none},
		{noKey, []string{"-token-file", blank}, "is empty: it is an API key"},
		{noKey, []string{"-token-file", key}, "the service does not accept the key: check PROSPECTKIT_TOKEN or -token-file"},
		{variables(env("PROSPECTKIT_BASE_URL"), "wrong-key"), nil, "the service does not accept the key"},
		{variables("https://sandbox.invalid/api/v2", sb.Token()), nil, "PROSPECTKIT_BASE_URL must end in /api/v1\n"},
		{env, []string{"-nonsense"}, "prospectkit help check shows the flags"},
		{env, []string{"extra"}, "is not expected"},
		{env, []string{"-timeout", "0s"}, "must be positive"},
	} {
		code, _, complaints := command(t, c.env, c.args...)
		require.Equal(t, cli.Failed, code, "%q", c.args)
		require.Contains(t, complaints, c.want)
		require.NotContains(t, complaints, "wrong-key")
	}
}
