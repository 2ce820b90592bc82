// Command quickstart writes the rows of a list into a CSV file: of the list that you name, or of your largest one. It only reads.
//
// It reads from the service in PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN. Without them it reads from a sandbox in this process.
package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

func main() {
	name, file := flag.String("list", "", "the `name` of the list"), flag.String("out", "rows.csv", "the `file`")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout) // it keeps the first error
	client, err := connect()
	if err == nil {
		err = errors.Join(run(context.Background(), client, *name, *file, out), out.Flush())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// connect returns a client for the service, or for a sandbox. Half of an account is a mistake.
func connect() (*prospectkit.Client, error) {
	if os.Getenv("PROSPECTKIT_BASE_URL")+os.Getenv("PROSPECTKIT_TOKEN") != "" {
		return prospectkit.FromEnv(prospectkit.ReadOnly())
	}
	sb := sandbox.New(nil, sandbox.Seed(fixture.Small(1)))
	return prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
}

func run(ctx context.Context, client *prospectkit.Client, name, file string, out io.Writer) error {
	var list prospectkit.List
	for l, err := range client.Lists.All(ctx, prospectkit.ListsParams{Search: name}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s %q: %d contacts, %d companies\n", l.ID, l.Name, l.ContactsCount, l.CompaniesCount)
		if name == l.Name || name == "" && l.ContactsCount+l.CompaniesCount > list.ContactsCount+list.CompaniesCount {
			list = *l
		}
	}
	if list.ID == "" {
		return fmt.Errorf("there is no list %q", name)
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".rows-*") // only you may read it, and an older file stays until this one is complete
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails once it has its name
	rows, err := write(ctx, client, list.ID, temp)
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d rows of %q are in %s.\n", rows, list.Name, file)
	return os.Rename(temp.Name(), file)
}

func write(ctx context.Context, client *prospectkit.Client, listID string, to io.Writer) (rows int, err error) {
	columns := []string{"id", "firstName", "lastName", "jobTitle", "company.name", "address.city"}
	w := csv.NewWriter(to)
	_ = w.Write(columns) // Flush tells
	record := make([]string, len(columns))
	for row, err := range client.Lists.Rows(ctx, listID, prospectkit.RowsParams{}) {
		if err != nil {
			return rows, err
		}
		for i, column := range columns {
			record[i] = cell(row.Text(column))
		}
		_ = w.Write(record)
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
