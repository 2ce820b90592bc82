package prospectkit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/retrydata"
)

const retryFile = "testdata/retry.json"

// played are the failures that a client can be driven with, and the row of the decision table that each of them is.
var played = []struct {
	name, fault, needs string
	row                failure
	readRow            failure // if a read differs
	processed          bool    // the service processes the request before it fails
	unsent             bool    // the request does not arrive
	tooLong            bool    // the response asks for a wait that is too long
	omitted            string  // why paid reads and later pages are not played
}{
	{name: "connection refused", needs: retrydata.ClosedPort, row: failNotSent, unsent: true},
	{name: "no TLS", needs: retrydata.TLS, row: failUnreachable, unsent: true},
	{name: "421", fault: "status=421:body=", row: failUnprocessed},
	{name: "425", fault: "status=425:body=", row: failUnprocessed},
	{name: "429", fault: "status=429:code=RATE_LIMITED:retry-after=0", row: failRateLimited},
	{name: "429 without Retry-After", fault: "status=429:code=RATE_LIMITED", row: failRateLimited},
	{name: "429 page of a gateway", fault: "html=429:retry-after=0", row: failRateLimited},
	{name: "429 for an hour", fault: "status=429:code=RATE_LIMITED:retry-after=3600", row: failRateLimited, tooLong: true},

	{name: "407 of a proxy", fault: "html=407", row: failUnread},
	{name: "411", fault: "status=411:body=", row: failUnread},
	{name: "414 page", fault: "html=414", row: failUnread},
	{name: "431 page", fault: "html=431", row: failUnread},
	{name: "413 page, to a small body", fault: "html=413", row: failNotService},

	{name: "rejected with 401", fault: "code=UNAUTHORIZED", row: failRejected},
	{name: "rejected with 402", fault: "status=402:code=INSUFFICIENT_CREDITS", row: failRejected},
	{name: "rejected with 409", fault: "code=CAMPAIGN_BUSY", row: failRejected},
	{name: "rejected with 422", fault: "code=VALIDATION_FAILED", row: failRejected},
	{name: "rejected with a new code", fault: "status=409:future-code=NEW_CODE", row: failRejected},

	{name: "500 of the service", fault: "status=500:code=UNEXPECTED_ERROR", row: failService},
	{name: "500 of the service, almost empty", fault: "sparse=500", row: failService},
	{
		name: "500 of the service, processed", fault: "applied:status=500:code=UNEXPECTED_ERROR", row: failService, processed: true,
		omitted: `documented: "a failed request never consumes credits"`,
	},

	{name: "500 page of a gateway", fault: "html=500", row: failGateway},
	{name: "500 without a body", fault: "status=500:body=", row: failGateway},
	{name: "502 page", fault: "html=502", row: failGateway},
	{name: "502 page, processed", fault: "html=502:applied", row: failGateway, processed: true},
	{name: "502 in the envelope", fault: "sparse=502", row: failGateway},
	{name: "503 page", fault: "html=503:retry-after=0", row: failGateway},
	{name: "504 page", fault: "html=504", row: failGateway},
	{name: "504 page, processed", fault: "html=504:applied", row: failGateway, processed: true},
	{name: "520 page", fault: "html=520", row: failGateway},
	{name: "524 page, processed", fault: "html=524:applied", row: failGateway, processed: true},
	{name: "408", fault: "status=408:body=", row: failGateway},

	{name: "cut before it is processed", fault: "drop-before", row: failCut},
	{name: "cut after it is processed", fault: "drop-after", row: failCut, processed: true},
	{name: "reset before it is processed", fault: "drop-before:reset", row: failCut},
	{name: "reset after it is processed", fault: "drop-after:reset", row: failCut, processed: true},
	{name: "no response in time", fault: "latency=1h", needs: retrydata.Limit, row: failCut, processed: true},
	{name: "200 page, cut", fault: "html=200:truncate=9", row: failCut},
	{name: "200 page, processed and cut", fault: "html=200:applied:truncate=9", row: failCut, processed: true},

	{name: "200 page", fault: "html=200", row: failUnproved},
	{name: "200 page, processed", fault: "html=200:applied", row: failUnproved, processed: true},
	{name: "200 without a body", fault: "status=200:body=", row: failUnproved},
	{name: "204", fault: "status=204:body=", row: failUnproved},
	{name: "200 with an error envelope", fault: `body={"error":{"code":"UNEXPECTED_ERROR","message":"Failed."}}`, row: failUnproved},

	{name: "501", fault: "status=501:body=", row: failOther},
	{name: "505, processed", fault: "applied:status=505:body=", row: failOther, processed: true},
	{name: "499", fault: "status=499:body=", row: failOther},

	{name: "redirect", fault: "location=/api/v1/business/me", row: failNotService},
	{name: "redirect that keeps the method", fault: "status=307:location=/api/v1/business/me", row: failNotService},
	{name: "403 page", fault: "html=403", row: failNotService},
	{name: "404 page, processed", fault: "html=404:applied", row: failNotService, processed: true},

	{name: "the caller gives up", fault: "latency=1h", needs: retrydata.Caller, row: failCanceled, processed: true},

	{name: "response cut", fault: "truncate=9", row: failLost, readRow: failCut, processed: true},
	{name: "response cut at its begin", fault: "truncate=0", row: failLost, readRow: failCut, processed: true},
	{name: "response too long", fault: "oversized=100000", needs: retrydata.Bound, row: failUnusable, processed: true},
}

// notPlayed are the other rows.
var notPlayed = map[failure]string{
	failKeyRejected: "the client has a source of keys",
	failUpload:      "the file that the caller uploads ends early, or cannot be read",
	failRepeated:    "the call approves what a review has shown, or has no body and passes a gateway",
}

// TestRetryData holds testdata/retry.json against the operations and the decision table. internal/tests plays it. go generate writes
// it. Read the difference: it is a change of what the client promises.
func TestRetryData(t *testing.T) {
	want, err := retryData(t).Text()
	require.NoError(t, err)
	golden.Equal(t, retryFile, string(want))
}

func retryData(t *testing.T) *retrydata.File {
	t.Helper()
	f := &retrydata.File{
		About: []string{
			"How a client of the service behaves when a call fails. docs/testing.md says how to play this file against any client.",
			"A failure is a fault of prospectkit sandbox: set OPERATION:WHEN:FAULT, call, and compare with GET /_sandbox/calls.",
			"WHEN is nth=1 for once, nth=2 for once on a later page, and always for always. A later page counts without the first.",
			"Written by: go test . -run TestRetryData -update",
		},
		MaxAttempts: RetryPolicy{}.withDefaults().MaxAttempts,
		Results: []retrydata.Term{
			{Name: retrydata.Success, Means: "the call returns its response"},
			{Name: retrydata.NotApplied, Means: "an error, and nothing was changed or spent by this call"},
			{Name: retrydata.Unknown, Means: "an error: the service may have processed the call"},
			{Name: retrydata.ResponseLost, Means: "the service has processed the call, and the response cannot be read: an error, unless the response says nothing that the caller does not know"},
		},
		Needs: []retrydata.Term{
			{Name: retrydata.ClosedPort, Means: "a base URL with a port that nobody listens on"},
			{Name: retrydata.TLS, Means: "a base URL that begins with https, and the port of the sandbox, which speaks http"},
			{Name: retrydata.Limit, Means: "a time limit for each attempt"},
			{Name: retrydata.Caller, Means: "a caller who gives up when the request has arrived"},
			{Name: retrydata.Bound, Means: "a bound on the length of a response, of 64 KiB"},
		},
		Kinds: []retrydata.Term{
			{Name: retrydata.Read, Means: "changes nothing, costs nothing"},
			{Name: retrydata.Paid, Means: "changes nothing, may cost credits"},
			{Name: retrydata.LaterPage, Means: "the second page of such a read: its scroll token may be used up"},
			{Name: retrydata.Write, Means: "changes something; every class of writes"},
		},
	}
	for _, row := range op.All() {
		f.Operations = append(f.Operations, retrydata.Operation{Name: row.Name, Kind: kindOf(row)})
	}
	for _, row := range []*op.Op{op.SearchProspects, op.SearchRunSaved} {
		f.Operations = append(f.Operations, retrydata.Operation{Name: row.Name, Kind: retrydata.LaterPage})
	}
	rows := map[failure]bool{}
	for i, p := range played {
		rows[p.row] = true
		f.Failures = append(f.Failures, retrydata.Failure{
			Name: p.name, Fault: p.fault, Needs: p.needs, Once: cellsOf(i, false), Always: cellsOf(i, true),
		})
		if last := &f.Failures[i]; p.omitted != "" {
			last.Omitted = []retrydata.Term{{Name: retrydata.Paid, Means: p.omitted}, {Name: retrydata.LaterPage, Means: p.omitted}}
		}
	}
	for row := failNotSent; int(row) < len(decisions); row++ {
		why := notPlayed[row]
		require.NotEqual(t, rows[row], why != "", "%q is played, or there is a reason why not", decisions[row].reason)
		if why != "" {
			f.NotPlayed = append(f.NotPlayed, retrydata.Term{Name: decisions[row].reason, Means: why})
		}
	}
	return f
}

func kindOf(row *op.Op) string {
	switch row.Class {
	case op.Read:
		return retrydata.Read
	case op.PaidRead:
		return retrydata.Paid
	default:
		return retrydata.Write
	}
}

// cellsOf derives from the decision table what follows a failure of one attempt, or of all.
func cellsOf(i int, always bool) retrydata.Cells {
	p := played[i]
	if !always && p.unsent {
		return nil // the address is wrong for all attempts
	}
	kinds := map[string]op.Class{retrydata.Read: op.Read, retrydata.Paid: op.PaidRead, retrydata.LaterPage: op.PaidRead, retrydata.Write: op.Unsafe}
	if p.omitted != "" {
		delete(kinds, retrydata.Paid)
		delete(kinds, retrydata.LaterPage)
	}
	if always {
		delete(kinds, retrydata.LaterPage) // the first page would fail, too
	}
	cells := retrydata.Cells{}
	for kind, class := range kinds {
		row := p.row
		if kind == retrydata.Read && p.readRow != 0 {
			row = p.readRow
		}
		next := decide(row, class, kind == retrydata.LaterPage)
		retries := next.retries() && !p.tooLong
		cell := retrydata.Cell{Attempts: 1, Result: retrydata.NotApplied}
		switch {
		case retries && always:
			cell.Attempts = RetryPolicy{}.withDefaults().MaxAttempts
		case retries:
			cell.Attempts, cell.Result = 2, retrydata.Success
		case next == stepUnknown:
			cell.Result = retrydata.Unknown
		case next == stepLost:
			cell.Result = retrydata.ResponseLost
		}
		if cell.Requests = cell.Attempts; p.unsent {
			cell.Requests = 0
		}
		switch {
		case p.processed:
			cell.Processed = cell.Requests
		case cell.Result == retrydata.Success:
			cell.Processed = 1
		}
		cells[kind] = cell
	}
	return cells
}
