package firstcontact

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/shapes"
)

// Format is the format of a report as JSON.
const Format = "prospectkit-check/1"

// Report is the result of a run.
type Report struct {
	Format   string         `json:"format"`
	Requests int            `json:"requests"`
	Held     int            `json:"held"`
	Differ   int            `json:"differ"`
	Untold   int            `json:"couldNotTell"`
	Findings []Finding      `json:"findings"`
	Compared bool           `json:"compared,omitempty"` // with an older file
	Since    []shapes.Since `json:"since,omitempty"`
}

// Same reports whether nothing differs: from the older file if there is one, or else from what is expected.
func (r *Report) Same() bool {
	if r.Compared {
		return len(r.Since) == 0
	}
	return r.Differ == 0
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer, verbose bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests were sent, all of them GET. Nothing was changed and nothing was spent.\n", r.Requests)
	if r.Compared {
		r.since(&b)
	}
	section := func(v Verdict, title string, n int, show bool) {
		fmt.Fprintf(&b, "\n%s: %d\n", title, n)
		for _, f := range r.Findings {
			if f.Verdict == v && show {
				f.text(&b)
			}
		}
	}
	section(Differs, "Differs from what is documented or assumed", r.Differ, true)
	section(Untold, "Could not tell", r.Untold, true)
	held := "Held"
	if !verbose {
		held += " (-v names them)"
	}
	section(Held, held, r.Held, verbose)
	b.WriteString("\nNot checked: what writes, spends credits or sends messages, and what needs several keys or a full rate limit." +
		"\nWhat is assumed of that: prospectkit sandbox -rules\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) since(b *strings.Builder) {
	if len(r.Since) == 0 {
		b.WriteString("\nSince the older file, nothing differs.\n")
		return
	}
	fmt.Fprintf(b, "\nDifferent since the older file: %d\n", len(r.Since))
	for _, s := range r.Since {
		fmt.Fprintf(b, "  %s: %s\n", s.Operation, s.Text)
	}
}

func (f Finding) text(b *strings.Builder) {
	fmt.Fprintf(b, "  %s (%s)", f.Check, f.Source)
	if f.Why != "" {
		fmt.Fprintf(b, ": %s", f.Why)
	}
	if f.Learnt != "" {
		fmt.Fprintf(b, ": %s", f.Learnt)
	}
	b.WriteByte('\n')
	for _, difference := range f.Differences {
		fmt.Fprintf(b, "    %s\n", difference)
	}
	if f.Question != "" && len(f.Differences) > 0 {
		fmt.Fprintf(b, "    This settles %s.\n", f.Question)
	}
}

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
