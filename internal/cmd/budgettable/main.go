// Command budgettable simulates ways of living with a rate limit and writes the tables into docs/budget.md:
//
//	go run ./internal/cmd/budgettable
//
// The same code gives the same tables on the same kind of machine, so with -check it only tells whether they are fresh.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"example.com/prospectkit/internal/budget/sim"
)

const (
	page  = "docs/budget.md"
	begin = "<!-- tables: made by go run ./internal/cmd/budgettable -->\n"
	end   = "<!-- end of tables -->\n"
)

func main() {
	check := flag.Bool("check", false, "write nothing, fail if the tables are not fresh")
	flag.Parse()
	old, err := os.ReadFile(page)
	if err != nil {
		log.Fatal(err)
	}
	fresh, err := render(old, tables(10*time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	switch {
	case bytes.Equal(old, fresh):
	case *check:
		log.Fatalf("%s is not fresh: run go run ./internal/cmd/budgettable", page)
	default:
		if err := os.WriteFile(page, fresh, 0o600); err != nil {
			log.Fatal(err)
		}
	}
}

// render replaces what stands between the marks.
func render(old []byte, tables string) ([]byte, error) {
	before, rest, opened := bytes.Cut(old, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !opened || !closed {
		return nil, fmt.Errorf("%s has no marks for the tables", page)
	}
	return bytes.Join([][]byte{before, []byte(begin), []byte(tables), []byte(end), after}, nil), nil
}

// tables simulates the widest surface of the service, saturated for so long, and the rhythms for three times that.
func tables(run time.Duration) string {
	base := sim.Config{PerMinute: 120, PerDay: 10_000, Run: run, Documents: true}
	var b bytes.Buffer
	for _, scene := range []struct {
		title   string
		workers int
		mate    sim.Mate
	}{
		{"Alone, 1 goroutine", 1, sim.Mate{}},
		{"Alone, 8 goroutines", 8, sim.Mate{}},
		{"Alone, 50 goroutines", 50, sim.Mate{}},
		{"Alone, 200 goroutines", 200, sim.Mate{}},
		{"8 goroutines and a teammate who sends one request a second", 8, sim.Mate{PerSecond: 1}},
		{"200 goroutines and a teammate who sends one request a second", 200, sim.Mate{PerSecond: 1}},
		{"8 goroutines and the same teammate, who comes after five minutes", 8, sim.Mate{PerSecond: 1, From: 5 * time.Minute}},
		{"50 goroutines and a teammate who sends 60 requests at once every 90 seconds", 50, sim.Mate{Burst: 60, Every: 90 * time.Second}},
	} {
		c := base
		c.Workers, c.Mate = scene.workers, scene.mate
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", scene.title, sim.Table(c, 1, 2, 3))
	}
	c := base
	c.Workers, c.Mate.Burst, c.Run = 8, 60, 3*run
	every := []time.Duration{30 * time.Second, 45 * time.Second, time.Minute, 75 * time.Second, 90 * time.Second, 2 * time.Minute, 3 * time.Minute}
	fmt.Fprintf(&b, "\n### 8 goroutines and a teammate who sends 60 requests at once in a rhythm\n\n%s\n", sim.Rhythms(c, every, 1, 2, 3))
	return b.String()
}
