package main

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// The chart, in units of its view box: two panels, one below the other, over the same minutes.
const (
	width, height = 880, 640
	left, right   = 136, 788 // of both panels
	plotHeight    = 130
	minutes       = 10
	firstTop      = 146
	secondTop     = 412
	rows          = 44 // below a plot, for the 429s
)

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title about">
<title id="title">%s</title>
<desc id="about">%s</desc>
<style>
svg { --paper: #ffffff; --ink: #1f2328; --soft: #59636e; --grid: #d8dee4; --band: #f2e9d8; --line: #0969da; --ours: #cf222e; --mate: #8a5a00; }
@media (prefers-color-scheme: dark) {
svg { --paper: #0d1117; --ink: #f0f6fc; --soft: #9aa4af; --grid: #2a313a; --band: #2b2313; --line: #58a6ff; --ours: #ff7b72; --mate: #e3b341; }
}
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: var(--soft); }
.h1 { font-size: 19px; font-weight: 600; fill: var(--ink); }
.h2 { font-size: 15px; font-weight: 600; fill: var(--ink); }
.clear { paint-order: stroke; stroke: var(--paper); stroke-width: 5px; } .strong { font-weight: 600; fill: var(--ink); }
.ours { fill: var(--ours); } .mate { fill: var(--mate); }
.paper { fill: var(--paper); stroke: var(--grid); } .band { fill: var(--band); }
.grid { stroke: var(--grid); } .done { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 4 3; }
.line { stroke: var(--line); stroke-width: 1.8; fill: none; stroke-linejoin: round; } .area { fill: var(--line); opacity: .14; }
.tick { stroke-width: 1.6; } .tick.ours { stroke: var(--ours); } .tick.mate { stroke: var(--mate); }
</style>
<rect class="paper" x="0.5" y="0.5" width="%d" height="%d" rx="10"/>
`

// chart is an SVG that is being written.
type chart struct{ bytes.Buffer }

// draw makes the chart of both pulls. Equal pulls make equal charts.
func draw(without, with *pull) []byte {
	var c chart
	title := fmt.Sprintf("%d,%03d pages at %d requests a minute, by %d goroutines", pages/1000, pages%1000, perMinute, goroutines)
	about := fmt.Sprintf("Two panels show how many requests the minute has left. Without a limiter: %s. With the budget: %s.", summary(without), summary(with))
	fmt.Fprintf(&c, head, width, height, title, about, width-1, height-1)
	c.text(24, 38, "h1", "start", title)
	c.text(24, 60, "", "start", "What is left of each minute's quota. For three of the minutes a teammate draws on it, too.")
	c.text(24, 80, "", "start", "What the teammate gets, the pull lacks: the budget ends later, because it lets more of the teammate's requests through.")
	c.panel(firstTop, "No limiter: send at once, come back when a 429 says", without)
	c.panel(secondTop, "prospectkit's budget: the whole quota, and room for others", with)
	c.text((left+right)/2, height-16, "", "middle", "minutes since the start")
	fmt.Fprintln(&c, "</svg>")
	return c.Bytes()
}

func summary(p *pull) string {
	return fmt.Sprintf("%s to us, %d of %d requests of the teammate refused, done after %s",
		count(len(p.refused), "429"), len(p.mateRefused), p.mateCalls, clock(p.took))
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what
	case 1:
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// panel draws one pull: what is left of the minute, and below it the 429s, a tick each.
func (c *chart) panel(top int, title string, p *pull) {
	bottom := top + plotHeight
	c.text(24, float64(top-38), "h2", "start", title)
	fmt.Fprintf(c, `<rect class="band" x="%s" y="%d" width="%s" height="%d"/>`+"\n",
		num(x(mateComes)), top, num(x(mateGoes)-x(mateComes)), plotHeight+rows)
	c.text(x(mateComes)+(x(mateGoes)-x(mateComes))/2, float64(top-8), "mate", "middle", "teammate: one request a second")
	for _, n := range []int{0, perMinute / 2, perMinute} {
		at := y(top, n)
		fmt.Fprintf(c, `<path class="grid" d="M%d %sH%d"/>`+"\n", left, num(at), right)
		c.text(left-10, at+4, "", "end", strconv.Itoa(n))
	}
	for m := range minutes + 1 {
		at := x(time.Duration(m) * time.Minute)
		fmt.Fprintf(c, `<path class="grid" d="M%s %dv%d"/>`+"\n", num(at), top, plotHeight+rows)
		c.text(at, float64(bottom+rows+18), "", "middle", strconv.Itoa(m))
	}
	c.text(left-10, float64(top-14), "", "end", "requests left")
	c.curve(top, p.left)
	c.refusals(bottom+12, "ours", "our 429s", p.refused, strconv.Itoa(len(p.refused)))
	c.refusals(bottom+30, "mate", "teammate's 429s", p.mateRefused, fmt.Sprintf("%d of %d", len(p.mateRefused), p.mateCalls))
	end := x(p.took)
	fmt.Fprintf(c, `<path class="done" d="M%s %dv%d"/>`+"\n", num(end), top-4, plotHeight+rows+4)
	c.text(end+6, float64(top+12), "clear strong", "start", "last page")
	c.text(end+6, float64(top+29), "clear", "start", clock(p.took))
}

// curve draws what is left of the minute as steps.
func (c *chart) curve(top int, samples []int) {
	var d bytes.Buffer
	fmt.Fprintf(&d, "M%d %s", left, num(y(top, samples[0])))
	for i := 1; i < len(samples); i++ {
		if samples[i] != samples[i-1] {
			fmt.Fprintf(&d, "H%sV%s", num(x(time.Duration(i)*sampled)), num(y(top, samples[i])))
		}
	}
	end := num(x(time.Duration(len(samples)-1) * sampled))
	fmt.Fprintf(c, `<path class="area" d="%sH%sV%dH%dZ"/>`+"\n", d.Bytes(), end, top+plotHeight, left)
	fmt.Fprintf(c, `<path class="line" d="%sH%s"/>`+"\n", d.Bytes(), end)
}

// refusals draws a row of ticks. What came at once is one tick with its number.
func (c *chart) refusals(top int, class, label string, at []time.Duration, all string) {
	c.text(left-10, float64(top+11), class, "end", label)
	c.text(right+10, float64(top+11), class, "start", all)
	for i, n := 0, 1; i < len(at); i, n = i+n, 1 {
		for i+n < len(at) && at[i+n]-at[i] < time.Second/2 {
			n++
		}
		fmt.Fprintf(c, `<path class="tick %s" d="M%s %dv13"/>`+"\n", class, num(x(at[i])), top)
		if n > 1 {
			c.text(x(at[i])+5, float64(top+11), class, "start", strconv.Itoa(n))
		}
	}
}

func (c *chart) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`+"\n", num(x), num(y), class, anchor, text)
}

func x(t time.Duration) float64 { return left + t.Minutes()/minutes*(right-left) }

func y(top, remaining int) float64 {
	return float64(top+plotHeight) - float64(remaining)*plotHeight/perMinute
}

func num(v float64) string { return fmt.Sprintf("%.1f", v) }
