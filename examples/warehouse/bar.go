package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
)

// bar shows the progress of a sync: on a terminal in one changing line, elsewhere with a line for each tenth.
type bar struct {
	out      io.Writer
	terminal bool
	width    int
	forecast func(requests int) time.Duration

	mu          sync.Mutex // waits are reported from within calls
	name        string     // of the list
	rows, total int
	requests    int // left
	tenths      int // that have a line
}

// newBar shows progress on a file; forecast returns how long so many requests take.
func newBar(file *os.File, forecast func(requests int) time.Duration) *bar {
	b := &bar{out: file, forecast: forecast}
	if fd := int(file.Fd()); term.IsTerminal(fd) {
		b.terminal = true
		b.width, _, _ = term.GetSize(fd)
	}
	return b
}

// begin says how many rows there are to compare, and how many requests that will likely take.
func (b *bar) begin(rows, requests int) {
	b.set(func() { b.rows, b.total, b.requests, b.tenths, b.name = 0, rows, requests, -1, "" })
}

// at sets the position: a list, the rows already read, and the requests left.
func (b *bar) at(list string, rows, requests int) {
	b.set(func() { b.name, b.rows, b.requests = printable(list), rows, requests })
}

// page counts the rows of one response, or what an earlier process has read.
func (b *bar) page(rows, requests int) {
	b.set(func() { b.rows, b.requests = b.rows+rows, b.requests-requests })
}

// clear makes room for other output.
func (b *bar) clear() {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}

func (b *bar) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	b.rows, b.requests = min(b.rows, b.total), max(b.requests, 0)
	b.draw("")
}

// observe shows waits that are long enough to notice.
func (b *bar) observe(_ context.Context, e prospectkit.Event) {
	if e.Kind == event.KindWait && e.Wait >= time.Second {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.draw(fmt.Sprintf("waiting %s: %s", e.Wait.Round(time.Second), e.Reason))
	}
}

func (b *bar) draw(note string) {
	line := b.line(note)
	if b.terminal {
		if runes := []rune(line); b.width > 0 && len(runes) >= b.width {
			line = string(runes[:b.width-1])
		}
		fmt.Fprint(b.out, "\r\x1b[K", line)
		return
	}
	if tenths := 10 * b.rows / max(b.total, 1); note != "" || tenths != b.tenths {
		b.tenths = tenths
		fmt.Fprintln(b.out, line)
	}
}

// printable keeps a name from moving the cursor, or from taking more than its line.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, name)
}

const cells = 20

func (b *bar) line(note string) string {
	full := cells
	if b.total > 0 {
		full = cells * b.rows / b.total
	}
	left := humanize.Comma(int64(b.requests)) + " requests to go"
	switch {
	case b.requests == 1:
		left = "1 request to go"
	case b.requests == 0 && b.rows < b.total: // what was planned is used up: more had changed
		left = "more requests than planned"
	}
	if d := b.forecast(b.requests).Round(time.Second); d > 0 {
		left += fmt.Sprintf(", in about %s", d)
	}
	if note != "" {
		left = note
	}
	return fmt.Sprintf("  %s%s %s of %s rows, %s  %s", strings.Repeat("█", full), strings.Repeat("░", cells-full),
		humanize.Comma(int64(b.rows)), humanize.Comma(int64(b.total)), left, b.name)
}
