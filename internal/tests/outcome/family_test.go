package outcome_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

func TestErrors_EveryKind(t *testing.T) {
	type facts struct {
		kind    string
		outcome prospectkit.Outcome
		wait    time.Duration
		code    prospectkit.Code
		fields  []string // of LogValue
	}
	answered := []string{"attempts", "code", "error.type", "op", "outcome", "request_id", "status"}
	want := map[string]facts{
		"refused locally":         {"*prospectkit.RefusedError", prospectkit.OutcomeNotApplied, tests.NoWait, prospectkit.CodeValidationFailed, []string{"error.type", "op", "outcome", "reason"}},
		"refused by the limit":    {"*prospectkit.RefusedError", prospectkit.OutcomeNotApplied, time.Hour, prospectkit.CodeRateLimited, []string{"error.type", "op", "outcome", "reason", "surface", "wait_ms"}},
		"429":                     {"*prospectkit.Error", prospectkit.OutcomeNotApplied, time.Hour, prospectkit.CodeRateLimited, []string{"attempts", "code", "error.type", "op", "outcome", "reason", "request_id", "status"}},
		"409":                     {"*prospectkit.Error", prospectkit.OutcomeNotApplied, tests.NoWait, prospectkit.CodeListNameTaken, answered},
		"never sent":              {"*prospectkit.Error", prospectkit.OutcomeNotApplied, tests.NoWait, "", []string{"attempts", "error.type", "op", "outcome", "reason"}},
		"500 to a write":          {"*prospectkit.OutcomeUnknownError", prospectkit.OutcomeUnknown, tests.NoWait, prospectkit.CodeUnexpectedError, answered},
		"cut":                     {"*prospectkit.OutcomeUnknownError", prospectkit.OutcomeUnknown, tests.NoWait, "", []string{"attempts", "error.type", "op", "outcome", "reason"}},
		"response cannot be read": {"*prospectkit.Error", prospectkit.OutcomeApplied, tests.NoWait, "", []string{"attempts", "error.type", "op", "outcome", "reason", "status"}},
	}
	for name, err := range tests.Family(t) {
		for _, wrapped := range []error{err, fmt.Errorf("syncing: %w", err), errors.Join(io.EOF, err)} {
			require.Equal(t, want[name].outcome, prospectkit.OutcomeOf(wrapped), name)
			require.Equal(t, want[name].code, prospectkit.CodeOf(wrapped), name)
		}
		ours, ok := err.(interface {
			Outcome() prospectkit.Outcome
			slog.LogValuer
		})
		require.True(t, ok, name)
		var line bytes.Buffer
		slog.New(slog.NewJSONHandler(&line, nil)).Warn("failed", "error", ours)
		var logged struct {
			Error map[string]any `json:"error"`
		}
		require.NoError(t, json.Unmarshal(line.Bytes(), &logged))
		fields := slices.Sorted(maps.Keys(logged.Error))
		wait := tests.Waits(err)
		if wait > 0 {
			wait = wait.Round(time.Minute)
		}
		told := facts{fmt.Sprintf("%T", err), ours.Outcome(), wait, prospectkit.CodeOf(err), fields}
		require.Equal(t, want[name], told, name)
		require.Equal(t, want[name].outcome == prospectkit.OutcomeUnknown, errors.Is(err, prospectkit.ErrOutcomeUnknown), name)
		require.Equal(t, name == "refused locally" || name == "refused by the limit", errors.As(err, new(*prospectkit.RefusedError)), name)
		require.Equal(t, name == "refused by the limit" || name == "429", errors.Is(err, prospectkit.ErrRateLimited), name)
		requireOneLine(t, err)
	}
}

func TestErrors_CausesStayReachable(t *testing.T) {
	errs := tests.Family(t)
	require.ErrorIs(t, errs["cut"], io.ErrUnexpectedEOF)
	require.ErrorIs(t, errs["refused locally"], prospectkit.ErrInvalid)
	var dns *net.DNSError
	require.ErrorAs(t, errs["never sent"], &dns)
	var answered *prospectkit.Error
	require.ErrorAs(t, errs["500 to a write"], &answered)
	require.Equal(t, prospectkit.OutcomeUnknown, answered.Outcome(), "the response inside does not say otherwise")
}

func TestErrors_OutcomeOfOtherErrors(t *testing.T) {
	require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(nil))
	require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(io.EOF))
	require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(context.DeadlineExceeded))
}

func TestErrors_MissingScopeIsNamed(t *testing.T) {
	client := tests.NewClient(t, tests.Always(403, strings.Replace(tests.Envelope("INSUFFICIENT_SCOPE"), "prose", "Prose.", 1)))
	_, err := client.Lists.Get(t.Context(), tests.ListID)
	require.ErrorContains(t, err, `: Prose; this operation needs the scope "lists"`)
	require.ErrorIs(t, err, prospectkit.ErrForbidden)

	_, err = client.Account.Me(t.Context())
	require.NotContains(t, err.Error(), "needs the scope", "any key may call it: there is no scope to name")
	require.NotContains(t, client.Call(t.Context(), tests.UnnamedOperation(op.Read), nil, nil).Error(), "needs the scope")
}

func TestErrors_UnknownEndpoint(t *testing.T) {
	client := tests.NewClient(t, tests.Always(404, tests.Envelope("ENDPOINT_NOT_FOUND")))
	_, err := client.Account.Me(t.Context())
	require.ErrorIs(t, err, prospectkit.CodeEndpointNotFound)
	require.NotErrorIs(t, err, prospectkit.ErrNotFound)
	require.NotContains(t, err.Error(), "WithRoutes", "the document shows this path")
	err = client.Call(t.Context(), tests.UnnamedOperation(op.Read), nil, nil)
	require.NotContains(t, err.Error(), "WithRoutes", "the caller gave this path")
}

// A gate, a token source or a store may make a call of its own. That its outcome is unknown says nothing about the call that was refused.
func TestRefusal_HidesTheOutcomeOfAnotherCall(t *testing.T) {
	sb := tests.EverySandbox(t, time.Now())
	sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
	base, mine := tests.SandboxClient(t, sb), errors.New("the lock is not free")
	guarded, err := base.With(prospectkit.WithGate(func(ctx context.Context, in prospectkit.Intent) error {
		if !in.Writes {
			return nil
		}
		_, err := base.Lists.Create(ctx, prospectkit.NewList{Name: "lock"})
		return fmt.Errorf("%w: %w", mine, err)
	}))
	require.NoError(t, err)
	e, err := guarded.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Customers"})
	require.Nil(t, e)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.ErrorIs(t, err, prospectkit.RuleGate)
	require.ErrorIs(t, err, mine)
	require.NotErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	_, found := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	require.False(t, found, "it would be resolved")
	require.ErrorContains(t, err, "unknown")

	_, err = guarded.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Orders"})
	require.ErrorContains(t, err, "LIST_NAME_TAKEN", "of the lock")
	require.NotErrorIs(t, err, prospectkit.CodeListNameTaken)
	require.NotErrorIs(t, err, prospectkit.ErrConflict)
	_, found = errors.AsType[*prospectkit.Error](err)
	require.False(t, found)
}
