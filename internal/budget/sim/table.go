package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Table compares all strategies on all models of servers in Markdown, a line for each strategy. A cell has our 429s, the
// teammate's if there is one, the use of the quota, the longest wait of a call, and the calls given up if there are any. The
// strategy, the model and the seed of the configuration are replaced.
func Table(c Config, seeds ...uint64) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, m := range Models {
		fmt.Fprintf(&b, " %s |", m)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(Models)) + "\n")
	for _, s := range Strategies {
		fmt.Fprintf(&b, "| %s |", s)
		for _, m := range Models {
			c.Strategy, c.Model = s, m
			fmt.Fprintf(&b, " %s |", cell(average(c, seeds), c.Mate != Mate{}))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func cell(r Result, mate bool) string {
	text := strconv.Itoa(r.Refused)
	if mate {
		text += fmt.Sprintf(" · %d", r.MateRefused)
	}
	text += fmt.Sprintf(" · %.0f %% · %s", 100*r.Use, r.LongestWait.Round(time.Second))
	if r.Failed > 0 {
		text += fmt.Sprintf(" · %d given up", r.Failed)
	}
	return text
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

// Rhythms compares, for a teammate who sends so many requests at once in a rhythm, what is left to them when it is due with what is left
// to them without a rhythm: a line for each rhythm. A cell has the teammate's refused requests and the use of the quota, of both.
func Rhythms(c Config, rhythms []time.Duration, seeds ...uint64) string {
	var b strings.Builder
	b.WriteString("| every |")
	for _, m := range Models {
		fmt.Fprintf(&b, " %s |", m)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(Models)) + "\n")
	for _, every := range rhythms {
		c.Mate.Every = every
		fmt.Fprintf(&b, "| %s |", every)
		for _, m := range Models {
			c.Model, c.Strategy = m, Ours
			ours := average(c, seeds)
			c.Strategy = Blind
			blind := average(c, seeds)
			fmt.Fprintf(&b, " %.0f %% / %.0f %% · %.0f %% / %.0f %% |", ours.refusedMates(), blind.refusedMates(), 100*ours.Use, 100*blind.Use)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (r Result) refusedMates() float64 {
	return 100 * float64(r.MateRefused) / float64(max(1, r.MateRefused+r.MateCalls))
}
