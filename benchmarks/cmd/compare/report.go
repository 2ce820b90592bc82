package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

func wall(r result) float64   { return float64(r.Wall) }
func cpu(r result) float64    { return float64(r.CPU) }
func allocs(r result) float64 { return float64(r.Allocs) }
func size(r result) float64   { return float64(r.Bytes) }
func rss(r result) float64    { return float64(r.PeakRSS) }

// report renders everything as Markdown.
func (t *table) report() string {
	var b strings.Builder
	b.WriteString(intro)
	fmt.Fprintf(&b, "Measured on %s: %s, contenders built with %s; %d rounds, scale %g, %s.\n\n",
		t.began.UTC().Format("2 January 2006"), machine(), strings.Join(t.gos, " and "), t.rounds, t.scale, t.took.Round(time.Second))
	b.WriteString(t.warning())
	t.writeGoals(&b)
	t.writeRows(&b)
	b.WriteString("## Works\n\nIn brackets: how often each contender has done it with each version of Go, which is how many measurements a median is of.\n\n")
	for _, w := range works() {
		if n := t.times(&w); n > 0 {
			fmt.Fprintf(&b, "- %s: %s (%d)\n", w.id, w.title, n)
		}
	}
	b.WriteString("\n")
	for _, v := range t.views() {
		v.writeRatios(&b, "Wall time", wall)
		v.writeRatios(&b, "CPU time of the client", cpu)
	}
	b.WriteString(aboutContenders)
	for _, c := range contenders() {
		fmt.Fprintf(&b, "- **%s**%s: %s\n", c.name, release(c.module), c.does)
	}
	b.WriteString(aboutFigures)
	for _, w := range t.measured() {
		fmt.Fprintf(&b, "### %s: %s\n\n", w.id, w.title)
		for _, v := range t.views() {
			v.writeWork(&b, &w)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

const intro = `# Benchmarks

This file is written by ` + "`go run ./cmd/compare`" + ` in [benchmarks](../benchmarks/README.md). It compares prospectkit with the request
machinery of other Go SDKs, on the same bytes from a server in its own process on the same machine. Each measurement is a new
process; contenders take turns, figures are medians, and a ratio is the median of the ratios of single turns. **Trust the ratios, not the
figures**: on a shared machine they vary by some percent from run to run, and the server takes its part of the same cores.

The service allows at most 120 requests a minute and surface, so no workspace keeps a core busy. What a user feels first is how many
requests the work needs and how much latency is overlapped (W7); what decoding costs decides on small machines and with many
workspaces in one process.

`

const aboutContenders = `## What each does and does not do

All decode into the same structs and are asked in the way that their documentation shows for requests of one's own. Each uses its own
default transport, except in W6T, where all have one tuned alike, and in the row types, where it ends in the service. Responses come compressed in W3Z only, for all. All that goes by encoding/json matches keys without regard to
case, takes the last of two equal keys, and replaces invalid UTF-8 in silence.

`

const aboutFigures = `
## The figures

Ratios: how many times faster than by hand, or with how many times less CPU. CPU: user and system time of the client process, the
runtime's included; on a busy machine its ratio is the steadier one.
Allocations: number and bytes on the heap. Peak RSS: the high-water mark of the process, in a binary that links
this contender alone.

`

// writeRatios compares all in one table, works as columns.
func (v *view) writeRatios(b *strings.Builder, title string, time metric) {
	fmt.Fprintf(b, "## %s with %s, ratios to by hand\n\nAbove 1 is better than net/http and encoding/json by hand.\n\n|", title, v.version)
	columns := v.measured()
	for _, w := range columns {
		b.WriteString(" | " + w.id)
	}
	b.WriteString(" |\n|---" + strings.Repeat("|---:", len(columns)) + "|\n")
	for _, c := range contenders() {
		line, found := "| "+bold(c.name), false
		for _, w := range columns {
			ratio, ok := v.ratio(&w, c.name, byHandName, time)
			found = found || ok
			line += " | " + ratioText(ratio, ok)
		}
		if found {
			b.WriteString(line + " |\n")
		}
	}
	b.WriteString("\n")
}

// warning is for a machine that others kept busy.
func (t *table) warning() string {
	if t.others < 0.1 {
		return ""
	}
	return fmt.Sprintf("**Other programs had %.0f %% of the machine meanwhile: wall times and their ratios mean little in this run, the ratios of\nCPU time more. Run it again on a quiet machine.**\n\n", t.others*100)
}

func bold(name string) string {
	if name == ours {
		return "**" + name + "**"
	}
	return name
}

func ratioText(ratio float64, ok bool) string {
	switch {
	case !ok:
		return ""
	case ratio >= 10:
		return fmt.Sprintf("%.0f", ratio)
	case ratio >= 3:
		return fmt.Sprintf("%.1f", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

// writeWork is the section of one work.
func (v *view) writeWork(b *strings.Builder, w *work) {
	var lines []string
	for _, c := range contenders() {
		wallTime, ok := v.median(w, c.name, wall)
		if !ok {
			continue
		}
		n := v.units(w)
		get := func(f metric) float64 { m, _ := v.median(w, c.name, f); return m }
		ratio, known := v.ratio(w, c.name, byHandName, wall)
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s |", bold(c.name), ratioText(ratio, known),
			ratioText(v.ratio(w, c.name, byHandName, cpu)), duration(wallTime/n), duration(get(cpu)/n), decimals(get(allocs)/n), decimals(get(size)/n), decimals(get(rss)/(1<<20))+v.remark(w, &c)))
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "| %s | Wall ratio | CPU ratio | Wall a %s | CPU a %s | Allocations | Bytes | Peak RSS, MiB |\n|---|---:|---:|---:|---:|---:|---:|---:|\n%s\n\n",
		v.version, w.unit, w.unit, strings.Join(lines, "\n"))
}

// remark says who lost the code of an error.
func (v *view) remark(w *work, c *contender) string {
	if slices.Contains(v.losers(w), c.name) {
		return " (code lost)"
	}
	return ""
}

func duration(ns float64) string {
	switch {
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e4:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	case ns >= 1e3:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%.0f ns", ns)
}

func decimals(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// machine describes the computer without naming it.
func machine() string {
	model := "unknown CPU"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(info), "model name"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			model = strings.TrimSpace(strings.TrimLeft(line, " \t:"))
		}
	}
	return fmt.Sprintf("%s, %d cores, %s/%s", model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
}

// release tells which release of a module is linked into this binary.
func release(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok || module == "" {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return " (" + m.Path + " " + m.Version + ")"
		}
	}
	return ""
}
