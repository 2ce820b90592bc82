package main

import (
	"fmt"
	"strings"
)

// A column of the view is a documented sort field. One of the company is below company in the row of a contact.
type column struct {
	name, path string
	ofCompany  bool
}

var columns = []column{
	{"first_name", "firstName", false},
	{"last_name", "lastName", false},
	{"job_title", "jobTitle", false},
	{"city", "address.city", false},
	{"country", "address.country", false},
	{"company", "name", true},
	{"domain", "domain", true},
	{"industry", "industry", true},
	{"created_at", "createdAt", false},
	{"updated_at", "updatedAt", false},
}

// view makes living_rows: the rows that are not gone, with their documented fields. The two databases reach into JSON differently.
func view(postgres bool) string {
	head, text := "CREATE VIEW IF NOT EXISTS", func(path string) string { return "r.body ->> '$." + path + "'" }
	if postgres {
		head, text = "CREATE OR REPLACE VIEW", func(path string) string {
			return "r.body::json #>> '{" + strings.ReplaceAll(path, ".", ",") + "}'"
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s living_rows AS SELECT r.list_id, l.name AS list, l.kind, r.id", head)
	for _, c := range columns {
		value := text(c.path)
		if c.ofCompany {
			value = fmt.Sprintf("CASE l.kind WHEN 'contactList' THEN %s ELSE %s END", text("company."+c.path), value)
		}
		fmt.Fprintf(&b, ", %s AS %s", value, c.name)
	}
	b.WriteString(", r.body FROM list_rows r JOIN lists l ON l.id = r.list_id WHERE r.gone_run IS NULL")
	return b.String()
}
