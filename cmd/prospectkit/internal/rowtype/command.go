package rowtype

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/service"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/errtext"
	"example.com/prospectkit/internal/rowquery"
)

const help = `Writes a Go type for the rows of one list of your workspace, so that programs can use the rows,
custom columns included, without guessing. Later it tells you whether the rows still fit the type.

  prospectkit rowtype -list ID -o contact_gen.go      write the type
  prospectkit rowtype -check contact_gen.go           compare the rows with the type

` + service.Variables + `
The key needs the scope lists. The id of a list has 24 characters, 0 to 9 and a to f: whoever reads
your lists through the API sees it beside the name.

The command only reads. It changes nothing, sends nothing and costs no credits. It makes one request
for the list, and one for each 1,000 rows that it looks at. What it writes has names and types of
fields, and nothing that a row holds.

A field is a pointer if rows had null in it or lacked it. A field of which rows had several types is
a json.RawMessage. The file has what else a field needs so that a row is decoded and encoded again
without loss: methods for keys that no struct tag can hold, and a type for timestamps with milliseconds.
`

const helpEnd = `
Exit status: 0 if all went well, 3 if -check found rows that do not fit, 2 if the command could not
do its work; then it says why. Stopped early, it uses the rows that it has read, and exits with 2.
`

const (
	pageSize = 1000
	mostRows = 100_000
)

// New returns the command, with options for its client.
func New(opts ...prospectkit.ClientOption) cli.Command {
	c := &command{opts: opts}
	return cli.Command{
		Name: "rowtype", Summary: "write a Go type for the rows of a list, or say whether rows still fit it", Help: help, HelpEnd: helpEnd,
		Flags: c.flags, Run: c.run,
	}
}

type command struct {
	service.Access

	list, file, pkg, typ, check string
	rows                        int
	opts                        []prospectkit.ClientOption
	std                         cli.Std
	client                      *prospectkit.Client
	looked                      atomic.Int64
	quiet                       func() // ends the sign of life
}

func (c *command) flags(flags *flag.FlagSet) {
	c.Flags(flags)
	flags.StringVar(&c.list, "list", "", "`id` of the list; with -check, the list that the file names is the default")
	flags.StringVar(&c.file, "o", "", "`file` to write; without it, the type goes to standard output")
	flags.StringVar(&c.check, "check", "", "compare the rows of the list with the type in this `file`, and write nothing")
	flags.StringVar(&c.typ, "type", "", "`name` of the type; default Contact or Company, by the kind of the list, or the first of the file with -check")
	flags.StringVar(&c.pkg, "package", "", "`name` of the Go package; default: that of the folder of the file or of go generate, else main")
	flags.IntVar(&c.rows, "rows", pageSize, "how many `rows` to look at, at most, 1 to 100000")
}

func (c *command) run(ctx context.Context, std cli.Std, _ []string) (int, error) {
	c.std = std
	if err := c.valid(); err != nil {
		return 0, err
	}
	client, err := c.Client(std, c.opts...)
	if err != nil {
		return 0, err
	}
	c.client = client
	defer client.Close()
	ctx, cancel := c.Bounded(ctx)
	defer cancel()
	work := c.write
	if c.check != "" {
		work = c.compare
	}
	c.quiet = cli.Progress(std.Err, func() string {
		return fmt.Sprintf("%s, looked at %s%s", c.Requests(), errtext.Plural(int(c.looked.Load()), "row"), c.Waiting())
	})
	defer c.quiet()
	code, err := work(ctx)
	c.quiet()
	return code, service.Explain(err)
}

// valid checks the command line, and completes it.
func (c *command) valid() error {
	switch {
	case c.rows < 1 || c.rows > mostRows:
		return cli.Usage("-rows %d: it has to be 1 to %d", c.rows, mostRows)
	case c.check != "" && c.file != "":
		return cli.Usage("-check writes no file: leave out -o")
	case c.check == "" && c.list == "":
		return cli.Usage("-list is missing: say which list")
	case c.list != "" && !check.IsID(c.list):
		return cli.Usage("-list %s: the id of a list has 24 characters, 0 to 9 and a to f", c.list)
	}
	c.pkg = cmp.Or(c.pkg, c.std.Getenv("GOPACKAGE"), packageIn(filepath.Dir(c.file)), "main")
	return CheckNames(c.pkg, cmp.Or(c.typ, "Contact"))
}

// packageIn returns the package of the Go files of a folder, or nothing.
func packageIn(folder string) string {
	found, _ := build.ImportDir(folder, 0) // also with an error, such as of a file that is half written
	return found.Name
}

// write makes the type of a list.
func (c *command) write(ctx context.Context) (int, error) {
	if err := writable(c.file); err != nil {
		return 0, err
	}
	list, err := c.client.Lists.Get(ctx, c.list, withColumns)
	if err != nil {
		return 0, err
	}
	rows := Rows{Package: c.pkg, Type: c.typ, ListID: c.list, ListKind: string(list.Kind), Documented: rowquery.SortKeys(string(list.Kind)), Columns: columns(list)}
	if rows.Type == "" {
		rows.Type = "Contact"
		if list.Kind == prospectkit.CompanyList {
			rows.Type = "Company"
		}
	}
	looked, stopped, err := c.look(ctx, c.list, rows.Add)
	if err != nil {
		return 0, err
	}
	source, err := rows.Source()
	if err != nil {
		return 0, err
	}
	if c.file == "" {
		_, err = c.std.Out.Write(source)
	} else {
		err = os.WriteFile(c.file, source, 0o644) //nolint:gosec // G306: a source is for everybody to read
	}
	if err == nil {
		fmt.Fprintf(c.std.Err, "%s: made from %s; %s.\n", rows.Type, looked, c.Requests())
	}
	return cli.OK, cmp.Or(err, stopped)
}

// compare says how the rows of a list do not fit a file.
func (c *command) compare(ctx context.Context) (int, error) {
	source, err := os.ReadFile(c.check)
	if err != nil {
		return 0, err
	}
	file, err := ReadFile(source, c.typ)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.check, err)
	}
	id := cmp.Or(c.list, file.ListID)
	if id == "" {
		return 0, fmt.Errorf("%s does not name its list: say -list ID", c.check)
	}
	list, err := c.client.Lists.Get(ctx, id, withColumns)
	if err != nil {
		return 0, err
	}
	fits := NewFits(file, columns(list))
	looked, stopped, err := c.look(ctx, id, fits.Add)
	if err != nil {
		return 0, err
	}
	mismatches := fits.Mismatches()
	switch {
	case fits.Count() == 0:
		fmt.Fprintf(c.std.Out, "The list has no rows, so there is nothing to compare with %s.\n", file.Type)
		return cli.OK, nil
	case len(mismatches) == 0:
		fmt.Fprintf(c.std.Out, "%s fits: looked at %s.\n", file.Type, looked)
		return cli.OK, stopped
	}
	fmt.Fprintf(c.std.Out, "%s no longer fits: %s, looked at %s.\n\n", file.Type, errtext.Plural(len(mismatches), "difference"), looked)
	for _, m := range mismatches {
		fmt.Fprintf(c.std.Out, "  %s: %s (in %s)\n", m.Field, m.Problem, errtext.Plural(m.Rows, "row"))
	}
	fmt.Fprintf(c.std.Out, "\nTo write the type again: prospectkit rowtype -list %s -type %s -o %s\n", id, file.Type, c.check)
	return cli.Differs, stopped
}

var withColumns = prospectkit.GetListParams{Include: "columns"}

func columns(list *prospectkit.List) (all []Column) {
	for _, c := range list.Columns {
		all = append(all, Column{ID: c.ID, Name: c.Name, Type: c.Type})
	}
	return all
}

// look passes rows of a list on, and says how many of them it was. If it was stopped after some, that is no error.
func (c *command) look(ctx context.Context, list string, add func(row []byte) error) (looked string, stopped, err error) {
	var progress prospectkit.Progress
	for row, err := range c.client.Lists.Rows(ctx, list, prospectkit.RowsParams{Limit: min(c.rows, pageSize)}, prospectkit.WithProgress(&progress)) {
		if err != nil {
			stopped = err
			break
		}
		if err := add(row.Raw()); err != nil {
			return "", nil, err
		}
		if c.looked.Add(1) == int64(c.rows) {
			break
		}
	}
	c.quiet()
	n, total := int(c.looked.Load()), progress.Report().Total
	if n == 0 || !errors.Is(stopped, context.Canceled) && !errors.Is(stopped, context.DeadlineExceeded) {
		err = stopped
	}
	looked = errtext.Plural(n, "row")
	if total > n {
		looked = fmt.Sprintf("%d of %s", n, errtext.Plural(total, "row"))
	}
	return looked, stopped, err
}

// writable refuses to replace a file that a person has written.
func writable(file string) error {
	old, err := os.ReadFile(file) //nolint:gosec // G304: the user names the file
	switch {
	case errors.Is(err, fs.ErrNotExist): // as that without a name
		return nil
	case err != nil:
		return err
	case !IsWritten(old):
		return fmt.Errorf("%s is there, and this command has not written it: name another file with -o", file)
	}
	return nil
}
