package firstcontact

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"example.com/prospectkit/internal/op"
)

// Format is the format of a report as JSON.
const Format = "prospectkit-check/1"

// Report is the result of a run.
type Report struct {
	Format   string    `json:"format"`
	Requests int       `json:"requests"`
	Held     int       `json:"held"`
	Differ   int       `json:"differ"`
	Untold   int       `json:"couldNotTell"`
	Findings []Finding `json:"findings"`
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer, verbose bool) error {
	type section struct {
		Title    string
		Hidden   bool
		Findings []Finding
	}
	of := func(v Verdict) []Finding {
		return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Verdict != v })
	}
	return reportText.Execute(w, map[string]any{"report": r, "sections": []section{
		{"Differs from what is documented or assumed", false, of(Differs)},
		{"Could not tell", false, of(Untold)},
		{"Held", !verbose, of(Held)},
	}})
}

var reportText = template.Must(template.New("").Parse(`{{with .report -}}
{{.Requests}} requests were sent, all of them GET. Nothing was changed and nothing was spent.
{{end}}{{range .sections}}
{{.Title}}{{if .Hidden}} (-v names them){{end}}: {{len .Findings}}
{{if not .Hidden}}{{range .Findings}}  {{.Check}} ({{.Source}}){{with .Why}}: {{.}}{{end}}{{with .Learnt}}: {{.}}{{end}}
{{range .Differences}}    {{.}}
{{end}}{{if and .Question .Differences}}    This settles {{.Question}}.
{{end}}{{end}}{{end}}{{end}}
Not checked: what writes, spends credits or sends messages, and what needs several keys or a full rate limit.
What is assumed of that: prospectkit sandbox -rules
`))

// DryRun lists the requests that a run with these routes may send. It sends nothing.
func DryRun(w io.Writer, routes map[string]string) error {
	r := &Run{routes: map[*op.Op]string{}}
	if err := r.setRoutes(routes); err != nil {
		return err
	}
	var b strings.Builder
	asks := plan()
	fmt.Fprintf(&b, "About %d requests, all of them GET. None changes anything, none costs credits, none sends a message.\n", len(asks))
	b.WriteString("Ids come from the listings that were read before. A request without its id is left out.\n\n")
	for _, a := range asks {
		path := cmp.Or(r.routes[a.op], a.op.Path)
		if path == "" {
			path = strings.Join(guesses(a.op)[:2], " or ")
		}
		fmt.Fprintf(&b, "GET %s\n    %s", strings.TrimSuffix(path+"?"+a.query, "?"), a.likes)
		if a.fails != nil {
			fmt.Fprintf(&b, "; expected: %d %s", a.fails.status, a.fails.code)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\nWhere a path leads nowhere, up to two similar paths are tried. At most %d requests are sent in all.\n", MaxRequests())
	_, err := io.WriteString(w, b.String())
	return err
}
