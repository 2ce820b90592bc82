// Package retrydata reads and writes testdata/retry.json: for each operation and each failure, how often a client attempts the
// call, how often the service processes it, and what the client reports. It knows no client.
package retrydata

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
)

// File is testdata/retry.json.
type File struct {
	About       []string    `json:"about"`
	MaxAttempts int         `json:"maxAttempts"`
	Results     []Term      `json:"results"`
	Needs       []Term      `json:"needs"`
	Kinds       []Term      `json:"kinds"`
	Operations  []Operation `json:"operations"`
	Failures    []Failure   `json:"failures"`
	NotPlayed   []Term      `json:"notPlayed"` // rows of the decision table
}

// Term is a word of the file and what it means.
type Term struct {
	Name  string `json:"name"`
	Means string `json:"means"`
}

// Operation is a call. An operation whose pages are scrolled has two.
type Operation struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Failure is what goes wrong, and what follows for each kind of call.
type Failure struct {
	Name    string `json:"name"`
	Fault   string `json:"fault,omitempty"` // for prospectkit sandbox, after OPERATION:WHEN:
	Needs   string `json:"needs,omitempty"` // of the client, or of the call
	Omitted []Term `json:"omitted,omitempty"`

	Once   Cells `json:"once,omitempty"`   // the first attempt fails
	Always Cells `json:"always,omitempty"` // every attempt fails
}

// Cells are by kind.
type Cells map[string]Cell

// Cell is what a call has to do.
type Cell struct {
	Attempts  int    `json:"attempts"`  // that the client makes
	Requests  int    `json:"requests"`  // that arrive
	Processed int    `json:"processed"` // of them, by the service
	Result    string `json:"result"`    // that the client reports
}

// What a client reports.
const (
	Success      = "success"
	NotApplied   = "not applied"
	Unknown      = "unknown"
	ResponseLost = "response lost"
)

// What a client, or a call, needs so that a failure can be played.
const (
	ClosedPort = "closed port"
	TLS        = "https"
	Limit      = "time limit"
	Caller     = "caller"
	Bound      = "bound"
)

// The kinds of calls.
const (
	Read      = "read"
	Paid      = "paid read"
	LaterPage = "later page"
	Write     = "write"
)

// Load reads a file.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the file of a test
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	f := new(File)
	return f, dec.Decode(f)
}

// flat is an object of one line: a cell, an operation or a term.
var flat = regexp.MustCompile(`\{\n\s+"(?:attempts|name)": [^{}\n]*(?:\n\s+"[^{}\n]*)*\n\s+\}`)

var lineBreak = regexp.MustCompile(`\n\s+`)

// Text is what the file has to contain, with a line for each cell.
func (f *File) Text() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return nil, err
	}
	return flat.ReplaceAllFunc(b.Bytes(), func(object []byte) []byte {
		line := lineBreak.ReplaceAll(object, []byte(" "))
		line = bytes.Replace(line, []byte("{ "), []byte("{"), 1)
		return append(bytes.TrimSuffix(line, []byte(" }")), '}')
	}), nil
}
