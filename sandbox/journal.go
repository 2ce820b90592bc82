package sandbox

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// Entry is one request as the sandbox received it. Tokens and bodies are not kept.
type Entry struct {
	RequestID string    `json:"requestId"`
	Time      time.Time `json:"time"`
	Op        string    `json:"operation"` // empty if no operation has this path and method
	Workspace string    `json:"workspace"` // empty without a valid key, as is the next
	KeyName   string    `json:"key"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	Query     string    `json:"query"`  // as it was sent
	Status    int       `json:"status"` // zero if the connection was cut before anything was done
	Code      string    `json:"code"`
	Processed bool      `json:"processed"` // the rules accepted it, whatever a fault made of the response
	Effects   []string  `json:"effects"`
	Credits   int64     `json:"credits"` // spent
	Fault     string    `json:"fault"`   // what was done to it on purpose
}

// String is one line.
func (e Entry) String() string {
	path := (&url.URL{Path: e.Path}).EscapedPath() // it may hold anything
	line := fmt.Sprintf("%s %s %s %d %s", e.RequestID, e.Method, path, e.Status, e.Code)
	line = strings.TrimRight(line, " ")
	if len(e.Effects) > 0 {
		line += ": " + strings.Join(e.Effects, ", ")
	}
	if e.Fault != "" {
		line += " [" + e.Fault + "]"
	}
	return line
}

// journal remembers the newest requests, and how often each operation was called.
type journal struct {
	entries  []Entry
	requests int
	calls    map[string]int
}

const longestJournal = 100_000

func (j *journal) requestID() string {
	j.requests++
	return fmt.Sprintf("req_%06d", j.requests)
}

func (j *journal) add(c *call, d *delivery) {
	if d.fault.drop == dropRefuse {
		return // it never got here
	}
	e := Entry{
		RequestID: c.id, Time: c.now, Method: c.req.Method, Path: c.req.URL.Path, Query: c.req.URL.RawQuery, Status: d.response.status, Code: d.response.code,
		Processed: d.processed, Effects: c.effects, Credits: c.spent, Fault: d.fault.String(),
	}
	if c.op != nil {
		e.Op = c.op.Name
		j.calls[e.Op]++
	}
	if c.key != nil {
		e.Workspace, e.KeyName = c.key.ws.Name, c.key.Name
	}
	if len(j.entries) == longestJournal {
		j.entries = slices.Delete(j.entries, 0, longestJournal/4)
	}
	j.entries = append(j.entries, e)
}

// tail is the end of a journal, in lines.
func tail(entries []Entry, n int) string {
	if len(entries) == 0 {
		return "the journal is empty"
	}
	var b strings.Builder
	b.WriteString("the journal ends with:")
	for _, e := range entries[max(0, len(entries)-n):] {
		b.WriteString("\n  " + e.String())
	}
	return b.String()
}

// Journal returns the requests, oldest first: at most the newest 100,000.
func (sb *Sandbox) Journal() []Entry {
	sb.enter()
	defer sb.mu.Unlock()
	return copied(sb.journal.entries)
}

// Calls counts the requests for an operation, "lists.rows" for example, whatever the responses.
func (sb *Sandbox) Calls(opName string) int {
	if _, ok := op.ByName(opName); !ok {
		sb.misuse("Calls: no operation %q", opName)
		return 0
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return sb.journal.calls[opName]
}
