package tests

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// repeats is a gateway that sends a POST without a body again, because the first response was lost, and tells of itself with a header.
func repeats(sb *sandbox.Sandbox, name, value string, everywhere bool) RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		again := r.Method == http.MethodPost && r.ContentLength == 0
		if again {
			first, err := sb.Transport().RoundTrip(r.Clone(r.Context()))
			if err != nil {
				return nil, err
			}
			_ = first.Body.Close()
		}
		resp, err := sb.Transport().RoundTrip(r)
		if err == nil && (everywhere || !again) {
			resp.Header.Set(name, value)
		}
		return resp, err
	}
}

// guardedByState are the writes without a body, with the codes that their own effect may have.
var guardedByState = map[string]struct {
	codes []string
	call  func(*testing.T, *prospectkit.Client, ...prospectkit.CallOption) error
}{
	"campaigns.approve": {[]string{"CAMPAIGN_BUSY", "CAMPAIGN_NOT_APPROVABLE"}, func(t *testing.T, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		t.Helper()
		_, err := c.Campaigns.ApproveUnreviewed(t.Context(), CampaignID, opts...)
		return err
	}},
	"agents.activate": {[]string{"AGENT_PROCESSING", "AGENT_NOT_A_DRAFT"}, func(t *testing.T, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		t.Helper()
		_, err := c.Agents.Activate(t.Context(), DraftID, opts...)
		return err
	}},
	"agents.pause": {[]string{"AGENT_NOT_RUNNING"}, func(t *testing.T, c *prospectkit.Client, opts ...prospectkit.CallOption) error {
		t.Helper()
		_, err := c.Agents.Pause(t.Context(), RunsID, opts...)
		return err
	}},
}

// Varnish sends a POST without a body again, if the connection to the service ends without a response. Its second response is a conflict that
// the first request has made: nothing says "not applied" of that, and after a restart nothing is sent.
func TestRepeatedByAGateway(t *testing.T) {
	for name, write := range guardedByState {
		for header, value := range map[string]string{"Via": "1.1 cache (Varnish/7.1)", "X-Varnish": "32770", "Age": "0"} {
			for _, everywhere := range []bool{true, false} {
				for _, code := range write.codes {
					t.Run(name+" "+header+" "+code, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
							start := func() *prospectkit.Client {
								return SandboxClient(t, sb, prospectkit.WithTransport(repeats(sb, header, value, everywhere)), prospectkit.WithJournal(j))
							}
							client := start()
							_, err := client.Account.Me(t.Context())
							require.NoError(t, err)
							sb.Fail(name, sandbox.Nth(2), sandbox.Status(409, code))
							require.ErrorIs(t, write.call(t, client, prospectkit.Once("monday")), prospectkit.ErrOutcomeUnknown)
							sent := sb.Calls(name)
							require.Equal(t, 2, sent)
							require.ErrorIs(t, write.call(t, start(), prospectkit.Once("monday")), prospectkit.ErrOutcomeUnknown)
							require.Equal(t, sent, sb.Calls(name))
						})
					})
				}
			}
		}
	}
}

// The second response of a gateway that repeats may be a 429, after the first request was applied. So it is not sent once more, after a teammate
// has undone it perhaps, and the surface waits as after any 429. Where no response tells of a gateway, a 429 was not processed.
func TestRepeatedByAGateway_RateLimited(t *testing.T) {
	for name := range guardedByState {
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
				_, err := client.Campaigns.Page(t.Context())
				if name != "campaigns.approve" {
					_, err = client.Agents.Page(t.Context())
				}
				require.NoError(t, err)
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

// Where no response tells of a gateway, a conflict is a refusal, and leaves nothing in doubt. So is one with a body behind a gateway, and any
// other refusal.
func TestConflictOfAnother(t *testing.T) {
	for name, write := range guardedByState {
		for _, code := range write.codes {
			sb, j := EverySandbox(t, time.Now()), new(journal.MemoryJournal)
			client := SandboxClient(t, sb, prospectkit.WithJournal(j))
			sb.Fail(name, sandbox.Nth(1), sandbox.Status(409, code))
			err := write.call(t, client)
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
