// Package gateways holds tests that put real gateways between the client and the sandbox, as Debian has them, with configurations that are
// usual and some that mislead: nginx, haproxy, apache2, caddy, varnish, trafficserver, squid, lighttpd, nghttpx, h2o and tinyproxy.
// .ci/run proofs installs them.
package gateways

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

const (
	contactID = "65f0c0ffee65f0c0ffee65f0"
	listID    = "a00000000000000000000001"
	factID    = "a00000000000000000000002"
)

var folders = []string{"f00000000000000000000001", "f00000000000000000000002"}

func (s *stage) client(t *testing.T, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	if s.tls {
		opts = append(opts, prospectkit.WithTransport(s.transport()))
	}
	client, err := prospectkit.New(s.url, s.sb.Token(), append(opts, prospectkit.WithAttemptTimeout(5*time.Second),
		prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond}))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// steady is a client whose requests all arrive.
func (s *stage) steady(t *testing.T, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	if s.closes {
		opts = append(opts, prospectkit.WithTransport(&http.Transport{DisableKeepAlives: true}))
	}
	return s.client(t, opts...)
}

// call is one call of each kind of operation: of a shape that is shown or not, that reads, costs, writes, sends.
type call struct {
	op  string
	raw bool // a read of something whose shape nobody knows
	do  func(ctx context.Context, s *stage, c *prospectkit.Client, n int) error
}

func second[T any](_ T, err error) error { return err }

var calls = []call{
	{"lists.create", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		return second(c.Lists.Create(ctx, prospectkit.NewList{Name: fmt.Sprint("List ", n)}))
	}},
	{"lists.add-contacts", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		return second(c.Lists.AddContacts(ctx, listID, prospectkit.Fields{"contacts": []prospectkit.Fields{{"firstName": fmt.Sprint("Eve ", n)}}}))
	}},
	{"lists.move", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		return second(c.Lists.Move(ctx, listID, folders[n%2]))
	}},
	{"lists.crm-push", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Lists.PushToCRM(ctx, listID, prospectkit.CRMPush{CRM: "crm-1", All: true}))
	}},
	{"agents.activate", false, func(ctx context.Context, s *stage, c *prospectkit.Client, n int) error {
		var id string
		s.sb.Do(func(tx *sandbox.Tx) {
			id = tx.CreateAgent(sandbox.Agent{
				Name: fmt.Sprint("Agent ", n), Type: sandbox.WebMonitor, Config: []byte(`{"listName":"x","entityType":"person","prompt":"raised a round"}`),
			})
		})
		return second(c.Agents.Activate(ctx, id))
	}},
	{"campaigns.approve", false, func(ctx context.Context, s *stage, c *prospectkit.Client, n int) error {
		var id string
		s.sb.Do(func(tx *sandbox.Tx) {
			id = tx.CreateCampaign(sandbox.ReadyCampaign(fmt.Sprint("Campaign ", n), listID))
		})
		return second(c.Campaigns.ApproveUnreviewed(ctx, id))
	}},
	{"facts.edit", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		return second(c.Facts.Edit(ctx, factID, prospectkit.FactEdit{Claim: fmt.Sprint("Customers stay for reason ", n)}))
	}},
	{"imports.create", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		file := fmt.Sprintf("firstName\nEve %d\n", n)
		return second(c.Imports.Upload(ctx, prospectkit.UploadFrom("people.csv", int64(len(file)), strings.NewReader(file))))
	}},
	{"search.prospects", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Size: 1}))
	}},
	{"search.companies", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Search.Companies(ctx, prospectkit.CompanySearch{}))
	}},
	{"account.me", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Account.Me(ctx))
	}},
	{"lists.list", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Lists.Page(ctx, prospectkit.ListsParams{Search: "nobody"}))
	}},
	{"account.credits", true, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Account.Credits(ctx))
	}},
	{"campaigns.list", true, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Campaigns.Page(ctx))
	}},
}

// served counts the requests of an operation that the service has applied: with a success as the response, sent or not.
func (s *stage) served(op string) (n int) {
	for _, e := range s.sb.Journal() {
		if e.Op == op && (len(e.Effects) > 0 || e.Status >= 200 && e.Status < 300) {
			n++
		}
	}
	return n
}

// round makes each call once and holds every claim against what the service did. It returns how the calls ended.
func (s *stage) round(t *testing.T, c *prospectkit.Client, veteran bool) (ended map[prospectkit.Outcome]int) {
	t.Helper()
	ended = map[prospectkit.Outcome]int{}
	for _, call := range calls {
		s.calls++
		before := s.served(call.op)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		err := call.do(ctx, s, c, s.calls)
		cancel()
		done := s.served(call.op) - before
		outcome := prospectkit.OutcomeOf(err)
		ended[outcome]++
		paid := errors.Is(err, prospectkit.ErrResponseLost)
		read := strings.HasPrefix(call.op, "account.") || strings.HasSuffix(call.op, ".list")
		switch {
		case err == nil && call.raw && s.lies && !veteran: // nothing is known that could tell
		case outcome == prospectkit.OutcomeApplied:
			require.Positive(t, done, "%s: said to be applied: %v (lost %t)", call.op, err, paid)
		case outcome == prospectkit.OutcomeNotApplied && !read && (!s.repeats || !errors.Is(err, prospectkit.ErrConflict)):
			require.Zero(t, done, "%s: said to be not applied: %v", call.op, err)
		}
		if !s.repeats && !read && call.op != "search.prospects" && call.op != "search.companies" {
			require.LessOrEqual(t, done, 1, "%s was done %d times", call.op, done)
		}
	}
	return ended
}

// trouble is what the service, or the way to it, does to every second or third request.
var trouble = map[string][]sandbox.FaultOption{
	"responses lost":                   {sandbox.Every(2), sandbox.DropAfter()},
	"requests lost":                    {sandbox.Every(2), sandbox.DropBefore()},
	"errors of the service":            {sandbox.Every(2), sandbox.Status(500, "UNEXPECTED_ERROR")},
	"errors after the work":            {sandbox.Every(2), sandbox.HTML(502), sandbox.Applied()},
	"errors without an envelope":       {sandbox.Every(2), sandbox.RawBody(500, "")},
	"the service is overloaded":        {sandbox.Every(2), sandbox.HTML(503)},
	"responses that end in the middle": {sandbox.Every(2), sandbox.Truncate(10)},
}

// TestClaimsBehindGateways makes every kind of call through every gateway, while the service is well, ill and dead, with clients that
// know nothing and clients that have seen successes: nothing is said to have happened that did not, or the other way round.
func TestClaimsBehindGateways(t *testing.T) {
	t.Parallel()
	behind(t, every(), func(t *testing.T, g gateway) {
		s := start(t, g)
		veteran := s.client(t)
		total := map[prospectkit.Outcome]int{}
		add := func(ended map[prospectkit.Outcome]int) {
			for outcome, n := range ended {
				total[outcome] += n
			}
		}
		for range 2 {
			add(s.round(t, veteran, true))
		}
		require.Greater(t, total[prospectkit.OutcomeApplied], len(calls), "%v: in good weather most calls get through", total)
		for _, opts := range trouble {
			s.sb.Fail("*", opts...)
			for range 2 {
				add(s.round(t, veteran, true))
				add(s.round(t, s.client(t), false))
			}
			s.sb.Clear()
		}
		require.NoError(t, s.origin.Close())
		add(s.round(t, veteran, true))
		add(s.round(t, s.client(t), false))
		require.Positive(t, total[prospectkit.OutcomeUnknown])
		t.Logf("applied %d, not applied %d, unknown %d", total[prospectkit.OutcomeApplied], total[prospectkit.OutcomeNotApplied], total[prospectkit.OutcomeUnknown])
	})
}

// TestEnsureBehindGateways ensures lists while every second response to a creation is lost. Whatever the gateway does, there is one list
// of each name, and none that the call may have made is called certain.
func TestEnsureBehindGateways(t *testing.T) {
	t.Parallel()
	behind(t, every(), func(t *testing.T, g gateway) {
		s := start(t, g)
		s.sb.Fail("lists.create", sandbox.Every(2), sandbox.DropAfter())
		client := s.client(t)
		for n := range 6 {
			name := fmt.Sprint("List ", n)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			got, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: name})
			cancel()
			if err != nil {
				require.NotEqual(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%v", err)
				continue
			}
			require.Equal(t, name, got.List.Name)
			require.Equal(t, got.Created, got.Certain, "%d: nothing of that name was there before", n)
		}
		names := map[string]int{}
		for _, l := range s.sb.Lists() {
			names[l.Name]++
			require.Equal(t, 1, names[l.Name], l.Name)
		}
	})
}
