package engine_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/engine"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// The table of docs/fleet.md says what Judge decides: for every code, every rule, and every other error that it names.
func TestJudge_Page(t *testing.T) {
	rows := rowsOfThePage(t)
	named := map[string]bool{}
	for _, failure := range failures(t) {
		row, by := rowOf(rows, failure)
		named[by] = true
		v := engine.Judge(failure.error)
		require.Equal(t, row[1:], cells(v, by, failure.error), "%v: %s", failure.error, row[0])
	}
	for _, row := range rows {
		for _, name := range names.FindAllStringSubmatch(row[0], -1) {
			require.True(t, named[name[1]], "the page names %s, which no error has", name[1])
		}
	}
}

// failure is an error and its names, from that which says most to that which says least.
type failure struct {
	error

	names []string
}

func failures(t *testing.T) (all []failure) {
	t.Helper()
	add := func(err error, names ...string) {
		if _, passes := prospectkit.RetryAfter(err); passes {
			names = append(names, "RetryAfter")
		} else if errors.As(err, new(*prospectkit.RefusedError)) {
			names = append(names, "RefusedError")
		} else if prospectkit.CodeOf(err).Known() {
			names = append(names, "Known")
		}
		all = append(all, failure{err, append(names, anythingElse)})
	}
	add(&prospectkit.OutcomeUnknownError{}, "ErrOutcomeUnknown")
	add(prospectkit.ErrResponseLost, "ErrResponseLost")
	add(&prospectkit.RefusedError{})
	add(os.ErrDeadlineExceeded)
	for name, rule := range constants(t, "errors.go", "SafetyRule") {
		add(&prospectkit.RefusedError{Rule: prospectkit.SafetyRule(rule)}, name)
	}
	for _, code := range constants(t, "codes.go", "Code") {
		code := prospectkit.Code(code)
		require.True(t, code.Known(), code)
		name := map[bool]string{true: "CodeUnexpectedError"}[code == prospectkit.CodeUnexpectedError]
		add(&prospectkit.Error{Code: code}, name)
		add(&prospectkit.Error{Code: code, RetryAfter: time.Hour}, name)
	}
	add(refusedByGuard(t, spend.NewGuard(0, spend.Prices{"search.prospects": {PerResult: 1}})), "ErrSpendCap")
	add(refusedByGuard(t, spend.NewGuard(1000, nil)), "spend.ErrUnknownPrice")
	return all
}

// refusedByGuard is the error of a paid read under a spend guard.
func refusedByGuard(t *testing.T, guard *spend.Guard) error {
	t.Helper()
	sb := sandbox.New(t)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithSpendGuard(guard))
	require.NoError(t, err)
	_, err = client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 30})
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	return err
}

// anythingElse is how the row for the other errors begins.
const anythingElse = "anything else"

// rowOf is the row that has one of the names, and this name.
func rowOf(rows [][]string, f failure) (row []string, name string) {
	for _, name := range f.names {
		for _, row := range rows {
			if strings.Contains(row[0], "`"+name+"`") || name == anythingElse && strings.HasPrefix(row[0], name) {
				return row, name
			}
		}
	}
	return []string{"no row"}, ""
}

// cells are a verdict in the words of the page. What follows a colon explains.
func cells(v engine.Verdict, by string, err error) []string {
	after, _ := prospectkit.RetryAfter(err)
	switch {
	case v == engine.Verdict{Done: true}:
		return []string{"done"}
	case v == engine.Verdict{Person: true}:
		return []string{"a person has to change something first"}
	case v == engine.Verdict{}:
		return []string{"again, by the engine's own policy"}
	case by == "RetryAfter" && v.After == after:
		return []string{"again then"}
	}
	return []string{fmt.Sprintf("again in %.0f s", v.After.Seconds())}
}

var names = regexp.MustCompile("`([^`]+)`")

// rowsOfThePage returns the rows of the table.
func rowsOfThePage(t *testing.T) (rows [][]string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/fleet.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(page), "\n| Error | Verdict |\n|---|---|\n")
	require.True(t, ok, "the page has the table")
	table, after, _ := strings.Cut(rest, "\n\n")
	require.True(t, strings.HasPrefix(after, "In River, *again* at a time is `JobSnooze`, and what needs a person `JobCancel`; "+
		"in Temporal, these are `NextRetryDelay` and `NonRetryable`."), "what the engines call the verdicts")
	for line := range strings.Lines(table) {
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		require.Len(t, row, 2, line)
		row[1], _, _ = strings.Cut(row[1], ":")
		rows = append(rows, row)
	}
	return rows
}

// constants are those of a type in a file of the root package: names and values.
func constants(t *testing.T, file, typ string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "../../../"+file, nil, 0)
	require.NoError(t, err)
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != typ {
			return true
		}
		found[spec.Names[0].Name] = text(t, spec.Values[0])
		return true
	})
	require.NotEmpty(t, found, typ)
	return found
}

// text is the value of a string constant, which may be a sum.
func text(t *testing.T, e ast.Expr) string {
	t.Helper()
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return text(t, sum.X) + text(t, sum.Y)
	}
	literal, ok := e.(*ast.BasicLit)
	require.True(t, ok, "%T", e)
	value, err := strconv.Unquote(literal.Value)
	require.NoError(t, err)
	return value
}
