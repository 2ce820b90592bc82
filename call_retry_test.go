package prospectkit

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/credential"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests/retrydata"
)

// The decision table, written a second time: what follows each failure, per kind of call. Writes of every class are alike, and
// a later page of a scroll differs from the first in one line.
var decided = []struct {
	name                         string
	failure                      failure
	read, paid, laterPage, write step
}{
	{"failNotSent", failNotSent, stepResend, stepResend, stepResend, stepResend},
	{"failUnprocessed", failUnprocessed, stepResend, stepResend, stepResend, stepResend},
	{"failRateLimited", failRateLimited, stepWait, stepWait, stepWait, stepWait},
	{"failKeyRejected", failKeyRejected, stepRekey, stepRekey, stepRekey, stepRekey},
	{"failUnreachable", failUnreachable, stepStop, stepStop, stepStop, stepStop},
	{"failUnread", failUnread, stepStop, stepStop, stepStop, stepStop},
	{"failRejected", failRejected, stepStop, stepStop, stepStop, stepStop},
	{"failUpload", failUpload, stepStop, stepStop, stepStop, stepStop},
	{"failService", failService, stepRetry, stepRetry, stepUnknown, stepUnknown},
	{"failGateway", failGateway, stepRetry, stepUnknown, stepUnknown, stepUnknown},
	{"failCut", failCut, stepRetry, stepUnknown, stepUnknown, stepUnknown},
	{"failUnproved", failUnproved, stepRetry, stepUnknown, stepUnknown, stepUnknown},
	{"failOther", failOther, stepStop, stepUnknown, stepUnknown, stepUnknown},
	{"failRepeated", failRepeated, stepStop, stepUnknown, stepUnknown, stepUnknown},
	{"failNotService", failNotService, stepStop, stepUnknown, stepUnknown, stepUnknown},
	{"failCanceled", failCanceled, stepStop, stepUnknown, stepUnknown, stepUnknown},
	{"failLost", failLost, stepRetry, stepLost, stepLost, stepLost},
	{"failUnusable", failUnusable, stepStop, stepLost, stepLost, stepLost},
}

func TestRetry_DecisionTable(t *testing.T) {
	for _, row := range decided {
		t.Run(row.name, func(t *testing.T) {
			for _, later := range []bool{false, true} {
				require.Equal(t, row.read, decide(row.failure, op.Read, later), "read, later page %t", later)
				for _, class := range []op.Class{op.Idempotent, op.GuardedByName, op.GuardedByState, op.Unsafe, "of the future"} {
					require.Equal(t, row.write, decide(row.failure, class, later), "%s, later page %t", class, later)
				}
			}
			require.Equal(t, row.paid, decide(row.failure, op.PaidRead, false), "first page")
			require.Equal(t, row.laterPage, decide(row.failure, op.PaidRead, true), "later page")
		})
	}
}

// A failure without a row would read as a clean refusal.
func TestRetry_EveryFailureHasARow(t *testing.T) {
	names := constantsOfType(t, "call_retry.go", "failure")
	require.Len(t, decisions, 1+len(names))
	require.Len(t, decided, len(names))
	for i, name := range names {
		require.Equal(t, name, decided[i].name)
		require.Equal(t, failure(i+1), decided[i].failure)
		require.NotEmpty(t, decisions[i+1].reason, name)
	}
}

func TestRetry_OnlyFourStepsRetry(t *testing.T) {
	for next, retries := range map[step]bool{stepStop: false, stepUnknown: false, stepLost: false, stepRetry: true, stepResend: true, stepWait: true, stepRekey: true} {
		require.Equal(t, retries, next.retries())
	}
}

// constantsOfType lists the names of the block of constants that begins with the given type.
func constantsOfType(t *testing.T, file, typeName string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	for _, decl := range parsed.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		first, _ := block.Specs[0].(*ast.ValueSpec)
		if id, ok := first.Type.(*ast.Ident); !ok || id.Name != typeName {
			continue
		}
		for _, spec := range block.Specs {
			value, _ := spec.(*ast.ValueSpec)
			for _, name := range value.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// A wait gets longer by up to a tenth and a second, but never beyond the deadline.
func TestRetry_JitterStaysWithinTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{time.Second, time.Minute} {
			free := &call{plan: plan{ctx: t.Context()}}
			var most time.Duration
			for range 1000 {
				longer := free.jitter(d)
				require.GreaterOrEqual(t, longer, d)
				most = max(most, longer)
			}
			require.Greater(t, most, d, "callers that were paused together do not come back together")
			require.LessOrEqual(t, most, d+min(d/10, time.Second))

			ctx, cancel := context.WithTimeout(t.Context(), d+time.Nanosecond)
			bound := &call{plan: plan{ctx: ctx}}
			for range 1000 {
				require.Equal(t, d, bound.jitter(d))
			}
			cancel()
		}
	})
}

// Calls that were refused together return one after the other: each draws for itself how much later. A simulation draws for all.
func TestRetry_RefusedCallsAreSpread(t *testing.T) {
	untils := map[time.Duration]bool{}
	refused := func(t *testing.T, ctx context.Context) time.Duration {
		t.Helper()
		client, err := New("https://example.test/api/v1", "pk_test_x", WithTransport(refusing{}), WithMaxWait(0))
		require.NoError(t, err)
		_, err = client.Lists.Page(ctx, ListsParams{})
		require.ErrorIs(t, err, ErrRateLimited)
		_, _, held := client.conf.limits.surface(op.Lists).limiter.Own()
		return time.Until(held)
	}
	synctest.Test(t, func(t *testing.T) {
		for range 40 {
			until := refused(t, t.Context())
			require.GreaterOrEqual(t, until, 20*time.Second)
			require.Less(t, until, 21*time.Second)
			untils[until] = true
		}
		require.Greater(t, len(untils), 30)
		clear(untils)
		for range 2 {
			untils[refused(t, chance.With(t.Context(), chance.New(1, 2)))] = true
		}
		require.Len(t, untils, 1)
	})
}

type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	h := http.Header{"Retry-After": {"20"}, "Content-Type": {"application/json"}}
	return &http.Response{StatusCode: http.StatusTooManyRequests, Header: h, Body: http.NoBody, Request: r}, nil
}

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
	{name: "500 of the service, almost empty", fault: "status=500", row: failService},
	{
		name: "500 of the service, processed", fault: "applied:status=500:code=UNEXPECTED_ERROR", row: failService, processed: true,
		omitted: `documented: "a failed request never consumes credits"`,
	},

	{name: "500 page of a gateway", fault: "html=500", row: failGateway},
	{name: "500 without a body", fault: "status=500:body=", row: failGateway},
	{name: "502 page", fault: "html=502", row: failGateway},
	{name: "502 page, processed", fault: "html=502:applied", row: failGateway, processed: true},
	{name: "502 in the envelope", fault: "status=502", row: failGateway},
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

	{name: "redirect", fault: "html=302:header=Location=/api/v1/business/me", row: failNotService},
	{name: "redirect that keeps the method", fault: "html=307:header=Location=/api/v1/business/me", row: failNotService},
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

// The tables of README.md and docs/safety.md say what this package decides: for the failures that their rows begin with or name,
// and for every status that a response can have.

const safetyPage = "docs/safety.md"

var decisionColumns = []string{"What happened", "Read", "Read that costs credits", "Write"}

// safetyCells and readmeCells are how each page says what follows.
var (
	safetyCells = map[step]string{
		stepStop: "error", stepUnknown: "outcome unknown", stepLost: "response lost", stepRetry: "retried", stepResend: "resent",
		stepWait: "resent after `Retry-After`", stepRekey: "resent once",
	}
	readmeCells = map[step]string{
		stepStop: "no", stepUnknown: "no: outcome unknown", stepLost: "no: response lost", stepRetry: "retried", stepResend: "retried",
		stepWait: "after `Retry-After`", stepRekey: "with another key of `WithTokenSource`",
	}
)

func TestRetryDocs_Safety(t *testing.T) {
	rows := failureRows(t)
	for f, row := range rows {
		require.Equal(t, decidedCells(f, safetyCells), row[1:], row[0])
	}
	eachStatus(func(status int, service bool) {
		f, named := classifyStatus(status, service), naming(maps.Values(rows), 0, status, service)
		require.Contains(t, named, rows[f], "%d, of the service: %t: %s", status, service, decisions[f].reason)
		if !isSuccess(status) { // what a success is depends on its body, too
			require.Len(t, named, 1, "%d, of the service: %t", status, service)
		}
	})
}

func TestRetryDocs_Readme(t *testing.T) {
	rows, known := tableRows(t, "README.md", decisionColumns), failureRows(t)
	var named []int
	said := map[failure]bool{}
	for _, row := range rows {
		cells := row[1:]
		for i := range cells {
			if cells[i] == "the same" {
				cells[i] = cells[i-1]
			}
		}
		var failures []failure
		eachStatus(func(status int, service bool) {
			if _, ok := namesStatus(row[0], status, service); ok { // a bare status is anyone's
				failures, named = append(failures, classifyStatus(status, service)), append(named, status)
			}
		})
		failures = append(failures, failuresNamed(row[0], known)...)
		require.NotEmpty(t, failures, "nothing in this row is known: %s", row[0])
		for _, f := range failures {
			want := decidedCells(f, readmeCells)
			said[f] = true
			for i := range cells {
				cell, except, _ := strings.Cut(cells[i], ", unless it is ")
				require.Equal(t, want[i], cell, "%s: %s", row[0], decisions[f].reason)
				if except == "" {
					continue
				}
				others := failuresNamed(except, known)
				require.Len(t, others, 1, except)
				require.Contains(t, known[others[0]][0], " that is "+except+": ", "all of it")
				said[others[0]] = true
				require.Equal(t, readmeCells[stepStop], decidedCells(others[0], readmeCells)[i], except)
			}
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(said)), []failure{
		failNotSent, failRateLimited, failKeyRejected, failRejected, failService, failGateway, failCut, failLost, failUnusable,
	}, "the others are in "+safetyPage)
	for _, code := range op.Codes {
		for _, status := range code.Statuses {
			require.Contains(t, named, status, "a documented status of %s", code.Name)
		}
	}
}

func TestRetryDocs_Delivery(t *testing.T) {
	outcomes := map[step]Outcome{stepUnknown: OutcomeUnknown, stepLost: OutcomeApplied}
	check := func(f failure, row []string) {
		want, said := OutcomeNotApplied, row[2]
		if other, ok := outcomes[decide(f, op.Unsafe, false)]; ok {
			want = other
		}
		said, _, _ = strings.Cut(said, ",")
		require.Equal(t, string(want), said, "%s: %s", row[1], decisions[f].reason)
	}
	deliveries := map[string]bool{}
	var responses [][]string
	for _, row := range tableRows(t, safetyPage, []string{"Delivery", "Proof", "Outcome of the attempt"}) {
		delivery := row[0]
		deliveries[delivery] = true
		if delivery == "confirmed" {
			responses = append(responses, row)
			continue
		}
		c := &call{plan: plan{op: op.ListsCreate, ctx: context.Background()}}
		check(c.classifyIncomplete(&attempt{delivery: delivery}, nil), row)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(deliveries)), []string{
		"not sent", "unprocessed", "unknown", "cut short", "confirmed",
	})
	eachStatus(func(status int, service bool) {
		named := naming(slices.Values(responses), 1, status, service)
		require.NotEmpty(t, named, "%d, of the service: %t", status, service)
		for _, row := range named {
			check(classifyStatus(status, service), row)
		}
	})
}

func TestRetryDocs_Defaults(t *testing.T) {
	client, err := New("https://api.example.com/api/v1", "token")
	require.NoError(t, err)
	retry, wait := client.conf.retry, client.conf.maxWait
	words := map[int]string{1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
	usually, agents := op.ListsCreate.VisibleAfter.Seconds(), op.AgentsActivate.VisibleAfter.Seconds()
	for page, said := range map[string][]string{
		"docs/guide.md": {
			fmt.Sprintf("| %d attempts, %d ms doubling to %.0f s |", retry.MaxAttempts, retry.BaseDelay.Milliseconds(), retry.MaxDelay.Seconds()),
			fmt.Sprintf("| %.0f minutes | 0 refuses every wait", wait.Minutes()),
		},
		"README.md": {
			"at most " + words[retry.MaxAttempts] + " attempts", "waits at most " + words[int(wait.Minutes())] + " minutes for a rate limit",
		},
		safetyPage: {
			fmt.Sprintf("%.0f s after the last attempt ended, or would have if nothing had cut it, for agents at least %.0f s after the call; "+
				"in another process, %.0f s after it was sent, for agents %.0f s.", usually, agents,
				usually+op.ListsCreate.Timeout.Seconds(), agents+op.AgentsActivate.Timeout.Seconds()),
			fmt.Sprintf("it looks for %.0f s, or for half of the time", usually),
		},
		"client.go":       {fmt.Sprintf("%.0f s, for agents %.0f s.", usually+op.ListsCreate.Timeout.Seconds(), agents+op.AgentsActivate.Timeout.Seconds())},
		"outcome.go":      {fmt.Sprintf("until %.0f s after the last attempt, for agents %.0f s after the call", usually, agents)},
		"lists_ensure.go": {fmt.Sprintf("it looks for the list for %.0f s, or for half of the time", usually)},
	} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		prose := strings.ReplaceAll(strings.Join(strings.Fields(string(text)), " "), " // ", " ") // however its lines wrap
		for _, sentence := range said {
			require.Contains(t, prose, sentence, page)
		}
	}
}

// tableRows returns the rows below a header.
func tableRows(t *testing.T, page string, header []string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "\n| "+strings.Join(header, " | ")+" |\n")
	require.True(t, ok, "%s has no table %q", page, header)
	for line := range strings.Lines(rest) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "| ")
		if !ok {
			if strings.HasPrefix(line, "|-") {
				continue
			}
			break
		}
		row := strings.Split(strings.TrimSuffix(line, " |"), " | ")
		require.Len(t, row, len(header), line)
		rows = append(rows, row)
	}
	require.NotEmpty(t, rows)
	return rows
}

// failureRows returns the rows of docs/safety.md by the failure whose reason each begins with: one for each.
func failureRows(t *testing.T) map[failure][]string {
	t.Helper()
	rows := map[failure][]string{}
	for _, row := range tableRows(t, safetyPage, decisionColumns) {
		f := failNotSent
		for int(f) < len(decisions) && !strings.HasPrefix(row[0], decisions[f].reason) {
			f++
		}
		require.Less(t, int(f), len(decisions), "no reason of the decision table: %s", row[0])
		require.NotContains(t, rows, f, row[0])
		rows[f] = row
	}
	for f := failNotSent; int(f) < len(decisions); f++ {
		require.Contains(t, rows, f, "%s has no row %q", safetyPage, decisions[f].reason)
	}
	return rows
}

// decidedCells is what follows a failure, in the words of a page.
func decidedCells(f failure, words map[step]string) []string {
	if f == failRepeated {
		return []string{"-", words[decide(f, op.PaidRead, false)], words[decide(f, op.Unsafe, false)]} // no free read can fail like that
	}
	paid := words[decide(f, op.PaidRead, false)]
	if decide(f, op.PaidRead, true) != decide(f, op.PaidRead, false) {
		paid += ", but no later page of a search"
	}
	return []string{words[decide(f, op.Read, false)], paid, words[decide(f, op.Unsafe, false)]}
}

// failuresNamed returns the failures of which the text has a part that only the row of docs/safety.md has.
func failuresNamed(text string, rows map[failure][]string) (named []failure) {
	for _, part := range parts.Split(text, -1) {
		var found []failure
		for f, row := range rows {
			if strings.Contains(row[0], part) {
				found = append(found, f)
			}
		}
		if len(found) == 1 && !slices.Contains(named, found[0]) && !statusForm.MatchString(part) {
			named = append(named, found[0])
		}
	}
	return named
}

func eachStatus(visit func(status int, service bool)) {
	for status := 200; status < 600; status++ {
		visit(status, true)
		visit(status, false)
	}
}

// classifyStatus is the failure of a response. One of the service has its envelope and the rate headers.
func classifyStatus(status int, service bool) failure {
	c := &call{plan: plan{conf: &config{relayed: new(exchange.Relayed)}, op: op.ListsCreate}}
	c.conf.setKeys(credential.New("", func(context.Context) (string, error) { return "", nil }))
	if service && !isSuccess(status) {
		c.errorResponse = &Error{Code: CodeListNotFound}
		if status == http.StatusUnauthorized {
			c.errorResponse.Code = CodeUnauthorized
		}
	}
	return c.classify(&attempt{hasRateHeaders: service}, &http.Response{StatusCode: status}, nil)
}

var (
	parts      = regexp.MustCompile(`, or |, | or |; |: `)
	statusForm = regexp.MustCompile(`\b[2-5](\d\d|xx)\b|redirect`)
	ofService  = regexp.MustCompile(`error envelope|(of|from|by) the service|the service rejects`)
	ofOthers   = regexp.MustCompile(`without (the envelope|proof)`)
)

// naming returns the rows that name a status, or if there is none, those that name its hundred.
func naming(rows iter.Seq[[]string], column, status int, service bool) [][]string {
	var exactly, roughly [][]string
	for row := range rows {
		switch exact, named := namesStatus(row[column], status, service); {
		case exact:
			exactly = append(exactly, row)
		case named:
			roughly = append(roughly, row)
		}
	}
	if len(exactly) > 0 {
		return exactly
	}
	return roughly
}

// namesStatus reports whether a text names a status, as 503, or its hundred, as 5xx. What is before a colon holds for all of it.
func namesStatus(text string, status int, service bool) (exact, named bool) {
	whole := ofService.MatchString(strings.SplitN(text, ": ", 2)[0]) && strings.Contains(text, ": ")
	for _, part := range parts.Split(text, -1) {
		if !service && (whole || ofService.MatchString(part)) || service && ofOthers.MatchString(part) {
			continue
		}
		form := strings.Replace(statusForm.FindString(part), "redirect", "3xx", 1)
		exact = exact || form == strconv.Itoa(status)
		named = named || exact || form == strconv.Itoa(status/100)+"xx"
	}
	return exact, named
}
