package tests

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// A wait goes on while what was just made does not show yet, for as long as Resolve allows: 10 s, for agents 65 s. Then it ends.
func TestWaits_ForWhatDoesNotShowYet(t *testing.T) {
	for name, tc := range map[string]struct {
		op    string
		code  prospectkit.Code
		shows time.Duration // at the latest
		wait  func(context.Context, *prospectkit.Client) error
	}{
		"WaitSettled": {"agents.get", prospectkit.CodeAgentNotFound, 65 * time.Second, func(ctx context.Context, c *prospectkit.Client) error {
			_, err := c.Agents.WaitSettled(ctx, RunsID)
			return err
		}},
		"WaitEach": {"agents.get", prospectkit.CodeAgentNotFound, 65 * time.Second, func(ctx context.Context, c *prospectkit.Client) error {
			for _, err := range c.Agents.WaitEach(ctx, RunsID) {
				return err
			}
			return nil
		}},
		"WaitFor": {"lists.get", prospectkit.CodeListNotFound, 10 * time.Second, func(ctx context.Context, c *prospectkit.Client) error {
			_, err := c.Lists.WaitFor(ctx, ListID, func(*prospectkit.List) bool { return true })
			return err
		}},
	} {
		for _, late := range []time.Duration{tc.shows / 2, tc.shows - time.Second, time.Hour} {
			t.Run(name+" "+late.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sb := EverySandbox(t, time.Now())
					if name == "WaitEach" {
						sb.Fail("agents.list", sandbox.Always(), sandbox.RawBody(200, `{"agents":[]}`))
					}
					hidden := sb.Fail(tc.op, sandbox.Always(), sandbox.Status(404, string(tc.code)))
					time.AfterFunc(late, func() { sb.Switch(hidden, false) })
					began := time.Now()
					err := tc.wait(t.Context(), SandboxClient(t, sb))
					if late < tc.shows {
						require.NoError(t, err)
						return
					}
					require.ErrorIs(t, err, tc.code)
					require.NotErrorIs(t, err, prospectkit.ErrNotSettled)
					require.WithinRange(t, time.Now(), began.Add(tc.shows), began.Add(3*tc.shows))
				})
			})
		}
	}
}
