package prospectkit_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// What the tests here share with those of internal/tests, by its short name.
const (
	baseURL    = tests.BaseURL
	token      = tests.Token
	listID     = tests.ListID
	oneList    = tests.OneList
	oneUser    = tests.OneUser
	agentID    = tests.AgentID
	resultsID  = tests.ResultsID
	folderID   = tests.FolderID
	columnID   = tests.ColumnID
	campaignID = tests.CampaignID
	stepID     = tests.StepID
	sendID     = tests.SendID
	factID     = tests.FactID
	hubID      = tests.HubID
	savedID    = tests.SavedID
	contactID  = tests.ContactID
	importID   = tests.ImportID
	draftID    = tests.DraftID
	runsID     = tests.RunsID
)

type (
	shows        = tests.Shows
	roundTrip    = tests.RoundTrip
	memoryServer = tests.MemoryServer
	anyCall      = tests.AnyCall
	canary       = tests.Canary
)

var (
	respond          = tests.Respond
	rateHeaders      = tests.RateHeaders
	bare             = tests.Bare
	always           = tests.Always
	envelope         = tests.Envelope
	unpaced          = tests.Unpaced
	newClient        = tests.NewClient
	consumed         = tests.Consumed
	inMemory         = tests.InMemory
	clientAt         = tests.ClientAt
	write            = tests.Write
	hijack           = tests.Hijack
	exchange         = tests.Exchange
	bodyOf           = tests.BodyOf
	faces            = tests.Faces
	jsonText         = tests.JSONText
	unnamedOperation = tests.UnnamedOperation
	untouched        = tests.Untouched
	refusals         = tests.Refusals
	call             = tests.Call
	asError          = tests.AsError
	requireUnknown   = tests.RequireUnknown
	everyCall        = tests.EveryCall
	everySandbox     = tests.EverySandbox
	eachOperation    = tests.EachOperation
	sandboxClient    = tests.SandboxClient
	timelineRoute    = tests.TimelineRoute
	previewRoute     = tests.PreviewRoute
	monitor          = tests.Monitor
	watcher          = tests.Watcher
	discovery        = tests.Discovery
	csvUpload        = tests.CSVUpload
)

// script responds to one request after the other and notes what was sent: method, path below the base URL, query and body.
type script struct {
	t     *testing.T
	steps []roundTrip
	sent  []string
}

func stage(t *testing.T, steps ...roundTrip) *script {
	t.Helper()
	return &script{t: t, steps: steps}
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	line := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v1/business")
	if body := bodyOf(s.t, r); body != "" {
		line += " " + body
	}
	s.sent = append(s.sent, line)
	require.LessOrEqual(s.t, len(s.sent), len(s.steps), "one request too many: %s", line)
	return s.steps[len(s.sent)-1].RoundTrip(r)
}

// done demands that the whole script was played.
func (s *script) done() {
	s.t.Helper()
	require.Len(s.t, s.sent, len(s.steps), "requests: %q", s.sent)
}

// times repeats a step.
func times(n int, step roundTrip) []roundTrip {
	steps := make([]roundTrip, n)
	for i := range steps {
		steps[i] = step
	}
	return steps
}

// cutOff loses the response to a request.
func cutOff(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// surfaceCall is one call of a method, with an exchange to play.
type surfaceCall struct {
	exchange string
	call     func(ctx context.Context, c *prospectkit.Client) (any, error)
	want     string           // the result as JSON
	code     prospectkit.Code // or the code of the error
}

// play makes each call against its exchange.
func play(t *testing.T, calls []surfaceCall) {
	t.Helper()
	for _, call := range calls {
		t.Run(call.exchange, func(t *testing.T) {
			got, err := call.call(t.Context(), exchange(t, call.exchange))
			if call.code != "" {
				require.ErrorIs(t, err, call.code)
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
				return
			}
			require.NoError(t, err)
			text, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, call.want, string(text))
		})
	}
}

// sameFields compares the documented fields of records.
func sameFields(t *testing.T, want, got any, about ...any) {
	t.Helper()
	var texts [2]string
	for i, v := range []any{want, got} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		texts[i] = string(text)
	}
	require.Equal(t, texts[0], texts[1], about...)
}

func discard[T any](_ T, err error) error { return err }
