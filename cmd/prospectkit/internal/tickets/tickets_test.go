package tickets_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/tickets"
	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// folder is removed at the end, except on Wine, which cannot.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tickets") //nolint:usetesting // TempDir fails the test if it cannot remove the folder
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// run runs a command in this process, on a journal of the workspace acme unless it names another. Its client has a transport, and the
// variables of a sandbox, if there is one.
func run(ctx context.Context, sb *sandbox.Sandbox, args ...string) (status int, stdout, stderr string) {
	if args[0] != "in-doubt" && !slices.Contains(args, "-workspace") {
		args = slices.Insert(args, 1, "-workspace", "acme")
	}
	var out, complaints bytes.Buffer
	std := cli.Std{Out: &out, Err: &complaints, Getenv: func(string) string { return "" }}
	var opts []prospectkit.ClientOption
	if sb != nil {
		opts = append(opts, prospectkit.WithTransport(sb.Transport()))
		std.Getenv = func(name string) string {
			return map[string]string{"PROSPECTKIT_BASE_URL": sb.BaseURL(), "PROSPECTKIT_TOKEN": sb.Token()}[name]
		}
	}
	status = cli.Main(ctx, std, tickets.New(opts...), args)
	return status, out.String(), complaints.String()
}

// left is a journal that a program has left behind.
func left(t *testing.T, all ...journal.Ticket) (path string) {
	t.Helper()
	path = filepath.Join(folder(t), "writes.journal")
	j, err := journal.Open(path, "acme")
	require.NoError(t, err)
	for _, ticket := range all {
		ticket.Version, ticket.Workspace = cmp.Or(ticket.Version, journal.Version), "acme"
		require.NoError(t, j.Sending(t.Context(), ticket))
	}
	require.NoError(t, j.Close())
	return path
}

func outcomes(t *testing.T, path string) map[string]journal.Outcome {
	t.Helper()
	all := map[string]journal.Outcome{}
	for e, err := range journal.Read(path) {
		require.NoError(t, err)
		all[e.Ticket.ID] = e.Outcome
	}
	return all
}

var sent = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

const id = "65f0c0ffee65f0c0ffee65f1"

func push(ticket string) journal.Ticket {
	return journal.Ticket{ID: ticket, Op: "lists.crm-push", IDs: []string{id}, Service: "https://service.test/api/v1", FirstSent: sent, LastSent: sent}
}

// Of two imports in doubt, only the key tells which file it was: no read shows either.
func TestInDoubt_ShowsTheKey(t *testing.T) {
	path := left(t, journal.Ticket{ID: "A", Op: "imports.create", Service: "https://service.test/api/v1", Once: "5d41402a", FirstSent: sent, LastSent: sent})
	status, out, complaints := run(t.Context(), nil, "in-doubt", "-journal", path)
	require.Equal(t, cli.InDoubt, status, complaints)
	require.Contains(t, out, "call:  key 5d41402a\n")
}

// What a person reads.
func TestInDoubt(t *testing.T) {
	path := filepath.Join(folder(t), "writes.journal")
	old, err := os.ReadFile("testdata/writes.journal")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, old, 0o600))
	for file, args := range map[string][]string{"in-doubt.txt": {"in-doubt", "-journal", path}, "in-doubt.json": {"in-doubt", "-json", "-journal", path}} {
		status, out, complaints := run(t.Context(), nil, args...)
		require.Equal(t, cli.InDoubt, status)
		require.Empty(t, complaints)
		out = strings.ReplaceAll(out, cli.Quoted(path), "writes.journal")
		golden.Equal(t, filepath.Join("testdata", file), out)
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, old, after)

	path = left(t)
	status, out, _ := run(t.Context(), nil, "in-doubt", "-journal", path)
	require.Equal(t, cli.OK, status)
	require.Equal(t, "Nothing is in doubt.\n", out)
	status, out, _ = run(t.Context(), nil, "in-doubt", "-json", "-journal", path)
	require.Equal(t, cli.OK, status)
	require.JSONEq(t, `{"inDoubt": []}`, out)
}

// A ticket that the service or a program wrote does not change the terminal.
func TestInDoubt_PrintsText(t *testing.T) {
	evil := push("\x1b[2J")
	evil.Actor, evil.Op = "a\nIn doubt: nothing", "x\x1b]0;"
	_, out, _ := run(t.Context(), nil, "in-doubt", "-journal", left(t, evil))
	require.NotContains(t, out, "\x1b")
	require.NotContains(t, out, "\nIn doubt: nothing")

	evil = push("1; touch x")
	evil.IDs, evil.Op, evil.Lookup.Name = nil, "lists.create", "Q1, by maria"
	_, out, _ = run(t.Context(), nil, "in-doubt", "-journal", left(t, evil))
	require.Contains(t, out, "  call:  name \"Q1, by maria\"\n", "one can see where a name ends")
	require.Contains(t, out, "prospectkit resolve '1; touch x' -journal ", "it may be copied into a shell")
	require.Contains(t, out, " -workspace acme\n", "it is not opened without")
}

// A ticket that looks like a flag is none in the command that in-doubt prints.
func TestInDoubt_LooksLikeAFlag(t *testing.T) {
	path := left(t, push("-journal"))
	_, out, _ := run(t.Context(), nil, "in-doubt", "-journal", path)
	_, command, _ := strings.Cut(out, "next:  prospectkit ")
	command = strings.NewReplacer("applied|not-applied", "applied", "NAME", "maria", "TEXT", "seen").Replace(strings.TrimSpace(command))
	status, _, complaints := run(t.Context(), nil, strings.Fields(strings.ReplaceAll(command, cli.Quoted(path), path))...)
	require.Empty(t, complaints)
	require.Equal(t, cli.OK, status)
	require.Equal(t, map[string]journal.Outcome{"-journal": journal.Applied}, outcomes(t, path))
}

func TestInDoubt_Damaged(t *testing.T) {
	path := left(t, push("a"), push("b"))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	last := bytes.LastIndex(text, []byte("sending"))
	flipped := bytes.Clone(text)
	flipped[last] ^= 1
	for what, text := range map[string][]byte{"a bit is another": flipped, "the end is cut off, between two records": text[:bytes.LastIndexByte(text[:last], '\n')+1]} {
		require.NoError(t, os.WriteFile(path, text, 0o600))
		status, out, complaints := run(t.Context(), nil, "in-doubt", "-journal", path)
		require.Equal(t, cli.Failed, status, what)
		require.Contains(t, out, "\na  lists.crm-push", "what could be read")
		require.Contains(t, complaints, "damaged")
	}
}

// A program has the journal open. in-doubt reads beside it. The others wait ten seconds for its end, unless a person stops them.
func TestLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, path := sandbox.New(t), left(t, push("a"))
		j, err := journal.Open(path, "acme")
		require.NoError(t, err)
		status, _, _ := run(t.Context(), nil, "in-doubt", "-journal", path)
		require.Equal(t, cli.InDoubt, status)
		settle := []string{"settle", "a", "applied", "-by", "maria", "-because", "x", "-journal", path}
		for _, args := range [][]string{{"resolve", "-journal", path}, settle} {
			began := time.Now()
			status, _, complaints := run(t.Context(), sb, args...)
			require.Equal(t, cli.Failed, status)
			require.Contains(t, complaints, "a program has "+path+" open, and still had it after 10s")
			require.GreaterOrEqual(t, time.Since(began), 10*time.Second)
			require.Less(t, time.Since(began), 11*time.Second)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		status, _, complaints := run(ctx, nil, settle...)
		require.Equal(t, cli.Failed, status)
		require.Equal(t, "prospectkit settle: stopped\n", complaints)
		require.Empty(t, sb.Journal())

		time.AfterFunc(9*time.Second, func() { _ = j.Close() })
		status, _, complaints = run(t.Context(), nil, settle...)
		require.Equal(t, cli.OK, status, complaints)
	})
}

func TestSettle(t *testing.T) {
	path := left(t, push("a"), push("b"))
	status, out, complaints := run(t.Context(), nil, "settle", "a", "not-applied", "-by", " maria ", "-because", "it is not in the CRM", "-journal", path)
	require.Equal(t, cli.OK, status, complaints)
	require.Equal(t, "a  lists.crm-push: not applied, by maria: it is not in the CRM\n", out)
	for e, err := range journal.Read(path) {
		require.NoError(t, err)
		if e.Ticket.ID == "a" {
			require.Equal(t, []any{journal.NotApplied, "maria", "it is not in the CRM"}, []any{e.Outcome, e.By, e.Because})
		}
	}
	require.Equal(t, journal.Unknown, outcomes(t, path)["b"])

	as := func(args ...string) []string {
		return append([]string{"settle", "-by", "paul", "-because", "x", "-journal", path}, args...)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{as("a", "applied"), "a is settled as not applied since "},
		{as("a", "applied"), ", by maria: it is not in the CRM\n"},
		{as("c", "applied"), path + " has no ticket c\n"},
		{as("b", "perhaps"), `"perhaps" is neither applied nor not-applied`},
		{as("b"), "applied|not-applied is missing (prospectkit help settle shows the flags)"},
		{as(), "TICKET is missing"},
		{as("b", "applied", "c"), `"c" is not expected`},
		{[]string{"settle", "b", "applied", "-by", "paul", "-journal", path}, "-because is missing"},
		{[]string{"settle", "b", "applied", "-by", " ", "-because", "x", "-journal", path}, "-by is missing"},
		{[]string{"settle", "b", "applied", "-by", "paul", "-because", "x"}, "-journal is missing"},
		{[]string{"in-doubt"}, "-journal is missing"},
		{[]string{"in-doubt", "-token", "x"}, "flag provided but not defined: -token"},
	} {
		status, out, complaints := run(t.Context(), nil, c.args...)
		require.Equal(t, cli.Failed, status, "%q", c.args)
		require.Empty(t, out)
		require.Contains(t, complaints, c.want)
	}
	require.Equal(t, map[string]journal.Outcome{"a": journal.NotApplied, "b": journal.Unknown}, outcomes(t, path))

	missing := path + ".none"
	_, err := os.Stat(missing)
	require.ErrorIs(t, err, fs.ErrNotExist)
	status, _, complaints = run(t.Context(), nil, "settle", "b", "applied", "-by", "paul", "-because", "x", "-journal", missing)
	require.Equal(t, cli.Failed, status)
	require.Contains(t, complaints, errors.Unwrap(err).Error())
	require.NoFileExists(t, missing, "a mistyped path makes no journal")
}

// A spend guard has books of its own.
func TestSettle_Reserved(t *testing.T) {
	paid := push("a")
	paid.Op = "search.prospects"
	_, out, _ := run(t.Context(), nil, "settle", "a", "applied", "-by", "maria", "-because", "x", "-journal", left(t, paid))
	require.Contains(t, out, "guard.Commit or guard.Release")
}

// call is a ticket of a call to a sandbox, with the key that the command has.
func call(sb *sandbox.Sandbox, ticket, op string, ids ...string) journal.Ticket {
	at := time.Now().Add(-5 * time.Minute)
	return journal.Ticket{
		ID: ticket, Op: op, IDs: ids, Service: sb.BaseURL(),
		FirstSent: at, LastSent: at, ServiceAhead: new(time.Duration),
	}
}

// Each outcome, and what is settled by it. Only reads are sent.
func TestResolve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := fixture.Small(1)
		sb := sandbox.New(t, sandbox.Seed(state))
		var waiting string
		for _, c := range state.Workspaces[0].Campaigns {
			if c.Status == "draft" {
				waiting = c.ID
			}
		}
		require.NotEmpty(t, waiting)
		created, missing, foreign := call(sb, "created", "lists.create"), call(sb, "missing", "lists.create"), call(sb, "foreign", "lists.create")
		created.FirstSent = created.FirstSent.AddDate(-20, 0, 0)
		late := call(sb, "late", "lists.create")
		late.LastSent = late.LastSent.Add(-time.Hour)
		created.Lookup = journal.Lookup{Name: sb.Lists()[0].Name, Kind: sb.Lists()[0].EntityType}
		missing.Lookup, foreign.Lookup = journal.Lookup{Name: "Nobody's", Kind: sb.Lists()[0].EntityType}, created.Lookup
		late.Lookup, foreign.Service = missing.Lookup, "https://service.test/api/v1"
		path := left(t, created, missing, foreign, late, call(sb, "pushed", "lists.crm-push", id), call(sb, "approved", "campaigns.approve", waiting))

		status, out, complaints := run(t.Context(), sb, "resolve", "-journal", path)
		require.Equal(t, cli.InDoubt, status, complaints)
		require.Empty(t, complaints)
		for _, want := range []string{
			"  applied: ", "  not applied: ", ". Settled.\n",
			"it may still become so, because activation runs in the background (documented); looked", "Still in doubt: resolve it again after 2000-01-01 00:",
			"somebody may have undone it since: a person has to look. Still in doubt: ",
			"  unknown: no documented read shows it: look in the CRM. Still in doubt: look yourself, and settle it.\n",
			"not asked, because it is a call to another service: https://service.test/api/v1\n",
		} {
			require.Contains(t, out, want)
		}
		require.Equal(t, map[string]journal.Outcome{
			"created": journal.Applied, "missing": journal.NotApplied, "foreign": journal.Unknown, "late": journal.Unknown, "pushed": journal.Unknown, "approved": journal.Unknown,
		}, outcomes(t, path))
		for _, request := range sb.Journal() {
			require.Equal(t, http.MethodGet, request.Method)
		}

		status, out, _ = run(t.Context(), sb, "resolve", "created", "-journal", path)
		require.Equal(t, cli.OK, status)
		require.Contains(t, out, "created is settled as applied since ")
		require.Contains(t, out, ", and made "+sb.Lists()[0].ID+"\n", "so that the program may go on with it")
		status, _, complaints = run(t.Context(), sb, "resolve", "other", "-journal", path)
		require.Equal(t, cli.Failed, status)
		require.Contains(t, complaints, "has no ticket other")
		status, out, _ = run(t.Context(), sb, "resolve", "-journal", left(t))
		require.Equal(t, cli.OK, status)
		require.Equal(t, "Nothing is in doubt.\n", out)
	})
}

// The failure of one ticket does not hide the others, unless they would fail likewise. What failed stays in doubt.
func TestResolve_Fails(t *testing.T) {
	for name, c := range map[string]struct {
		fault    []sandbox.FaultOption
		want     string
		requests int // for the lists
	}{
		"scope":    {[]sandbox.FaultOption{sandbox.Status(403, "INSUFFICIENT_SCOPE")}, "created lists.create: the key may not do this: create a key with the scope lists, or with full access (status 403, ", 2},
		"rejected": {[]sandbox.FaultOption{sandbox.Status(401, "UNAUTHORIZED")}, "created lists.create: the service does not accept the key", 1},
		"broken":   {[]sandbox.FaultOption{sandbox.Status(500, "UNEXPECTED_ERROR")}, "created lists.create: the service failed: try again later", 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb := sandbox.New(t)
				sb.Fail("lists.list", append(c.fault, sandbox.Always())...)
				created, again := call(sb, "created", "lists.create"), call(sb, "again", "lists.create")
				created.Lookup, again.Lookup = journal.Lookup{Name: "Berlin"}, journal.Lookup{Name: "Paris"}
				path := left(t, created, again)
				status, _, complaints := run(t.Context(), sb, "resolve", "-journal", path)
				require.Equal(t, cli.Failed, status)
				require.Contains(t, complaints, c.want)
				require.Equal(t, c.requests, sb.Calls("lists.list"))
				require.Equal(t, map[string]journal.Outcome{"created": journal.Unknown, "again": journal.Unknown}, outcomes(t, path))
			})
		})
	}
}

// A ticket of a later version of this package does not keep the others in doubt.
func TestResolve_LaterVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		later, missing := call(sb, "later", "lists.create"), call(sb, "missing", "lists.create")
		later.Version, missing.Lookup = journal.Version+1, journal.Lookup{Name: "Berlin"}
		path := left(t, later, missing)
		status, _, complaints := run(t.Context(), sb, "resolve", "-journal", path)
		require.Equal(t, cli.Failed, status)
		require.Contains(t, complaints, "later lists.create: ticket has version ")
		require.Equal(t, map[string]journal.Outcome{"later": journal.Unknown, "missing": journal.NotApplied}, outcomes(t, path))
	})
}

// The journal says whose it is: with another name, or without one, nothing is asked or settled.
func TestWorkspace(t *testing.T) {
	sb, path := sandbox.New(t), left(t, push("a"))
	for _, args := range [][]string{{"resolve", "-journal", path}, {"settle", "a", "applied", "-by", "maria", "-because", "x", "-journal", path}} {
		for name, want := range map[string]string{"acm": `it belongs to the workspace "acme", not to "acm"`, "": "-workspace is missing: say to which one the journal belongs"} {
			status, out, complaints := run(t.Context(), sb, append(slices.Clone(args), "-workspace", name)...)
			require.Equal(t, cli.Failed, status)
			require.Empty(t, out)
			require.Contains(t, complaints, want)
		}
	}
	require.Empty(t, sb.Journal())
	require.Equal(t, map[string]journal.Outcome{"a": journal.Unknown}, outcomes(t, path))
}

// Stopped before a verdict is certain, the command says so.
func TestResolve_Stopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		fresh := call(sb, "fresh", "lists.create")
		fresh.LastSent, fresh.Lookup = time.Now(), journal.Lookup{Name: "Berlin"}
		path := left(t, fresh)
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, stop)
		status, out, complaints := run(ctx, sb, "resolve", "-journal", path)
		require.Equal(t, cli.Failed, status)
		require.Equal(t, "prospectkit resolve: fresh lists.create: stopped\n", complaints)
		require.Empty(t, out)
		status, out, _ = run(t.Context(), sb, "resolve", "-timeout", "2s", "-journal", path)
		require.Equal(t, cli.InDoubt, status)
		require.Contains(t, out, "unknown: looked for the list of that name")
		require.Equal(t, journal.Unknown, outcomes(t, path)["fresh"])
	})
}

// full is the standard output on a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A verdict that nobody could read is a failure. The journal has it.
func TestResolve_FullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		made := call(sb, "made", "lists.create")
		made.Lookup = journal.Lookup{Name: "Nobody's", Kind: sb.Lists()[0].EntityType}
		path := left(t, made)
		var complaints bytes.Buffer
		std := cli.Std{Out: full{}, Err: &complaints, Getenv: func(name string) string {
			return map[string]string{"PROSPECTKIT_BASE_URL": sb.BaseURL(), "PROSPECTKIT_TOKEN": sb.Token()}[name]
		}}
		require.Equal(t, cli.Failed, cli.Main(t.Context(), std, tickets.New(prospectkit.WithTransport(sb.Transport())), []string{"resolve", "-journal", path, "-workspace", "acme"}))
		require.Contains(t, complaints.String(), io.ErrShortWrite.Error())
		require.Equal(t, journal.NotApplied, outcomes(t, path)["made"])
	})
}

// Without a key nothing is asked, and the journal is not opened.
func TestResolve_CannotRun(t *testing.T) {
	path := left(t, push("a"))
	j, err := journal.Open(path, "acme")
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	status, _, complaints := run(t.Context(), nil, "resolve", "-journal", path)
	require.Equal(t, cli.Failed, status)
	require.Contains(t, complaints, "the variable PROSPECTKIT_BASE_URL is not set")
}
