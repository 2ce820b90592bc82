package engine_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/engine"
	"example.com/prospectkit/sandbox"
)

func TestJudge(t *testing.T) {
	later := engine.Verdict{After: 2 * time.Second}
	person := engine.Verdict{Person: true}
	for name, test := range map[string]struct {
		err    error
		wanted engine.Verdict
	}{
		"the budget":     {&prospectkit.RefusedError{Rule: prospectkit.RuleRateLimit}, engine.Verdict{After: time.Minute}},
		"429":            {&prospectkit.Error{Code: prospectkit.CodeRateLimited, Status: 429, RetryAfter: 9 * time.Second}, engine.Verdict{After: 9 * time.Second}},
		"a lock":         {&prospectkit.Error{Code: prospectkit.CodeCampaignBusy, Status: 409}, engine.Verdict{After: 5 * time.Second}},
		"unknown":        {&prospectkit.OutcomeUnknownError{}, later},
		"another key":    {&prospectkit.Error{Code: prospectkit.CodeUnauthorized, Status: 401}, person},
		"credits":        {&prospectkit.Error{Code: prospectkit.CodeInsufficientCredits, Status: 402}, person},
		"approved":       {&prospectkit.Error{Code: prospectkit.CodeCampaignNotApprovable, Status: 409}, person},
		"arguments":      {&prospectkit.RefusedError{}, person},
		"the review":     {&prospectkit.RefusedError{Rule: prospectkit.RuleReview}, person},
		"the token":      {&prospectkit.RefusedError{Rule: prospectkit.RuleToken}, engine.Verdict{}},
		"the journal":    {&prospectkit.RefusedError{Rule: prospectkit.RuleJournal}, engine.Verdict{}},
		"a failed read":  {&prospectkit.Error{Code: prospectkit.CodeUnexpectedError, Status: 500}, engine.Verdict{}},
		"the database's": {errors.New("connection refused"), engine.Verdict{}},
	} {
		require.Equal(t, test.wanted, engine.Judge(test.err), name)
	}
}

// A write whose response is lost is never run again blindly: the verdict is a time at which its ticket can be looked at.
func TestJudge_ALostResponse(t *testing.T) {
	sb := sandbox.New(t)
	sb.Fail("campaigns.approve", sandbox.Status(http.StatusBadGateway, ""))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	_, err = client.Campaigns.ApproveUnreviewed(context.Background(), "a00000000000000000000001")
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	require.Positive(t, engine.Judge(err).After)
	require.False(t, engine.Judge(err).Person)
}
