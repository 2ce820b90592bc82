// Command facts edits a learned fact. A claim must be anonymous, so it is checked here first, with the findings marked, and
// corrected. Then the service's own gate rejects a claim that was not checked. The sandbox proves that only the good claim was
// kept.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"unicode/utf8"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/facts/claim"
	"example.com/prospectkit/sandbox"
)

const usage = `Usage: facts

Checks the claim of a learned fact before it is sent, and shows what the service refuses.
It runs on a sandbox in this process, needs no account, and reads nothing from the environment.
`

func main() {
	out := begin(usage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out.end(run(ctx, out))
}

const (
	draft     = "After the renewal date, a customer (jo@customer.example, +49 30 23125 678) got a discount of 20,000 € – and stayed"
	corrected = "A price that falls with the third year keeps customers who compare offers"
)

func run(ctx context.Context, out io.Writer) error {
	sb := sandbox.New(nil)
	var factID string
	sb.Do(func(tx *sandbox.Tx) {
		factID = tx.CreateFact(sandbox.Fact{Claim: "Customers stay for the price", Category: "pricing"})
	})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err != nil {
		return err
	}

	if err := edit(ctx, client, out, factID); err != nil {
		return err
	}
	return prove(sb, out)
}

// edit checks a claim before it is sent, and then sends one that was not checked.
func edit(ctx context.Context, client *prospectkit.Client, out io.Writer, factID string) error {
	mark(out, draft)
	if findings := claim.Check(corrected); len(findings) > 0 {
		return fmt.Errorf("the corrected claim has findings: %v", findings)
	}
	fact, err := client.Facts.Edit(ctx, factID, prospectkit.FactEdit{Claim: corrected, Category: prospectkit.FactObjection})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		return err
	} else if err != nil { // a second edit would undo what a teammate has written since
		fmt.Fprintf(out, "Edited, or perhaps not: look, before you edit it again: %v\n", err)
		return nil
	}
	fmt.Fprintf(out, "Edited, as %s:\n  %s\n\n", fact.Category, fact.Claim)

	// The check is advice and stops nothing: this is sent.
	_, err = client.Facts.Edit(ctx, factID, prospectkit.FactEdit{Claim: draft})
	switch {
	case prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown:
		fmt.Fprintf(out, "Edited, or perhaps not: look, before you edit it again: %v\n", err)
		return nil
	case !errors.Is(err, prospectkit.CodeLearnedFactNotAnonymized):
		return errors.Join(errors.New("a claim with an e-mail address was expected to be refused"), err)
	}
	fmt.Fprintf(out, "Unchecked: %v\n\n", err)
	return nil
}

// mark prints a claim with a line under it for each finding. Findings count in bytes, columns in characters.
func mark(out io.Writer, text string) {
	fmt.Fprintln(out, text)
	for _, f := range claim.Check(text) {
		before, words := text[:f.Start], text[f.Start:f.End]
		fmt.Fprintf(out, "%s%s %s\n",
			strings.Repeat(" ", utf8.RuneCountInString(before)), strings.Repeat("^", utf8.RuneCountInString(words)), f.Rule)
	}
	fmt.Fprintln(out)
}

// prove reads the fact and the journal of the sandbox.
func prove(sb *sandbox.Sandbox, out io.Writer) error {
	changes := 0
	for _, entry := range sb.Journal() {
		fmt.Fprintln(out, entry)
		changes += len(entry.Effects)
	}
	facts := sb.Facts()
	if len(facts) != 1 || facts[0].Claim != corrected || changes != 1 {
		return fmt.Errorf("%d changes, and the facts are %+v", changes, facts)
	}
	fmt.Fprintf(out, "%d calls, %d change: the fact says what was checked.\n", sb.Calls("facts.edit"), changes)
	return nil
}
