package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

const demoRows = 12_000

// demo is the service when there is no account: a sandbox in this process, the same in every run.
func demo() *sandbox.Sandbox { return sandbox.New(nil, sandbox.Seed(fixture.Large(1, demoRows))) }

// teammate makes the changes for the second sync: rows change, are removed and added, and a list is deleted.
func teammate(sb *sandbox.Sandbox, out io.Writer) {
	fmt.Fprint(out, "\nA teammate changes 3 rows of the newest contact list, removes 2, adds 1, and creates another list.\n\n")
	lists := sb.Lists()
	newest := lists[slices.IndexFunc(lists, func(l sandbox.List) bool { return !l.System && l.EntityType == sandbox.ContactList })]
	sb.Do(func(tx *sandbox.Tx) {
		rows := sb.Rows(newest.ID)
		for _, raw := range rows[10:13] {
			var row sandbox.Row
			if err := json.Unmarshal(raw, &row); err != nil {
				panic(err) // the sandbox keeps JSON objects only
			}
			id, _ := row["id"].(string)
			row["jobTitle"], row["updatedAt"] = "Head of Surprises", now()
			tx.RemoveRows(newest.ID, id)
			tx.AddRows(newest.ID, row)
		}
		for _, raw := range rows[20:22] {
			var row struct{ ID string }
			if err := json.Unmarshal(raw, &row); err != nil {
				panic(err)
			}
			tx.RemoveRows(newest.ID, row.ID)
		}
		tx.AddRows(newest.ID, sandbox.Row{"firstName": "Ada", "jobTitle": "Engineer", "createdAt": now(), "updatedAt": now()})
		tx.CreateList(sandbox.List{Name: "Brand new", Rows: sandbox.Rows(sandbox.Row{"firstName": "Grace", "updatedAt": now()})})
	})
}

func now() string { return time.Now().UTC().Format(isoMillis) }
