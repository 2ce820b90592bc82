// Package cli is what the subcommands of prospectkit share: flags, help, complaints, exit statuses, and a sign of life on a terminal.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The exit statuses of all subcommands.
const (
	OK      = 0
	Failed  = 2
	Differs = 3
	InDoubt = 6
)

const statuses = `
Exit status:
  0  all is well
  2  the command could not do its work, or was stopped before its end; it says why
  3  check: something differs
  6  in-doubt, resolve: the outcome of a call is still in doubt
`

// Std is what a command has of its process.
type Std struct {
	Out, Err io.Writer
	Getenv   func(string) string
}

// Command is a subcommand.
type Command struct {
	Name    string
	Args    string // such as "TICKET [FILE]": in brackets if it may be absent
	Summary string // one line
	Help    string // before the flags
	HelpEnd string // after the flags
	Flags   func(*flag.FlagSet)
	Run     func(ctx context.Context, std Std, args []string) (status int, err error) // an error is always [Failed]
}

// usageError is a mistake in the command line.
type usageError struct{ error }

// Usage returns the error of a wrong command line.
func Usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Main runs the subcommand that the arguments name, and returns the exit status.
func Main(ctx context.Context, std Std, commands []Command, args []string) int {
	if len(args) == 0 {
		overview(std.Err, commands)
		return Failed
	}
	name, rest := args[0], args[1:]
	help := slices.Contains([]string{"help", "-h", "-help", "--help"}, name)
	switch {
	case help && len(rest) == 0:
		overview(std.Out, commands)
		return OK
	case help:
		name, rest = rest[0], []string{"-help"}
	}
	i := slices.IndexFunc(commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		fmt.Fprintf(std.Err, "prospectkit: there is no command %q (prospectkit help shows them)\n", name)
		return Failed
	}
	return commands[i].Main(ctx, std, rest)
}

func overview(w io.Writer, commands []Command) {
	fmt.Fprint(w, "Usage: prospectkit COMMAND [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-9s  %s\n", c.Name, c.Summary)
	}
	fmt.Fprint(w, "\nprospectkit help COMMAND shows its flags.\n", statuses)
}

// Main runs the command, and returns the exit status.
func (c Command) Main(ctx context.Context, std Std, args []string) int {
	rest, err := c.parse(args, std.Out)
	var status int
	switch {
	case errors.Is(err, flag.ErrHelp):
		return OK
	case err != nil:
		err = usageError{err}
	default:
		status, err = c.Run(ctx, std, rest)
	}
	if err == nil {
		return status
	}
	hint := ""
	if _, ok := errors.AsType[usageError](err); ok {
		hint = fmt.Sprintf(" (prospectkit help %s shows the flags)", c.Name)
	}
	fmt.Fprintf(std.Err, "prospectkit %s: %v%s\n", c.Name, err, hint)
	return Failed
}

// parse reads flags and arguments in any order. Asked for help, it writes it and returns [flag.ErrHelp].
func (c Command) parse(args []string, help io.Writer) (rest []string, err error) {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // one line is clearer than one line and a page
	flags.Usage = func() {}
	c.Flags(flags)
	for {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			fmt.Fprintf(help, "Usage: %s\n\n%s\nFlags:\n", strings.TrimSpace("prospectkit "+c.Name+" [flags] "+c.Args), c.Help)
			flags.SetOutput(help)
			flags.PrintDefaults()
			fmt.Fprint(help, c.HelpEnd)
			return nil, err
		case err != nil:
			return nil, err
		}
		if flags.NArg() == 0 {
			return rest, c.count(rest)
		}
		rest, args = append(rest, flags.Arg(0)), flags.Args()[1:]
	}
}

func (c Command) count(args []string) error {
	wanted := strings.Fields(c.Args)
	if len(args) > len(wanted) {
		return fmt.Errorf("%q is not expected", args[len(wanted)])
	}
	if missing := wanted[len(args):]; len(missing) > 0 && !strings.HasPrefix(missing[0], "[") {
		return fmt.Errorf("%s is missing", missing[0])
	}
	return nil
}

// WriteJSON writes a value for programs.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Printable removes from a text what would break its line or change the terminal.
func Printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(text) {
		return strconv.Quote(text)
	}
	return text
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_.:/@%+=,-]+$`)

// Delimited quotes a text unless it is one plain word, so that one can see where it ends.
func Delimited(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}

// Quoted makes any text one word of a shell.
func Quoted(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
