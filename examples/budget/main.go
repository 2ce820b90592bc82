// Command budget reads a thousand pages with eight goroutines, while a teammate uses the same quota for some minutes. It does so
// twice: without a limiter, waiting as each 429 says, and with the client's rate budget. It prints the result of each, and draws both
// into one chart. The minutes are virtual and take a second.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/ratelimit"
)

const usage = `Usage: budget [-svg FILE]

Reads a thousand pages twice, without a limiter and with the client's rate budget, and draws both into one chart.
It runs on a sandbox in virtual time, needs no account, and reads nothing from the environment.

`

func main() {
	file := flag.String("svg", filepath.Join("out", "budget.svg"), "write the chart into this `file`")
	out := begin(usage)
	out.end(run(*file, out))
}

func run(file string, out io.Writer) error {
	ways := []struct {
		name string
		read reader
	}{{"no limiter, back after each 429", readAgain}, {"the rate budget", readPage}}
	forecast := prospectkit.NewBudget(prospectkit.BudgetConfig{}).Forecast(ratelimit.SurfaceLists, pages)
	fmt.Fprintf(out, "%d pages at %d requests a minute: the budget forecasts %s.\n", pages, perMinute, clock(forecast))
	fmt.Fprintf(out, "From %s to %s a teammate sends a request a second.\n\n", clock(mateComes), clock(mateGoes))
	pulls := make([]*pull, len(ways))
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "\t429s\tteammate's 429s\tdone after")
	for i, way := range ways {
		p, err := virtually(way.read)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%d\t%d of %d\t%s\n", way.name, len(p.refused), len(p.mateRefused), p.mateCalls, clock(p.took))
		pulls[i] = p
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(file, draw(pulls[0], pulls[1]), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe chart is in %s\n", file)
	return nil
}

// virtually records in a bubble of testing/synctest, where waiting takes no time. The client needs no special clock for that.
// The bubble needs a test, which fails if the bubble does. An empty one is enough.
func virtually(read reader) (p *pull, err error) {
	synctest.Test(new(testing.T), func(*testing.T) { p, err = record(context.Background(), read) })
	return p, err
}

func clock(d time.Duration) string {
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
}
