// Package tasks judges programs that somebody wrote for one of the ten tasks of AGENTS.md, such as an agent that has read llms.txt only.
// A judge runs the program twice on a sandbox, fails one request of the first run in each way that matters, and looks at what was done.
package tasks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

var (
	programFlag = flag.String("program", "", "the `directory` of a program to judge")
	taskFlag    = flag.String("task", "", "the `number` of its task")
)

// judge knows one task.
type judge struct {
	rows     int                      // of the list Leads
	fixture  func(*play) error        // before the first run
	op       string                   // one of whose requests fails
	nth      int                      // and which; zero is the first
	failures []string                 // of the first run, besides none
	between  func(*play, *sandbox.Tx) // the two runs
	once     bool                     // there is no second run
	verdict  func(*play) (wanted, found string)
}

var (
	faults = map[string]func() sandbox.FaultOption{"response lost": sandbox.DropAfter, "request lost": sandbox.DropBefore}
	lost   = []string{"response lost", "request lost"}
)

// play is a sandbox, and what the program did on it.
type play struct {
	*sandbox.Sandbox
	failure, dir, baseURL, leads string
	args                         []string
	out                          string // of the last run
	seen                         int    // requests before it
}

// judges by the number of the task.
var judges = map[string]judge{
	"1": {rows: 2, op: "lists.add-contacts", failures: lost, verdict: func(p *play) (wanted, found string) {
		return "0@old.example 1@old.example ada@new.example", strings.Join(p.emails(), " ")
	}},
	"2": {op: "lists.create", failures: lost[:1], verdict: func(p *play) (wanted, found string) {
		made := slices.DeleteFunc(p.Lists(), func(l sandbox.List) bool { return l.ID == p.leads })
		printed := slices.ContainsFunc(made, func(l sandbox.List) bool { return strings.Contains(p.out, l.ID) })
		return "1 list, id printed: true", fmt.Sprintf("%d list, id printed: %t", len(made), printed)
	}},
	"3": {rows: 2300, op: "lists.rows", nth: 2, failures: lost, once: true, fixture: func(p *play) error {
		p.Between("lists.rows", func(tx *sandbox.Tx) {
			if ids := p.rows("id"); tx.Gap() == 1 {
				tx.RemoveRows(p.leads, ids[0], ids[len(ids)-1])
			}
		})
		return nil
	}, verdict: func(p *play) (wanted, found string) {
		missing, written := p.emails(), strings.Fields(p.read("rows.csv"))
		slices.Sort(written)
		missing = slices.DeleteFunc(missing, func(email string) bool { return slices.Contains(written, email) })
		return "0 missing, 0 twice", fmt.Sprintf("%d missing, %d twice", len(missing), len(written)-len(slices.Compact(written)))
	}},
	"4": {op: "search.prospects", nth: 2, failures: lost, once: true, verdict: func(p *play) (wanted, found string) {
		arrived := 0
		for _, e := range p.Journal() {
			if e.Fault == "" {
				arrived += int(e.Credits)
			}
		}
		kept, spent := strings.Count(p.read("found.jsonl"), "\n"), 10_000-p.Balance()
		return "within the cap: true, kept: true", fmt.Sprintf("within the cap: %t, kept: %t", spent <= 20, kept == arrived && kept > 0)
	}},
	"5": {rows: 2, op: "campaigns.approve", failures: append(lost, "changed after the review"), fixture: reviewed, between: func(p *play, tx *sandbox.Tx) {
		if c := p.Campaigns()[0]; c.Status == "active" {
			tx.StopCampaign(c.ID) // a teammate does
		}
	}, verdict: func(p *play) (wanted, found string) {
		return unlessLost(p, "approvals", p.done("campaigns.approve"))
	}},
	"6": {once: true, fixture: crashed, verdict: func(p *play) (wanted, found string) {
		for _, e := range p.Journal()[p.seen:] {
			if e.Method != http.MethodGet {
				found += e.Op + " is sent, "
			}
		}
		for e, err := range journal.Read(filepath.Join(p.dir, "writes.journal")) {
			if err != nil {
				return "", err.Error()
			}
			found += e.Ticket.Op + " is " + string(e.Outcome) + ", "
		}
		for word := range strings.FieldsSeq(p.out) {
			if strings.HasPrefix(word, "lists.") {
				found += word + " is printed"
			}
		}
		return "lists.create is applied, lists.add-contacts is unknown, lists.add-contacts is printed", found
	}},
	"7": {op: "agents.activate", failures: lost[:1], verdict: func(p *play) (wanted, found string) {
		for _, a := range p.Agents() {
			found += fmt.Sprintf("%d activations of an agent, id printed: %t\n", p.done("agents.activate"), strings.Contains(p.out, a.ID))
		}
		return "1 activations of an agent, id printed: true\n", found
	}},
	"8": {rows: 1100, op: "lists.crm-push", nth: 2, failures: lost, verdict: func(p *play) (wanted, found string) {
		pushed := map[string]int{}
		for _, push := range p.CRMPushes() {
			for _, id := range push.ContactIDs {
				pushed[id]++
			}
		}
		for _, id := range p.rows("id") {
			if pushed[id] != 1 && (pushed[id] != 0 || p.failure != "request lost" || !strings.Contains(p.out, id)) {
				found = fmt.Sprintf("a contact is pushed %d times, ", pushed[id])
			}
		}
		return "600 are pushed: true", found + fmt.Sprintf("600 are pushed: %t", len(pushed) >= 600)
	}},
	"9": {rows: 2300, between: func(p *play, tx *sandbox.Tx) {
		tx.AddRows(p.leads, sandbox.Row{"email": "ada@new.example", "updatedAt": time.Now().UTC().Format("2006-01-02T15:04:05.000Z")})
	}, verdict: func(p *play) (wanted, found string) {
		kept := p.read("copy.json")
		for _, email := range p.emails() {
			if strings.Count(kept, `"`+email+`"`) != 1 {
				found = email + " is not there once, "
			}
		}
		return "2 requests for one new row: true", found + fmt.Sprintf("2 requests for one new row: %t", len(p.Journal())-p.seen <= 2)
	}},
	"10": {op: "imports.create", failures: lost, verdict: func(p *play) (wanted, found string) {
		return unlessLost(p, "imports", len(p.Imports()))
	}},
}

// unlessLost wants one effect, and none if its request was lost or was about something else.
func unlessLost(p *play, effect string, n int) (wanted, found string) {
	return fmt.Sprint(map[string]int{"": 1, "response lost": 1}[p.failure], " ", effect), fmt.Sprint(n, " ", effect)
}

// reviewed makes a campaign, and the digest of its review.
func reviewed(p *play) error {
	var id string
	p.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		id = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", p.leads))
	})
	review, err := p.client().Campaigns.Review(context.Background(), id)
	if err != nil {
		return err
	}
	p.args = []string{id, review.Digest()}
	if strings.HasPrefix(p.failure, "changed") {
		p.Do(func(tx *sandbox.Tx) { tx.AddRows(p.leads, sandbox.Row{"email": "eve@new.example"}) })
	}
	return nil
}

// crashed leaves the journal of a program that lost two responses.
func crashed(p *play) error {
	j, err := journal.File(filepath.Join(p.dir, "writes.journal"))
	if err != nil {
		return err
	}
	client := p.client(prospectkit.WithJournal(j))
	p.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
	p.Fail("lists.add-contacts", sandbox.Nth(1), sandbox.DropAfter())
	_, _ = client.Lists.Create(context.Background(), prospectkit.NewList{Name: "Q1"})
	_, _ = client.Lists.AddContacts(context.Background(), p.leads, prospectkit.Fields{"contacts": []prospectkit.Fields{{"firstName": "Ada"}}})
	return j.Close()
}

func (p *play) client(opts ...prospectkit.ClientOption) *prospectkit.Client {
	client, err := prospectkit.New(p.baseURL, p.Token(), opts...)
	if err != nil {
		panic(err)
	}
	return client
}

func (p *play) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(p.dir, name))
	return string(text)
}

// rows returns a field of each row.
func (p *play) rows(field string) (texts []string) {
	for _, row := range p.Rows(p.leads) {
		var fields map[string]any
		_ = json.Unmarshal(row, &fields)
		texts = append(texts, fmt.Sprint(fields[field]))
	}
	return texts
}

func (p *play) emails() []string { return slices.Sorted(slices.Values(p.rows("email"))) }

// done counts the requests for an operation that had an effect.
func (p *play) done(op string) (n int) {
	for _, e := range p.Journal() {
		if e.Op == op && len(e.Effects) > 0 {
			n++
		}
	}
	return n
}

// starter is how a program is started.
type starter struct{ path, solution string }

// judged plays a task without a failure and with each. The error is the complaints.
func (j judge) judged(t *testing.T, program starter) error {
	t.Helper()
	failures := append([]string{""}, j.failures...)
	complaints := make([]error, len(failures))
	for i, failure := range failures {
		p := &play{
			Sandbox: sandbox.New(nil, sandbox.Credits(10_000), sandbox.ActivatesFor(time.Millisecond), sandbox.InitializesFor(time.Millisecond)),
			failure: failure, dir: t.TempDir(),
		}
		complaints[i] = j.play(t.Context(), p, program)
	}
	return errors.Join(complaints...)
}

func (j judge) play(ctx context.Context, p *play, program starter) error {
	server, err := p.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer server.Close()
	p.baseURL = server.BaseURL()
	list := sandbox.List{Name: "Leads"}
	for i := range j.rows {
		list.Rows = append(list.Rows, sandbox.Rows(sandbox.Row{"email": fmt.Sprint(i, "@old.example"), "updatedAt": "2025-03-01T09:00:00.000Z"})...)
	}
	p.Do(func(tx *sandbox.Tx) {
		p.leads = tx.CreateList(list)
		tx.ConnectCRM("crm-1")
	})
	p.args = []string{p.leads}
	for name, text := range map[string]string{"contacts.csv": "email\nada@new.example\n", "contacts.json": `[{"email":"ada@new.example"},{"email":"0@old.example"}]`} {
		err = errors.Join(err, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
	}
	if j.fixture != nil {
		err = errors.Join(err, j.fixture(p))
	}
	if err != nil {
		return err
	}
	if fault := faults[p.failure]; fault != nil {
		p.Fail(j.op, sandbox.Nth(max(1, j.nth)), fault())
	}
	for run := 0; run == 0 || run == 1 && !j.once; run++ {
		if run == 1 && j.between != nil {
			p.Do(func(tx *sandbox.Tx) { j.between(p, tx) })
		}
		p.run(ctx, program)
	}
	if wanted, found := j.verdict(p); found != wanted {
		return fmt.Errorf("%s: %q is wanted, and there is %q", cmp.Or(p.failure, "no failure"), wanted, found)
	}
	return nil
}

// run runs the program. What it did counts, not what it says of itself.
func (p *play) run(ctx context.Context, program starter) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program.path, p.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &out, io.Discard
	if *programFlag != "" {
		cmd.Stderr = os.Stderr
	}
	cmd.Env = append(cmd.Environ(), "GORACE=atexit_sleep_ms=0", solutionVar+"="+program.solution, prospectkit.EnvBaseURL+"="+p.baseURL, prospectkit.EnvToken+"="+p.Token())
	p.seen = len(p.Journal())
	_ = cmd.Run()
	p.out = out.String()
}

// TestTasks judges the program of -program, or the solutions: the careful one does what was asked, and the careless one is caught.
func TestTasks(t *testing.T) {
	t.Parallel()
	if *programFlag != "" {
		require.Contains(t, judges, *taskFlag, "-task is the number of a task")
		require.NoError(t, judges[*taskFlag].judged(t, built(t, *programFlag)))
		return
	}
	require.Len(t, solutions, len(judges))
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	for task, j := range judges {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, j.judged(t, starter{self, task + " carefully"}))
			complaint := j.judged(t, starter{self, task + " carelessly"})
			require.Error(t, complaint)
			t.Log(complaint)
		})
	}
}

// A program of its own is built and judged as with -program.
func TestTasks_Program(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it links a program
	}
	require.NoError(t, judges["2"].judged(t, built(t, filepath.Join("testdata", "ensure"))))
}

// solutionVar makes a start of this binary a solution, in place of the tests: nothing has to be linked.
const solutionVar = "PROSPECTKIT_TASKS_SOLUTION"

func TestMain(m *testing.M) {
	task, how, is := strings.Cut(os.Getenv(solutionVar), " ")
	if !is {
		os.Exit(m.Run())
	}
	if err := (program{careless: how == "carelessly", args: os.Args[1:]}).main(context.Background(), task); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func built(t *testing.T, dir string) starter {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program.exe")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary, ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return starter{path: binary}
}
