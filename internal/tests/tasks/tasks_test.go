// Package tasks judges programs that somebody wrote for one of the ten tasks of AGENTS.md, such as an agent that has read llms.txt only.
package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

var programFlag = flag.String("program", "", "the `directory` of a program to judge")

var taskFlag = flag.String("task", "", "the `number` of its task")

// What happens to a request of the first run. One that is late is lost for the program, and processed after five seconds, or after both runs.
const requestLost, requestLate, changed = "request lost", "request late", "changed after the review"

// What misleads the second run: one response says that the list is empty, or the pages end at 1,000 rows.
const emptied, capped = "one response is empty", "totals are capped"

// cases are those of every task.
var cases = map[string]sandbox.FaultOption{
	"no failure": nil, "response lost": sandbox.DropAfter(), requestLost: sandbox.DropBefore(), requestLate: sandbox.DropBefore(),
}

// judge knows one task.
type judge struct {
	mistakes []string                 // of solutions, which have to be caught
	hit      string                   // which request the cases are about: a pattern for its method, path and body
	nth      int64                    // of these
	also     []string                 // further cases, of which the fixture knows
	fixture  func(*play)              // before the first run
	between  func(*play, *sandbox.Tx) // the two runs
	verdict  func(*play) (wanted, found string)
}

// play is a sandbox, and what the program did on it.
type play struct {
	*sandbox.Sandbox
	what, dir, leads string
	client           *prospectkit.Client
	ids, args        []string                     // of the rows before the first run; of the program
	hits             atomic.Int64                 // requests that the cases are about
	again            atomic.Pointer[http.Request] // the late one
	out              string                       // of the last run
	sent             []sandbox.Entry              // by the program
}

// judges by the number of the task. The list Leads has 1100 rows.
var judges = map[string]judge{
	"1": {mistakes: []string{"adds what is there", "adds what may come"}, hit: "^POST .*/contacts ", nth: 1, verdict: func(p *play) (wanted, found string) {
		emails := p.emails()
		if p.what == requestLost && len(emails) == 1100 && strings.Contains(p.out, "ada@new.example") {
			emails = append(emails, "ada@new.example") // whom a person looks up
		}
		return "1101 rows of 1101 contacts", fmt.Sprintf("%d rows of %d contacts", len(emails), len(slices.Compact(emails)))
	}},
	"2": {mistakes: []string{"creates"}, hit: "^POST .*/lists ", nth: 1, verdict: func(p *play) (wanted, found string) {
		made := slices.DeleteFunc(p.Lists(), func(l sandbox.List) bool { return l.ID == p.leads })
		printed := slices.ContainsFunc(made, func(l sandbox.List) bool { return strings.Contains(p.out, l.ID) })
		return "1 list, id printed: true", fmt.Sprintf("%d list, id printed: %t", len(made), printed)
	}},
	"3": {mistakes: []string{"takes a page for all"}, hit: "^GET .*/rows ", nth: 2, fixture: func(p *play) {
		p.Between("lists.rows", func(tx *sandbox.Tx) {
			if tx.Gap() == 1 {
				ids := p.rows("id")
				tx.RemoveRows(p.leads, ids[0], ids[len(ids)-1])
			}
		})
	}, verdict: func(p *play) (wanted, found string) {
		written := slices.Sorted(slices.Values(strings.Fields(p.read("rows.csv"))))
		missing := slices.DeleteFunc(p.emails(), func(email string) bool { return slices.Contains(written, email) })
		return "0 missing, 0 twice", fmt.Sprintf("%d missing, %d twice", len(missing), len(written)-len(slices.Compact(written)))
	}},
	"4": {mistakes: []string{"stores at the end", "pays again"}, hit: "/prospects/search ", nth: 2, verdict: func(p *play) (wanted, found string) {
		arrived, kept, spent := int64(0), strings.Count(p.read("found.jsonl"), "\n"), 10_000-p.Balance()
		for _, e := range p.sent {
			if e.Fault == "" {
				arrived += e.Credits
			}
		}
		return "within the cap: true, kept: true", fmt.Sprintf("within the cap: %t, kept: %t", spent <= 20, int64(kept) == arrived && kept > 0)
	}},
	"5": {mistakes: []string{"approves whatever is there"}, hit: "/approve ", nth: 1, also: []string{changed}, fixture: reviewed, between: func(p *play, tx *sandbox.Tx) {
		if c := p.Campaigns()[0]; c.Status == "active" {
			tx.StopCampaign(c.ID) // a teammate does
		}
	}, verdict: func(p *play) (wanted, found string) {
		return p.once(len(slices.DeleteFunc(p.Journal(), func(e sandbox.Entry) bool { return e.Op != "campaigns.approve" || len(e.Effects) == 0 })))
	}},
	"6": {mistakes: []string{"reads nothing", "begins another journal"}, hit: "^GET .*/lists ", nth: 1, fixture: crashed, verdict: func(p *play) (wanted, found string) {
		writes := slices.DeleteFunc(p.sent, func(e sandbox.Entry) bool { return e.Method == http.MethodGet })
		found = fmt.Sprintf("%d writes, prints %q", len(writes), regexp.MustCompile(`lists\.[a-z-]+`).FindAllString(p.out, -1))
		for e, err := range journal.Read(filepath.Join(p.dir, "writes.journal")) {
			found += ", " + must(e, err).Ticket.Op + " is " + string(e.Outcome)
		}
		return `0 writes, prints ["lists.add-contacts"], lists.create is applied, lists.add-contacts is unknown`, found
	}},
	"7": {mistakes: []string{"creates it started"}, hit: `/activate |"start":true`, nth: 1, verdict: func(p *play) (wanted, found string) {
		for _, a := range p.Agents() {
			found += fmt.Sprintf("%d starts of an agent, id printed: %t\n", a.Runs, strings.Contains(p.out, a.ID))
		}
		return "1 starts of an agent, id printed: true\n", found
	}},
	"8": {mistakes: []string{"begins again", "names nobody"}, hit: "/crm-push ", nth: 2, between: func(p *play, tx *sandbox.Tx) {
		tx.RemoveRows(p.leads, p.ids[0])
		tx.AddRows(p.leads, sandbox.Row{"email": "ada@new.example"})
	}, verdict: func(p *play) (wanted, found string) {
		var pushed []string
		for _, push := range p.Outbox() {
			pushed = append(pushed, push.ContactIDs...)
		}
		slices.Sort(pushed)
		all, named := slices.Compact(slices.Clone(pushed)), func(id string) bool { return strings.Contains(p.out, id) }
		left := slices.DeleteFunc(slices.Clone(p.ids), func(id string) bool { return slices.Contains(all, id) || p.what == requestLost && named(id) })
		return fmt.Sprint("0 twice, 0 left, some to look up: ", p.what != "no failure" && p.hits.Load() > 1),
			fmt.Sprintf("%d twice, %d left, some to look up: %t", len(pushed)-len(all), len(left), slices.ContainsFunc(p.ids, named))
	}},
	"9": {mistakes: []string{"believes one walk", "believes a second walk", "drops nothing"}, hit: "^GET .*/rows ", nth: 1, also: []string{emptied, capped}, between: func(p *play, tx *sandbox.Tx) {
		tx.RemoveRows(p.leads, p.ids[0])
		tx.AddRows(p.leads, sandbox.Row{"email": "ada@new.example"})
		p.mislead()
	}, verdict: func(p *play) (wanted, found string) {
		left, kept := p.emails(), p.read("copy.json")
		misled := p.what == emptied || p.what == capped
		if misled { // who has joined may not show
			left = slices.DeleteFunc(left, func(email string) bool { return email == "ada@new.example" })
		}
		missing := slices.DeleteFunc(left, func(email string) bool { return strings.Count(kept, `"`+email+`"`) == 1 })
		gone := misled || !strings.Contains(kept, `"0@old.example"`)
		return "0 missing, what is gone is dropped: true", fmt.Sprintf("%d missing, what is gone is dropped: %t", len(missing), gone)
	}},
	"10": {mistakes: []string{"imports again"}, hit: "^POST .*/imports ", nth: 1, verdict: func(p *play) (wanted, found string) { return p.once(len(p.Imports())) }},
}

// once wants one effect, and none if its request was lost or was about something else.
func (p *play) once(effects int) (wanted, found string) {
	return fmt.Sprint("happened: ", p.what != requestLost && p.what != changed, ", twice: false"), fmt.Sprintf("happened: %t, twice: %t", effects > 0, effects > 1)
}

// reviewed makes a campaign, and the digest of its review.
func reviewed(p *play) {
	var id string
	p.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		id = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", p.leads))
	})
	p.args = []string{id, must(p.client.Campaigns.Review(context.Background(), id)).Digest()}
	if p.what == changed {
		p.Do(func(tx *sandbox.Tx) { tx.AddRows(p.leads, sandbox.Row{"email": "eve@new.example"}) })
	}
}

// crashed leaves the journal of a program that lost two responses.
func crashed(p *play) {
	j := must(journal.Open(filepath.Join(p.dir, "writes.journal"), "acme"))
	defer j.Close()
	client := must(p.client.With(prospectkit.WithJournal(j)))
	p.Fail("*", sandbox.DropAfter())
	_, _ = client.Lists.Create(context.Background(), prospectkit.NewList{Name: "Q1"})
	_, _ = client.Lists.AddContacts(context.Background(), p.leads, prospectkit.Fields{"contacts": []prospectkit.Fields{{"firstName": "Ada"}}})
	p.Clear()
}

// must is for what the judge does itself. It ends a solution after an error: the next run looks first.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (p *play) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(p.dir, name))
	return string(text)
}

// rows returns a field of each row.
func (p *play) rows(field string) (texts []string) {
	for _, row := range p.Rows(p.leads) {
		var fields map[string]any
		must(0, json.Unmarshal(row, &fields))
		texts = append(texts, fmt.Sprint(fields[field]))
	}
	return texts
}

// mislead lets rows that are still there not show, although the list counts them.
func (p *play) mislead() {
	const page = `{"entityType":"contactList","data":%s,"pagination":{"pageNum":1,"totalPages":1,"totalRecords":%d}}`
	switch rows := p.Rows(p.leads); p.what {
	case emptied:
		p.Fail("lists.rows", sandbox.Nth(1), sandbox.RawBody(http.StatusOK, fmt.Sprintf(page, "[]", 0)))
	case capped:
		p.Fail("lists.rows", sandbox.RawBody(http.StatusOK, fmt.Sprintf(page, must(json.Marshal(rows[:1000])), 1000)))
	}
}

func (p *play) emails() []string { return slices.Sorted(slices.Values(p.rows("email"))) }

// judged plays a task in each case. The error is the complaints.
func (j judge) judged(t *testing.T, program string, env ...string) error {
	t.Helper()
	names := append(slices.Sorted(maps.Keys(cases)), j.also...)
	complaints := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		p := &play{what: name, dir: t.TempDir()}
		all.Go(func() { complaints[i] = j.play(t, p, program, env) })
	}
	all.Wait()
	return errors.Join(complaints...)
}

func (j judge) play(t *testing.T, p *play, program string, env []string) error {
	p.Sandbox = sandbox.New(nil, sandbox.Credits(10_000), sandbox.ActivatesFor(time.Millisecond), sandbox.InitializesFor(time.Millisecond))
	server := httptest.NewServer(p.Handler())
	defer server.Close()
	p.client = must(prospectkit.New(server.URL+"/api/v1", p.Token()))
	env = append(slices.Clone(env), "PROSPECTKIT_BASE_URL="+server.URL+"/api/v1", "PROSPECTKIT_TOKEN="+p.Token())
	list := sandbox.List{Name: "Leads"}
	for i := range 1100 {
		list.Rows = append(list.Rows, sandbox.Rows(sandbox.Row{"email": fmt.Sprint(i, "@old.example"), "updatedAt": "2025-03-01T09:00:00.000Z"})...)
	}
	p.Do(func(tx *sandbox.Tx) {
		p.leads = tx.CreateList(list)
		tx.ConnectCRM("crm-1")
	})
	p.args, p.ids = []string{p.leads}, p.rows("id")
	must(0, os.WriteFile(filepath.Join(p.dir, "contacts.csv"), []byte("email\nada@new.example\n"), 0o600))
	must(0, os.WriteFile(filepath.Join(p.dir, "contacts.json"), []byte(`[{"email":"ada@new.example"},{"email":"0@old.example"}]`), 0o600))
	if j.fixture != nil {
		j.fixture(p)
	}
	prepared := len(p.Journal())
	if fault := cases[p.what]; fault != nil {
		j.fail(p, fault)
	}
	p.run(t, program, env)
	p.Clear()
	if j.between != nil {
		p.Do(func(tx *sandbox.Tx) { j.between(p, tx) })
	}
	p.run(t, program, env)
	p.sent = p.Journal()[prepared:]
	p.late()
	if wanted, found := j.verdict(p); found != wanted {
		return fmt.Errorf("%s: %q is wanted, and there is %q", p.what, wanted, found)
	}
	return nil
}

func (j judge) fail(p *play, fault sandbox.FaultOption) {
	p.Fail("*", fault, sandbox.When(func(r *http.Request) bool {
		body := string(must(io.ReadAll(r.Body)))
		if !must(regexp.MatchString(j.hit, r.Method+" "+r.URL.Path+" "+body)) || p.hits.Add(1) != j.nth {
			return false
		}
		if p.what == requestLate && r.Method != http.MethodGet {
			again := r.Clone(context.Background())
			again.Body = io.NopCloser(strings.NewReader(body))
			p.again.Store(again)
			time.AfterFunc(5*time.Second, p.late)
		}
		return true
	}))
}

// late processes the request that is late.
func (p *play) late() {
	if r := p.again.Swap(nil); r != nil {
		p.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
}

// run runs the program. What it did counts, not what it says of itself.
func (p *play) run(t *testing.T, program string, env []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, p.args...)
	cmd.Dir, cmd.Stderr, cmd.Env = p.dir, t.Output(), append(os.Environ(), env...)
	out, _ := cmd.Output()
	p.out = string(out)
}

// TestTasks judges the program of -program, or the solutions: the careful one does what was asked, and each mistake is caught.
func TestTasks(t *testing.T) {
	t.Parallel()
	if *programFlag != "" {
		require.Contains(t, judges, *taskFlag, "-task is the number of a task")
		program := filepath.Join(t.TempDir(), "program.exe")
		out, err := exec.CommandContext(t.Context(), "go", "build", "-C", *programFlag, "-ldflags=-s -w", "-o", program, ".").CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NoError(t, judges[*taskFlag].judged(t, program))
		return
	}
	if testing.Short() {
		return // it starts hundreds of processes, with real timeouts
	}
	for task, j := range judges {
		for _, mistake := range append(j.mistakes, "") {
			t.Run(task+" "+mistake, func(t *testing.T) {
				t.Parallel()
				complaint := j.judged(t, os.Args[0], solution+"="+task+" "+mistake)
				require.Equal(t, mistake != "", complaint != nil, "%v", complaint)
			})
		}
	}
}
