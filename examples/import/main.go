// Command import sends a CSV file of 10 MB that is made while it is sent, so neither this program nor the client ever holds it in memory. A
// progress bar goes to standard error, if that is a terminal. A file whose content does not fit its name is not sent, and the
// sandbox proves that every row of the other one arrived.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

const usage = `Usage: import

Uploads a CSV file of 10 MB that is made while it is sent, with a progress bar on a terminal.
It runs on a sandbox in this process, needs no account, and reads nothing from the environment.
`

func main() {
	out := begin(usage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out.end(run(ctx, out, progress(os.Stderr)))
}

// progress is where the bar goes: nowhere, unless somebody may be watching.
func progress(f *os.File) io.Writer {
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return f
	}
	return io.Discard
}

func run(ctx context.Context, out, progress io.Writer) error {
	sb := sandbox.New(nil)
	server, err := sb.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer server.Close()
	client, err := prospectkit.New(server.BaseURL(), sb.Token())
	if err != nil {
		return err
	}

	if err := upload(ctx, client, out, progress, rows); err != nil {
		return err
	}
	return prove(sb, out)
}

// upload shows that a file whose content does not fit its name is not sent, and sends one that does, with n rows.
func upload(ctx context.Context, client *prospectkit.Client, out, progress io.Writer, n int) error {
	archive := "PK\x03\x04, as every archive and every new spreadsheet begins"
	_, err := client.Imports.Upload(ctx, prospectkit.UploadFrom("contacts.csv", int64(len(archive)), strings.NewReader(archive)))
	if !errors.Is(err, prospectkit.ErrRefusedLocally) {
		return errors.Join(errors.New("a file that is no CSV was expected to be refused"), err)
	}
	fmt.Fprintf(out, "Not sent: %v\n", err)

	answer, err := client.Imports.Upload(ctx, prospectkit.Upload{
		Name:     "contacts.csv",
		Size:     int64(len(header) + n*rowSize),
		Open:     func() (io.ReadCloser, error) { return io.NopCloser(&table{rows: n}), nil },
		Progress: bar(progress),
	})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		return err
	} else if err != nil { // a second import might add every row twice
		fmt.Fprintf(out, "Imported, or perhaps not: look for the rows, before you import them again: %v\n", err)
		return nil
	}
	// The response to an import is undocumented: you get it as it came.
	fmt.Fprintf(out, "The response: %s\n", answer.Raw())
	return nil
}

const (
	header  = "firstName,lastName,email\n"
	row     = "Grace,Example %06d,grace.%06d@example.example\n"
	rowSize = len(row) - 2*len("%06d") + 2*6
	rows    = (10<<20 - len(header)) / rowSize // as many as the service takes
)

// table is a CSV file that is made while it is read, one row at a time.
type table struct {
	rows int    // in all
	made int    // so far
	rest string // of the row that is being read
}

// Read makes the next row when the last one has been read.
func (t *table) Read(p []byte) (n int, err error) {
	for n < len(p) {
		switch {
		case t.rest != "":
		case t.made == 0:
			t.rest = header + fmt.Sprintf(row, 1, 1)
			t.made++
		case t.made < t.rows:
			t.made++
			t.rest = fmt.Sprintf(row, t.made, t.made)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
		copied := copy(p[n:], t.rest)
		t.rest = t.rest[copied:]
		n += copied
	}
	return n, nil
}

// bar draws a progress bar for each percent.
func bar(out io.Writer) func(sent, total int64) {
	const width = 40
	shown := int64(-1)
	return func(sent, total int64) {
		percent := 100 * sent / total
		if percent == shown {
			return
		}
		shown = percent
		full := int(width * sent / total)
		fmt.Fprintf(out, "\r[%s%s] %3d%%", strings.Repeat("#", full), strings.Repeat(".", width-full), percent)
		if sent == total {
			fmt.Fprintln(out)
		}
	}
}

// prove compares what was sent with what the sandbox recorded.
func prove(sb *sandbox.Sandbox, out io.Writer) error {
	imports, requests := sb.Imports(), sb.Calls("imports.create")
	if requests != 1 || len(imports) != 1 || imports[0].Rows != rows {
		return fmt.Errorf("%d uploads, and the imports are %+v", requests, imports)
	}
	fmt.Fprintf(out, "The journal: %d upload reached the service. It took %s for %s of %d bytes with %d rows, all that were made.\n",
		requests, imports[0].Name, strings.ToUpper(imports[0].Format), imports[0].Size, imports[0].Rows)
	return nil
}
