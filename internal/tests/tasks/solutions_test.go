package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"example.com/prospectkit"
	"example.com/prospectkit/changes"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/push"
)

// program is a solution: a careful one, as llms.txt and the package documentation lead to, or a careless one, which differs in a line.
type program struct {
	*prospectkit.Client
	journal  *journal.FileJournal
	careless bool
	args     []string
}

var solutions = map[string]func(context.Context, program) error{
	"1": add, "2": ensure, "3": export, "4": search, "5": approve, "6": settle, "7": start, "8": pushAll, "9": follow, "10": upload,
}

func (p program) main(ctx context.Context, task string) (err error) {
	if p.journal, err = journal.File("writes.journal"); err != nil {
		return err
	}
	defer p.journal.Close()
	if p.Client, err = prospectkit.FromEnv(prospectkit.WithJournal(p.journal)); err != nil {
		return err
	}
	return solutions[task](ctx, p)
}

// rows are all rows of the list.
func (p program) rows(ctx context.Context) ([]prospectkit.Row, error) {
	return prospectkit.Collect(p.Lists.Rows(ctx, p.args[0], prospectkit.RowsParams{}), 10_000)
}

func add(ctx context.Context, p program) error {
	var contacts, missing []prospectkit.Fields
	if text, err := os.ReadFile("contacts.json"); err != nil || json.Unmarshal(text, &contacts) != nil {
		return err
	}
	rows, err := p.rows(ctx)
	for _, c := range contacts {
		there := func(row prospectkit.Row) bool { return row.Text("email") == c["email"] }
		if p.careless || !slices.ContainsFunc(rows, there) {
			missing = append(missing, c)
		}
	}
	if err == nil && len(missing) > 0 {
		_, err = p.Lists.AddContacts(ctx, p.args[0], prospectkit.Fields{"contacts": missing})
	}
	return err // the next run reads the rows first
}

func ensure(ctx context.Context, p program) (err error) {
	q1, ensured := prospectkit.NewList{Name: "Q1"}, &prospectkit.Ensured{}
	if p.careless {
		ensured.List, err = p.Lists.Create(ctx, q1)
	} else {
		ensured, err = p.Lists.Ensure(ctx, q1)
	}
	if err == nil {
		fmt.Println(ensured.List.ID)
	}
	return err
}

func export(ctx context.Context, p program) error {
	rows, err := p.rows(ctx)
	if err != nil {
		return err
	}
	if p.careless { // it takes a page for all
		rows = rows[:1000]
	}
	var out bytes.Buffer
	for _, row := range rows {
		fmt.Fprintln(&out, row.Text("email"))
	}
	return os.WriteFile("rows.csv", out.Bytes(), 0o600)
}

func search(ctx context.Context, p program) error {
	vps := prospectkit.SearchParams{Filters: filter.Search{"job_title_levels": filter.Including("vp")}, Size: 10}
	var out bytes.Buffer
	for profile, err := range p.Search.Prospects(ctx, vps, prospectkit.MaxPaidPages(2)) {
		if errors.Is(err, prospectkit.RulePaidPages) {
			break
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s\n", profile.Raw().Raw())
		if !p.careless { // which stores at the end
			if err := os.WriteFile("found.jsonl", out.Bytes(), 0o600); err != nil {
				return err
			}
		}
	}
	return os.WriteFile("found.jsonl", out.Bytes(), 0o600)
}

func approve(ctx context.Context, p program) (err error) {
	if p.careless {
		_, err = p.Campaigns.Approve(ctx, p.args[0])
	} else {
		_, err = p.Campaigns.ApproveReviewed(ctx, p.args[0], p.args[1])
	}
	return err
}

func settle(ctx context.Context, p program) error {
	for ticket, err := range p.InDoubt(ctx) {
		if err != nil {
			return err
		}
		if p.careless {
			return p.journal.Ended(ctx, ticket.ID, journal.NotApplied)
		}
		resolution, err := p.Resolve(ctx, ticket)
		if err != nil {
			return err
		}
		if resolution.Verdict != prospectkit.VerdictHappened && !resolution.Final {
			fmt.Println(ticket.Op, resolution.Note)
		}
	}
	return nil
}

func start(ctx context.Context, p program) (err error) {
	spec := prospectkit.PersonDiscovery{
		ListName: "Heads of sales", MaxCreditSpend: 1000, Filters: prospectkit.Fields{"jobTitles": []string{"Head of Sales"}},
	}
	var agent *prospectkit.Agent
	if !p.careless {
		agent, err = p.Agents.CreateAndStart(ctx, spec)
	} else if agent, err = p.Agents.Create(ctx, spec); err == nil {
		_, err = p.Agents.Activate(ctx, agent.ID)
	}
	if err == nil {
		fmt.Println(agent.ID)
	}
	return err
}

func pushAll(ctx context.Context, p program) error {
	stored, _ := os.ReadFile("checkpoint")
	if p.careless {
		stored = nil
	}
	save := func(_ context.Context, checkpoint string) error {
		return os.WriteFile("checkpoint", []byte(checkpoint), 0o600)
	}
	rows, err := p.rows(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.ID())
	}
	for part, err := range p.Lists.PushEach(ctx, p.args[0], "crm-1", ids, push.SaveTo(save), push.ResumeFrom(string(stored))) {
		if part == nil || err != nil && part.Outcome != journal.Unknown {
			return err
		}
		if part.Outcome == journal.Unknown {
			fmt.Println("look into the CRM for", part.ContactIDs)
		}
	}
	return nil
}

func follow(ctx context.Context, p program) error {
	var copied struct { // the rows, and where their changes go on
		After string
		Rows  map[string]string
	}
	if text, err := os.ReadFile("copy.json"); err == nil && !p.careless {
		_ = json.Unmarshal(text, &copied)
	}
	held := func(context.Context) (int, error) { return len(copied.Rows), nil }
	for change, err := range p.Lists.Changes(ctx, p.args[0], copied.After, changes.Holding(held)) {
		if full, ok := errors.AsType[*changes.FullSyncRequiredError](err); ok {
			rows, err := p.rows(ctx)
			if err != nil {
				return err
			}
			copied.After, copied.Rows = full.After, map[string]string{}
			for _, row := range rows {
				copied.Rows[row.ID()] = row.Text("email")
			}
			break
		}
		if err != nil {
			return err
		}
		copied.Rows[change.Row.ID()], copied.After = change.Row.Text("email"), change.Checkpoint()
	}
	text, err := json.Marshal(copied)
	return errors.Join(err, os.WriteFile("copy.json", text, 0o600))
}

func upload(ctx context.Context, p program) error {
	for e, err := range p.journal.Calls(ctx, "imports.create") {
		if err != nil {
			return err
		}
		if e.Outcome != journal.NotApplied && !p.careless {
			fmt.Println("imported, or look for the rows:", e.Outcome)
			return nil
		}
	}
	file, err := prospectkit.UploadFile("contacts.csv")
	if err == nil {
		_, err = p.Imports.Upload(ctx, file)
	}
	return err
}
