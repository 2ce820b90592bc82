// Command allocations runs the benchmarks of the library and fails when one of them allocates more often than it used to:
//
//	go run ./internal/cmd/allocations
//
// Allocations can be counted on any machine, times cannot be compared. With -update it writes what it finds into
// testdata/allocations.txt; a higher number there is for the review to accept.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

const (
	slack   = 200 // of so many allocations, one more is chance: maps grow by the seed of their hash
	file    = "testdata/allocations.txt"
	command = "go run ./internal/cmd/allocations -update"
)

func main() {
	log.SetFlags(0)
	update := flag.Bool("update", false, "write what is found")
	flag.Parse()
	found, err := measure()
	if err != nil {
		log.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(render(found, release(runtime.Version()))), 0o644); err != nil {
			log.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	baseline, of := parse(string(old))
	if now := release(runtime.Version()); of != now {
		log.Printf("%s is of %s, this is %s: not compared", file, of, now)
		return
	}
	worse, better := compare(baseline, found)
	for _, line := range better {
		log.Print(line)
	}
	if len(worse) > 0 {
		log.Fatalf("%s\nif that is meant: %s", strings.Join(worse, "\n"), command)
	}
}

// measure runs the benchmarks: without garbage collection, which empties pools at random.
func measure() (map[string]int, error) {
	cmd := exec.Command("go", "test", "-run=^$", "-bench=.", "-benchmem", "-benchtime=100x", "-cpu=1", ".") //nolint:noctx // it ends on its own
	cmd.Env = append(os.Environ(), "GOGC=off")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return counts(string(out))
}

// counts reads the output of go test: how often one pass of each benchmark allocates.
func counts(out string) (map[string]int, error) {
	found := map[string]int{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		allocs, err := strconv.Atoi(fields[len(fields)-2])
		if err != nil || fields[len(fields)-1] != "allocs/op" {
			return nil, fmt.Errorf("no allocations in %q", line)
		}
		found[fields[0]] = allocs
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no benchmarks in:\n%s", out)
	}
	return found, nil
}

// release is the part of a version of Go that a baseline is good for.
func release(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func render(found map[string]int, release string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Allocations a pass of each benchmark of the library, by %s. Made by %s\n", release, command)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&b, "%-30s %6d\n", name, found[name])
	}
	return b.String()
}

// parse reads what render has written.
func parse(baseline string) (found map[string]int, release string) {
	found = map[string]int{}
	for line := range strings.Lines(baseline) {
		if _, of, ok := strings.Cut(line, ", by "); ok {
			release, _, _ = strings.Cut(of, ". ")
			continue
		}
		if fields := strings.Fields(line); len(fields) == 2 {
			found[fields[0]], _ = strconv.Atoi(fields[1])
		}
	}
	return found, release
}

// compare says what has grown, is new or has gone, and what has shrunk.
func compare(baseline, found map[string]int) (worse, better []string) {
	for name, allocs := range found {
		switch old, known := baseline[name]; {
		case !known:
			worse = append(worse, fmt.Sprintf("%s is not in %s", name, file))
		case allocs > old+old/slack:
			worse = append(worse, fmt.Sprintf("%s allocates %d times, it was %d", name, allocs, old))
		case allocs < old:
			better = append(better, fmt.Sprintf("%s allocates %d times, it was %d: keep it so with %s", name, allocs, old, command))
		}
	}
	for name := range baseline {
		if _, there := found[name]; !there {
			worse = append(worse, fmt.Sprintf("%s is in %s, but there is no such benchmark", name, file))
		}
	}
	slices.Sort(worse)
	slices.Sort(better)
	return worse, better
}
