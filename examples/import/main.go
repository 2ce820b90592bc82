// Command import imports a file of contacts once, however often it is run or killed, and whichever response is lost: no read shows an import, and
// a second one adds everything again. It runs on a sandbox in this process. With prospectkit.FromEnv, importOnce does the same at the service.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

const contacts = "firstName,email\nGrace,grace@navy.example\nAlan,alan@park.example\n" // or what os.ReadFile returns

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := demo(ctx, "import.journal", os.Stdout)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// demo imports the file twice, as two runs do.
func demo(ctx context.Context, path string, out io.Writer) error {
	j, err := journal.Open(path, "acme") // which remembers, also for later runs
	if err != nil {
		return err
	}
	defer j.Close()
	sb := sandbox.New(nil)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j))
	if err != nil {
		return err
	}
	for range 2 {
		if err := importOnce(ctx, client, "contacts.csv", []byte(contacts), out); err != nil {
			return err
		}
	}
	return nil
}

// importOnce imports a file, unless the journal knows that a run has done so, or may have. Its error means that this one has not.
func importOnce(ctx context.Context, client *prospectkit.Client, name string, file []byte, out io.Writer) error {
	if _, err := client.Recover(ctx); err != nil { // what an earlier run has left in doubt
		return err
	}
	upload := prospectkit.UploadFrom(name, int64(len(file)), bytes.NewReader(file))
	_, err := client.Imports.Upload(ctx, upload, prospectkit.Once(fmt.Sprintf("%x", sha256.Sum256(file))))
	said := "imported"
	switch {
	case errors.Is(err, prospectkit.ErrAlreadyDone):
		said = "imported before"
	case prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown: // of this run or an earlier one
		said = fmt.Sprint("perhaps imported: look for the rows in the app, and settle the ticket: ", err)
	case prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied:
		return err // run it again
	}
	_, err = fmt.Fprintf(out, "%s: %s\n", name, said)
	return err
}
