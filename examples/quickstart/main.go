// Command quickstart prints the contact lists of a workspace, and writes their rows to rows.csv: of those whose names contain its arguments, or of all.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"
	"strings"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

func main() {
	client, err := prospectkit.FromEnv(prospectkit.ReadOnly())
	if os.Getenv("PROSPECTKIT_BASE_URL")+os.Getenv("PROSPECTKIT_TOKEN") == "" { // without an account: a sandbox in this process
		sb := sandbox.New(nil, sandbox.Seed(fixture.Small(1)))
		client, err = prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	}
	if err == nil {
		err = run(context.Background(), client, strings.Join(os.Args[1:], " "), "rows.csv")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, client *prospectkit.Client, name, file string) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	for list, err := range client.Lists.All(ctx, prospectkit.ListsParams{Kind: prospectkit.ContactList, Search: name}) { // all pages
		if err != nil {
			return err
		}
		fmt.Printf("%7d rows  %q\n", list.ContactsCount, list.Name)
		for row, err := range client.Lists.Rows(ctx, list.ID, prospectkit.RowsParams{}) { // within the rate limit
			if err != nil {
				return err
			}
			_ = w.Write([]string{list.Name, row.Text("firstName"), row.Text("lastName"), row.Text("jobTitle"), row.Text("company.name")})
		}
	}
	w.Flush()
	fmt.Println("their rows are in", file)
	return os.WriteFile(file, text.Bytes(), 0o600)
}
