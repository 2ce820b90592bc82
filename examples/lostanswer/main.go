// Command lostanswer creates lists over a connection that loses every third response after the service has applied the request. A
// client that retried without a response would create lists twice, or fail because of its own names. One that gave up would leave
// lists that it does not know. At the end the sandbox's journal proves that neither happened.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

const usage = `Usage: lostanswer

Creates lists over a connection that loses every third answer, and proves that none exists twice.
It runs on a sandbox in this process, needs no account, and reads nothing from the environment.
`

func main() {
	out := begin(usage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out.end(run(ctx, out))
}

const wanted = 30

func run(ctx context.Context, out io.Writer) error {
	sb := sandbox.New(nil)
	sb.Fail("lists.create", sandbox.Every(3), sandbox.DropAfter())
	server, err := sb.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer server.Close()
	client, err := prospectkit.New(server.BaseURL(), sb.Token())
	if err != nil {
		return err
	}

	if err := byHand(ctx, client, out); err != nil {
		return err
	}
	if err := ensure(ctx, client, out, wanted); err != nil {
		return err
	}
	return prove(sb, out)
}

// ensure creates n lists, whatever happens to the responses.
func ensure(ctx context.Context, client *prospectkit.Client, out io.Writer, n int) error {
	resolved := 0
	for i := range n {
		got, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: fmt.Sprintf("Prospects %02d", i+1)})
		if err != nil {
			return err
		}
		if !got.Created && !got.Certain { // found after a lost response: most likely made by this call
			resolved++
		}
	}
	fmt.Fprintf(out, "Ensured %d lists; %d responses were lost and looked up.\n\n", n, resolved)
	return nil
}

// byHand shows what Ensure does: the third creation loses its response, and Resolve finds out the outcome.
func byHand(ctx context.Context, client *prospectkit.Client, out io.Writer) error {
	for i := range 3 {
		name := fmt.Sprintf("By hand %d", i+1)
		list, err := client.Lists.Create(ctx, prospectkit.NewList{Name: name})
		var doubt *prospectkit.OutcomeUnknownError
		switch {
		case err == nil:
			fmt.Fprintf(out, "%s: created as %s\n", name, list.ID)
		case errors.As(err, &doubt):
			fmt.Fprintf(out, "%s: %v\n", name, err)
			resolution, err := doubt.Resolve(ctx)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s: resolved: %s (%s)\n\n", name, resolution.Verdict, resolution.Note)
		default:
			return err
		}
	}
	return nil
}

// prove counts in the sandbox's journal what the service did.
func prove(sb *sandbox.Sandbox, out io.Writer) error {
	sent, lost := 0, 0
	for _, entry := range sb.Journal() {
		if entry.Op != "lists.create" {
			continue
		}
		sent++
		if entry.Fault != "" {
			lost++
		}
	}
	names := map[string]int{}
	for _, list := range sb.Lists() {
		names[list.Name]++
	}
	for name, n := range names {
		if n != 1 {
			return fmt.Errorf("%q exists %d times", name, n)
		}
	}
	if want := wanted + 3; len(names) != want || sent != want {
		return fmt.Errorf("%d lists exist after %d creations, wanted %d of both", len(names), sent, want)
	}
	fmt.Fprintf(out, "The journal: %d creations reached the service, %d responses were lost, %d lists exist, none twice, none missing.\n",
		sent, lost, len(names))
	return nil
}
