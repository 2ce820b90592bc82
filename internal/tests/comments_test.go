package tests

import (
	"go/ast"
	"go/doc"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// codeSets are the codes that a call may return.
type codeSets struct{ documented, likely []string }

func (s *codeSets) add(more codeSets) {
	s.documented, s.likely = append(s.documented, more.documented...), append(s.likely, more.likely...)
}

// sorted removes repeats, and from the likely ones those that are documented.
func (s codeSets) sorted() codeSets {
	slices.Sort(s.documented)
	s.documented = slices.Compact(s.documented)
	s.likely = slices.DeleteFunc(slices.Clone(s.likely), func(c string) bool { return slices.Contains(s.documented, c) })
	slices.Sort(s.likely)
	s.likely = slices.Compact(s.likely)
	return s
}

var (
	codeLink   = regexp.MustCompile(`\[(Code\w+)\]`)
	methodLink = regexp.MustCompile(`\[(\w+Service\.\w+)\]`)
	remark     = regexp.MustCompile(`\([^()]*\)`)
)

// paragraph returns the paragraph of a comment that begins with a word, on one line.
func paragraph(f *ast.FuncDecl, word string) string {
	for text := range strings.SplitSeq(f.Doc.Text(), "\n\n") {
		if strings.HasPrefix(text, word) {
			return strings.Join(strings.Fields(text), " ")
		}
	}
	return ""
}

// codeNames maps the constants to the codes.
func codeNames(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), Path("codes.go"), nil, 0)
	require.NoError(t, err)
	names := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			names[spec.Names[0].Name] = strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)
		}
		return true
	})
	return names
}

// The line "Errors:" of a comment says which codes the document shows for the call and which are
// likely, as the table does. It may stand for those of another call.
func TestComments_ErrorsAreThoseOfTheTable(t *testing.T) {
	calls, names := parseSource(t).entrances(), codeNames(t)
	table := make(map[string]codeSets)
	for _, o := range op.All() {
		table[o.Route()] = codeSets{o.Codes, o.Likely}
	}
	for name, f := range calls {
		routes, _ := named(f)
		var want, got codeSets
		for _, route := range routes {
			want.add(table[route])
		}
		text := paragraph(f, "Errors:")
		if refs := methodLink.FindAllStringSubmatch(remark.ReplaceAllString(text, ""), -1); len(refs) > 0 {
			require.Regexp(t, `^Errors: those of \[\w+\.\w+\]( and \[\w+\.\w+\])*\.$`, text, name)
			for _, ref := range refs {
				other := calls[ref[1]]
				require.NotNil(t, other, "%s refers to %s", name, ref[1])
				require.NotContains(t, paragraph(other, "Errors:"), "those of", "%s refers to what refers on", name)
				others, _ := named(other)
				for _, route := range others {
					got.add(table[route])
				}
			}
			require.Subset(t, got.documented, want.documented, name)
			require.Subset(t, append(got.likely, got.documented...), want.likely, name)
			continue
		}
		documented, likely, _ := strings.Cut(remark.ReplaceAllString(text, ""), "likely: ")
		for _, link := range codeLink.FindAllStringSubmatch(documented, -1) {
			got.documented = append(got.documented, names[link[1]])
		}
		for _, link := range codeLink.FindAllStringSubmatch(likely, -1) {
			got.likely = append(got.likely, names[link[1]])
		}
		want = want.sorted()
		require.Equal(t, want, got.sorted(), "%s: its comment against the table", name)
		if text != "" {
			require.Equal(t, len(want.documented) > 0, strings.HasPrefix(text, "Errors: documented: "), name)
		}
	}
}

// What is undocumented is supplied by the caller. Each such comment names what the sandbox takes, in the words of its rules.
func TestComments_NameTheFieldsThatTheSandboxTakes(t *testing.T) {
	rules := make(map[string]string)
	for line := range strings.Lines(sandbox.Assumptions()) {
		id, text, _ := strings.Cut(line, ": ")
		rules[id] = text
	}
	sentence := regexp.MustCompile(`The sandbox takes ([^.]+) \(assumed: rule ([a-z.-]+)(?: and ([a-z.-]+))?\)\.`)
	small := strings.Fields("and or one of at least with a any body nothing objects alone")
	word := regexp.MustCompile(`[A-Za-z]+`)
	found := 0
	for name, f := range parseSource(t).entrances() {
		text := strings.Join(strings.Fields(f.Doc.Text()), " ")
		if !takesFields(f) && !strings.Contains(text, "The sandbox takes") { // a request with a few documented fields says it, too
			continue
		}
		found++
		match := sentence.FindStringSubmatch(text)
		require.NotNil(t, match, "%s does not say what the sandbox takes", name)
		require.NotEmpty(t, rules[match[2]], "%s: rule %s", name, match[2])
		require.True(t, match[3] == "" || rules[match[3]] != "", "%s: rule %s", name, match[3])
		known := word.FindAllString(rules[match[2]]+" "+rules[match[3]], -1)
		for _, w := range word.FindAllString(match[1], -1) {
			require.True(t, slices.Contains(small, w) || slices.Contains(known, w), "%s: %q is in none of its rules", name, w)
		}
	}
	require.NotZero(t, found)
}

func takesFields(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		named, ok := p.Type.(*ast.Ident)
		return ok && named.Name == "Fields"
	})
}

// go doc shows a constant under its type only if the group writes the type: X T = T(y), not X = T(y).
func TestComments_ConstantsStandUnderTheirType(t *testing.T) {
	for _, dir := range []string{"", "filter", "journal", "sandbox", "spend"} {
		names, err := filepath.Glob(Path(dir, "*.go"))
		require.NoError(t, err)
		fset := gotoken.NewFileSet()
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, file)
		}
		pkg, err := doc.NewFromFiles(fset, files, "example.com/prospectkit/"+dir)
		require.NoError(t, err)
		require.NotEmpty(t, pkg.Types, dir)
		for _, group := range pkg.Consts { // those under no type
			for _, spec := range group.Decl.Specs {
				value := spec.(*ast.ValueSpec)
				_, conversion := append(value.Values, nil)[0].(*ast.CallExpr)
				require.False(t, conversion, "%s: write the type of %s", dir, value.Names[0])
			}
		}
	}
}
