package outcome_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// FuzzEnvelope gives any response to a read and to a write: no panic, a typed error in one line, an outcome that fits the
// status, and the code exactly where encoding/json finds one.
func FuzzEnvelope(f *testing.F) {
	f.Add(uint16(404), "application/json", "", []byte(tests.Envelope("LIST_NOT_FOUND")))
	f.Add(uint16(500), "text/html", "", []byte("<html>"))
	f.Add(uint16(302), "", "//elsewhere.example/x?y", []byte(nil))
	f.Add(uint16(201), "application/json", "", []byte(`{"list":{"id":"65f0c0ffee65f0c0ffee65f0"}}`))
	f.Fuzz(func(t *testing.T, status uint16, contentType, location string, body []byte) {
		code := 100 + int(status)%900
		client := tests.NewClient(t, tests.Always(code, string(body), "Content-Type", contentType, "Location", location), tests.OneAttempt)
		_, readErr := client.Lists.Get(t.Context(), tests.ListID)
		requireTyped(t, code, body, readErr)
		require.NotEqual(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(readErr))

		client = tests.NewClient(t, tests.Always(code, string(body), "Content-Type", contentType, "Location", location), tests.OneAttempt)
		_, writeErr := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
		requireTyped(t, code, body, writeErr)
		if code >= 200 && code < 300 {
			require.NotEqual(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(writeErr))
		} else if code >= 500 {
			require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(writeErr))
		}
	})
}

func requireTyped(t *testing.T, status int, body []byte, err error) {
	t.Helper()
	if err == nil {
		require.True(t, status >= 200 && status < 300, status)
		return
	}
	requireOneLine(t, err)
	var ours interface{ Outcome() prospectkit.Outcome }
	require.ErrorAs(t, err, &ours)
	var failed *prospectkit.Error
	if !errors.As(err, &failed) {
		return // the response was lost
	}
	require.Equal(t, status, failed.Status)
	require.LessOrEqual(t, len(failed.Body), 2048)
	if status < 200 || status >= 300 {
		require.Equal(t, codeIn(body), failed.Code)
	}
}

// codeIn finds the code the other way, with maps; of duplicate keys the last one counts there.
func codeIn(body []byte) prospectkit.Code {
	var outer map[string]json.RawMessage
	var inner map[string]any
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if json.Unmarshal(body, &outer) != nil || json.Unmarshal(outer["error"], &inner) != nil {
		return ""
	}
	code, _ := inner["code"].(string)
	return prospectkit.Code(code)
}
