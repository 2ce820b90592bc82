package tests

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
)

// promises are what a class says about a call: how often it is sent when each attempt fails like this, and what is known in the
// end. All writes are alike.
var promises = []struct {
	name              string
	failure           RoundTrip
	read, paid, write string
}{
	{"failed", Always(500, Envelope("UNEXPECTED_ERROR")), "3 not applied", "3 not applied", "1 unknown"},
	{"failed in between", Always(502, "<!DOCTYPE html><title>Error</title>", "Content-Type", "text/html"), "3 not applied", "1 unknown", "1 unknown"},
	{"cut", Consumed, "3 not applied", "1 unknown", "1 unknown"},
	{"response unreadable", Always(200, "{", "RateLimit-Remaining", "7"), "3 not applied", "1 applied", "1 applied"},
	{"limited", Always(429, Envelope("RATE_LIMITED"), "Retry-After", "50"), "3 not applied", "3 not applied", "3 not applied"},
	{"refused", Always(409, Envelope("CAMPAIGN_BUSY")), "1 not applied", "1 not applied", "1 not applied"},
}

// TestRetry_ClassOfEveryOperation holds every method to the promise of its class.
func TestRetry_ClassOfEveryOperation(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		for _, p := range promises {
			synctest.Test(t, func(t *testing.T) {
				var bodies []string
				client := NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) {
					_, body := SentBody(t, r)
					bodies = append(bodies, body)
					require.Nil(t, r.GetBody, "net/http would replay it")
					require.NotContains(t, r.Header, "Idempotency-Key", "net/http would replay it")
					return p.failure(r)
				}))
				began := time.Now()
				_, err := call(t.Context(), client)
				want := map[op.Class]string{op.Read: p.read, op.PaidRead: p.paid}[row.Class]
				if want == "" {
					want = p.write
				}
				require.Equal(t, want, fmt.Sprintf("%d %s", len(bodies), prospectkit.OutcomeOf(err)), "%s: %v", p.name, err)
				require.Len(t, slices.Compact(bodies), 1, "the same again")
				if p.name == "limited" {
					require.GreaterOrEqual(t, time.Since(began), 100*time.Second, "it waits each time")
				}
			})
		}
	})
}

// repeatable reports whether AllowRetryUnknown may retry a write: the same call leaves the same state and costs nothing, or a unique
// name guards it. The agents of EveryCall are drafts, which cost nothing.
func repeatable(row *op.Op) bool {
	return row.Class == op.GuardedByName || row.Class == op.Idempotent && !row.Spends.Possible()
}

func TestRetry_AllowRetryUnknownOfEveryOperation(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			_, err := call(t.Context(), NewClient(t, Counting(&sent, Consumed)), prospectkit.AllowRetryUnknown())
			if row.Class == op.Read || repeatable(row) {
				require.Equal(t, 3, sent)
				require.Equal(t, row.Class != op.Read, errors.Is(err, prospectkit.ErrOutcomeUnknown))
				return
			}
			require.Equal(t, []string{NotRepeatable}, Refusals(t, err))
			require.Zero(t, sent)
		})
	})
}

// What a class says about repeating a write holds at the sandbox: a second call leaves the same state, is refused for the name or the
// state that the first has left, or is in no conflict with the first.
func TestClass_OfEveryWriteThatIsRepeated(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		if !row.Write() {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			sb := EverySandbox(t, time.Now())
			client := SandboxClient(t, sb)
			_, err := call(t.Context(), client)
			require.NoError(t, err)
			time.Sleep(time.Minute) // what comes too soon is refused as busy
			once := sb.Snapshot()
			require.NoError(t, once.Validate(), "States in internal/op/table.go lacks a state in which %s leaves something", row.Name)
			_, err = call(t.Context(), client)
			switch code := string(prospectkit.CodeOf(err)); row.Class {
			case op.Unsafe:
				refused, _ := errors.AsType[*prospectkit.Error](err)
				require.False(t, refused != nil && refused.Status == http.StatusConflict, "the class of %s in internal/op/table.go: %v", row.Name, err)
				return
			case op.Idempotent:
				require.NoError(t, err, "the class of %s in internal/op/table.go", row.Name)
			default:
				require.Contains(t, slices.Concat(row.Codes, row.Likely), code, "the class of %s in internal/op/table.go: %v", row.Name, err)
				require.Equal(t, row.Class == op.GuardedByName, strings.Contains(code, "NAME"), "the class of %s in internal/op/table.go: %s", row.Name, code)
			}
			require.True(t, reflect.DeepEqual(once, sb.Snapshot()), "the class of %s in internal/op/table.go, or its handler in sandbox: the second call changed the state", row.Name)
		})
	})
}
