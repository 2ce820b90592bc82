// Command quickstart shows the main job in a minute, with no account: it starts the sandbox on a port of this machine, reads the
// account, pages through lists, streams filtered rows into a CSV file, creates a list twice and branches on the typed error,
// while the service fails once and limits once.
//
// With PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN set, its read-only part runs against that service.
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
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

const usage = `Usage: quickstart [-out FILE]

Reads the account and its lists, and streams filtered rows of the largest contact list into a CSV file.

With PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN in the environment it reads from that service, and changes nothing there. With
neither it runs on a sandbox, creates a list there as well, and shows how failures are handled.

`

func main() {
	file := flag.String("out", filepath.Join("out", "quickstart.csv"), "write the rows into this `file`")
	out := begin(usage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out.end(run(ctx, *file, out))
}

func run(ctx context.Context, file string, out io.Writer) error {
	stats := &stats{out: out}
	client, demo, err := connect(ctx, out, stats)
	if err != nil {
		return err
	}

	rows, err := show(ctx, client, file, out, demo)
	if err != nil {
		return err
	}
	stats.report(rows)
	return nil
}

// show reads the account and its lists, writes the rows of the largest one into a file, and changes something only in a demonstration.
func show(ctx context.Context, client *prospectkit.Client, file string, out io.Writer, demo bool) (rows int, err error) {
	user, err := client.Account.Me(ctx)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "Signed in as %s <%s>\n\n", user.Name, user.Email)

	list, err := showLists(ctx, client, out)
	if err != nil {
		return 0, err
	}
	if list != nil {
		if rows, err = export(ctx, client, list, file, out); err != nil {
			return 0, err
		}
	}
	if demo {
		if err := createTwice(ctx, client, out); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// connect returns a client for the service in the environment, or for a sandbox that fails once and limits once.
func connect(ctx context.Context, out io.Writer, s *stats) (client *prospectkit.Client, demo bool, err error) {
	observe := prospectkit.WithObserver(s.observe)
	if os.Getenv(prospectkit.EnvBaseURL) != "" || os.Getenv(prospectkit.EnvToken) != "" { // half of an account is a mistake
		client, err = prospectkit.FromEnv(observe, prospectkit.ReadOnly())
		return client, false, err
	}
	sb := sandbox.New(nil, sandbox.Seed(fixture.Small(1)))
	sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(1))
	sb.Fail("lists.list", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
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
		name := strings.Join(strings.Fields(list.Name), " ") // in one line
		fmt.Fprintf(out, "  %-32s %5d contacts %5d companies\n", name, list.ContactsCount, list.CompaniesCount)
		if list.Kind == prospectkit.ContactList && (largest == nil || list.ContactsCount > largest.ContactsCount) {
			largest = list
		}
	}
	return largest, nil
}

// export streams the rows of contacts in companies of more than fifty people into a CSV file. The file appears when it is complete: what
// an earlier run wrote stays until then. Only the owner may read it, because it has personal data.
func export(ctx context.Context, client *prospectkit.Client, list *prospectkit.List, file string, out io.Writer) (rows int, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return 0, err
	}
	partial, err := os.CreateTemp(filepath.Dir(file), ".quickstart-*") // 0600
	if err != nil {
		return 0, err
	}
	defer os.Remove(partial.Name()) // fails once it has been renamed
	defer partial.Close()           // closed and checked below; this is for the error paths
	if rows, err = write(ctx, client, list.ID, partial); err != nil {
		return 0, err
	}
	if err := partial.Close(); err != nil {
		return 0, err
	}
	if err := os.Rename(partial.Name(), file); err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "\nWrote %d of %d rows of %q to %s: the contacts in companies of more than 50 people.\n",
		rows, list.ContactsCount, list.Name, file)
	return rows, nil
}

func write(ctx context.Context, client *prospectkit.Client, listID string, to io.Writer) (rows int, err error) {
	w := csv.NewWriter(to)
	columns := []string{"id", "firstName", "lastName", "jobTitle", "company.name", "address.city"}
	if err := w.Write(columns); err != nil {
		return 0, err
	}
	params := prospectkit.RowsParams{
		Limit: 50, // small pages, to have something to watch
		Filter: filter.Contact{
			Employees: filter.AnyOf("51+"),
		},
		Sort: prospectkit.Ascending("lastName"),
	}
	record := make([]string, len(columns))
	for row, err := range client.Lists.Rows(ctx, listID, params) {
		if err != nil {
			return rows, err
		}
		for i, column := range columns {
			record[i] = cell(row.Text(column))
		}
		if err := w.Write(record); err != nil {
			return rows, err
		}
		rows++
	}
	w.Flush()
	return rows, w.Error()
}

// cell keeps a spreadsheet from running a text as a formula: it shows the text after an apostrophe.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(text)[0]) {
		return "'" + text
	}
	return text
}

// createTwice shows how to branch on an error.
func createTwice(ctx context.Context, client *prospectkit.Client, out io.Writer) error {
	fmt.Fprintln(out)
	for range 2 {
		list, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Quickstart"})
		switch {
		case err == nil:
			fmt.Fprintf(out, "Created list %q\n", list.Name)
		case errors.Is(err, prospectkit.ErrOutcomeUnknown): // always first: it may have happened
			return fmt.Errorf("look for the list before creating it again: %w", err)
		case errors.Is(err, prospectkit.CodeListNameTaken):
			fmt.Fprintf(out, "The name is taken, as it should be: %v\n", err)
		default:
			return err
		}
	}
	return nil
}

// stats counts what happened on the wire, and prints which failures were handled.
type stats struct {
	out               io.Writer
	requests, retries int
	waited            time.Duration
}

func (s *stats) observe(_ context.Context, e prospectkit.Event) {
	switch e.Kind {
	case event.KindAttempt:
		s.requests++
		if e.Attempt > 1 {
			s.retries++
		}
	case event.KindDecision:
		if e.Status == 429 || e.Status >= 500 {
			fmt.Fprintf(s.out, "  [%s got %d %s: %s]\n", e.Op, e.Status, e.Code, e.Next)
		}
	case event.KindWait:
		fmt.Fprintf(s.out, "  [%s waits about %s]\n", e.Op, e.Wait.Round(10*time.Millisecond))
	case event.KindCall:
		s.waited += e.Waited
	default:
	}
}

func (s *stats) report(rows int) {
	fmt.Fprintf(s.out, "\n%d requests, %d of them retries, waited %s, %d rows\n", s.requests, s.retries, s.waited.Round(10*time.Millisecond), rows)
}
