package outcome_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// lost makes a creation whose outcome is unknown.
func lost(t *testing.T, sb *sandbox.Sandbox, fault sandbox.FaultOption, c *prospectkit.Client, name string) *prospectkit.OutcomeUnknownError {
	t.Helper()
	sb.Fail("lists.create", sandbox.Nth(1), fault)
	unknown := tests.AsUnknown(t, tests.Create(t, c, prospectkit.NewList{Name: name})())
	return unknown
}

// offset is a service whose createdAt is off, behind a gateway that sets a Date of its own.
func offset(sb *sandbox.Sandbox, off time.Duration) tests.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := withDate{base: sb.Transport()}.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		body = createdAt.ReplaceAllFunc(body, func(field []byte) []byte {
			at, err := time.Parse(time.RFC3339, string(createdAt.FindSubmatch(field)[1]))
			if err != nil {
				return field
			}
			return []byte(`"createdAt":"` + at.Add(off).Format(time.RFC3339) + `"`)
		})
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		resp.Header.Del("Content-Length")
		return resp, err
	}
}

var createdAt = regexp.MustCompile(`"createdAt":"([^"]*)"`)

// Behind a gateway that replaces Date, nothing final is said against a list that the call made, however wrong the service's own clock is.
// Once a creation has shown how wrong, ages tell again.
func TestResolve_TheGatewaysDate(t *testing.T) {
	for _, off := range []time.Duration{-20 * time.Hour, -time.Hour, -3 * time.Minute, 3 * time.Minute, time.Hour, 20 * time.Hour} {
		for _, learned := range []bool{false, true} {
			tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
				client := tests.SandboxClient(t, sb, prospectkit.WithTransport(offset(sb, off)))
				sb.Do(func(tx *sandbox.Tx) {
					tx.CreateList(sandbox.List{Name: "old", EntityType: sandbox.ContactList, VisibleAt: time.Now().Add(10*time.Minute + time.Second)})
				})
				time.Sleep(10 * time.Minute)
				if learned {
					require.NoError(t, tests.Discard(client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q0"})))
				}
				name := fmt.Sprintf("%s, %t", off, learned)
				unknown := lost(t, sb, sandbox.DropAfter(), client, "Q1")
				elsewhere := tests.Written(t, unknown.Ticket())
				r := resolved(t, unknown.Resolve)
				require.NotEqual(t, prospectkit.OutcomeNotApplied, r.Outcome, "%s: %s", name, r.Note)
				require.Equal(t, learned || off == 3*time.Minute, r.Outcome == prospectkit.OutcomeApplied, "%s: %s", name, r.Note)
				r = resolved(t, ofTicket(tests.SandboxClient(t, sb, prospectkit.WithTransport(offset(sb, off))), elsewhere))
				require.NotEqual(t, prospectkit.OutcomeNotApplied, r.Outcome, "%s: %s", name, r.Note)

				sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
				got, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Q2"})
				if err == nil {
					require.False(t, got.Certain, name)
				} else {
					require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown, name)
				}
				r, err = lost(t, sb, sandbox.DropBefore(), client, "old").Resolve(t.Context())
				require.NoError(t, err)
				require.Equal(t, learned, r.Outcome == prospectkit.OutcomeNotApplied, "%s: %s", name, r.Note)
			})
		}
	}
}

// aged is a gateway that sets Age as Traffic Server does: to how long the service took, rounded up.
func aged(sb *sandbox.Sandbox, took time.Duration, age int) tests.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		time.Sleep(took)
		resp, err := withDate{base: sb.Transport()}.RoundTrip(r)
		if err == nil {
			resp.Header.Set("Age", strconv.Itoa(age))
		}
		return resp, err
	}
}

// An Age that is not longer than the attempt took, and a second, proves no cache: writes are believed, reviews approved, and what does not
// show is not there.
func TestAgeOfASlowResponse(t *testing.T) {
	for _, tc := range []struct {
		took time.Duration
		age  int
		want bool
	}{{0, 0, true}, {0, 1, true}, {3 * time.Second, 3, true}, {3 * time.Second, 4, true}, {0, 2, false}, {3 * time.Second, 5, false}} {
		synctest.Test(t, func(t *testing.T) {
			sb := tests.EverySandbox(t, time.Now())
			client := tests.SandboxClient(t, sb, prospectkit.WithTransport(aged(sb, tc.took, tc.age)))
			name := fmt.Sprint(tc)
			_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q0"})
			require.Equal(t, tc.want, err == nil, name)
			_, err = client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{Size: 10})
			require.Equal(t, tc.want, err == nil, name)

			r, err := lost(t, sb, sandbox.DropBefore(), client, "Q2").Resolve(t.Context())
			require.NoError(t, err)
			require.Equal(t, tc.want, r.Outcome == prospectkit.OutcomeNotApplied, "%s: %s", name, r.Note)

			ticket := tests.Written(t, lost(t, sb, sandbox.DropBefore(), client, "Q3").Ticket())
			r = resolved(t, ofTicket(tests.SandboxClient(t, sb, prospectkit.WithTransport(aged(sb, tc.took, tc.age))), ticket))
			require.Equal(t, tc.want, r.Outcome == prospectkit.OutcomeNotApplied, "%s, elsewhere: %s", name, r.Note)

			review, err := client.Campaigns.Review(t.Context(), tests.CampaignID)
			require.NoError(t, err)
			_, err = client.Campaigns.Approve(t.Context(), tests.CampaignID, review.Digest())
			require.Equal(t, tc.want, err == nil, "%s: %v", name, err)
		})
	}
}

// A list of the name whose age is unknown may be the one that the call made, or an older one. A person looks.
func TestOutcome_ListWithoutADate(t *testing.T) {
	for created, want := range map[string]prospectkit.Outcome{
		``: prospectkit.OutcomeUnknown, `,"createdAt":null`: prospectkit.OutcomeUnknown, `,"createdAt":"1999-01-01T00:00:00Z"`: prospectkit.OutcomeNotApplied,
	} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.LosesWrites(tests.Always(200, `{"data":[{"id":"`+tests.ListID+`","name":"Spring","entityType":"contactList"`+created+`}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`)))
			_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Spring"})
			unknown := tests.AsUnknown(t, err)
			found := resolved(t, unknown.Resolve)
			require.Equal(t, want, found.Outcome, "created%s", created)
		})
	}
}
