package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// counts are what the service did, over all workspaces.
type counts struct {
	rows, agents, starts, campaigns, approvals, contacts, messages int
	credits                                                        int64
	refused, requests                                              int
	applied, notApplied                                            int // tickets
}

// judge compares what the service did, by its own journal, ledger and outbox, with what was asked for.
func (s *supervisor) judge(ctx context.Context) error {
	var c counts
	var wrong []error
	for _, w := range s.fleet.workspaces {
		wrong = append(wrong, s.judgeRows(ctx, w, &c)) // before time moves, and agents find more
	}
	s.clock.by.Add(int64(2 * time.Hour)) // all messages are due
	for _, w := range s.fleet.workspaces {
		wrong = append(wrong, judgeLaunch(s.sb.Workspace(w.name), w.name, &c))
	}
	for _, e := range s.sb.Journal() {
		c.requests++
		if e.Status == http.StatusTooManyRequests {
			c.refused++
		}
	}
	wrong = append(wrong, s.judgeJournal(ctx, &c), s.report(c))
	return errors.Join(wrong...)
}

// judgeRows compares the last copy with the lists, row by row.
func (s *supervisor) judgeRows(ctx context.Context, w *workspace, c *counts) error {
	stored := map[string]bool{}
	rows, err := s.fleet.pool.Query(ctx, "SELECT night, list_id, row_id, times FROM fleet.list_row WHERE workspace = $1", w.name)
	if err != nil {
		return err
	}
	var night, list, row string
	var times int
	for rows.Next() {
		if err := rows.Scan(&night, &list, &row, &times); err != nil {
			return err
		}
		if times != 1 {
			return fmt.Errorf("%s: row %s was stored %d times", w.name, row, times)
		}
		c.rows++
		if night == secondNight {
			stored[list+" "+row] = true
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, l := range s.sb.Workspace(w.name).Lists() {
		for _, raw := range s.sb.Workspace(w.name).Rows(l.ID) {
			var person struct{ ID string }
			if err := json.Unmarshal(raw, &person); err != nil {
				return err
			}
			if id := l.ID + " " + person.ID; !l.System && !stored[id] {
				return fmt.Errorf("%s: row %s is missing", w.name, id)
			}
			delete(stored, l.ID+" "+person.ID)
		}
	}
	if len(stored) > 0 {
		return fmt.Errorf("%s: %d rows were stored that nobody has", w.name, len(stored))
	}
	return nil
}

// judgeLaunch counts what a workspace has.
func judgeLaunch(w *sandbox.Tenant, name string, c *counts) error {
	agents, campaigns, outbox := w.Agents(), w.Campaigns(), w.Outbox()
	if len(agents) != 1 || len(campaigns) != 1 {
		return fmt.Errorf("%s: %d agents and %d campaigns", name, len(agents), len(campaigns))
	}
	var spent int64
	for _, e := range w.Ledger() {
		spent -= min(e.Amount, 0)
	}
	if spent != agentResults { // each costs one credit in the sandbox
		return fmt.Errorf("%s: %d credits for %d results", name, spent, agentResults)
	}
	c.credits += spent
	contacts := map[string]int{}
	for _, listID := range campaigns[0].ListIDs {
		for _, raw := range w.Rows(listID) {
			var person struct{ ID, Email string }
			if err := json.Unmarshal(raw, &person); err != nil {
				return err
			}
			if person.Email != "" {
				contacts[person.ID] = 0
			}
		}
	}
	for _, m := range outbox {
		contacts[m.To]++
	}
	for id, n := range contacts {
		if n != 1 {
			return fmt.Errorf("%s: %d messages to %s", name, n, id)
		}
	}
	c.agents++
	c.campaigns++
	c.contacts += len(contacts)
	c.messages += len(outbox)
	if len(contacts) == 0 {
		return fmt.Errorf("%s: nobody got a message", name)
	}
	return nil
}

// judgeJournal compares the journal with what the service did. Each workspace needs each write once; half of them have their list from the
// start.
func (s *supervisor) judgeJournal(ctx context.Context, c *counts) error {
	done := map[string]int{}
	for _, e := range s.sb.Journal() {
		if e.Processed && e.Method != http.MethodGet {
			done[e.Op]++
		}
	}
	known := map[string]int{}
	for _, w := range s.fleet.workspaces {
		for e, err := range w.checkpoints.Entries(ctx, "") {
			switch {
			case err != nil:
				return err
			case e.Outcome == journal.Applied:
				known[e.Ticket.Op]++
				c.applied++
			case e.Outcome == journal.NotApplied:
				c.notApplied++
			default:
				return fmt.Errorf("%s: a ticket is open: %s", w.name, e.Ticket.Op)
			}
		}
	}
	c.starts, c.approvals = done["agents.activate"], done["campaigns.approve"]
	wanted := map[string]int{
		"lists.create": s.workspaces / 2, "agents.create-person-discovery": s.workspaces, "agents.activate": s.workspaces,
		"campaigns.create": s.workspaces, "campaigns.approve": s.workspaces,
	}
	var wrong []error
	for op, n := range wanted {
		if done[op] != n || known[op] != n {
			wrong = append(wrong, fmt.Errorf("%s: the service did %d, the journal knows %d, wanted %d", op, done[op], known[op], n))
		}
		delete(done, op)
	}
	// Ensure gives the draft of a run that was killed the spec once more, before it starts it.
	if n := done["agents.adjust"]; n <= s.kills+s.databases && n == known["agents.adjust"] {
		delete(done, "agents.adjust")
	}
	for op, n := range done {
		if n > 0 {
			wrong = append(wrong, fmt.Errorf("%s: %d, and nobody asked for it", op, n))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return len(a.Error()) - len(b.Error()) })
	return errors.Join(wrong...)
}

func (s *supervisor) report(c counts) error {
	fmt.Fprintf(s.out, "By the sandbox:\n")
	for _, row := range []struct {
		what string
		n    int
	}{
		{"rows stored, each once a night", c.rows},
		{"agents", c.agents},
		{"starts of agents", c.starts},
		{"credits spent", int(c.credits)},
		{"campaigns", c.campaigns},
		{"approvals", c.approvals},
		{"contacts", c.contacts},
		{"messages", c.messages},
		{"requests", c.requests},
		{"refused by the rate limit", c.refused},
		{"tickets: applied", c.applied},
		{"tickets: not applied", c.notApplied},
	} {
		fmt.Fprintf(s.out, "  %-32s %7d\n", row.what, row.n)
	}
	if 50*c.refused > c.requests || c.messages != c.contacts {
		return fmt.Errorf("%d of %d requests were refused, %d messages to %d contacts", c.refused, c.requests, c.messages, c.contacts)
	}
	return nil
}
