package sim

import (
	"fmt"
	"strings"
	"time"
)

// Table compares all strategies on all models of servers, one line for each, in Markdown: refusals of ours, of the teammate,
// use of the quota, longest wait of a call, fairness. The strategy, the model and the seed of the configuration are replaced.
func Table(c Config, seeds ...uint64) string {
	var b strings.Builder
	b.WriteString("| Strategy | Server | 429 us | 429 teammate | Use | Longest wait | Jain | Given up |\n|---|---|---|---|---|---|---|---|\n")
	for _, s := range Strategies {
		for _, m := range Models {
			c.Strategy, c.Model = s, m
			r := average(c, seeds)
			fmt.Fprintf(&b, "| %s | %s | %d | %d of %d | %.1f %% | %s | %.3f | %d |\n", s, m, r.Refused, r.MateRefused,
				r.MateRefused+r.MateCalls, 100*r.Use, r.LongestWait.Round(time.Second), r.Jain, r.Failed)
		}
	}
	return b.String()
}

// average is the mean of the runs, but the worst wait and fairness.
func average(c Config, seeds []uint64) Result {
	var mean Result
	mean.Jain = 1
	for _, seed := range seeds {
		c.Seed = seed
		r := Run(c)
		mean.Calls += r.Calls
		mean.Refused += r.Refused
		mean.MateCalls += r.MateCalls
		mean.MateRefused += r.MateRefused
		mean.Failed += r.Failed
		mean.Use += r.Use / float64(len(seeds))
		mean.LongestWait = max(mean.LongestWait, r.LongestWait)
		mean.Jain = min(mean.Jain, r.Jain)
	}
	n := max(1, len(seeds))
	mean.Calls, mean.Refused, mean.Failed = mean.Calls/n, mean.Refused/n, mean.Failed/n
	mean.MateCalls, mean.MateRefused = mean.MateCalls/n, mean.MateRefused/n
	return mean
}
