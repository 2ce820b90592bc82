package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// Watch tells f of the events of a client, but for the start of a call.
func Watch(f func(prospectkit.Event)) prospectkit.ClientOption {
	return prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) context.Context {
		if e.Kind != prospectkit.EventStart {
			f(e)
		}
		return nil
	})
}

// Events gathers what Watch tells.
func Events(into *[]prospectkit.Event) prospectkit.ClientOption {
	return Watch(func(e prospectkit.Event) { *into = append(*into, e) })
}

// LogLines runs f with a logger and parses what it wrote.
func LogLines(t *testing.T, level slog.Level, f func(prospectkit.ClientOption)) (lines []map[string]any, text string) {
	t.Helper()
	var out bytes.Buffer
	f(prospectkit.WithLogger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: level}))))
	text = out.String()
	for line := range bytes.Lines([]byte(text)) {
		var fields map[string]any
		require.NoError(t, json.Unmarshal(line, &fields))
		lines = append(lines, fields)
	}
	return lines, text
}

// Source gives one token after the other, the last one again and again.
type Source struct {
	Tokens []string
	Asked  int
	Err    error
	Asks   func() // each time
}

// Token returns the next key.
func (s *Source) Token(context.Context) (string, error) {
	if s.Asks != nil {
		s.Asks()
	}
	s.Asked++
	return s.Tokens[min(s.Asked, len(s.Tokens))-1], s.Err
}

// Move is a write that may be repeated.
func Move(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
	_, err := c.Lists.Move(ctx, ListID, FolderID, opts...)
	return err
}

// NextSteps lists what was decided.
func NextSteps(seen []prospectkit.Event) (next []string) {
	for _, e := range seen {
		if e.Next != "" {
			next = append(next, e.Next)
		}
	}
	return next
}

// Exhaust ranges over a sequence to its end, and returns the last error.
func Exhaust[T any](seq func(func(*T, error) bool)) (err error) {
	for _, err = range seq {
	}
	return err
}

// Everything is a search without filters.
var Everything = prospectkit.SearchParams{}
