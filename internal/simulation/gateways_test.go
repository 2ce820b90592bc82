package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/sim"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// What stands between a process and the service, and tells of itself.

const (
	repeated sim.Fault = "repeated by a gateway"        // that adds headers to each response; nothing happens to a request with a body
	idle     sim.Fault = "an idle connection is closed" // just as a write is sent
	unread   sim.Fault = "413"                          // without the envelope; to a short request, for its response
	emptied  sim.Fault = "an empty page"
	tooLong            = 8 << 10 // bytes of a body that a server can find too long
)

// gateways are what a response has passed. The first ones repeat what has no body, as Varnish does; the last one counts in Age how long the
// service took, as Traffic Server does.
var gateways = []struct {
	name    string
	header  http.Header
	repeats bool
	ages    bool
}{
	{},
	{name: "Via", header: http.Header{"Via": {"1.1 gateway"}}, repeats: true},
	{name: "X-Varnish", header: http.Header{"X-Varnish": {"32770"}, "Age": {"0"}}, repeats: true},
	{name: "Age", header: http.Header{"Via": {"http/1.1 gateway"}}, ages: true},
}

// passed adds what a gateway adds to a response that took so long.
func (w wire) passed(resp *http.Response, took time.Duration) {
	maps.Copy(resp.Header, gateways[w.through].header)
	if gateways[w.through].ages {
		if took > time.Second {
			w.laws.reach("an Age is the time that the service took")
		}
		resp.Header.Set("Age", strconv.Itoa(int((took+time.Second-1)/time.Second)))
	}
}

// again delivers a request that follows once more.
func (w wire) again(r *http.Request, t *sim.Turn) {
	early := w.repeats(r) && t.IntN(4) == 0
	switch {
	case w.repeats(r):
		w.laws.repeats(markOf(r), !early)
	case t.Fault == duplicated:
		w.laws.twice(markOf(r))
	default:
		return
	}
	if w.deliver(copied(r)); early { // the second one is refused
		w.service.Fail("*", sandbox.First(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(3))
	}
}

// repeats reports whether the gateway may send a request again: one that has no body.
func (w wire) repeats(r *http.Request) bool { return gateways[w.through].repeats && bodiless(r) }

func bodiless(r *http.Request) bool { return r.Method != http.MethodGet && r.ContentLength == 0 }

// old sends a request on a connection that was idle for almost as long as the server allows, which closes it before it reads the request. Who
// sends it can close the connection before anything is written, as the trace tells how long it was idle.
func (w wire) old(r *http.Request, t *sim.Turn) error {
	if w.stale[w.start]--; t.Fault == idle {
		w.stale[w.start] = t.IntN(4) // more than a call has attempts
	}
	trace, conn := httptrace.ContextClientTrace(r.Context()), new(closable)
	if trace != nil { // a free read may have none
		trace.GetConn("")
		trace.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: true, WasIdle: true, IdleTime: 5900 * time.Millisecond})
		trace.WroteHeaders() // into a buffer, if it is closed
	}
	w.laws.idles(markOf(r))
	if conn.closed {
		return fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", &net.OpError{Op: "write", Net: "tcp", Err: net.ErrClosed})
	}
	return io.EOF
}

// closable is a connection that can be closed.
type closable struct {
	net.Conn

	closed bool
}

func (c *closable) Close() error {
	c.closed = true
	return nil
}

// relist changes what a response of a listing holds: its totals are capped in some seeds, as a search engine caps them, and a page may be empty once.
func (w wire) relist(r *http.Request, resp *http.Response, t *sim.Turn) {
	capped := w.most > 0 && strings.Contains(r.URL.Path, walkedID)
	if resp.StatusCode != http.StatusOK || !capped && t.Fault != emptied {
		return
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	page, totals := map[string]json.RawMessage{}, map[string]int{}
	if json.Unmarshal(body, &page) == nil && json.Unmarshal(page["pagination"], &totals) == nil {
		if capped {
			totals["totalRecords"], totals["totalPages"] = min(w.most, totals["totalRecords"]), min(w.most/pageSize, totals["totalPages"])
			page["pagination"], _ = json.Marshal(totals)
			w.laws.reach("totals are capped")
		}
		if t.Fault == emptied {
			page["data"] = []byte("[]")
			if strings.Contains(r.URL.Path, walkedID) {
				w.laws.note(func() { w.laws.empty++ })
			} else { // a list that is reviewed counts its rows itself
				page["pagination"], _ = json.Marshal(map[string]int{"pageNum": totals["pageNum"], "totalPages": 0, "totalRecords": 0})
			}
		}
		body, _ = json.Marshal(page)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// harmless reports whether a fault leaves no outcome unknown.
func (w wire) harmless(o *op.Op, r *http.Request, f sim.Fault) bool {
	switch f { //nolint:exhaustive // after the others, nobody knows
	case "", idle, slow, cached, shortWait, longWait, untilDate, "429 without a wait", "429 of a gateway", "421", "refused connection", noSuchHost, "undocumented fields":
		return o != nil && (gateways[w.through].name == "" && !w.aged || !bodiless(r))
	case unread:
		return r.ContentLength >= tooLong
	}
	return false
}

// starter makes each write without a body with a key, again and again, and a teammate stops what it has started.
func starter(u *user) error {
	return u.each(func(n int, random *rand.Rand) error {
		if n%3 == 2 {
			if err := u.stops(random); err != nil {
				return err
			}
		}
		name, key := "campaigns.approve", fmt.Sprint("approve ", n/5)
		call := func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
			return c.Campaigns.ApproveUnreviewed(ctx, tests.CampaignID, opts...)
		}
		if n%5 == 1 {
			name, key = "agents.activate", "activate"
			call = func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
				return c.Agents.Activate(ctx, tests.DraftID, opts...)
			}
		}
		u.writeOnce(random, n, name, key, call)
		return nil
	})
}

// writeOnce makes one call with a key.
func (u *user) writeOnce(random *rand.Rand, n int, name, key string, call tests.AnyCall) {
	mark := u.mark(n)
	u.write(u.ctx, random, n, name, func(ctx context.Context, c *prospectkit.Client, opts ...prospectkit.CallOption) (any, error) {
		u.laws.keyed(mark, key, key)
		ctx, opts = context.WithValue(ctx, unmarked{}, mark), opts[1:] // with a mark in its query, each would be another call
		return call(ctx, c, append(opts, prospectkit.Once(key))...)
	})
}
