package prospectkit_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
)

// promises are what a class says about a call: how often it is sent when each attempt fails like this, and what is known in the
// end. All writes are alike.
var promises = []struct {
	name                 string
	failure              roundTrip
	read, metered, write string
}{
	{"failed", always(500, envelope("UNEXPECTED_ERROR")), "3 not applied", "3 not applied", "1 unknown"},
	{"failed in between", always(502, html, contentType, htmlType), "3 not applied", "1 unknown", "1 unknown"},
	{"cut", consumed, "3 not applied", "1 unknown", "1 unknown"},
	{"answer unreadable", always(200, "{", "RateLimit-Remaining", "7"), "3 not applied", "1 applied", "1 applied"},
	{"limited", always(429, envelope("RATE_LIMITED"), "Retry-After", "7"), "3 not applied", "3 not applied", "3 not applied"},
	{"refused", always(409, envelope("CAMPAIGN_BUSY")), "1 not applied", "1 not applied", "1 not applied"},
}

// TestRetryClassOfEveryOperation holds every method to the promise of its class.
func TestRetryClassOfEveryOperation(t *testing.T) {
	eachOperation(t, func(t *testing.T, row *op.Op, call anyCall) {
		for _, p := range promises {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
					sent++
					require.Nil(t, r.GetBody, "net/http would replay it")
					require.NotContains(t, r.Header, "Idempotency-Key", "net/http would replay it")
					return p.failure(r)
				}))
				_, err := call(t.Context(), client)
				want := map[op.Class]string{op.Read: p.read, op.MeteredRead: p.metered}[row.Class]
				if want == "" {
					want = p.write
				}
				require.Equal(t, want, fmt.Sprintf("%d %s", sent, prospectkit.OutcomeOf(err)), "%s: %v", p.name, err)
			})
		}
	})
}

// repeatableInDoubt are the operations that AllowRetryUnknown may retry: the same call leaves the same state, or a unique
// name guards it. The agents are drafts, which cost nothing.
var repeatableInDoubt = map[string]bool{
	"lists.create": true, "lists.move": true, "agents.create-person-discovery": true, "agents.create-people-watcher": true,
	"agents.create-web-monitor": true, "agents.adjust": true, "campaigns.adjust": true, "campaigns.edit-send": true, "facts.edit": true,
	"hubs.set-default": true,
}

func TestRepeatAfterDoubtOfEveryOperation(t *testing.T) {
	eachOperation(t, func(t *testing.T, row *op.Op, call anyCall) {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				sent++
				return consumed(r)
			}))
			_, err := call(t.Context(), client, prospectkit.AllowRetryUnknown())
			if row.Class == op.Read || repeatableInDoubt[row.Name] {
				require.Equal(t, 3, sent)
				require.Equal(t, row.Class != op.Read, errors.Is(err, prospectkit.ErrOutcomeUnknown))
				return
			}
			refused, ok := errors.AsType[*prospectkit.RefusedError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, prospectkit.RuleRepeat, refused.Rule)
			require.Zero(t, sent)
		})
	})
}
