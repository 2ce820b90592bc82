package tests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// slowHistory takes its time to tell what was approved.
type slowHistory struct {
	journal.MemoryJournal
	takes time.Duration
}

func (j *slowHistory) Calls(ctx context.Context, op string) iter.Seq2[journal.Entry, error] {
	time.Sleep(j.takes)
	return j.MemoryJournal.Calls(ctx, op)
}

// until is a gate whose yes ends, and slow one that takes ten minutes.
func until(end time.Time) prospectkit.ClientOption {
	return gate(func() error {
		if time.Now().After(end) {
			return errors.New("the yes has ended")
		}
		return nil
	})
}

func slow() prospectkit.ClientOption {
	return gate(func() error { time.Sleep(10 * time.Minute); return nil })
}

func gate(asks func() error) prospectkit.ClientOption {
	return prospectkit.WithGate(func(_ context.Context, in prospectkit.Intent) error {
		if in.Sends {
			return asks()
		}
		return nil
	})
}

func limited(op string, nth, wait int) func(*sandbox.Sandbox) {
	return func(sb *sandbox.Sandbox) {
		sb.Fail(op, sandbox.Nth(nth), sandbox.Status(http.StatusTooManyRequests, "RATE_LIMITED"), sandbox.RetryAfter(wait))
	}
}

// Whatever takes long between the reads and the approval, a change in that time sends nothing, and without one, the approval rests on
// what was read a moment before. A yes that has ended by then is none.
func TestApprove_AfterAWait(t *testing.T) {
	for name, tc := range map[string]struct {
		fail   func(*sandbox.Sandbox)
		option func() prospectkit.ClientOption
		change time.Duration // after the start
		want   prospectkit.SafetyRule
	}{
		"the approval waits":                         {fail: limited("campaigns.approve", 1, 110)},
		"it waits shortly":                           {fail: limited("campaigns.approve", 1, 10)},
		"it waits shortly, and a contact joins":      {fail: limited("campaigns.approve", 1, 10), change: 5 * time.Second, want: prospectkit.RuleReview},
		"it waits long":                              {fail: limited("campaigns.approve", 1, 3500)},
		"it waits, and a contact joins":              {fail: limited("campaigns.approve", 1, 110), change: 100 * time.Second, want: prospectkit.RuleReview},
		"the last read waits":                        {fail: limited("campaigns.list", 2, 110)},
		"the last read waits, and a contact joins":   {fail: limited("campaigns.list", 2, 110), change: 100 * time.Second, want: prospectkit.RuleReview},
		"the gate takes long":                        {option: slow},
		"the gate takes long, and a contact joins":   {option: slow, change: time.Minute, want: prospectkit.RuleReview},
		"the yes ends while the approval waits":      {fail: limited("campaigns.approve", 1, 3500), option: func() prospectkit.ClientOption { return until(time.Now().Add(2 * time.Minute)) }, want: prospectkit.RuleGate},
		"the yes ends later than the approval waits": {fail: limited("campaigns.approve", 1, 100), option: func() prospectkit.ClientOption { return until(time.Now().Add(2 * time.Minute)) }},
	} {
		atDesk(t, name, func(t *testing.T, d *desk) {
			r := d.review()
			if tc.fail != nil {
				tc.fail(d.sb)
			}
			options := []prospectkit.ClientOption{prospectkit.WithMaxWait(time.Hour)}
			if tc.option != nil {
				options = append(options, tc.option())
			}
			if tc.change > 0 {
				time.AfterFunc(tc.change, func() {
					d.sb.Do(func(tx *sandbox.Tx) { tx.AddRows(ListID, sandbox.Row{"firstName": "Eve"}) })
				})
			}
			d.client = d.process(options...)
			err := d.approve(r)
			read, sent := lastReadAndWrite(d.sb)
			if tc.want != "" {
				refusedBy(t, err, tc.want)
				require.True(t, sent.IsZero())
				return
			}
			require.NoError(t, err)
			require.Less(t, sent.Sub(read), time.Second)
		})
	}
}

// lastReadAndWrite are when the last read came, and the last request that changed something.
func lastReadAndWrite(sb *sandbox.Sandbox) (read, sent time.Time) {
	for _, e := range sb.Journal() {
		switch {
		case e.Method == http.MethodGet:
			read = e.Time
		case len(e.Effects) > 0:
			sent = e.Time
		}
	}
	return read, sent
}

// What never ends in time is an error, and sends nothing.
func TestApprove_NeverInTime(t *testing.T) {
	atDesk(t, "", func(t *testing.T, d *desk) {
		d.client = SandboxClient(t, d.sb, prospectkit.WithJournal(&slowHistory{takes: 2 * time.Minute}))
		err := d.approve(d.review())
		require.EqualError(t, err, "prospectkit: campaigns.approve: what was read is too old by now: the approval had to wait; nothing was approved: call it again when the workspace is less busy")
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Equal(t, NoWait, Waits(err))
		d.sent(0)
		d.nothingInDoubt()
	})
}

// A service that takes long for each response, as one does for many pages, is not in the way of an approval, up to a point.
func TestApprove_SlowReads(t *testing.T) {
	for takes, approves := range map[time.Duration]bool{9 * time.Second: true, 20 * time.Second: false} {
		atDesk(t, takes.String(), func(t *testing.T, d *desk) {
			d.client = d.process(prospectkit.WithTransport(RoundTrip(func(r *http.Request) (*http.Response, error) {
				time.Sleep(takes)
				return d.sb.Transport().RoundTrip(r)
			})))
			err := d.approve(d.review())
			require.Equal(t, approves, err == nil, "%v", err)
		})
	}
}

// The response to a request that a gateway has repeated says nothing of the first one: after it, the campaign is reviewed again.
func TestApprove_AfterAResponse(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusUnauthorized} {
		for _, stops := range []bool{false, true} {
			atDesk(t, fmt.Sprint(status, " stopped ", stops), func(t *testing.T, d *desk) { approveAfter(t, d, status, stops) })
		}
	}
}

func approveAfter(t *testing.T, d *desk, status int, stops bool) {
	t.Helper()
	keys := 0
	gateway := RoundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.SetBasicAuth(d.sb.Token(), "") // whatever the key
		resp, err := d.sb.Transport().RoundTrip(r)
		if r.Method != http.MethodPost {
			return resp, err
		}
		time.Sleep(5 * time.Second)
		if stops {
			d.sb.Do(func(tx *sandbox.Tx) { tx.StopCampaign(CampaignID) })
		}
		unauthorized := Envelope("UNAUTHORIZED")
		resp.StatusCode, resp.Body, resp.ContentLength = status, io.NopCloser(strings.NewReader(unauthorized)), int64(len(unauthorized))
		return resp, err
	})
	d.client = d.process(prospectkit.WithTransport(gateway), prospectkit.WithTokenSource(func(context.Context) (string, error) {
		keys++
		return fmt.Sprint("another-key-", keys), nil
	}))
	err := d.approve(d.review())
	if stops {
		require.ErrorIs(t, err, prospectkit.RuleReview)
		require.ErrorContains(t, err, "it is stopped")
	} else {
		refusedAsActive(t, err)
	}
	d.sent(1)
}

// A campaign that is reviewed again after each response is approved with as many requests as any call has.
func TestApprove_Attempts(t *testing.T) {
	for _, most := range []int{1, 2, 3, 5} {
		atDesk(t, strconv.Itoa(most), func(t *testing.T, d *desk) {
			d.sb.Fail("campaigns.approve", sandbox.Status(http.StatusTooManyRequests, "RATE_LIMITED"), sandbox.RetryAfter(1))
			d.client = d.process(prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: most}))
			err := d.approve(d.review())
			require.ErrorIs(t, err, prospectkit.CodeRateLimited)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			d.sent(most)
		})
	}
}
