package tests

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// A write that the service has confirmed is a success if its result holds nothing that the caller does not know, however much of
// the response is lost. Where only the response has the id of what was made, it is an error that says that it was applied.
func TestConfirmed_ASuccessWithoutItsBody(t *testing.T) {
	lost := map[string][]sandbox.FaultOption{
		"cut":   {sandbox.Truncate(5)},
		"stall": {sandbox.Stall(time.Hour)},
	}
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		if !row.Write() {
			return
		}
		for name, fault := range lost {
			synctest.Test(t, func(t *testing.T) { confirm(t, row, call, name, fault) })
		}
	})
}

// confirm makes one call with such a fault.
func confirm(t *testing.T, row *op.Op, call AnyCall, name string, fault []sandbox.FaultOption) {
	t.Helper()
	file, err := journal.Open(filepath.Join(t.TempDir(), "journal"), "acme")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	sb := EverySandbox(t, time.Now())
	hit := sb.Fail(row.Name, append(fault, sandbox.Nth(1))...)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), Routes(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(file))
	require.NoError(t, err)
	var info prospectkit.Info
	got, err := call(t.Context(), client, prospectkit.WithInfo(&info))
	require.Equal(t, 1, sb.Hits(hit), name)
	require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err), name)
	require.Error(t, info.Attempts[0].Err, "%s: what happened is not hidden", name)
	for ticket, err := range client.InDoubt(t.Context()) {
		require.Fail(t, "in doubt", "%s: %v %v", name, ticket, err)
	}
	require.NoError(t, file.Close())
	if row.Confirms == op.No {
		require.ErrorIs(t, err, prospectkit.ErrResponseLost, name)
		return
	}
	require.NoError(t, err, name)
	claimsNothingElse(t, row, call, got, name)
}

// A success that holds nothing, or nothing that is the operation's, is as one without its body.
func TestConfirmed_ASuccessThatSaysNothing(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		bodies := []string{"", "{", "null", `{}`, `{"unknown":1}`, `{"` + row.Entity + `":{}}`, `{"` + row.Entity + `":null}`}
		if !row.Write() && row.Shape == op.Typed {
			bodies = append(bodies, `{"data":[{}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`)
		}
		for _, body := range bodies {
			synctest.Test(t, func(t *testing.T) {
				got, err := call(t.Context(), NewClient(t, Always(200, body)))
				_, raw := got.(*prospectkit.Object)
				raw = raw || row == op.ImportsPresign && len(body) > len("null") // whatever it holds may be where to send the file to
				switch {
				case row.Confirms == op.Yes:
					require.NoError(t, err, body)
				case row.Write() && !raw:
					require.ErrorIs(t, err, prospectkit.ErrResponseLost, "%s: validate of %T has to say what is not a whole response, as that of Fact does: %s", row.Name, got, body)
				}
				if !row.Write() && row.Shape == op.Typed && !raw {
					require.Error(t, err, "%s: validate of what %T holds has to say what is not a whole record, as that of List does: %s", row.Name, got, body)
				}
				if err == nil {
					claimsNothingElse(t, row, call, got, body)
				}
			})
		}
	})
}

// claimsNothingElse holds what a call made of a lost response against what it makes of the whole one.
func claimsNothingElse(t *testing.T, row *op.Op, call AnyCall, got any, lost string) {
	t.Helper()
	if _, raw := got.(*prospectkit.Object); raw {
		return
	}
	sb := EverySandbox(t, time.Now())
	before := leaves(t, sb.Snapshot(), map[string]int{}, 1)
	whole, err := call(t.Context(), SandboxClient(t, sb))
	require.NoError(t, err)
	changed := leaves(t, sb.Snapshot(), before, -1) // below zero: more often than before
	known, sent := fieldsOf(t, row, got), fieldsOf(t, row, whole)
	require.False(t, row.Confirms == op.Yes && len(known) == 0, "%s: its method says what is known without the response, as known of expected, or by doChange", row.Name)
	for field, value := range known {
		require.Equal(t, sent[field], value, "%s: %s, as the method knows it after %q, and as the sandbox responds", row.Name, field, lost)
	}
	for field, value := range sent {
		if row.Confirms == op.Yes && row.Shape == op.Typed && changed[fmt.Sprint(field, "=", value)] < 0 {
			require.Equal(t, value, known[field], "%s: the call changes %s, so known of expected says it", row.Name, field)
		}
	}
}

// leaves adds how often each field of a state has each value.
func leaves(t *testing.T, state sandbox.State, counts map[string]int, by int) map[string]int {
	t.Helper()
	text, err := json.Marshal(state)
	require.NoError(t, err)
	for _, field := range regexp.MustCompile(`"(\w+)":("[^"]*"|\d+|true|false)`).FindAllStringSubmatch(string(text), -1) {
		counts[field[1]+"="+strings.Trim(field[2], `"`)] += by
	}
	return counts
}

// What a row says in Confirms, read at the sandbox: a success says all where a call gives a state to what exists, unless the document shows
// in the response what the caller need not have sent; and where the response repeats the request.
func TestConfirmed_IsWhatTheResponseLeavesOpen(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		if !row.Write() {
			return
		}
		want, why := op.Yes, "it changes a state, and nothing is documented of its response that the caller does not know"
		if row.Class != op.GuardedByState && row.Class != op.Idempotent || row.Shape == op.Typed {
			known := map[string]any{}
			if got, err := call(t.Context(), NewClient(t, Always(200, ""))); row.Confirms == op.Yes && err == nil {
				known = fieldsOf(t, row, got)
			}
			if told := toldAlone(t, row, known); told != "" {
				want, why = op.No, "the response alone tells "+told
			}
		}
		require.Equal(t, want, row.Confirms, "Confirms of %s in internal/op/table.go: %s", row.Name, why)
	})
}

// toldAlone is a value of a response that is not in its request, and not known, from the request of an operation or from one with a field less.
func toldAlone(t *testing.T, row *op.Op, known map[string]any) string {
	t.Helper()
	begin := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	twin := func() *sandbox.Sandbox {
		return EverySandbox(t, begin, sandbox.WithClock(sandbox.NewManualClock(begin)))
	}
	request, _, _ := strings.Cut(recorded(t, twin(), row), "\n\nHTTP/1.1 ")
	head, body, _ := strings.Cut(request, "\n\n")
	requests := []string{request}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &fields) == nil {
		for field := range fields {
			less := maps.Clone(fields)
			delete(less, field)
			text, err := json.Marshal(less)
			require.NoError(t, err)
			requests = append(requests, head+"\n\n"+string(text))
		}
	}
	for _, request := range requests {
		got := replayed(t, twin(), request)
		for _, value := range regexp.MustCompile(`"(\w+)":\[?("[^"]+"|[0-9]+)`).FindAllStringSubmatch(got.body, -1) {
			sent := strings.Contains(request, strings.Trim(value[2], `"`)) // as text, or in the path
			if value[2][0] != '"' {
				sent = strings.Contains(request, ":"+value[2])
			}
			sent = sent || fmt.Sprint(known[value[1]]) == strings.Trim(value[2], `"`)
			if strings.HasPrefix(got.status, "2") && !sent {
				return value[0]
			}
		}
	}
	return ""
}

// fieldsOf are the fields of a result that say something: where all are documented, a number and a false do, too.
func fieldsOf(t *testing.T, row *op.Op, result any) map[string]any {
	t.Helper()
	text, err := json.Marshal(result)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	maps.DeleteFunc(fields, func(_ string, v any) bool {
		return v == nil || v == "" || row.Shape != op.Typed && reflect.ValueOf(v).IsZero()
	})
	return fields
}

// A queue repeats what returned an error. A teammate stops the campaign in between, and nothing resumes it.
func TestConfirmed_AQueueApprovesOnce(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client := clientOf(run)
		_, err := client.Campaigns.ApproveUnreviewed(run.Context(), CampaignID)
		for _, c := range run.Campaigns() {
			if c.Status == string(prospectkit.CampaignActive) {
				run.Do(func(tx *sandbox.Tx) { tx.StopCampaign(c.ID) })
			}
		}
		if prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown {
			return nil // a person looks
		}
		return err
	}, func(run *sandbox.Run) error {
		n := effective(run, "campaigns.approve")
		if slices.ContainsFunc(run.Failures(), func(f sandbox.Failure) bool { return f.Kind == sandbox.SentTwice }) {
			n-- // of one request, by a gateway
		}
		if n > 1 {
			return errors.New("approved twice")
		}
		return nil
	}, everySweep(sandbox.UntilDone(3), sandbox.Only(sandbox.RequestLost, sandbox.ResponseLost, sandbox.FailedAfter, sandbox.ResponseCut, sandbox.RateLimited,
		sandbox.SentTwice, sandbox.IdleClosed, sandbox.BodyRefused, sandbox.AgedResponse, sandbox.TotalsCapped, sandbox.PageEmptied))...)
}
