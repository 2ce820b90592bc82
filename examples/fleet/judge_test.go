package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// counts are what the service did, over all workspaces.
type counts struct {
	campaigns, approvals, contacts, messages int
	refused, requests                        int
	applied, notApplied                      int // tickets
}

// judge compares what the service did, by its own journal and outbox, with what was asked for.
func (s *supervisor) judge(ctx context.Context) error {
	var c counts
	var wrong []error
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

// judgeLaunch counts what a workspace has.
func judgeLaunch(w *sandbox.Tenant, name string, c *counts) error {
	campaigns, outbox := w.Campaigns(), w.Outbox()
	if len(campaigns) != 1 {
		return fmt.Errorf("%s: %d campaigns", name, len(campaigns))
	}
	contacts := map[string]int{}
	for _, listID := range campaigns[0].ListIDs {
		for _, raw := range w.Rows(listID) {
			var person struct{ ID string }
			if err := json.Unmarshal(raw, &person); err != nil {
				return err
			}
			contacts[person.ID] = 0
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
	c.campaigns++
	c.contacts += len(contacts)
	c.messages += len(outbox)
	if len(contacts) == 0 {
		return fmt.Errorf("%s: nobody got a message", name)
	}
	return nil
}

// judgeJournal compares the journal with what the service did. Each workspace needs each write once.
func (s *supervisor) judgeJournal(ctx context.Context, c *counts) error {
	done := map[string]int{}
	for _, e := range s.sb.Journal() {
		if e.Processed && e.Method != http.MethodGet {
			done[e.Op]++
		}
	}
	c.approvals = done["campaigns.approve"]
	known := map[string]int{}
	for _, w := range s.fleet.workspaces {
		for _, op := range writes {
			for e, err := range w.store.Calls(ctx, op) {
				switch {
				case err != nil:
					return err
				case e.Outcome == journal.Applied:
					known[op]++
					c.applied++
				case e.Outcome == journal.NotApplied:
					c.notApplied++
				default:
					return fmt.Errorf("%s: a ticket is open: %s", w.name, op)
				}
			}
		}
	}
	var wrong []error
	for _, op := range writes {
		if done[op] != s.workspaces || known[op] != s.workspaces {
			wrong = append(wrong, fmt.Errorf("%s: the service did %d, the journal knows %d, wanted %d", op, done[op], known[op], s.workspaces))
		}
		delete(done, op)
	}
	for op, n := range done {
		wrong = append(wrong, fmt.Errorf("%s: %d, and nobody asked for it", op, n))
	}
	return errors.Join(wrong...)
}

func (s *supervisor) report(c counts) error {
	fmt.Fprintf(s.out, "By the sandbox:\n")
	for _, row := range []struct {
		what string
		n    int
	}{
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
