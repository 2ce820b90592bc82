package firstcontact

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/clock"
	network "example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/waits"
)

// Learnt is something that a verdict of the client rests on, as -write has found it, and what the code takes for granted.
type Learnt struct {
	About    string `json:"about"`
	Found    string `json:"found"`
	Code     string `json:"code"`
	Fits     bool   `json:"fits"`
	Measured string `json:"-"` // differs from run to run
}

// writer makes lists: without the client, which never sends what would tell something, and so that nothing is sent twice.
type writer struct {
	*Run

	transport http.RoundTripper
	name      string
	mu        sync.Mutex // for the rest
	conflict  *exchange  // the last
	made      []string
}

// Write makes up to six empty lists, under names that nobody uses, which costs nothing documented and sends nothing, and measures. The
// lists stay: their names are returned, also beside an error. The transport should keep connections.
func (r *Run) Write(ctx context.Context, transport http.RoundTripper) (made []string, err error) {
	w := &writer{Run: r, transport: transport, name: "prospectkit check " + rand.Text()[:10]}
	for _, step := range []func(context.Context) error{w.shows, w.forms, w.twins, w.idles} {
		if err = step(ctx); err != nil {
			r.untold(op.ListsCreate.Name, "-write ended early: the rest was not measured")
			break
		}
	}
	return w.made, err
}

func (w *writer) learn(about string, fits bool, code, found string, measured ...time.Duration) {
	l := Learnt{About: about, Found: found, Code: code, Fits: fits}
	for _, d := range measured {
		l.Measured = fmt.Sprintf(" (%s)", d.Round(time.Millisecond))
	}
	w.report.Learnt = append(w.report.Learnt, l)
}

// create sends one creation of a list, and returns a response of success or of a conflict. Unless it was refused, it counts as made.
func (w *writer) create(ctx context.Context, name string) (*exchange, error) {
	e, err := w.got.send(ctx, w.transport, http.MethodPost, op.ListsCreate.Path, fmt.Appendf(nil, `{"name":%q}`, name), true)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !e.failed() && !e.is(http.StatusTooManyRequests) {
		w.made = append(w.made, name)
	}
	switch {
	case e.is(http.StatusConflict):
		w.conflict = e
	case e != nil && !e.succeeded():
		return nil, &prospectkit.Error{Op: op.ListsCreate.Name, Status: e.status, Code: prospectkit.Code(e.code())}
	}
	return e, err
}

// shows makes the first list, and measures how late it shows in the listing, and how far createdAt is from the clock of Date.
func (w *writer) shows(ctx context.Context) error {
	e, err := w.create(ctx, w.name)
	if err == nil && !e.succeeded() {
		err = fmt.Errorf("a list could not be made: status %v", e)
	}
	if err != nil {
		return err
	}
	began := time.Now()
	date, noDate := http.ParseTime(e.header.Get("Date"))
	created, noTime := time.Parse(time.RFC3339, e.page.List.CreatedAt)
	const about, most = "createdAt against Date", op.UsuallyVisibleAfter
	if off := created.Sub(date); noDate != nil || noTime != nil {
		w.learn(about, false, "internal/clock reads both", "the response of a creation lacks one of them")
	} else {
		fits := off.Abs() <= clock.MaxError
		w.learn(about, fits, "clock.MaxError, "+clock.MaxError.String(), choose(fits, "within that", "beyond that"), off)
	}
	var shown, blind bool
	var looked time.Duration
	for pause := time.Second / 4; !shown && looked <= 3*most; pause = min(2*pause, 2*time.Second) {
		looked = time.Since(began)
		found, err := w.got.send(ctx, w.transport, http.MethodGet, op.ListsList.Path+"?search="+url.QueryEscape(w.name), nil, true)
		if blind = blind || err != nil || !found.succeeded(); err == nil {
			shown = slices.ContainsFunc(found.page.Data, func(i item) bool { return i.Name == w.name || i.ID != "" && i.ID == e.page.List.ID })
		}
		if !shown && waits.Sleep(ctx, pause) != nil {
			return ctx.Err()
		}
	}
	const late = "how late a new list shows in the listing"
	if fits := shown && looked <= most; fits || !blind {
		w.learn(late, fits, "op.UsuallyVisibleAfter, "+most.String(), choose(fits, "within that", "later than that"), looked)
	} else {
		w.untold(op.ListsList.Name, late+": some looks were refused")
	}
	return nil
}

// forms finds out whether case, and spaces within, make another name.
func (w *writer) forms(ctx context.Context) error {
	for _, form := range [][2]string{{"case counts", strings.ToUpper(w.name)}, {"doubled spaces count", strings.Replace(w.name, " ", "  ", 1)}} {
		e, err := w.create(ctx, form[1])
		if err != nil {
			return err
		}
		same := e.is(http.StatusConflict)
		w.learn("whether "+form[0]+" in names", true, "pagewalk.Near: both are possible, and Ensure takes only a name of the same case and spaces, or none",
			choose(same, "they make the same name: 409", fmt.Sprintf("a list of its own: %d", e.status)))
	}
	return nil
}

// twins makes two lists of one name at the same moment, and looks at the headers of a 409.
func (w *writer) twins(ctx context.Context) error {
	name, before := w.name+" twice", len(w.made)
	var other *exchange
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		other, failed = w.create(ctx, name)
	}()
	one, err := w.create(ctx, name)
	<-done
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	n, first, last := len(w.made)-before, min(one.status, other.status), max(one.status, other.status)
	w.learn("two equal names at once", n == 1 && last == http.StatusConflict, "op.GuardedByName: one is made, the other is a 409 LIST_NAME_TAKEN",
		fmt.Sprintf("%d made; the statuses are %d and %d", n, first, last))
	carries := w.conflict != nil && w.conflict.header.Get("RateLimit-Remaining") != ""
	w.learn("whether a 409 carries the rate headers", carries, "the limiter counts without them, and isServiceEnvelope of call_retry.go knows an unknown code by them",
		choose(w.conflict != nil, strconv.FormatBool(carries), "no 409 came"))
	return nil
}

// idles keeps a connection idle, and writes on it: a client of the user's own may do so. That of this package would not.
func (w *writer) idles(ctx context.Context) error {
	const idle = 6 * time.Second
	if err := waits.Sleep(ctx, idle); err != nil {
		return err
	}
	how := "without a sign of a connection"
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		how = choose(info.Reused, "on the same connection: the server keeps it longer", "on a new connection: the server had closed the old one")
	}})
	e, err := w.create(traced, w.name+" idle")
	if _, refused := errors.AsType[*prospectkit.Error](err); refused || ctx.Err() != nil {
		return err
	}
	found := "no response: the connection was closed under it"
	if err == nil {
		found = fmt.Sprintf("a %d %s", e.status, how)
	}
	w.learn("what a write after 6 idle seconds meets", e.succeeded(), "exchange.IdleTimeout, "+network.IdleTimeout.String()+": the client takes a new connection by then", found)
	return nil
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
