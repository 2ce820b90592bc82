package sim

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestZZMeasure(t *testing.T) {
	f, _ := os.Create(os.Getenv("MEASURE_OUT"))
	row := func(name string, mk func(seed uint64) Config) {
		for _, m := range Models {
			var use, sv float64
			ref, longest, n, mr, mc := 0, time.Duration(0), 6, 0, 0
			for seed := range uint64(n) {
				c := mk(seed)
				c.Model = m
				r := Run(t, c)
				use += r.Use
				sv += float64(r.Calls) / float64(r.Servable)
				ref += r.Refused
				longest = max(longest, r.LongestWait)
				mr += r.MateRefused
				mc += r.MateCalls
			}
			fmt.Fprintf(f, "%-22s %-32s use %.3f servable %.3f 429 %d longest %s mates %.1f%%\n", name, m, use/float64(n), sv/float64(n), ref, longest.Round(time.Second/10), 100*float64(mr)/float64(max(1, mr+mc)))
		}
	}
	lat := func(seed uint64) time.Duration { return []time.Duration{20, 200, 1000}[seed%3] * time.Millisecond }
	base := func(workers int) func(uint64) Config {
		return func(seed uint64) Config { c := alone(seed, Aligned, workers); c.Latency = lat(seed); c.RoundDown = seed%2 == 1; return c }
	}
	with := func(b func(uint64) Config, ch func(*Config)) func(uint64) Config {
		return func(seed uint64) Config { c := b(seed); ch(&c); return c }
	}
	row("alone 8", base(8))
	row("alone 50", base(50))
	row("alone 8, 20/min", with(base(8), func(c *Config) { c.PerMinute = 20 }))
	row("lost 5%", with(base(50), func(c *Config) { c.Lost = 0.05 }))
	row("lost 10% 8", with(base(8), func(c *Config) { c.Lost = 0.1 }))
	row("bare", with(base(50), func(c *Config) { c.Bare = true }))
	row("mate 1/s", with(base(8), func(c *Config) { c.Mate = Mate{PerSecond: 1} }))
	row("mate 60/90s", with(base(8), func(c *Config) { c.Mate = Mate{Burst: 60, Every: 90 * time.Second} }))
	row("4 processes", with(base(40), func(c *Config) { c.Processes = 4 }))
	row("untold mate 1/s", with(base(8), func(c *Config) { c.Mate = Mate{PerSecond: 1}; c.Untold = true }))
	row("stray", with(base(8), func(c *Config) { c.Stray = 20 * time.Second; c.Run = 5 * time.Minute }))
	row("restart", with(base(100), func(c *Config) { c.Restart = 20 * time.Second; c.Whole = true }))
}
