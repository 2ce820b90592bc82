// Command quickstart shows the main job in a minute, with no account: it starts the sandbox on a port of this machine, reads the
// account, pages through lists, streams filtered rows into a CSV file, creates a list twice and branches on the typed error,
// while the service fails once and limits once.
//
// With PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN set, its read-only part runs against that service instead.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

func main() {
	file := flag.String("out", filepath.Join("out", "quickstart.csv"), "where the rows go")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *file, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string, out, progress io.Writer) error {
	var stats stats
	client, demo, err := connect(ctx, out, &stats)
	if err != nil {
		return err
	}

	user, err := client.Account.Me(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Signed in as %s <%s>\n\n", user.Name, user.Email)

	list, err := showLists(ctx, client, out)
	if err != nil {
		return err
	}
	if list != nil {
		if err := export(ctx, client, list, file, out, progress, &stats); err != nil {
			return err
		}
	}
	if demo {
		if err := createTwice(ctx, client, out); err != nil {
			return err
		}
	}
	stats.report(out)
	return nil
}

// connect returns a client for the service in the environment, or for a sandbox that fails once and limits once.
func connect(ctx context.Context, out io.Writer, s *stats) (client *prospectkit.Client, demo bool, err error) {
	observe := prospectkit.WithObserver(s.observe)
	if os.Getenv(prospectkit.EnvBaseURL) != "" {
		client, err = prospectkit.FromEnv(observe)
		return client, false, err
	}
	sb := sandbox.New(nil, sandbox.Seed(fixture.Small(1)))
	sb.Fail("lists.list", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
	sb.Fail("lists.rows", sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(1))
	server, err := sb.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, true, err
	}
	fmt.Fprintf(out, "No account in the environment: using a sandbox at %s\n", server.BaseURL())
	client, err = prospectkit.New(server.BaseURL(), sb.Token(), observe)
	return client, true, err
}

// showLists prints the lists and returns the largest contact list.
func showLists(ctx context.Context, client *prospectkit.Client, out io.Writer) (largest *prospectkit.List, err error) {
	fmt.Fprintln(out, "Lists, newest first:")
	for list, err := range client.Lists.All(ctx, prospectkit.ListsParams{}) {
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "  %-32s %5d contacts %5d companies\n", list.Name, list.ContactsCount, list.CompaniesCount)
		if list.Kind == prospectkit.ContactList && (largest == nil || list.ContactsCount > largest.ContactsCount) {
			largest = list
		}
	}
	return largest, nil
}

// export streams the rows of contacts in companies of more than fifty people into a CSV file.
func export(
	ctx context.Context, client *prospectkit.Client, list *prospectkit.List, file string, out, progress io.Writer, s *stats,
) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	f, err := os.Create(file) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	defer f.Close() // closed and checked below; this is for the error paths
	w := csv.NewWriter(f)
	columns := []string{"id", "firstName", "lastName", "jobTitle", "company.name", "address.city"}
	if err := w.Write(columns); err != nil {
		return err
	}
	rows := client.Lists.Rows(ctx, list.ID, prospectkit.RowsParams{
		Limit: 50, // small pages, to have something to watch
		Filter: prospectkit.ContactFilter{
			Employees: prospectkit.AnyHeadcount(prospectkit.HeadcountFrom(51)),
		},
		Sort: prospectkit.Ascending(prospectkit.ByLastName),
	})
	for row, err := range rows {
		if err != nil {
			return err
		}
		record := make([]string, len(columns))
		for i, column := range columns {
			record[i] = row.Text(column)
		}
		if err := w.Write(record); err != nil {
			return err
		}
		if s.rows++; s.rows%25 == 0 {
			fmt.Fprintf(progress, "  %d rows ...\n", s.rows)
		}
	}
	w.Flush()
	if err := errors.Join(w.Error(), f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nWrote %d rows of %q to %s\n", s.rows, list.Name, file)
	return nil
}

// createTwice shows that an error is one branch.
func createTwice(ctx context.Context, client *prospectkit.Client, out io.Writer) error {
	fmt.Fprintln(out)
	for range 2 {
		list, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Quickstart"})
		switch {
		case err == nil:
			fmt.Fprintf(out, "Created list %q\n", list.Name)
		case errors.Is(err, prospectkit.CodeListNameTaken):
			fmt.Fprintf(out, "The name is taken, as it should be: %v\n", err)
		case errors.Is(err, prospectkit.ErrOutcomeUnknown):
			return fmt.Errorf("look for the list before creating it again: %w", err)
		default:
			return err
		}
	}
	return nil
}

// stats counts what happened on the wire.
type stats struct {
	requests, retries, failures atomic.Int64
	waited                      atomic.Int64
	rows                        int
}

func (s *stats) observe(_ context.Context, e prospectkit.Event) {
	switch e.Kind {
	case prospectkit.EventAttempt:
		s.requests.Add(1)
		if e.Attempt > 1 {
			s.retries.Add(1)
		}
		if e.Status >= 500 || e.Status == 429 {
			s.failures.Add(1)
		}
	case prospectkit.EventWait:
		s.waited.Add(int64(e.Wait))
	default:
	}
}

func (s *stats) report(out io.Writer) {
	fmt.Fprintf(out, "\n%d requests, %d failures survived by %d retries, waited %s, %d rows\n",
		s.requests.Load(), s.failures.Load(), s.retries.Load(),
		time.Duration(s.waited.Load()).Round(10*time.Millisecond), s.rows)
}
