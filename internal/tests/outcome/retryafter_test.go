package outcome_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
)

// passes are the codes after which time alone helps, and how much of it, unless the service says.
var passes = map[prospectkit.Code]time.Duration{
	prospectkit.CodeRateLimited: time.Minute, prospectkit.CodeCampaignBusy: 5 * time.Second, prospectkit.CodeAgentProcessing: 5 * time.Second,
	prospectkit.CodeListProcessing: 5 * time.Second, prospectkit.CodeCampaignInitializing: 5 * time.Second,
}

func TestRetryAfter_OfEachCode(t *testing.T) {
	for _, row := range op.Codes {
		for _, status := range row.Statuses {
			want, ok := passes[prospectkit.Code(row.Name)]
			if !ok {
				want = tests.NoWait
			}
			require.Equal(t, want, tests.Waits(refusedRead(t, status, tests.Envelope(row.Name))), row.Name)
			if ok {
				want = 7 * time.Second
			}
			err := refusedRead(t, status, tests.Envelope(row.Name), "Retry-After", "7")
			require.Equal(t, want, tests.Waits(err), row.Name)
			require.Equal(t, want, tests.Waits(fmt.Errorf("syncing: %w", err)), row.Name)
		}
	}
	for _, status := range []int{400, 401, 403, 404, 409, 422, 500, 503} {
		require.Equal(t, tests.NoWait, tests.Waits(refusedRead(t, status, tests.Envelope("NEW_CODE"), "Retry-After", "7")), status)
		require.Equal(t, tests.NoWait, tests.Waits(refusedRead(t, status, "<html>", "Retry-After", "7")), status)
	}
	require.Equal(t, time.Minute, tests.Waits(refusedRead(t, 429, "<html>slow down</html>")), "whoever counts")
	require.Equal(t, time.Minute, tests.Waits(refusedRead(t, 429, tests.Envelope("NEW_CODE"))))
}

// Whoever retries an approval may resume what a teammate has stopped. So no conflict of one says when.
func TestRetryAfter_NotOfAConflictOfAnApproval(t *testing.T) {
	approve := func(status int, code string) error {
		client := tests.NewClient(t, tests.Always(status, tests.Envelope(code), "Retry-After", "7"), tests.OneAttempt)
		_, err := client.Campaigns.ApproveUnreviewed(t.Context(), tests.CampaignID)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		return err
	}
	for _, row := range op.Codes {
		if slices.Contains(row.Statuses, http.StatusConflict) {
			require.Equal(t, tests.NoWait, tests.Waits(approve(http.StatusConflict, row.Name)), row.Name)
		}
	}
	require.Equal(t, 7*time.Second, tests.Waits(approve(http.StatusTooManyRequests, "RATE_LIMITED")), "it was refused before any work")
}

// Once a call may have happened, no later refusal says that it may be made again.
func TestRetryAfter_NotAfterAnUnknownOutcome(t *testing.T) {
	for _, last := range []tests.RoundTrip{
		tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "1"), tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "3600"),
		tests.Always(409, tests.Envelope("LIST_PROCESSING")),
	} {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if sent++; sent == 1 {
					return tests.CutOff(r)
				}
				return last(r)
			}))
			err := tests.Move(t.Context(), client, prospectkit.AllowRetryUnknown())
			require.Greater(t, sent, 1)
			require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
			require.Equal(t, tests.NoWait, tests.Waits(err))
		})
	}
	inside := tests.AsError(t, tests.Family(t)["500 to a write"])
	inside.Code, inside.Status = prospectkit.CodeRateLimited, 429
	require.Equal(t, tests.NoWait, tests.Waits(inside), "the response inside an unknown outcome does not say otherwise")
	require.Equal(t, tests.NoWait, tests.Waits(tests.Family(t)["response cannot be read"]), "it was applied")
}

func TestRetryAfter_OfOtherErrors(t *testing.T) {
	limited := &prospectkit.Error{Status: 429, Code: prospectkit.CodeRateLimited}
	missing := &prospectkit.Error{Status: 404, Code: prospectkit.CodeListNotFound}
	for name, err := range map[string]error{
		"no error": nil, "another package's": io.EOF, "a deadline": context.DeadlineExceeded, "a code alone": prospectkit.CodeRateLimited, "a class": prospectkit.ErrRateLimited,
		"arguments": tests.Family(t)["refused locally"], "the network": tests.Family(t)["never sent"], "a cut": tests.Family(t)["cut"],
		"the first of several": errors.Join(missing, limited), "an unknown one among several": errors.Join(limited, &prospectkit.OutcomeUnknownError{}),
	} {
		require.Equal(t, tests.NoWait, tests.Waits(err), name)
	}
	require.Equal(t, time.Minute, tests.Waits(errors.Join(io.EOF, limited, missing)), "of several as OutcomeOf")
}

// What kept an agent from its start says when to call again.
func TestRetryAfter_OfAMethodOfSeveralCalls(t *testing.T) {
	s := tests.Stage(t, tests.OtherAgents, tests.DraftSaved, tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "3600"))
	_, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), tests.Capped())
	require.ErrorIs(t, err, prospectkit.ErrNotStarted)
	require.Equal(t, time.Hour, tests.Waits(err).Round(time.Minute))
}

// A wait that did not fit before the first attempt is told as what is left of it.
func TestRetryAfter_OfAWaitThatDidNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := &prospectkit.RefusedError{Rule: prospectkit.RuleRateLimit, FitsAt: time.Now().Add(time.Minute)}
		require.Equal(t, time.Minute, tests.Waits(refused))
		time.Sleep(45 * time.Second)
		require.Equal(t, 15*time.Second, tests.Waits(fmt.Errorf("syncing: %w", refused)))
		time.Sleep(45 * time.Second)
		require.Zero(t, tests.Waits(refused), "it fits by now")
		require.Equal(t, time.Minute, tests.Waits(&prospectkit.RefusedError{Rule: prospectkit.RuleRateLimit}), "a fake that does not say when")
		require.Equal(t, tests.NoWait, tests.Waits(&prospectkit.RefusedError{Rule: prospectkit.RuleInProgress, FitsAt: time.Now()}))
	})
}
