package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

const crashes = 6

// supervise starts the program until its work is done. The first starts are killed.
func supervise(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "writes.journal")
	// A hundred times as fast as the real clock: a change that takes a minute to show does so in a second.
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewScaledClock(100)), sandbox.NoLimits())
	sb.Do(func(tx *sandbox.Tx) { tx.ConnectCRM(crm) })
	server, err := sb.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer server.Close()

	for start := 1; ; start++ {
		fmt.Fprintf(out, "start %d\n", start)
		err := startWorker(ctx, out, path, server.BaseURL(), sb.Token(), start <= crashes)
		exited, isExit := errors.AsType[*exec.ExitError](err)
		switch {
		case err == nil:
			return prove(sb, out)
		case !isExit || start > crashes+len(wanted)+1:
			return err
		case start <= crashes:
			fmt.Fprintf(out, "  killed: %s\n", exited)
			continue
		}
		if err := person(ctx, sb, path, out); err != nil {
			return err
		}
	}
}

func startWorker(ctx context.Context, out io.Writer, path, baseURL, token string, crash bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self) //nolint:gosec // G204: it is this program
	cmd.Env = append(os.Environ(), workerVar+"="+path, prospectkit.EnvBaseURL+"="+baseURL, prospectkit.EnvToken+"="+token)
	if crash {
		cmd.Env = append(cmd.Env, crashVar+"=1")
	}
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Run()
}

// person looks into the CRM for each push in doubt, and notes what is there. The program cannot: no read of the API shows it.
func person(ctx context.Context, sb *sandbox.Sandbox, path string, out io.Writer) error {
	j, err := journal.File(path)
	if err != nil {
		return err
	}
	for ticket, err := range j.InDoubt(ctx) {
		if err != nil {
			return err
		}
		if ticket.Op != "lists.crm-push" {
			continue // the program looks for the others itself
		}
		found := slices.ContainsFunc(sb.CRMPushes(), func(p sandbox.CRMPush) bool { return slices.Contains(ticket.IDs, p.ListID) })
		outcome := journal.NotApplied
		if found {
			outcome = journal.Applied
		}
		fmt.Fprintf(out, "  a person looks into the CRM for %s: %s\n", ticket.IDs[0], outcome)
		if err := j.Ended(ctx, ticket.ID, outcome); err != nil {
			return err
		}
	}
	return j.Close()
}

// prove counts in the sandbox's journal what the service did.
func prove(sb *sandbox.Sandbox, out io.Writer) error {
	fmt.Fprintf(out, "\n%-16s %6s %6s\n", "By the sandbox:", "wanted", "done")
	for _, row := range []struct {
		what, op string
		wanted   int
	}{
		{"lists created", "lists.create", len(wanted)},
		{"lists pushed", "lists.crm-push", len(wanted)},
		{"agents created", "agents.create-person-discovery", 1},
		{"agents started", "agents.activate", 1},
	} {
		done := 0
		for _, entry := range sb.Journal() {
			if entry.Op == row.op && entry.Processed {
				done++
			}
		}
		fmt.Fprintf(out, "%-16s %6d %6d\n", row.what, row.wanted, done)
		if done != row.wanted {
			return fmt.Errorf("%s: %d, wanted %d", row.what, done, row.wanted)
		}
	}
	fmt.Fprintf(out, "The program was killed %d times. Nothing is missing, and nothing was done twice.\n", crashes)
	return nil
}
