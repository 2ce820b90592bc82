package tests

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
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
			require.EqualError(t, err, "prospectkit: lists.rows: full sync required: "+string(c.reason)+"; read all rows and drop what is not among them; then continue from After, or sync fully each time if it is empty")
			full, ok := errors.AsType[*changes.FullSyncRequiredError](err)
			require.True(t, ok)
			require.Equal(t, c.reason, full.Reason)
			require.Equal(t, c.after, full.After != "")
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
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

// lateRow is a row that shows some time after it has changed; until then it is as it was.
type lateRow struct{ at, was, shows time.Time }

// skewed is a service with 1,500 rows, whose clock is ahead of this machine's.
type skewed struct {
	ahead time.Duration
	rows  []lateRow
}

func (s *skewed) now() time.Time { return time.Now().Add(s.ahead) }

func (s *skewed) RoundTrip(r *http.Request) (*http.Response, error) {
	const format = `{"id":"%024x","updatedAt":%q}`
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	page, _ := strconv.Atoi(query.Get("pageNum"))
	texts := make([][2]string, len(s.rows))
	for i, row := range s.rows {
		at := row.at
		if s.now().Before(row.shows) {
			at = row.was
		}
		texts[i][0] = at.UTC().Format("2006-01-02T15:04:05.000Z")
		texts[i][1] = fmt.Sprintf(format, i, texts[i][0])
	}
	slices.SortStableFunc(texts, func(a, b [2]string) int { return strings.Compare(b[0], a[0]) })
	var data []string
	for _, text := range texts[min((page-1)*limit, len(texts)):min(page*limit, len(texts))] {
		data = append(data, text[1])
	}
	body := fmt.Sprintf(`{"entityType":"contactList","data":[%s],"pagination":{"pageNum":%d,"totalPages":%d,"totalRecords":%d}}`,
		strings.Join(data, ","), page, (len(texts)+limit-1)/limit, len(texts))
	return Respond(200, body, "Date", s.now().UTC().Format(http.TimeFormat)), nil
}

// Whatever this machine's clock says: a change that shows late beside more than are remembered is not lost, and rows in order are followed.
func TestChanges_AnotherClock(t *testing.T) {
	for _, ahead := range []time.Duration{0, -90 * time.Second, -3 * time.Minute, -10 * time.Minute, 3 * time.Minute, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s := &skewed{ahead: ahead, rows: make([]lateRow, 1500)}
			for i := range s.rows {
				s.rows[i].at = s.now().Add(-time.Hour + time.Duration(i)*time.Millisecond)
			}
			held, saved := map[string]time.Time{}, ""
			var reasons []changes.Reason
			run := func() {
				lists := NewClient(t, s).Lists // of another process, which has heard no clock yet
				last := func() string { return saved }
				defer func() { saved = last() }()
				for change, err := range lists.Changes(t.Context(), ListID, saved) {
					full, ok := errors.AsType[*changes.FullSyncRequiredError](err)
					if !ok {
						require.NoError(t, err)
						held[change.Row.ID()], last = change.UpdatedAt, change.Checkpoint
						continue
					}
					last, reasons = func() string { return full.After }, append(reasons, full.Reason)
					for row, err := range lists.Rows(t.Context(), ListID, prospectkit.RowsParams{}) {
						require.NoError(t, err)
						held[row.ID()] = row.Time("updatedAt")
					}
				}
			}
			run()
			time.Sleep(10 * time.Minute)
			began := s.now().Truncate(time.Millisecond)
			for i := range 950 {
				s.rows[i].at = began.Add(time.Duration(i) * 10 * time.Millisecond)
			}
			s.rows[1200] = lateRow{at: began.Add(100 * time.Millisecond), was: s.rows[1200].at, shows: began.Add(55 * time.Second)}
			for range 8 {
				time.Sleep(10 * time.Second)
				run()
			}
			time.Sleep(10 * time.Minute)
			run()
			require.Equal(t, []changes.Reason{changes.ReasonNoCheckpoint, changes.ReasonBurst}, reasons, "%s ahead", ahead)
			for i, row := range s.rows {
				require.True(t, row.at.Equal(held[fmt.Sprintf("%024x", i)]), "row %d, %s ahead", i, ahead)
			}
		})
	}
}
