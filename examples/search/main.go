// Command search finds prospects for no more pages than a cap, and stores each page that arrives before it asks for the next one. It runs on a
// sandbox in this process. With prospectkit.FromEnv, search does the same at the service.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/sandbox"
)

const (
	pageSize = 25 // profiles, for a credit each in the sandbox: the price is undocumented
	maxPages = 3
)

func main() {
	file := flag.String("out", "profiles.jsonl", "the new `file` for the profiles")
	flag.Parse()
	sb := sandbox.New(nil, sandbox.Credits(500))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err == nil {
		err = search(context.Background(), client, *file, os.Stdout) // a deadline would cut a page that is paid for
	}
	if err != nil {
		log.Fatal(err)
	}
}

// search stores one profile a line. A file that exists has what an earlier search has paid for. It cannot be continued, because the
// service's tokens cannot be stored: a second search would pay again, so it needs a new file.
func search(ctx context.Context, client *prospectkit.Client, file string, out io.Writer) (err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // G304: the file that the user names
	if err != nil {
		return fmt.Errorf("nothing was paid for: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page, err := client.Search.ProspectsPage(ctx, prospectkit.SearchParams{
		Filters: filter.Search{"job_title_levels": filter.Including("c_suite", "vp")}, Size: pageSize,
	})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied && err != nil {
		return errors.Join(err, os.Remove(file)) // nothing was paid for: the file is free
	}
	stored := 0
	for n := 1; err == nil; n++ {
		if err := store(f, page.Items); err != nil {
			return err
		}
		stored += len(page.Items)
		if n == maxPages || !page.More() {
			_, err := fmt.Fprintf(out, "%d profiles are in %s, for %d pages. There are more: %t\n", stored, file, n, page.More())
			return err
		}
		page, err = page.Next(ctx)
	}
	if prospectkit.OutcomeOf(err) != prospectkit.OutcomeNotApplied {
		err = fmt.Errorf("a page may be paid for and is lost: %w", err)
	}
	return fmt.Errorf("%d profiles are in %s: %w", stored, file, err)
}

// store returns when the disk has the page.
func store(f *os.File, profiles []prospectkit.Profile) error {
	w := bufio.NewWriter(f)
	for _, p := range profiles {
		fmt.Fprintf(w, "%s\n", p.Raw().Raw()) // as the service sent it
	}
	return errors.Join(w.Flush(), f.Sync())
}
