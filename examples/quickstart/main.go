// Command quickstart prints the contact lists of a workspace, and writes the rows of one to rows.csv: of the list whose name you give, or of the first.
// It reads from the service in PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN, and without them from a sandbox in this process.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

func main() {
	client, err := prospectkit.FromEnv(prospectkit.ReadOnly())
	if os.Getenv("PROSPECTKIT_BASE_URL")+os.Getenv("PROSPECTKIT_TOKEN") == "" {
		sb := sandbox.New(nil, sandbox.Seed(fixture.Small(1)))
		client, err = prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	}
	if err == nil {
		err = run(context.Background(), client, append(os.Args, "")[1], "rows.csv")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, client *prospectkit.Client, name, file string) error {
	id := ""
	for list, err := range client.Lists.All(ctx, prospectkit.ListsParams{Kind: prospectkit.ContactList}) { // all pages, within the rate limit
		if err == nil {
			_, err = fmt.Printf("%7d rows  %q\n", list.ContactsCount, list.Name)
		}
		if err != nil {
			return err
		}
		if id == "" && (name == "" || name == list.Name) {
			id = list.ID
		}
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	for row, err := range client.Lists.Rows(ctx, id, prospectkit.RowsParams{}) {
		if err != nil {
			return err
		}
		_ = w.Write([]string{row.ID(), row.Text("firstName"), row.Text("lastName"), row.Text("jobTitle"), row.Text("company.name")})
	}
	w.Flush()
	return os.WriteFile(file, text.Bytes(), 0o600)
}
