package prospectkit

import (
	"context"
	"net/http"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/internal/upload"
)

// CallLaterPage makes the call of a later page of a scroll, for tests of what may be repeated.
func (c *Client) CallLaterPage(ctx context.Context, opts ...CallOption) error {
	_, err := do[Object](ctx, c.conf, op.SearchCompanies, args{body: Fields{"scrollToken": "later"}, pageToken: "later"}, opts)
	return err
}

// CallUpload makes an upload as a call of any class, for tests of what may be repeated.
func (c *Client) CallUpload(ctx context.Context, class op.Class, in Upload) error {
	o := *op.ImportsCreate
	o.Class = class
	_, err := do[Object](ctx, c.conf, &o, args{upload: upload.New(upload.File(in))}, nil)
	return err
}

// PassBudget returns what an attempt does before and after it is sent, for benchmarks: the response says that there is room.
func (c *Client) PassBudget(ctx context.Context) func() error {
	call := &call{plan: plan{conf: c.conf, op: op.ListsList, ctx: ctx, opts: callConfig{settings: c.conf.settings}, surface: c.conf.limits.surface(op.Lists)}}
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{
		"Ratelimit-Limit": {"1000000000"}, "Ratelimit-Remaining": {"999999999"}, "Ratelimit-Reset": {"60"},
	}}
	a := attempt{call: call, began: time.Now()}
	return func() error {
		a.began = a.began.Add(time.Microsecond) // the clock is read for the attempt, not for the budget
		a.ended = a.began
		if err := call.admit(&a); err != nil {
			return err
		}
		a.rate, a.hasRateHeaders = ratehdr.ParseRate(resp.Header, time.Time{}, c.conf.clock)
		call.reportToBudget(&a, resp)
		return nil
	}
}
