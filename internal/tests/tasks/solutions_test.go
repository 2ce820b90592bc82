package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/journal"
)

var solutions = map[string]func(program, context.Context){
	"1": program.add, "3": program.export, "4": program.search, "6": program.settle, "8": program.push, "9": program.follow, "10": program.upload,
	"2":                            func(p program, ctx context.Context) { fmt.Println(must(p.Lists.Ensure(ctx, q1)).List.ID) },
	"2 creates":                    func(p program, ctx context.Context) { fmt.Println(must(p.Lists.Create(ctx, q1)).ID) },
	"5":                            func(p program, ctx context.Context) { must(p.Campaigns.Approve(ctx, p.args[0], p.args[1])) },
	"5 approves whatever is there": func(p program, ctx context.Context) { must(p.Campaigns.ApproveUnreviewed(ctx, p.args[0])) },
	"7":                            func(p program, ctx context.Context) { fmt.Println(must(p.Agents.CreateAndStart(ctx, heads)).ID) },
	"7 creates it started":         func(p program, ctx context.Context) { fmt.Println(must(p.Agents.Create(ctx, heads)).ID) },
}

var (
	q1    = prospectkit.NewList{Name: "Q1"}
	heads = prospectkit.PersonDiscovery{
		ListName: "Heads of sales", MaxCreditSpend: 1000, Start: true, Filters: prospectkit.Fields{"jobTitles": []string{"Head of Sales"}},
	}
)

type program struct {
	*prospectkit.Client
	journal *journal.FileJournal
	mistake string
	args    []string
}

// solution makes the test binary a program that solves the ten tasks, as llms.txt and the package documentation lead to. With the name of a
// mistake, it makes that one.
const solution = "SOLUTION"

func TestMain(m *testing.M) {
	if task, mistake, ok := strings.Cut(os.Getenv(solution), " "); ok {
		solve(task, mistake)
		return
	}
	_ = flag.Set("test.parallel", "4") // the programs wait, most of the time
	m.Run()
}

func solve(task, mistake string) {
	p := program{mistake: mistake, journal: must(open(mistake)), args: os.Args[1:]}
	defer p.journal.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // what looks for an effect looks for half of it
	defer cancel()
	p.Client = must(prospectkit.FromEnv(prospectkit.WithJournal(p.journal)))
	if solve, ok := solutions[task+" "+mistake]; ok {
		solve(p, ctx)
	} else {
		solutions[task](p, ctx)
	}
}

func open(mistake string) (*journal.FileJournal, error) {
	if mistake == "begins another journal" {
		return journal.Open("mine.journal", "acme")
	}
	return journal.Open("writes.journal", "acme")
}

func save(name string, text []byte) error { return os.WriteFile(name, text, 0o600) }

// had reports whether a call of an earlier run has one of the outcomes.
func (p program) had(ctx context.Context, op string, outcomes ...journal.Outcome) (found bool) {
	for e, err := range p.Calls(ctx, op) {
		found = found || slices.Contains(outcomes, must(e, err).Outcome)
	}
	return found
}

func (p program) rows(ctx context.Context) []prospectkit.Row {
	return must(prospectkit.Collect(p.Lists.Rows(ctx, p.args[0], prospectkit.RowsParams{}), 10_000))
}

func (p program) add(ctx context.Context) {
	var missing []prospectkit.Fields
	must(0, json.Unmarshal(must(os.ReadFile("contacts.json")), &missing))
	rows := p.rows(ctx)
	if p.mistake != "adds what is there" {
		missing = slices.DeleteFunc(missing, func(c prospectkit.Fields) bool {
			return slices.ContainsFunc(rows, func(row prospectkit.Row) bool { return row.Text("email") == c["email"] })
		})
	}
	switch {
	case len(missing) == 0:
	case p.had(ctx, "lists.add-contacts", journal.Unknown) && p.mistake != "adds what may come":
		fmt.Println("may come, or not:", missing)
	default:
		must(p.Lists.AddContacts(ctx, p.args[0], prospectkit.Fields{"contacts": missing}))
	}
}

func (p program) export(ctx context.Context) {
	var out []byte
	for i, row := range p.rows(ctx) {
		if i < 1000 || p.mistake != "takes a page for all" {
			out = fmt.Appendln(out, row.Text("email"))
		}
	}
	must(0, save("rows.csv", out))
}

func (p program) search(ctx context.Context) {
	if p.had(ctx, "search.prospects", journal.Unknown, journal.Applied) && p.mistake != "pays again" {
		return
	}
	vps := prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": filter.Including("vp")}, Size: 10}
	var out []byte
	for profile, err := range p.Search.Prospects(ctx, vps, prospectkit.MaxPaidPages(2)) {
		if errors.Is(err, prospectkit.RulePaidPages) {
			break
		}
		out = fmt.Appendf(out, "%s\n", must(profile, err).Raw().Raw())
		if p.mistake != "stores at the end" {
			must(0, save("found.jsonl", out))
		}
	}
	must(0, save("found.jsonl", out))
}

func (p program) settle(ctx context.Context) {
	for ticket, err := range p.InDoubt(ctx) {
		if must(ticket, err); p.mistake == "reads nothing" {
			must(0, p.journal.Ended(ctx, ticket.ID, journal.End{Outcome: journal.NotApplied}))
		}
	}
	for _, d := range must(p.Recover(ctx)).Person {
		fmt.Println(d.Ticket.Op, d.Resolution.Note)
	}
}

func (p program) push(ctx context.Context) {
	var batches [][]string // of earlier runs: the list may have changed
	if text, err := os.ReadFile("batches.json"); err == nil && p.mistake != "begins again" {
		must(0, json.Unmarshal(text, &batches))
	}
	var joined []string
	for _, row := range p.rows(ctx) {
		if !slices.ContainsFunc(batches, func(ids []string) bool { return slices.Contains(ids, row.ID()) }) {
			joined = append(joined, row.ID())
		}
	}
	batches = append(batches, slices.Collect(slices.Chunk(joined, 500))...)
	must(0, save("batches.json", must(json.Marshal(batches))))
	for _, ids := range batches {
		_, err := p.Lists.PushToCRM(ctx, p.args[0], prospectkit.CRMPush{CRM: "crm-1", ContactIDs: ids}, prospectkit.Once(ids[0]))
		if prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown && p.mistake != "names nobody" {
			fmt.Println("look into the CRM for", ids)
		} else if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
			must(0, err)
		}
	}
}

// walk reads all rows. It reports whether none is missing by the totals.
func (p program) walk(ctx context.Context) (emails map[string]string, whole bool) {
	var progress prospectkit.Progress
	emails = map[string]string{}
	for row, err := range p.Lists.Rows(ctx, p.args[0], prospectkit.RowsParams{}, prospectkit.WithProgress(&progress)) {
		emails[must(row, err).ID()] = row.Text("email")
	}
	return emails, progress.Report().Missing == 0 && !progress.Report().Incomplete
}

func (p program) follow(ctx context.Context) {
	copied := map[string]string{}
	if text, err := os.ReadFile("copy.json"); err == nil {
		must(0, json.Unmarshal(text, &copied))
	}
	shown, gone := p.walk(ctx)
	switch p.mistake {
	case "believes one walk":
	case "believes a second walk":
		again, _ := p.walk(ctx)
		gone = gone && maps.Equal(shown, again)
	default:
		gone = gone && must(p.Lists.Get(ctx, p.args[0])).ContactsCount == len(shown)
	}
	if gone && p.mistake != "drops nothing" {
		copied = shown
	}
	maps.Copy(copied, shown)
	must(0, save("copy.json", must(json.Marshal(copied))))
}

func (p program) upload(ctx context.Context) {
	if !p.had(ctx, "imports.create", journal.Unknown, journal.Applied) || p.mistake == "imports again" {
		must(p.Imports.Upload(ctx, must(prospectkit.UploadFile("contacts.csv"))))
	}
}
