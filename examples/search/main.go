// Command search finds prospects within a cap: pages cost credits, so the iterator demands a cap and stops at it with an error. Then
// the service saves the results to a list, and the sandbox's ledger proves that nothing else was paid for.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/sandbox"
)

const usage = `Usage: search

Searches prospects for no more than it may cost, and proves what was paid.
It runs on a sandbox in this process, needs no account, and reads nothing from the environment.
`

func main() {
	out := begin(usage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out.end(run(ctx, out))
}

const (
	pageSize = 5
	maxPages = 2
)

func run(ctx context.Context, out io.Writer) error {
	sb := sandbox.New(nil, sandbox.Credits(500)) // it invents people, for a credit each
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err != nil {
		return err
	}

	saved, err := search(ctx, client, out)
	if err != nil {
		return err
	}
	return prove(sb, out, saved)
}

// search reads some profiles within the cap and has the service save all to a list. It returns how many were saved.
func search(ctx context.Context, client *prospectkit.Client, out io.Writer) (saved int, err error) {
	options, err := client.Search.FilterOptions(ctx)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "Filters and their values: %s\n\n", options.Raw())
	filters := filter.Search{"job_title_levels": filter.Including("c_suite", "vp")}

	refused := withoutCap(ctx, client, prospectkit.SearchParams{Filters: filters})
	if !errors.Is(refused, prospectkit.ErrRefusedLocally) {
		return 0, errors.Join(errors.New("a search without a cap was expected to be refused"), refused)
	}
	fmt.Fprintf(out, "Without a cap: %v\n\n", refused)
	if err := capped(ctx, client, out, prospectkit.SearchParams{Filters: filters, Size: pageSize}); err != nil {
		return 0, err
	}
	// The fields of this body are undocumented: those of the sandbox are assumed.
	result, err := client.Search.SaveMatches(ctx, prospectkit.MatchSave{Filters: filters, ListName: "Decision makers"})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		return 0, err
	} else if err != nil { // a second time might cost as much again
		fmt.Fprintf(out, "Saved, or perhaps not: look at the list, before you save them again: %v\n", err)
		return 0, nil
	}
	fmt.Fprintf(out, "Saved %d to %q\n", result.Int("addedCount"), result.Text("list.name"))
	return result.Int("addedCount"), nil
}

// withoutCap returns the error of the iterator without a cap.
func withoutCap(ctx context.Context, client *prospectkit.Client, p prospectkit.SearchParams) error {
	for _, err := range client.Search.Prospects(ctx, p) {
		return err
	}
	return nil
}

// capped reads profiles until the cap ends the range.
func capped(ctx context.Context, client *prospectkit.Client, out io.Writer, p prospectkit.SearchParams) error {
	var progress prospectkit.Progress
	for profile, err := range client.Search.Prospects(ctx, p, prospectkit.MaxPaidPages(maxPages), prospectkit.WithProgress(&progress)) {
		switch {
		case err == nil:
			fmt.Fprintf(out, "  %-8s %-10s %-26s %s\n", profile.FirstName, profile.LastName, profile.JobTitle, profile.CompanyName)
		case errors.Is(err, prospectkit.RulePaidPages):
			stopped := progress.Report()
			fmt.Fprintf(out, "Stopped by the cap: %d pages paid for, %d profiles read\n\n", stopped.Requests, stopped.Delivered)
			return nil
		default:
			return err
		}
	}
	return errors.New("the results ended before the cap")
}

// prove adds up the sandbox's ledger.
func prove(sb *sandbox.Sandbox, out io.Writer, saved int) error {
	fmt.Fprintf(out, "\nThe ledger:\n")
	spent := map[string]int64{}
	for _, entry := range sb.Ledger() {
		spent[entry.Operation] -= entry.Amount
		fmt.Fprintf(out, "  %-20s %+4d, %d left\n", entry.Operation, entry.Amount, entry.Balance)
	}
	searched, calls := spent["search.prospects"], sb.Calls("search.prospects")
	if calls != maxPages || searched != maxPages*pageSize || spent["search.save-to-list"] != int64(saved) {
		return fmt.Errorf("%d searches for %d credits, and %d for the list: that is not what was asked for",
			calls, searched, spent["search.save-to-list"])
	}
	fmt.Fprintf(out, "%d pages of %d were paid for, and the list: nothing else reached the service.\n", calls, pageSize)
	return nil
}
