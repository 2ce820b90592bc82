package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/changes"
	"example.com/prospectkit/sandbox"
)

// A feed begins with a full sync. The checkpoint for the time after it is stored before the first row is read.
func ExampleListsService_Changes() {
	ctx := context.Background()
	sb := sandbox.New(nil, sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
		Name: "main", Lists: []sandbox.List{{ID: followedID, Name: "Fair", Rows: sandbox.Rows(
			sandbox.Row{"firstName": "Ada", "updatedAt": "2026-01-01T10:00:00.000Z"},
			sandbox.Row{"firstName": "Bob", "updatedAt": "2026-01-01T11:00:00.000Z"},
		)}},
	}}}))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err != nil {
		log.Fatal(err)
	}
	names, saved := map[string]string{}, "" // in a database, and changed in one transaction
	held := changes.Holding(func(context.Context) (int, error) { return len(names), nil })
	for run := range 3 {
		before := sb.Calls("lists.rows")
		for change, err := range client.Lists.Changes(ctx, followedID, saved, held) {
			if full, ok := errors.AsType[*changes.FullSyncRequiredError](err); ok {
				fmt.Println("full sync:", full.Reason)
				clear(names)
				for row, err := range client.Lists.Rows(ctx, followedID, prospectkit.RowsParams{}) {
					if err != nil {
						log.Fatal(err)
					}
					names[row.ID()] = row.Text("firstName")
				}
				saved = full.After
				break
			}
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("new or changed:", change.Row.Text("firstName"))
			names[change.Row.ID()], saved = change.Row.Text("firstName"), change.Checkpoint()
		}
		fmt.Println(len(names), "rows,", sb.Calls("lists.rows")-before, "requests")
		switch run {
		case 0:
			sb.Do(func(tx *sandbox.Tx) {
				tx.AddRows(followedID, sandbox.Row{"firstName": "Cyd", "updatedAt": time.Now().UTC().Format("2006-01-02T15:04:05.000Z")})
			})
		case 1:
			sb.Do(func(tx *sandbox.Tx) { tx.RemoveRows(followedID, firstRowID(sb)) })
		}
	}
	// Output:
	// full sync: there is no checkpoint yet
	// 2 rows, 2 requests
	// new or changed: Cyd
	// 3 rows, 1 requests
	// full sync: the number of rows shows that some were removed, or added without a change
	// 2 rows, 2 requests
}

const followedID = "a00000000000000000000009"

// firstRowID is the id of the row that was added first.
func firstRowID(sb *sandbox.Sandbox) string {
	var row prospectkit.Row
	if err := row.UnmarshalJSON(sb.Rows(followedID)[0]); err != nil {
		log.Fatal(err)
	}
	return row.ID()
}
