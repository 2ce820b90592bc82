package tests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// owed are the writes of which the caller is owed nothing but the effect.
var owed = []string{
	"lists.crm-push", "lists.add-members", "lists.add-contacts", "lists.save-to-list", "search.save-to-list", "lists.move", "agents.activate", "agents.pause",
}

// made are the writes whose result has an id that the journal keeps.
var made = []string{
	"lists.create", "agents.create-person-discovery", "agents.create-people-watcher", "agents.create-web-monitor", "imports.create", "imports.presign", "campaigns.create",
}

// A second call with the key, by another process: of what only has an effect, it is a success without a result. Of everything else, it says what the
// first one has made.
func TestOnce_DoneBefore(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		if !row.Write() {
			return
		}
		sb, j := EverySandbox(t, time.Now().Add(-time.Hour)), new(journal.MemoryJournal)
		for n := range 2 {
			var info prospectkit.Info
			client := SandboxClient(t, sb, prospectkit.WithJournal(j))
			result, err := call(t.Context(), client, prospectkit.Once("a"), prospectkit.WithInfo(&info))
			require.Equal(t, 1, sb.Calls(row.Name))
			require.Len(t, j.Entries(), 1)
			first := j.Entries()[0]
			require.Equal(t, slices.Contains(made, row.Name), first.ResultID != "", first.ResultID)
			switch {
			case n == 0:
				require.NoError(t, err)
				require.False(t, info.Already)
				require.Regexp(t, "^[0-9a-f]{16}$", first.Ticket.Body)
			case slices.Contains(owed, row.Name):
				require.NoError(t, err)
				require.True(t, info.Already)
				require.Equal(t, row.Name, info.Op)
				requireEmpty(t, result)
			default:
				require.False(t, info.Already)
				require.ErrorIs(t, err, prospectkit.ErrAlreadyDone)
				require.NotErrorIs(t, err, prospectkit.ErrInvalid)
				require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err))
				require.Equal(t, NoWait, Waits(err))
				refused, ok := errors.AsType[*prospectkit.RefusedError](err)
				require.True(t, ok)
				require.Equal(t, &first, refused.Earlier)
				require.ErrorContains(t, err, "done before, with this key: by ticket "+first.Ticket.ID)
			}
		}
	})
}

// While the first call is in doubt, the second one is not sent, and says of both what is known, and what a person does next. It names Resolve
// only where a documented read may tell.
func TestOnce_InDoubt(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		if !row.Write() {
			return
		}
		sb, j := EverySandbox(t, time.Now().Add(-time.Hour)), new(journal.MemoryJournal)
		client := SandboxClient(t, sb, prospectkit.WithJournal(j))
		sb.Fail(row.Name, sandbox.Nth(1), sandbox.DropAfter())
		first := Unknown(t, Discard(call(t.Context(), client, prospectkit.Once("a"))))
		require.ErrorContains(t, first, ": outcome unknown, it may have happened: ")
		second := Unknown(t, Discard(call(t.Context(), client, prospectkit.Once("a"))))
		require.Equal(t, 1, sb.Calls(row.Name))
		look := "look yourself (" + row.Verify + ")"
		if row.Resolves {
			look = "Resolve reads it; if that does not tell, look yourself"
		}
		require.EqualError(t, second, "prospectkit: "+row.Name+": outcome unknown: this call was not sent, but an earlier one may have happened: "+look+
			", then run prospectkit settle "+first.Ticket().ID+" applied|not-applied, or call Settle of the journal")
	})
}

// requireEmpty wants a result that is not nil, and says at most of what it is.
func requireEmpty(t *testing.T, result any) {
	t.Helper()
	require.NotNil(t, result)
	switch r := result.(type) {
	case *prospectkit.Object:
		require.True(t, r.IsZero())
	case *prospectkit.CRMPushed:
		require.Zero(t, *r)
	case *prospectkit.Agent:
		require.NotEmpty(t, r.ID)
		require.Zero(t, Altered(*r, func(a *prospectkit.Agent) { a.ID = "" }))
	default:
		require.Fail(t, "another type", "%T", result)
	}
}

// The key with another body sends nothing, whatever has become of the first one, and says where to look.
func TestOnce_OtherBody(t *testing.T) {
	for outcome, fault := range map[journal.Outcome]sandbox.FaultOption{journal.Applied: nil, journal.Unknown: sandbox.DropBefore(), "in progress": nil} {
		sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
		add := func(email string, opts ...prospectkit.CallOption) error {
			in := prospectkit.Fields{"contacts": []prospectkit.Fields{{"email": email}}}
			_, err := SandboxClient(t, sb, prospectkit.WithJournal(j)).Lists.AddContacts(t.Context(), ListID, in, append(opts, prospectkit.Once("a"))...)
			return err
		}
		if fault != nil {
			sb.Fail("lists.add-contacts", sandbox.Nth(1), fault)
		}
		first := add("ada@engines.example")
		if outcome == "in progress" {
			outcome = journal.Unknown
			require.NoError(t, first)
			require.NoError(t, j.Sending(t.Context(), j.Entries()[0].Ticket)) // as of a process that is about to send it again
		}
		for name, err := range map[string]error{
			"another body": add("eve@engines.example"), "another query": add("ada@engines.example", prospectkit.WithQuery("mark", "b")),
			"another field": add("ada@engines.example", prospectkit.WithField("more", 1)),
		} {
			require.ErrorIs(t, err, prospectkit.RuleOtherBody, name)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), name)
			require.Equal(t, NoWait, Waits(err))
			refused, ok := errors.AsType[*prospectkit.RefusedError](err)
			require.True(t, ok)
			require.Equal(t, outcome, refused.Earlier.Outcome)
			require.Equal(t, j.Entries()[0].Ticket, refused.Earlier.Ticket)
			require.ErrorContains(t, err, "look at the outcome of that call before you choose another key: of ticket "+refused.Earlier.Ticket.ID+", "+string(outcome))
		}
		require.Equal(t, 1, sb.Calls("lists.add-contacts"))
		require.Len(t, j.Entries(), 1)
	}
}

// The order of keys, of options and of maps is no other body. A form has the same whatever its boundary.
func TestOnce_SameBody(t *testing.T) {
	j, sent := new(journal.MemoryJournal), 0
	client := NewClient(t, Counting(&sent, Always(http.StatusOK, `{"data":{}}`)), prospectkit.WithJournal(j))
	x, y := prospectkit.WithField("x", 1), prospectkit.WithField("y", 2)
	p, q := prospectkit.WithQuery("p", "1"), prospectkit.WithQuery("q", "2")
	for i := range 20 { // maps have another order each time
		in := prospectkit.Fields{"contacts": []map[string]any{{"a": 1, "b": 2, "c": 3}}, "note": "n"}
		opts := [][]prospectkit.CallOption{{x, y, p, q}, {y, q, x, p}}[i%2]
		_, err := client.Lists.AddContacts(t.Context(), ListID, in, append(opts, prospectkit.Once("a"))...)
		require.NoError(t, err)
	}
	require.Equal(t, 1, sent)
	_, err := client.Imports.FromUpload(t.Context(), ImportID, prospectkit.Once("a"))
	require.NoError(t, err)
	_, err = client.Imports.FromUpload(t.Context(), ImportID, prospectkit.Once("a"))
	require.ErrorIs(t, err, prospectkit.ErrAlreadyDone)
	require.Equal(t, 2, sent)
	own := Described(http.MethodPost, op.Unsafe)
	for _, in := range []any{map[string]int{"b": 2, "a": 1}, struct {
		A int `json:"a"`
		B int `json:"b"`
	}{1, 2}} {
		err := client.Call(t.Context(), own, in, nil, prospectkit.Once("a"))
		require.True(t, err == nil || errors.Is(err, prospectkit.ErrAlreadyDone), "%v", err)
	}
	require.ErrorIs(t, client.Call(t.Context(), own, map[string]int{"a": 1}, nil, prospectkit.Once("a")), prospectkit.RuleOtherBody)
	require.Equal(t, 3, sent)
}

// What a ticket tells of a body is another text in each ticket. A call without a key tells nothing of its body.
func TestOnce_BodyIsSalted(t *testing.T) {
	j := new(journal.MemoryJournal)
	sb, add := adder(t, j)
	for _, key := range []string{"a", "b"} {
		require.NoError(t, add(ListID, key))
	}
	require.NoError(t, Discard(SandboxClient(t, sb, prospectkit.WithJournal(j)).Lists.AddContacts(t.Context(), ListID, oneContact())))
	one, two, keyless := j.Entries()[0].Ticket, j.Entries()[1].Ticket, j.Entries()[2].Ticket
	require.NotEqual(t, one.Body, two.Body)
	text := JSONText(one)
	require.Contains(t, text, `"body":"`+one.Body+`"`)
	require.NotContains(t, text, "ada@")
	require.Empty(t, keyless.Body)
}

// upload is a file that must not be read into memory as a whole, while it is hashed.
type upload struct {
	io.Reader
	most   func(n int)
	closed *int
}

func (u upload) Read(p []byte) (int, error) {
	u.most(len(p))
	return u.Reader.Read(p)
}

func (u upload) Close() error { *u.closed++; return nil }

// The same file after a restart was imported before, and its import can be followed. Another name, size, content or field is another body.
func TestOnce_Upload(t *testing.T) {
	sb, path := EverySandbox(t, time.Now()), filepath.Join(t.TempDir(), "journal")
	content := "email\n" + strings.Repeat("ada@engines.example\n", 100_000)
	send := func(name, content string, fields map[string]string) error {
		opened, closed := 0, 0
		in := prospectkit.Upload{Name: name, Size: int64(len(content)), Fields: fields, Open: func() (io.ReadCloser, error) {
			opened++
			hashed := opened == 1
			return upload{strings.NewReader(content), func(n int) { require.True(t, !hashed || n <= 64<<10) }, &closed}, nil
		}}
		j, err := journal.Open(path, "acme")
		require.NoError(t, err)
		defer j.Close()
		_, err = SandboxClient(t, sb, prospectkit.WithJournal(j)).Imports.Upload(t.Context(), in, prospectkit.Once("contacts"))
		require.Equal(t, opened, closed)
		return err
	}
	require.NoError(t, send("people.csv", content, nil))
	err := send("there/people.csv", content, nil)
	require.ErrorIs(t, err, prospectkit.ErrAlreadyDone, "a folder is not sent")
	refused, ok := errors.AsType[*prospectkit.RefusedError](err)
	require.True(t, ok)
	require.Equal(t, sb.Imports()[len(sb.Imports())-1].ID, refused.Earlier.ResultID)
	for name, err := range map[string]error{
		"another name": send("others.csv", content, nil), "a longer one": send("people.csv", content+"x\n", nil),
		"another content": send("people.csv", strings.Replace(content, "ada", "eve", 1), nil), "a field": send("people.csv", content, map[string]string{"listId": ListID}),
	} {
		require.ErrorIs(t, err, prospectkit.RuleOtherBody, name)
	}
	require.Equal(t, 1, sb.Calls("imports.create"))
}

// A file that cannot be read to its end, or has another size, keeps the call from being sent, and the journal is not asked.
func TestOnce_UploadThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, gone := EverySandbox(t, time.Now()), errors.New("the disk is gone")
		for name, c := range map[string]struct {
			rest func(context.CancelFunc) io.Reader
			want string
		}{
			"an error": {func(context.CancelFunc) io.Reader { return readError{gone} }, "file cannot be read: the disk is gone"},
			"shorter":  {func(context.CancelFunc) io.Reader { return strings.NewReader("") }, "file does not have the size that was given"},
			"longer":   {func(context.CancelFunc) io.Reader { return strings.NewReader("0123456789") }, "file does not have the size that was given"},
			"it hangs": {func(context.CancelFunc) io.Reader { return readWaits{t.Context().Done()} }, "nothing was read within the time limit"},
			"stopped":  {func(cancel context.CancelFunc) io.Reader { return readStops{cancel} }, "context canceled"},
		} {
			j, closed := new(journal.MemoryJournal), 0
			ctx, cancel := context.WithCancel(t.Context())
			in := prospectkit.Upload{Name: "people.csv", Size: 605, Open: func() (io.ReadCloser, error) {
				return upload{io.MultiReader(strings.NewReader(strings.Repeat("a\n", 300)), c.rest(cancel)), func(int) {}, &closed}, nil
			}}
			client := SandboxClient(t, sb, prospectkit.WithJournal(j), prospectkit.WithAttemptTimeout(time.Second))
			_, err := client.Imports.Upload(ctx, in, prospectkit.Once("contacts"))
			require.ErrorContains(t, err, c.want, name)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), name)
			require.Empty(t, j.Entries(), name)
			cancel()
		}
		require.Zero(t, sb.Calls("imports.create"))
	})
}

// So does a context that has ended before.
func TestOnce_UploadAfterTheContext(t *testing.T) {
	sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := prospectkit.UploadFrom("people.csv", 6, strings.NewReader("email\n"))
	_, err := SandboxClient(t, sb, prospectkit.WithJournal(j)).Imports.Upload(ctx, in, prospectkit.Once("contacts"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.Empty(t, j.Entries())
}

// readError, readWaits and readStops are what is left of a file.
type (
	readError struct{ error }
	readWaits struct{ end <-chan struct{} }
	readStops struct{ cancel func() }
)

func (r readError) Read([]byte) (int, error) { return 0, r.error }

func (r readWaits) Read([]byte) (int, error) { <-r.end; return 0, io.EOF }

func (r readStops) Read([]byte) (int, error) { r.cancel(); return 0, io.EOF }

// A read that finds what a lost call has made notes its id, too.
func TestJournal_ResolveNotesTheResult(t *testing.T) {
	for _, name := range []string{"lists.create", "agents.create-person-discovery", "lists.move"} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			time.Sleep(time.Hour)
			sb, j := EverySandbox(t, begin), new(journal.MemoryJournal)
			sb.Fail(name, sandbox.Nth(1), sandbox.DropAfter())
			client := SandboxClient(t, sb, prospectkit.WithJournal(j))
			_, err := EveryCall[name](t.Context(), client)
			RequireUnknown(t, err)
			require.Empty(t, j.Entries()[0].ResultID)
			for ticket, err := range client.InDoubt(t.Context()) {
				require.NoError(t, err)
				require.NoError(t, Discard(client.Resolve(t.Context(), ticket)))
			}
			for e, err := range client.Calls(t.Context(), name) {
				require.NoError(t, err)
				require.Equal(t, journal.Applied, e.Outcome)
				var want string
				switch name {
				case "lists.create":
					want = sb.Lists()[0].ID
				case "agents.create-person-discovery":
					want = sb.Agents()[0].ID
				}
				require.Equal(t, want, e.ResultID, "%v", fmt.Sprint(e.Ticket.Op))
			}
		})
	}
}

// Every pair of failures and stops: at most one list, and whoever is told that it was made before is told which.
func TestEveryFailure_OnceHandsOver(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		file, err := journal.Open(filepath.Join(run.Dir(), "journal"), "acme")
		if err != nil {
			return err
		}
		defer file.Close()
		client := clientOf(run, prospectkit.WithJournal(file))
		for range 2 {
			_, err = client.Lists.Create(run.Context(), prospectkit.NewList{Name: "Once"}, prospectkit.Once("a"))
			if refused, ok := errors.AsType[*prospectkit.RefusedError](err); ok && errors.Is(err, prospectkit.ErrAlreadyDone) {
				err = nil
				run.Save("made", refused.Earlier.ResultID)
			}
		}
		return err
	}, func(run *sandbox.Run) error {
		made, said := run.Load("made")
		n := effective(run, "lists.create")
		is := func(l sandbox.List) bool { return l.ID == made && l.Name == "Once" }
		if n > 1 || said && (n == 0 || made != "" && !slices.ContainsFunc(run.Lists(), is)) {
			return fmt.Errorf("made %d times, %q", n, made)
		}
		return nil
	}, everySweep()...)
}
