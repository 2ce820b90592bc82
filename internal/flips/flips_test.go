// Package flips changes one cell of the decision table of retries at a time, and demands that a test fails:
//
//	go test ./internal/flips -count=1 -timeout 1h -flips cells
//
// It builds the tests of the client once, with a copy of call_retry.go in which the environment chooses the cell, and the step in
// its place. With -flips few, each cell gets one other step; with -flips all, it does the same with each condition that chooses the row.
// The test that repeats the table, and the test that holds testdata/retry.json against it, do not count: the behavior has to give the
// change away.
//
// Flips that change nothing a caller could see are listed in patient_test.go, with the reason. They are left out.
package flips

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var which = flag.String("flips", "", "`few`, cells or all")

const (
	root     = "../.."
	source   = "call_retry.go"
	variable = "PROSPECTKIT_FLIP"
	rooms    = "internal/tests"
	uncalled = "^(TestRetry_DecisionTable|TestRetryData|TestRetryDocs_.*)$" // they know the table
)

func TestFlips(t *testing.T) {
	t.Parallel()
	if *which == "" {
		return // it takes minutes
	}
	require.Contains(t, []string{"few", "cells", "all"}, *which)
	code, err := os.ReadFile(filepath.Join(root, source))
	require.NoError(t, err)
	changed, flips, err := instrument(source, code)
	require.NoError(t, err)
	stages := build(t, changed)
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, caughtBy(t, stages, flip{}), "else everything would be caught")
	})
	for _, f := range choose(flips, *which) {
		t.Run(f.text, func(t *testing.T) {
			t.Parallel()
			by := caughtBy(t, stages, f)
			require.NotEmpty(t, by, "no test fails")
			t.Log("caught by ", by)
		})
	}
}

// choose keeps the wanted flips; of few, the first of each cell.
func choose(flips []flip, which string) (chosen []flip) {
	seen := map[string]bool{}
	for _, f := range flips {
		if !alike.MatchString(f.text) && (f.cell || which == "all") && (which != "few" || !seen[f.place]) {
			seen[f.place] = true
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// stage is a part of the tests of a package, as a program.
type stage struct{ program, dir, tests string }

// build makes the stages, the fastest first.
func build(t *testing.T, changed map[string][]byte) (stages []stage) {
	t.Helper()
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	scratch, replace := t.TempDir(), map[string]string{}
	for name, text := range changed {
		copied := filepath.Join(scratch, name)
		require.NoError(t, os.WriteFile(copied, text, 0o600))
		replace[filepath.Join(here, name)] = copied
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlay := filepath.Join(scratch, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, list, 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", scratch+"/", ".", "./"+rooms+"/...")
	cmd.Dir = here
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	add := func(room, tests string) {
		program := filepath.Join(scratch, path.Base(path.Join("prospectkit", room))+".test")
		stages = append(stages, stage{program, filepath.Join(here, room), tests})
	}
	add("", "^TestRetry_AttemptsPerResponse$")
	add("", "^TestRetry_")
	add(rooms+"/call", "^TestRetry_")
	add(rooms, "^TestRetry")
	add("", "^Test")
	for _, subject := range []string{"call", "outcome", "services", ""} {
		add(path.Join(rooms, subject), "^Test")
	}
	return stages
}

// caughtBy returns the first test that fails with a flip, or nothing.
func caughtBy(t *testing.T, stages []stage, f flip) string {
	t.Helper()
	for _, s := range stages {
		if name := s.failure(t, f.place+"="+f.value); name != "" {
			return name
		}
	}
	return ""
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// failure runs the tests with a flip. It returns the name of the test that fails, if one does.
func (s stage) failure(t *testing.T, flip string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.program, "-test.short", "-test.failfast", "-test.timeout=2m", "-test.run", s.tests, "-test.skip", uncalled)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), variable+"="+flip)
	text, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	names := failed.FindAllStringSubmatch(string(text), -1)
	if len(names) == 0 {
		return "a crash: " + string(text)
	}
	name := names[0][1] // with -failfast, a subtest follows its parent
	if len(names) > 1 && strings.HasPrefix(names[1][1], name+"/") {
		name = names[1][1]
	}
	return name
}
