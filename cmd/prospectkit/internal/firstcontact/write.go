package firstcontact

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
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

// MostLists is how many lists Write makes at most.
const MostLists = 6

const (
	idle     = 6 * time.Second
	patience = 3 * op.UsuallyVisibleAfter
)

// writer makes lists: without the client, which never sends what would tell something, and so that nothing is sent twice.
type writer struct {
	*Run
	client   *http.Client
	made     []string
	conflict *exchange // the last
}

// Write makes up to six empty lists, under names that nobody uses, which costs nothing documented and sends nothing, and measures. The
// lists stay: their names are returned, also beside an error. The transport should keep connections.
func (r *Run) Write(ctx context.Context, transport http.RoundTripper) (made []string, err error) {
	w := &writer{Run: r, client: &http.Client{Transport: transport}}
	name := "prospectkit check " + rand.Text()[:10]
	for _, step := range []func(context.Context, string) error{w.shows, w.forms, w.twins, w.headers, w.idles} {
		if err = step(ctx, name); err != nil {
			break
		}
	}
	return w.made, err
}

func (w *writer) learn(about string, fits bool, code, measured, found string, args ...any) {
	w.report.Learnt = append(w.report.Learnt, Learnt{about, fmt.Sprintf(found, args...), code, fits, measured})
}

var errLists = errors.New("all lists that it may make are made")

// create sends one creation of a list.
func (w *writer) create(ctx context.Context, name string) (*exchange, error) {
	if len(w.made) >= MostLists {
		return nil, errLists
	}
	w.made = append(w.made, name) // also if nobody knows whether it was
	e, err := w.post(ctx, name)
	if err == nil && e.status >= 400 {
		w.made = w.made[:len(w.made)-1]
	}
	if e.is(http.StatusConflict) {
		w.conflict = e
	}
	return e, err
}

func (w *writer) post(ctx context.Context, name string) (*exchange, error) {
	body, err := json.Marshal(map[string]string{"name": name})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(w.cfg.BaseURL, "/")+op.ListsCreate.Path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // net/http must not repeat it
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth(w.cfg.Token, "")
	w.wire.sent.Add(1)
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	e, _, err := w.wire.read(resp)
	return e, err
}

// shows makes the first list, and measures how late it shows in the listing, and how far createdAt is from the clock of Date.
func (w *writer) shows(ctx context.Context, name string) error {
	e, err := w.create(ctx, name)
	switch {
	case err != nil:
		return err
	case e.status >= 300:
		return fmt.Errorf("a list could not be made: status %d %s", e.status, e.code())
	}
	began, id := time.Now(), text(e.value, "list", "id")
	date, noDate := http.ParseTime(e.header.Get("Date"))
	created, noTime := time.Parse(time.RFC3339, text(e.value, "list", "createdAt"))
	const about = "createdAt against Date"
	if noDate != nil || noTime != nil {
		w.learn(about, false, "internal/clock reads both", "", "the response of a creation lacks one of them")
	} else {
		off := created.Sub(date)
		fits := off.Abs() <= clock.MaxError
		w.learn(about, fits, "clock.MaxError, "+clock.MaxError.String(), off.Round(time.Millisecond).String(), "%s", map[bool]string{true: "within that", false: "beyond that"}[fits])
	}
	o := prospectkit.Operation{Name: op.ListsList.Name, Method: http.MethodGet, Path: op.ListsList.Path, Surface: string(op.Lists), Reads: true, Free: true}
	for pause := time.Second / 4; ; pause = min(2*pause, 2*time.Second) {
		looked := time.Since(began)
		page, err := w.send(ctx, o, nil, false, prospectkit.WithQuery("search", name))
		if page == nil {
			return err
		}
		shown := false
		for _, item := range items(page.value, "data") {
			shown = shown || text(item, "name") == name || id != "" && text(item, "id") == id
		}
		if shown || looked > patience {
			fits := shown && looked <= op.UsuallyVisibleAfter
			w.learn("how late a new list shows in the listing", fits, "op.UsuallyVisibleAfter, "+op.UsuallyVisibleAfter.String(),
				looked.Round(time.Millisecond).String(), "%s", map[bool]string{true: "within that", false: "later than that"}[fits])
			return nil
		}
		if err := waits.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// forms finds out whether case, and spaces within, make another name.
func (w *writer) forms(ctx context.Context, name string) error {
	for _, form := range []struct{ about, name string }{
		{"whether case counts in names", strings.ToUpper(name)},
		{"whether doubled spaces count in names", strings.Replace(name, " ", "  ", 1)},
	} {
		e, err := w.create(ctx, form.name)
		if err != nil {
			return err
		}
		found := map[bool]string{true: "they make the same name: 409", false: fmt.Sprintf("a list of its own: %d", e.status)}[e.is(http.StatusConflict)]
		w.learn(form.about, e.is(http.StatusConflict) || e.succeeded(), "pagewalk.Near: both are possible, and Ensure takes only a name of the same case and spaces, or none", "", "%s", found)
	}
	return nil
}

// twins makes two lists of one name at the same moment.
func (w *writer) twins(ctx context.Context, name string) error {
	type result struct {
		e   *exchange
		err error
	}
	name += " twice"
	if len(w.made)+2 > MostLists {
		return errLists
	}
	second := make(chan result, 1)
	go func() { e, err := w.post(ctx, name); second <- result{e, err} }()
	first, err := w.post(ctx, name)
	other := <-second
	if err = errors.Join(err, other.err); err != nil {
		w.made = append(w.made, name, name)
		return err
	}
	n := 0
	for _, e := range []*exchange{first, other.e} {
		if e.succeeded() {
			w.made, n = append(w.made, name), n+1
		}
		if e.is(http.StatusConflict) {
			w.conflict = e
		}
	}
	w.learn("two equal names at once", n == 1 && (first.is(409) || other.e.is(409)), "op.GuardedByName: one is made, the other is a 409 LIST_NAME_TAKEN", "",
		"%d made; the statuses are %d and %d", n, min(first.status, other.e.status), max(first.status, other.e.status))
	return nil
}

// headers finds out whether a 409 carries the rate headers, and makes one if there was none.
func (w *writer) headers(ctx context.Context, name string) error {
	const about, code = "whether a 409 carries the rate headers", "the limiter counts without them, and isServiceEnvelope of call_retry.go knows an unknown code by them"
	if w.conflict == nil {
		if _, err := w.create(ctx, name); err != nil {
			return err
		}
	}
	if w.conflict == nil {
		w.learn(about, false, code, "", "no 409 came, not even for a name that exists")
		return nil
	}
	_, ok := w.conflict.rate()
	w.learn(about, ok, code, "", "%s", strconv.FormatBool(ok))
	return nil
}

// idles keeps a connection idle, and writes on it: a client of the user's own may do so. That of this package would not.
func (w *writer) idles(ctx context.Context, name string) error {
	const about = "what a write after 6 idle seconds meets"
	code := "exchange.IdleTimeout, " + network.IdleTimeout.String() + ": the client takes a new connection by then"
	if err := waits.Sleep(ctx, idle); err != nil {
		return err
	}
	var reused, connected bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused, connected = info.Reused, true }})
	e, err := w.create(traced, name+" idle")
	switch {
	case ctx.Err() != nil || errors.Is(err, errLists):
		return err
	case err != nil:
		w.learn(about, false, code, "", "no response: the connection was closed under it (reused: %t)", reused)
	case !connected:
		w.learn(about, e.succeeded(), code, "", "a %d; the transport shows no connections", e.status)
	case reused:
		w.learn(about, e.succeeded(), code, "", "a %d on the same connection: the server keeps it longer", e.status)
	default:
		w.learn(about, e.succeeded(), code, "", "a %d on a new connection: the server had closed the old one", e.status)
	}
	return nil
}
