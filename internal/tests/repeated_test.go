package tests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// repeats is a gateway that sends a POST without a body again, because the first response was lost, and tells of itself with a header.
func repeats(sb *sandbox.Sandbox, name, value string, everywhere bool) RoundTrip {
	again := func(r *http.Request) bool { return IsPost(r) && r.ContentLength == 0 }
	gateway := Repeats(sb.Transport(), again)
	return func(r *http.Request) (*http.Response, error) {
		resp, err := gateway(r)
		if err == nil && (everywhere || !again(r)) {
			resp.Header.Set(name, value)
		}
		return resp, err
	}
}

// guardedByState are the writes of this class, with the errors that their own effect may have: the second is in conflict with the first, or it
// has used up the credits.
func guardedByState() map[*op.Op]map[string]int {
	conflicts := map[*op.Op]map[string]int{}
	for _, o := range op.All() {
		if o.Class == op.GuardedByState {
			conflicts[o] = map[string]int{"INSUFFICIENT_CREDITS": http.StatusPaymentRequired}
			for _, code := range op.Codes {
				if slices.Contains(code.Statuses, http.StatusConflict) && slices.Contains(slices.Concat(o.Codes, o.Likely), code.Name) {
					conflicts[o][code.Name] = http.StatusConflict
				}
			}
		}
	}
	return conflicts
}

// readOf is a free read of a surface.
func readOf(s op.Surface) AnyCall {
	return EveryCall[op.All()[slices.IndexFunc(op.All(), func(o *op.Op) bool { return o.Class == op.Read && o.Surface == s })].Name]
}

// Varnish sends a POST without a body again, if the connection to the service ends without a response. Its second response is a conflict that
// the first request has made: nothing says "not applied" of that, and after a restart nothing is sent.
func TestRepeatedByAGateway(t *testing.T) {
	for o, codes := range guardedByState() {
		name, write := o.Name, EveryCall[o.Name]
		for header, value := range map[string]string{"Via": "1.1 cache (Varnish/7.1)", "X-Varnish": "32770", "Age": "0"} {
			for _, everywhere := range []bool{true, false} {
				for code, status := range codes {
					InBubble(t, name+" "+header+" "+code, func(t *testing.T) {
						sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
						start := func() *prospectkit.Client {
							return SandboxClient(t, sb, prospectkit.WithTransport(repeats(sb, header, value, everywhere)), prospectkit.WithJournal(j))
						}
						client := start()
						_, err := client.Account.Me(t.Context())
						require.NoError(t, err)
						sb.Fail(name, sandbox.Nth(2), sandbox.Status(status, code))
						require.ErrorIs(t, Discard(write(t.Context(), client, prospectkit.Once("monday"))), prospectkit.ErrOutcomeUnknown)
						sent := sb.Calls(name)
						require.Equal(t, 2, sent)
						require.ErrorIs(t, Discard(write(t.Context(), start(), prospectkit.Once("monday"))), prospectkit.ErrOutcomeUnknown)
						require.Equal(t, sent, sb.Calls(name))
					})
				}
			}
		}
	}
}

// The second response of a gateway that repeats may be a 429, after the first request was applied. So it is not sent once more, after a teammate
// has undone it perhaps, and the surface waits as after any 429. Where no response tells of a gateway, a 429 was not processed.
func TestRepeatedByAGateway_RateLimited(t *testing.T) {
	for o := range guardedByState() {
		name := o.Name
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb := EverySandbox(t, time.Now())
				client := SandboxClient(t, sb, prospectkit.WithTransport(repeats(sb, "Via", "1.1 cache (Varnish/7.1)", true)))
				sb.Fail(name, sandbox.Nth(2), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(5))
				for range 2 {
					_, err := EveryCall[name](t.Context(), client, prospectkit.Once("monday"))
					RequireUnknown(t, err)
					require.Equal(t, 2, sb.Calls(name))
				}
				began := time.Now()
				require.NoError(t, Discard(readOf(o.Surface)(t.Context(), client)))
				require.InDelta(t, 5, time.Since(began).Seconds(), 1)
			})
			synctest.Test(t, func(t *testing.T) {
				sb := EverySandbox(t, time.Now())
				sb.Fail(name, sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(5))
				_, err := EveryCall[name](t.Context(), SandboxClient(t, sb))
				require.NoError(t, err)
				require.Equal(t, 2, sb.Calls(name))
			})
		})
	}
}

// Where no response tells of a gateway, these are refusals, which leave nothing in doubt. So is one with a body behind a gateway, and any
// other refusal.
func TestConflictOfAnother(t *testing.T) {
	for o, codes := range guardedByState() {
		for code, status := range codes {
			sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
			client := SandboxClient(t, sb, prospectkit.WithJournal(j))
			sb.Fail(o.Name, sandbox.Nth(1), sandbox.Status(status, code))
			_, err := EveryCall[o.Name](t.Context(), client)
			require.ErrorIs(t, err, prospectkit.Code(code))
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Equal(t, journal.NotApplied, j.Entries()[0].Outcome)
		}
	}
	sb := EverySandbox(t, time.Now())
	client := SandboxClient(t, sb, prospectkit.WithTransport(repeats(sb, "Via", "1.1 cache", true)))
	sb.Fail("campaigns.approve", sandbox.Always(), sandbox.Status(422, "CAMPAIGN_NOT_READY"))
	_, err := client.Campaigns.ApproveUnreviewed(t.Context(), CampaignID)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: sb.Lists()[0].Name})
	require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
}

// CreateAndStart reads the outcome of a start that was repeated.
func TestCreateAndStart_RepeatedByAGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := EverySandbox(t, time.Now())
		client := SandboxClient(t, sb, prospectkit.WithTransport(repeats(sb, "Via", "1.1 cache", true)))
		agent, err := client.Agents.CreateAndStart(t.Context(), heads)
		require.NoError(t, err)
		require.False(t, agent.Draft())
		require.True(t, strings.EqualFold(agent.Name, heads.ListName))
	})
}

// A key that is revoked between the two requests of a gateway rejects the second: another key does not send what the first may have done.
func TestRepeatedByAGateway_KeyRevoked(t *testing.T) {
	for o := range guardedByState() {
		for via, sent := range map[bool]int{true: 1, false: 2} {
			synctest.Test(t, func(t *testing.T) {
				calls, posts := 0, 0
				keys := func(context.Context) (string, error) {
					calls++
					return fmt.Sprint("key ", calls), nil
				}
				transport := RoundTrip(func(*http.Request) (*http.Response, error) {
					var more []string
					if via {
						more = []string{"Via", "1.1 cache (Varnish/7.1)"}
					}
					if posts++; posts == 1 {
						return Respond(http.StatusUnauthorized, Envelope("UNAUTHORIZED"), more...), nil
					}
					return nil, io.ErrUnexpectedEOF
				})
				client := NewClient(t, transport, prospectkit.WithTokenSource(keys))
				_, err := EveryCall[o.Name](t.Context(), client)
				RequireUnknown(t, err)
				require.Equal(t, sent, posts, o.Name)
				_ = Discard(EveryCall[o.Name](t.Context(), client))
				require.Equal(t, 1, calls, "the next call has another key")
			})
		}
	}
}

// What a paid read of the caller's without a body costs, the first request may have cost, and what it deletes, that may have deleted.
func TestRepeatedByAGateway_OfTheCaller(t *testing.T) {
	paid, deletes := Described(http.MethodGet, op.PaidRead), Described(http.MethodDelete, op.Unsafe)
	for name, c := range map[string]struct {
		o       prospectkit.Operation
		status  int
		code    string
		unknown bool
	}{
		"the credits are used up":      {paid, 402, "INSUFFICIENT_CREDITS", true},
		"the rate limit is":            {paid, 429, "RATE_LIMITED", true},
		"the second one fails":         {paid, 500, "UNEXPECTED_ERROR", true},
		"it is gone":                   {deletes, 404, "LIST_NOT_FOUND", true},
		"there is no such operation":   {deletes, 404, "ENDPOINT_NOT_FOUND", false},
		"it is refused for its form":   {deletes, 422, "VALIDATION_FAILED", false},
		"what it changes is not there": {Described(http.MethodPost, op.Unsafe), 404, "LIST_NOT_FOUND", false},
		"nothing of it is there":       {paid, 404, "LIST_NOT_FOUND", false},
	} {
		InBubble(t, name, func(t *testing.T) {
			for _, via := range []string{"1.1 cache (Varnish/7.1)", ""} {
				sent := 0
				gateway := Counting(&sent, func(*http.Request) (*http.Response, error) {
					resp := Respond(c.status, Envelope(c.code), "Retry-After", "1")
					if via != "" {
						resp.Header.Set("Via", via)
					}
					return resp, nil
				})
				err := NewClient(t, gateway).Call(t.Context(), c.o, nil, nil)
				unknown := via != "" && c.unknown
				require.Equal(t, unknown, errors.Is(err, prospectkit.ErrOutcomeUnknown), "%q: %v", via, err)
				require.Equal(t, !unknown && (c.status == 429 || c.status == 500), sent > 1)
			}
		})
	}
}
