package tests

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/changes"
	"example.com/prospectkit/sandbox"
)

// touched is a row that changes now.
func touched(name string) sandbox.Row {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	return sandbox.Row{"firstName": name, "createdAt": now, "updatedAt": now}
}

// unsorted is a service that ignores the order, as it does with a key that it does not know.
type unsorted struct{ http.RoundTripper }

func (u unsorted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	query := r.URL.Query()
	query.Del("sortBy")
	r.URL.RawQuery = query.Encode()
	return u.RoundTripper.RoundTrip(r)
}

// Where nothing documents the order of changes, or the rows are not in it, the feed says so.
func TestChanges_WithoutAnOrder(t *testing.T) {
	sb := sandbox.New(t)
	var contacts, companies string
	sb.Do(func(tx *sandbox.Tx) {
		old, young := touched("Ada"), touched("Bob")
		old["updatedAt"] = "2001-01-01T00:00:00.000Z"
		contacts = tx.CreateList(sandbox.List{Name: "People", Rows: sandbox.Rows(old, young)})
		companies = tx.CreateList(sandbox.List{Name: "Companies", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(young, old)})
	})
	sorted := SandboxClient(t, sb)
	ignoring := SandboxClient(t, sb, prospectkit.WithTransport(unsorted{sb.Transport()}))
	for _, c := range []struct {
		client *prospectkit.Client
		listID string
		reason changes.Reason
		after  bool
	}{
		{sorted, contacts, changes.ReasonNoCheckpoint, true},
		{sorted, companies, changes.ReasonNoOrder, false},
		{ignoring, contacts, changes.ReasonUnordered, false},
	} {
		before := sb.Calls("lists.rows")
		for change, err := range c.client.Lists.Changes(t.Context(), c.listID, "") {
			require.Nil(t, change)
			require.ErrorIs(t, err, changes.ErrFullSyncRequired)
			require.EqualError(t, err, "prospectkit: lists.rows: full sync required: "+string(c.reason))
			full, ok := errors.AsType[*changes.FullSyncRequiredError](err)
			require.True(t, ok)
			require.Equal(t, c.reason, full.Reason)
			require.Equal(t, c.after, full.After != "")
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			advice := prospectkit.AdviceOf(err)
			require.Equal(t, prospectkit.ActionFixInput, advice.Action)
			require.Contains(t, advice.Hint, "read all rows and drop what is not among them; then continue from After")
			for _, err := range c.client.Lists.Changes(t.Context(), strings.ToUpper(c.listID), full.After) {
				require.ErrorIs(t, err, changes.ErrFullSyncRequired, "a list without an order")
			}
			for _, err := range c.client.Lists.Changes(t.Context(), SourceID, "x"+full.After) {
				require.ErrorIs(t, err, prospectkit.ErrRefusedLocally)
				require.ErrorContains(t, err, "saved is not a checkpoint of this list")
			}
		}
		require.Equal(t, 2, sb.Calls("lists.rows")-before)
	}
}
