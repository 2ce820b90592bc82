package simulation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/sim"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// What can go wrong, how often, and what the service does then. Each fault stays within what the documentation promises for it, except
// those of beyond.

// requestFaults happen at a request.
var requestFaults = []struct {
	fault sim.Fault
	share float64
	does  []sandbox.FaultOption
}{
	{sim.KillBefore, 0.015, nil},
	{sim.KillAfter, 0.025, nil},
	{duplicated, 0.01, nil},
	{"refused connection", 0.01, []sandbox.FaultOption{sandbox.Refuse()}},
	{"lost request", 0.02, []sandbox.FaultOption{sandbox.DropBefore()}},
	{"lost response", 0.03, []sandbox.FaultOption{sandbox.DropAfter()}},
	{"reset", 0.01, []sandbox.FaultOption{sandbox.Reset()}},
	{"truncated", 0.01, []sandbox.FaultOption{sandbox.Truncate(9)}},
	{"empty", 0.01, []sandbox.FaultOption{sandbox.EmptyBody()}},
	{stalled, 0.01, []sandbox.FaultOption{sandbox.Stall(50 * time.Second)}},
	{"late", 0.01, []sandbox.FaultOption{sandbox.Latency(50 * time.Second)}},
	{lostLate, 0.005, []sandbox.FaultOption{sandbox.DropBefore(), sandbox.Latency(20 * time.Second)}},
	{slow, 0, []sandbox.FaultOption{sandbox.Latency(25 * time.Second)}},
	{slowBody, 0.01, nil},
	{"500", 0.02, []sandbox.FaultOption{sandbox.Status(500, "UNEXPECTED_ERROR")}},
	{"sparse 500", 0.01, []sandbox.FaultOption{sandbox.Status(500, "")}},
	{"500 of a gateway", 0.01, []sandbox.FaultOption{sandbox.HTML(502)}},
	{"501 of a gateway, applied", 0.005, []sandbox.FaultOption{sandbox.HTML(501), sandbox.Applied()}},
	{"520 of a gateway, applied", 0.005, []sandbox.FaultOption{sandbox.HTML(520), sandbox.Applied()}},
	{"503, retry after", 0.01, []sandbox.FaultOption{sandbox.HTML(503), sandbox.Header("Retry-After", "2")}},
	{"504 of a gateway, applied", 0.01, []sandbox.FaultOption{sandbox.HTML(504), sandbox.Applied()}},
	{refusing, 0.01, []sandbox.FaultOption{sandbox.Status(500, "UNEXPECTED_ERROR"), sandbox.Applied()}},
	{"403 of another server, applied", 0.01, []sandbox.FaultOption{sandbox.HTML(403), sandbox.Applied()}},
	{"2xx of another server", 0.01, []sandbox.FaultOption{sandbox.RawBody(200, "<html>welcome</html>"), sandbox.Header("Content-Type", "text/html")}},
	{"redirected", 0.01, []sandbox.FaultOption{sandbox.HTML(307), sandbox.Header("Location", "https://elsewhere.invalid/")}},
	{shortWait, 0.01, []sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(3)}},
	{"429 without a wait", 0.005, []sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED")}},
	{"429 of a gateway", 0.005, []sandbox.FaultOption{sandbox.HTML(429), sandbox.Header("Retry-After", "2")}},
	{"401 of another server, applied", 0.005, []sandbox.FaultOption{sandbox.HTML(401), sandbox.Applied()}},
	{"404 of another server, applied", 0.005, []sandbox.FaultOption{sandbox.HTML(404), sandbox.Applied()}},
	{"409 with an undocumented code", 0.005, []sandbox.FaultOption{sandbox.FutureCode(409, "SOMETHING_NEW")}},
	{"too long", 0.01, []sandbox.FaultOption{sandbox.Oversized(2 * longest)}},
	{"a null", 0.005, []sandbox.FaultOption{sandbox.SetField("data.name", nil)}},
	{"an undocumented status", 0.005, []sandbox.FaultOption{sandbox.SetField("data.status", "resting")}},
	{noSuchHost, 0.005, nil},
	{cutShort, 0.03, nil},
	{"JSON of another server, applied", 0.01, []sandbox.FaultOption{sandbox.RawBody(403, `{"error":{"code":"ACCESS_DENIED","message":"no"}}`), sandbox.Header("Content-Type", "application/json"), sandbox.Applied()}},
	{"503 with an envelope, applied", 0.01, []sandbox.FaultOption{sandbox.RawBody(503, `{"error":{"code":"UNEXPECTED_ERROR","message":"no"}}`), sandbox.Header("Content-Type", "application/json"), sandbox.Applied()}},
	{longWait, 0.01, []sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(45)}},
	{untilDate, 0.01, nil},
	{panics, 0.01, nil},
	{cached, 0.02, nil},
	{"421", 0.005, []sandbox.FaultOption{sandbox.HTML(421)}},
	{"undocumented fields", 0.005, []sandbox.FaultOption{sandbox.SetField("**.sandboxExtra", sandbox.Row{"nested": []any{1, "two", nil}}), sandbox.SetField("**.sandboxExtraNull", nil)}},
	{arrivesLate, 0.02, nil},
	{idle, 0.02, nil},
	{unread, 0.02, nil},
}

const (
	duplicated sim.Fault = "delivered twice" // by a gateway
	slowBody   sim.Fault = "slow body"
	stalled    sim.Fault = "stalled"              // between the headers and the body
	untilDate  sim.Fault = "429 until a date"     // of the service's clock
	panics     sim.Fault = "the transport panics" // after the service has answered
	cached     sim.Fault = "an old copy of a cache"
	edited     sim.Fault = "a teammate edits" // before a page is read
	undone     sim.Fault = "a teammate undoes what was looked for"
	lostLate   sim.Fault = "lost request, cut late"
	shortWait  sim.Fault = "429"
	longWait   sim.Fault = "429, long"
	slow       sim.Fault = "slow response" // longer than a change takes to show
	refusing   sim.Fault = "500, applied"

	arrivesLate sim.Fault = "arrives after the connection was cut"
	noSuchHost  sim.Fault = "no such host"
	cutShort    sim.Fault = "upload cut short" // nothing happens to a request that is no upload

	longest = 200_000 // bytes of a body that the clients read
)

// Faults of a store that processes share.
const (
	awayBefore sim.Fault = "store away"
	awayAfter  sim.Fault = "store away after it changed"
	hangs      sim.Fault = "store hangs"
	forgets    sim.Fault = "store comes back empty"
)

var faultsFlag = flag.String("faults", "", "a pattern: other faults do not happen")

// ratesOf are the faults of a seed. In half of the seeds the stores are reliable, in some the disks or the network.
func ratesOf(seed uint64) map[string][]Rate {
	all, random := maps.Clone(allRates()), sim.Draws(seed, "rates")
	for _, classes := range []struct {
		reliable bool
		names    []string
	}{{random.IntN(2) == 0, []string{"store"}}, {random.IntN(8) == 0, requestClasses}, {random.IntN(4) == 0, []string{"write", "fsync", "name"}}} {
		for _, class := range classes.names {
			if classes.reliable {
				delete(all, class)
			}
		}
	}
	return all
}

// allRates are those of the faults that may happen, by class.
var allRates = sync.OnceValue(func() map[string][]Rate {
	all, only := map[string][]Rate{}, regexp.MustCompile(*faultsFlag)
	for _, r := range rates() {
		if only.MatchString(string(r.Fault)) {
			all[r.Class] = append(all[r.Class], r)
		}
	}
	return all
})

// requestClasses are those that requestFaults happen in. The hurried ones are of programs that read as fast as they may.
var (
	hurriedClasses = []string{"lossy", "late", "veiled"}
	requestClasses = append([]string{"request", "look", "looked for", "background", "busy", "bodiless", "page", "upload"}, hurriedClasses...)
)

// rates are those of all faults.
func rates() (all []Rate) {
	all = []Rate{
		{Class: "busy", Fault: edited, Share: 0.35},
		{Class: "lossy", Fault: "lost response", Share: 0.1},
		{Class: "veiled", Fault: "520 of a gateway, applied", Share: 0.3},
		{Class: "request", Fault: slow, Share: 0.01},
		{Class: "look", Fault: slow, Share: 0.1},
		{Class: "look", Fault: cached, Share: 0.3},
		{Class: "look", Fault: undone, Share: 0.15},
		{Class: "looked for", Fault: arrivesLate, Share: 0.15},
		{Class: "looked for", Fault: lostLate, Share: 0.15},
		{Class: "looked for", Fault: sim.KillAfter, Share: 0.2},
		{Class: "background", Fault: arrivesLate, Share: 0.5},
		{Class: "bodiless", Fault: repeated, Share: 0.4},
		{Class: "page", Fault: emptied, Share: 0.1},
		{Class: "upload", Fault: unread, Share: 0.1},
		{Class: "late", Fault: arrivesLate, Share: 0.25},
		{Class: "lossy", Fault: longWait, Share: 0.08},
		{Class: "lossy", Fault: shortWait, Share: 0.08},
	}
	for _, class := range requestClasses {
		for _, f := range requestFaults {
			if f.fault == duplicated && slices.Contains(hurriedClasses, class) { // after one, 429s count no more
				continue
			}
			all = append(all, Rate{Class: class, Fault: f.fault, Share: f.share})
		}
	}
	for _, class := range []string{"write", "fsync", "name", "save", "store"} {
		all = append(all, Rate{Class: class, Fault: sim.KillBefore, Share: 0.004}, Rate{Class: class, Fault: sim.KillAfter, Share: 0.006})
	}
	for _, class := range []string{"write", "fsync", "name"} {
		all = append(all, Rate{Class: class, Fault: sim.PowerFails, Share: 0.012}, Rate{Class: class, Fault: sim.Slow, Share: 0.01})
	}
	return append(all,
		Rate{Class: "write", Fault: sim.KillWithin, Share: 0.004}, Rate{Class: "write", Fault: sim.DiskFull, Share: 0.01},
		Rate{Class: "fsync", Fault: sim.SyncFails, Share: 0.01}, Rate{Class: "name", Fault: sim.DiskFull, Share: 0.01},
		Rate{Class: "store", Fault: awayBefore, Share: 0.02}, Rate{Class: "store", Fault: awayAfter, Share: 0.02},
		Rate{Class: "store", Fault: sim.Slow, Share: 0.02}, Rate{Class: "store", Fault: hangs, Share: 0.01}, Rate{Class: "store", Fault: forgets, Share: 0.0005})
}

// opOf finds the operation of a request, if its path is documented: of two that fit, the one with fewer parameters.
func opOf(r *http.Request) (found *op.Op) {
	path, ours := strings.CutPrefix(r.URL.Path, "/api/v1")
	for _, o := range op.All() {
		if ours && o.Method == r.Method && o.Path != "" && op.Leads(o.Path, path) &&
			(found == nil || strings.Count(o.Path, "{") < strings.Count(found.Path, "{")) {
			found = o
		}
	}
	return found
}

// wire is how a process reaches the service.
type wire struct {
	*run

	start *sim.Start
}

// marked is a request with its mark, wherever that was.
func marked(r *http.Request) *http.Request {
	if mark, ok := r.Context().Value(unmarked{}).(string); ok {
		r = r.Clone(r.Context())
		r.URL.RawQuery += "mark=" + mark
	}
	return r
}

// RoundTrip sends a request when it is its turn.
func (w wire) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	r = marked(r)
	o := cmp.Or(opOf(r), w.laws.opOf(r))
	wanted, fault := time.Now(), sim.Fault("")
	w.laws.obeys(w.start, o, wanted)
	dead := w.start.Do(r.Context(), w.classOf(o, r), r.Method+" "+r.URL.RequestURI(), func(t *sim.Turn) (seen string) {
		fault = t.Fault
		w.laws.leaves(w.start, o, r, wanted)
		w.arm(o, r, t)
		if seen, resp, err = w.instead(o, r, t); seen == "" { //nolint:bodyclose // the client closes it
			seen, resp, err = w.send(o, r, t) //nolint:bodyclose // the client closes it
		}
		return seen
	})
	told := resp != nil && resp.Header.Get("RateLimit-Remaining") != ""
	if dial, ok := errors.AsType[*net.OpError](err); w.start.Number > 1 && !told && (!ok || dial.Op != "dial") {
		w.laws.hides()
	}
	if dead != nil {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, dead
	}
	if fault == panics && markOf(r) != "" && err == nil {
		panic(errPanic)
	}
	return resp, err
}

// send sends a request, and returns what is seen of it.
func (w wire) send(o *op.Op, r *http.Request, t *sim.Turn) (string, *http.Response, error) {
	began := time.Now()
	resp, err := w.service.Transport().RoundTrip(r)
	if time.Now().After(began) {
		w.laws.again() // its body may have come slowly
	}
	if err != nil {
		return err.Error(), nil, err
	}
	w.passed(resp, time.Since(began))
	w.relist(r, resp, t)
	w.answered(o, r, resp, t)
	return resp.Status, resp, nil
}

// instead is what happens in place of a request, if it is not sent now. A gateway may have sent it before.
func (w wire) instead(o *op.Op, r *http.Request, t *sim.Turn) (seen string, resp *http.Response, err error) {
	if o != nil && !o.FreeRead() && (t.Fault == idle || w.stale[w.start] > 0) {
		err = w.old(r, t)
		return err.Error(), nil, err
	}
	w.laws.meets(markOf(r), w.harmless(o, r, t.Fault))
	switch t.Fault { //nolint:exhaustive // the engine and the sandbox see to the others
	case cached:
		if old := w.copies[r.URL.String()]; old != nil {
			connected(r)
			w.aged = true
			return "a copy", old(r), nil
		}
	case duplicated, repeated:
		w.again(r, t)
	case arrivesLate:
		err = w.cutLate(o, r)
		return err.Error(), nil, err
	case sim.KillAfter:
		if o != nil && o.Resolves && !o.Background && t.IntN(4) > 0 { // while the service works
			w.deliverLate(r, 25*time.Second)
			return "on its way", nil, nil
		}
	case noSuchHost:
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
			trace.GetConn("")
		}
		err = &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: r.URL.Hostname(), IsNotFound: true}}
		return err.Error(), nil, err
	case cutShort:
		if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
			err = cut(r)
			return err.Error(), nil, err
		}
	}
	return "", nil, nil
}

// answered shows a response to the cache and the laws.
func (w wire) answered(o *op.Op, r *http.Request, resp *http.Response, t *sim.Turn) {
	if o != nil && o.FreeRead() && resp.StatusCode == http.StatusOK && (t.Fault == "" || t.Fault == cached) && !strings.Contains(r.URL.Path, walkedID) {
		w.copies[r.URL.String()] = keep(resp) //nolint:bodyclose // keep does
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		w.laws.again()
	}
	if t.Fault != stalled && t.Fault != slowBody { // its pause counts from the end of its body
		w.laws.refused(w.start, o, resp)
	}
	if t.Fault == slowBody {
		resp.Body = trickle{resp.Body}
	}
}

// arm lets the service do what goes wrong.
func (w wire) arm(o *op.Op, r *http.Request, t *sim.Turn) {
	w.service.Clear()
	for _, f := range requestFaults {
		if f.fault == t.Fault && f.does != nil && (o == nil || o.Class != op.PaidRead || f.fault != refusing) {
			w.service.Fail("*", append([]sandbox.FaultOption{sandbox.First(1)}, f.does...)...)
		}
	}
	switch t.Fault { //nolint:exhaustive // the others are no matter of the service
	case edited:
		w.service.Do(func(tx *sandbox.Tx) { w.edit(tx, []int{2, 3, 8, 9, 9, 9}[t.IntN(6)], t.IntN(9)) })
	case undone:
		w.service.Do(func(tx *sandbox.Tx) { w.undo(tx, lookedFor(r), t.IntN(4)) })
	case unread:
		does := []sandbox.FaultOption{sandbox.First(1), sandbox.HTML(413)}
		if r.ContentLength < tooLong && t.IntN(2) == 0 {
			does = append(does, sandbox.Applied())
		}
		w.service.Fail("*", does...)
	case untilDate:
		until := w.clock.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)
		w.service.Fail("*", sandbox.First(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.Header("Retry-After", until))
	}
}

// classOf names the rates of a request: as pages are read, teammates edit in some seeds.
func (w wire) classOf(o *op.Op, r *http.Request) string {
	switch {
	case w.hurried:
		return w.network
	case w.busy && strings.Contains(r.URL.Path, walkedID):
		return "busy"
	case strings.Contains(r.URL.Path, tests.ListID+"/rows"), strings.Contains(r.URL.Path, walkedID) && w.most == 0:
		return "page"
	case lookedFor(r) != "":
		return "look"
	case w.repeats(r):
		return "bodiless"
	case r.ContentLength >= tooLong:
		return "upload"
	case o != nil && o.Background:
		return "background"
	case o != nil && o.Resolves:
		return "looked for"
	}
	return "request"
}

// keep reads a response, and returns what a cache makes of it later.
func keep(resp *http.Response) func(*http.Request) *http.Response {
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	old, header := *resp, resp.Header.Clone()
	header.Set("Age", "30")
	return func(r *http.Request) *http.Response {
		again := old
		again.Header, again.Body, again.Request = header.Clone(), io.NopCloser(bytes.NewReader(body)), r
		return &again
	}
}

// trickle is a body that comes at the same pace whatever the buffer of its reader.
type trickle struct{ io.ReadCloser }

func (b trickle) Read(p []byte) (int, error) {
	time.Sleep(160 * time.Millisecond)
	return b.ReadCloser.Read(p[:min(len(p), 16)])
}

// copied is the same request without its connection. The first one can still be sent.
func copied(r *http.Request) *http.Request {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	again := r.Clone(context.Background())
	again.Body = io.NopCloser(bytes.NewReader(body))
	return again
}

// deliver sends what nobody waits for.
func (w wire) deliver(r *http.Request) {
	if resp, err := w.service.Transport().RoundTrip(r); err == nil {
		_ = resp.Body.Close()
	}
	w.laws.again()
}

// cutLate keeps a request on its way for some seconds, less than a change may take to show: what works in the background may take any time.
func (w wire) cutLate(o *op.Op, r *http.Request) error {
	after := 5 * time.Second
	if o != nil && o.Background {
		after = time.Minute
	}
	connected(r)
	w.deliverLate(r, after)
	return io.EOF
}

// deliverLate delivers a request later, whatever becomes of the process that sent it.
func (w wire) deliverLate(r *http.Request, after time.Duration) {
	late := copied(r)
	time.AfterFunc(after, func() {
		if !w.start.Alive() {
			w.laws.hides()
		}
		w.deliver(late)
	})
}

// connected tells the client that its request is on its way. It has a trace for each attempt, but for some of free reads.
func connected(r *http.Request) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.GetConn("")
		trace.GotConn(httptrace.GotConnInfo{})
		trace.WroteHeaders()
	}
}

// cut sends the beginning of a body.
func cut(r *http.Request) error {
	connected(r)
	_, _ = io.CopyN(io.Discard, r.Body, 20)
	return io.ErrUnexpectedEOF
}

// serviceClock is the clock of the service, which differs from that of the processes.
type serviceClock struct {
	sandbox.Clock

	ahead atomic.Int64
}

func (c *serviceClock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *serviceClock) jump(by time.Duration) { c.ahead.Add(int64(by)) }

var (
	errAway  = errors.New("the store is away")
	errPanic = errors.New("the transport panicked")
)
