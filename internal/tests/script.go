package tests

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Script responds to one request after the other and notes what was sent: method, path below the base URL, query and body.
type Script struct {
	t     *testing.T
	steps []RoundTrip
	Sent  []string
}

// RoundTrip plays the next step.
func (s *Script) RoundTrip(r *http.Request) (*http.Response, error) {
	line := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v1/business")
	if body := BodyOf(s.t, r); body != "" {
		line += " " + body
		r.Body = io.NopCloser(strings.NewReader(body))
	}
	s.Sent = append(s.Sent, line)
	require.LessOrEqual(s.t, len(s.Sent), len(s.steps), "one request too many: %s", line)
	return s.steps[len(s.Sent)-1].RoundTrip(r)
}

// Done demands that the whole script was played.
func (s *Script) Done() {
	s.t.Helper()
	require.Len(s.t, s.Sent, len(s.steps), "requests: %q", s.Sent)
}

// Stage makes a script of steps.
func Stage(t *testing.T, steps ...RoundTrip) *Script {
	t.Helper()
	return &Script{t: t, steps: steps}
}

// Times repeats a step.
func Times(n int, step RoundTrip) []RoundTrip { return slices.Repeat([]RoundTrip{step}, n) }

// CutOff loses the response to a request.
func CutOff(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// SameFields compares the documented fields of records.
func SameFields(t *testing.T, want, got any, about ...any) {
	t.Helper()
	require.Equal(t, JSONText(want), JSONText(got), about...)
}

// Discard keeps the error of two results.
func Discard[T any](_ T, err error) error { return err }
