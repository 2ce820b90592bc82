package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/prospectkit/internal/op"
)

// A task is a part of an operation that is still missing.
type task struct {
	op     string
	where  string
	what   string
	before bool // the golden files need it
}

func (t task) String() string { return fmt.Sprintf("%s: %s: %s", t.op, t.where, t.what) }

// missing lists what the rows of the table lack, in the order in which a person writes it.
func missing(source string) ([]task, error) {
	reached, noCalls := calls(source)
	looks, noLooks := keyed(source, ".")
	served, noHandlers := keyed(source, "sandbox")
	var unread error
	text := func(elements ...string) string {
		content, err := os.ReadFile(filepath.Join(append([]string{source}, elements...)...))
		unread = errors.Join(unread, err)
		return string(content)
	}
	made, rows := text("internal", "tests", "calls.go"), text("testdata", "conformance.md")
	asks := text("cmd", "prospectkit", "internal", "firstcontact", "asks.go")
	vars := make(map[string]string)
	for _, match := range row.FindAllStringSubmatch(text("internal", "op", "table.go"), -1) {
		vars[match[2]] = "op." + match[1]
	}
	if err := errors.Join(noCalls, noLooks, noHandlers, unread); err != nil {
		return nil, err
	}
	methodIn := func(o *op.Op) string {
		_, file, _ := strings.Cut(strings.Join(reached[o.Route()], ""), "(../")
		file, _, _ = strings.Cut(file, ")")
		return file
	}
	servedIn := func(o *op.Op) string { return served[vars[o.Name]] }
	var list []task
	for _, o := range op.All() {
		need := func(ok bool, where, what string, before bool) {
			if !ok {
				list = append(list, task{o.Name, where, what, before})
			}
		}
		name := vars[o.Name]
		methods := inFamily(o, methodIn, "the file of its service") + " or one beside it, such as lists_rows.go"
		need(reached[o.Route()] != nil, methods, fmt.Sprintf("its method; the comment ends with %q", fmt.Sprintf("%s, scope %s.", o.Route(), o.Scope)), true)
		need(!o.Resolves || looks[name] != "", methods, "the function look... that shows its effect, in the map of looks", false)
		handlers := inFamily(o, servedIn, "sandbox, a new file")
		ownTest := strings.Replace(inFamily(o, servedIn, "a new file beside its handler"), ".go", "_test.go", 1)
		need(served[name] != "", handlers, "its handler, under "+name+", and a sentence for each assumption", true)
		need(strings.Contains(made, fmt.Sprintf("%q:", o.Name)), "internal/tests/calls.go", "a call that succeeds", true)
		need(strings.Contains(rows, "`"+o.Name+"`"), "testdata/conformance.md", "a row at the end of its section, which speaks of it and names its own test, in "+ownTest, false)
		asked := regexp.MustCompile(`op: ` + regexp.QuoteMeta(name) + `\b`).MatchString(asks)
		need(!o.FreeRead() || asked, "cmd/prospectkit/internal/firstcontact/asks.go", "a request in plan", false)
	}
	return list, nil
}

// inFamily is the first file that a function finds for an operation of the same family, or the other text.
func inFamily(o *op.Op, file func(*op.Op) string, otherwise string) string {
	family, _, _ := strings.Cut(o.Name, ".")
	for _, other := range op.All() {
		if found := file(other); strings.HasPrefix(other.Name, family+".") && found != "" {
			return found
		}
	}
	return otherwise
}

// row is a row of the table: its variable, and the name of its operation.
var row = regexp.MustCompile(`(?s)(\w+) += def\(Op\{.*?Name: "(.*?)"`)

// key is a row as the key of a map: of a function that looks for its effect, or of its endpoint.
var key = regexp.MustCompile(`\b(op\.\w+): +\S`)

// keyed are the rows that are keys of maps, and in which file of a directory they stand.
func keyed(source, dir string) (map[string]string, error) {
	texts, err := sources(filepath.Join(source, dir))
	keys := make(map[string]string)
	for name, text := range texts {
		for _, match := range key.FindAllStringSubmatch(text, -1) {
			keys[match[1]] = path.Join(dir, name)
		}
	}
	return keys, err
}

// checks are what go runs once nothing is missing: the tests that write the golden files which an operation, or what the sandbox keeps for
// it, may change; and those that find what is new of a response.
var checks = [][]string{
	{"test", ".", "./sandbox", "./internal/tests", "-run", `^(TestRetryData|TestRetryData_World|TestExchanges|TestGolden\w+)$`, "-update"},
	{"test", "./internal/tests", "./internal/tests/call", "./internal/tests/services", "-run", `^(TestConfirmed_(ASuccess|Is)\w+|TestClass_\w+|TestResolve_WhatAReadShows|TestRecords_NoDocumentedResponseIsBare|TestDecode_ResponsesAboutSomethingElse|TestPages_TheDefault\w+)$`},
	{"test", "./cmd/prospectkit/internal/firstcontact", "-run", "^TestRun_Unchanged$", "-failfast"},
	{"test", "./cmd/prospectkit/internal/firstcontact", "-run", "^TestPlanted$", "-update"},
}

// runChecks returns what the tests say that fail.
func runChecks(out io.Writer, source string) (failed []string) {
	for _, args := range checks {
		command := regexp.MustCompile(` (\^\S+)`).ReplaceAllString("go "+strings.Join(args, " "), " '$1'")
		fmt.Fprintln(out, "running "+command)
		if text, err := runGo(source, args...); err != nil {
			failed = append(failed, command+" fails:\n"+text[:min(len(text), 4000)])
		}
	}
	return failed
}

func runGo(source string, args ...string) (text string, err error) {
	cmd := exec.CommandContext(context.Background(), "go", args...) //nolint:gosec // G204: the arguments are of this file
	cmd.Dir = source
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// compiles returns the first error of the compiler in the packages that hold the parts of an operation, and nothing that follows from it.
func compiles(source string, packages ...string) error {
	text, err := runGo(source, append([]string{"build"}, packages...)...)
	if err == nil {
		return nil
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.Contains(line, ".go:") {
			return errors.New(line)
		}
	}
	return fmt.Errorf("go build: %w: %s", err, text)
}

// report writes everything that the table lacks, as a list of what to do next, once everything compiles.
func report(out io.Writer, source string) error {
	if err := compiles(source, ".", "./sandbox", "./internal/tests", "./cmd/prospectkit/internal/firstcontact"); err != nil {
		return err
	}
	list, err := missing(source)
	if err != nil {
		return err
	}
	var todo []string
	for _, t := range list {
		todo = append(todo, t.String())
	}
	if slices.ContainsFunc(list, func(t task) bool { return t.before }) {
		todo = append(todo, "then: go generate . writes the golden files, too")
	} else {
		todo = append(todo, runChecks(out, source)...)
	}
	if len(todo) == 0 {
		_, err = fmt.Fprintln(out, "Nothing is missing. CONTRIBUTING.md, \"Adding an operation\", says which tests to run now.")
		return err
	}
	_, err = fmt.Fprintf(out, "To do next, in this order (CONTRIBUTING.md, \"Adding an operation\"):\n  %s\n", strings.Join(todo, "\n  "))
	return err
}
