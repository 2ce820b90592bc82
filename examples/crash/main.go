// Command crash shows a program that is killed at random moments and still ends with what was asked for: three lists, each pushed
// to the CRM once, and one agent that is started once. It writes down each call in a journal before it sends it. After a restart, the
// journal says which calls may have happened. At the end, the sandbox's own journal proves what did.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
)

const usage = `Usage: crash

Runs a program that creates lists, pushes them to a CRM and starts an agent, kills it at random moments, starts it again, and proves
that everything was done once. It runs on a sandbox in this process, needs no account, and reads nothing of yours from the environment.
`

// Variables for the process that is killed: the path of its journal, and whether it kills itself.
const (
	workerVar = "PROSPECTKIT_EXAMPLE_CRASH"
	crashVar  = "PROSPECTKIT_EXAMPLE_CRASH_NOW"
)

func main() {
	out := begin(usage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if path := os.Getenv(workerVar); path != "" {
		out.end(worker(ctx, path, out))
		return
	}
	out.end(supervise(ctx, out))
}

var (
	wanted = []string{"Berlin", "Hamburg", "Munich"}
	errAsk = errors.New("a person has to look")
)

const crm = "crm-1" // the API description leaves the names of the CRMs out

// worker is the program. It can be killed anywhere, and started again.
func worker(ctx context.Context, path string, out io.Writer) error {
	j, err := journal.File(path)
	if err != nil {
		return err
	}
	client, err := prospectkit.FromEnv(prospectkit.WithJournal(j), prospectkit.WithWorkspace("demo"))
	if err != nil {
		return err
	}
	if err := settle(ctx, client, out); err != nil {
		return err
	}
	if os.Getenv(crashVar) != "" {
		time.AfterFunc(rand.N(20*time.Millisecond), kill)
	}
	err = work(ctx, client, path)
	if os.Getenv(crashVar) != "" {
		select {} // it was too fast: it is killed when its work is done
	}
	return errors.Join(err, j.Close())
}

// settle finds out the outcome of the calls that an earlier process left behind.
func settle(ctx context.Context, client *prospectkit.Client, out io.Writer) error {
	for ticket, err := range client.InDoubt(ctx) {
		if err != nil {
			return err
		}
		r, err := client.Resolve(ctx, ticket)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  in doubt: %s %s%s -> %s (%s)\n", ticket.Op, ticket.Lookup.Name, strings.Join(ticket.IDs, " "), r.Verdict, r.Note)
	}
	return nil
}

// work does what was asked for. A second run does what is missing.
func work(ctx context.Context, client *prospectkit.Client, path string) error {
	ask := false
	for _, name := range wanted {
		ensured, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: name})
		if err != nil {
			return err
		}
		// Ensure finds what an earlier run has made. No read shows a push: only the journal can tell.
		switch earlier, err := pushed(path, ensured.List.ID); {
		case err != nil:
			return err
		case earlier == journal.Applied:
		case earlier == journal.Unknown:
			ask = true // a second push could overwrite records of the CRM
		default:
			if _, err := client.Lists.PushToCRM(ctx, ensured.List.ID, prospectkit.CRMPush{CRM: crm}); err != nil {
				return err
			}
		}
	}
	_, err := client.Agents.Ensure(ctx, prospectkit.PersonDiscovery{
		ListName: "Heads of sales", Start: true, MaxCreditSpend: 1000, Filters: prospectkit.Fields{"jobTitles": []string{"Head of Sales"}},
	})
	if err == nil && ask {
		return errAsk
	}
	return err
}

// pushed returns the outcome of the push of a list, or NotApplied if there was none.
func pushed(path, listID string) (journal.Outcome, error) {
	outcome := journal.NotApplied
	for entry, err := range journal.Read(path) {
		if err != nil {
			return "", err
		}
		if entry.Ticket.Op == "lists.crm-push" && slices.Contains(entry.Ticket.IDs, listID) && entry.Outcome != journal.NotApplied {
			outcome = entry.Outcome
		}
	}
	return outcome, nil
}

// kill ends this process at once, as a lack of memory does. Nothing runs after it: no defer, no Close.
func kill() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
}
