package firstcontact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/waits"
)

// MaxWaits bounds what a run waits for rate limits, all together. What would take longer is not asked.
const MaxWaits = 4 * time.Minute

// interview asks one service, and keeps what it responds. It sends without the client of this module, which would correct what differs.
type interview struct {
	base, token string
	transport   http.RoundTripper
	most        int // how many of several, such as agents, are asked about

	ids    map[string][]string // by kind
	to     []*exchange         // the first response to each ask of the plan
	why    []string            // there is none
	shapes map[string]*shape   // of all responses of an operation, and of all errors
	log    []*exchange         // also those after which it was asked again
	sent   atomic.Int32        // also what got no response
	waited time.Duration
}

func newInterview(base, token string, transport http.RoundTripper, most int) *interview {
	return &interview{
		base: strings.TrimSuffix(base, "/"), token: token, transport: transport, most: most,
		ids: map[string][]string{}, shapes: map[string]*shape{}, to: make([]*exchange, len(plan)), why: make([]string, len(plan)),
	}
}

// ask asks one question of the plan.
func (v *interview) ask(ctx context.Context, i int) (err error) {
	a := plan[i]
	id, given := strings.CutPrefix(a.id, "=")
	ids := v.ids[a.id]
	if given || a.id == "" {
		ids = []string{id}
	}
	if v.why[i] = "it has seen no " + a.id + " in this workspace"; a.op.Path == "" {
		v.why[i], ids = "its path is undocumented", nil
	}
	for _, id := range ids[:min(len(ids), v.most)] {
		query := strings.ReplaceAll(a.query, "{}", url.QueryEscape(id))
		if query != a.query {
			id = ""
		}
		path, _ := op.Expand("", a.op.Path, strings.Fields(id)...)
		var e *exchange
		if e, err = v.insist(ctx, path+"?"+query, !a.noKey); e == nil {
			why := err
			if on, ok := errors.AsType[*net.OpError](err); ok {
				why = on.Err // without the addresses: a port differs from run to run
			}
			v.why[i] = "no response: " + redact.Unquoted(why.Error())
			continue
		}
		e.asked, _ = url.ParseQuery(query)
		v.to[i] = cmp.Or(v.to[i], e)
		v.learn(a, e)
		v.harvest(a.op, e)
	}
	return err
}

// insist asks up to three times if a failure may pass, and returns the last response.
func (v *interview) insist(ctx context.Context, path string, key bool) (kept *exchange, err error) {
	for range 3 {
		e, failed := v.send(ctx, v.transport, http.MethodGet, path, nil, key)
		if err = failed; err != nil {
			continue
		}
		kept, v.log = e, append(v.log, e)
		if e.status < 500 && !e.is(429) {
			break
		}
		if wait, _ := e.retryAfter(); e.is(429) {
			if v.waited += wait; v.waited > MaxWaits || waits.Sleep(ctx, wait) != nil {
				break
			}
		}
	}
	return kept, err
}

// send sends one request once, and follows no redirect.
func (v *interview) send(ctx context.Context, transport http.RoundTripper, method, path string, body []byte, key bool) (*exchange, error) {
	req, err := http.NewRequestWithContext(ctx, method, v.base+strings.TrimSuffix(path, "?"), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // net/http must not repeat it
	req.Header.Set("User-Agent", "prospectkit-check")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key {
		req.SetBasicAuth(v.token, "")
	}
	v.sent.Add(1)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	defer resp.Body.Close()
	const longest = 32 << 20
	text, err := io.ReadAll(io.LimitReader(resp.Body, longest))
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	secret := redact.Secrets{}.Key(v.token)
	return newExchange(resp.StatusCode, secret.Header(resp.Header), secret.Hide(string(text))), nil
}

// harvest keeps the ids that later asks need. Of lists, those with the most rows come first; else, the order of the response does not matter.
func (v *interview) harvest(o *op.Op, e *exchange) {
	if !e.succeeded() {
		return
	}
	family, _, _ := strings.Cut(o.Name, ".")
	found := map[string][]string{}
	all := e.page.items()
	slices.SortStableFunc(all, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.ContactsCount+b.CompaniesCount, a.ContactsCount+a.CompaniesCount), strings.Compare(a.ID, b.ID))
	})
	for _, i := range all {
		ids := map[string]string{family: i.ID}
		switch {
		case o == op.ListsList:
			ids = map[string]string{"list": i.ID, i.EntityType: i.ID, "folder": i.FolderID, "name": i.otherName()}
		case e.page.EntityType == "contactList":
			ids = map[string]string{"contact": i.ID}
		}
		for kind, id := range ids {
			if id != "" {
				found[kind] = append(found[kind], id)
			}
		}
	}
	maps.Copy(found, v.ids)
	v.ids = found
}

// exchange is a response, in which the key is hidden.
type exchange struct {
	asked  url.Values
	at     time.Time
	status int
	header http.Header
	form   string // what the body is
	value  any    // if that is JSON
	page   page
}

// page is what a response says, where it has the documented form.
type page struct {
	EntityType                                      string
	Pagination                                      struct{ PageNum, TotalPages, TotalRecords int64 } // -1 if missing
	Error                                           struct{ Code, Param string }
	List                                            item
	Data, Folders, Agents, Campaigns, KnowledgeHubs []item
}

type item struct {
	ID, Name, FirstName, EntityType, Type, CreatedAt, FolderID string
	ContactsCount, CompaniesCount                              int64
}

// otherName is a part of the name with small letters for capitals and the other way round, or empty.
func (i item) otherName() string {
	runes := []rune(strings.TrimSpace(i.Name))
	part := strings.TrimSpace(string(runes[min(1, len(runes)):min(len(runes), 100)]))
	other := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && unicode.IsLetter(r) {
			return r ^ 0x20
		}
		return r
	}, part)
	if other == part {
		return ""
	}
	return other
}

func (p *page) items() []item {
	return slices.Concat(p.Data, p.Folders, p.Agents, p.Campaigns, p.KnowledgeHubs)
}

const asJSON = "application/json"

func newExchange(status int, header http.Header, body string) *exchange {
	e := &exchange{at: time.Now(), status: status, header: header, form: asJSON}
	text, marked := strings.CutPrefix(body, "\ufeff") // which some programs write before a text
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	switch {
	case strings.TrimSpace(body) == "":
		e.form = "empty"
	case d.Decode(&e.value) != nil || d.More():
		e.form, e.value = "no JSON", nil
	case marked:
		e.form = "JSON with a byte order mark"
	case !strings.EqualFold(strings.TrimSpace(media), asJSON):
		e.form = "of another Content-Type"
	}
	e.page.Pagination.PageNum, e.page.Pagination.TotalPages, e.page.Pagination.TotalRecords = -1, -1, -1
	_ = json.Unmarshal([]byte(text), &e.page) // what has another form is left out
	return e
}

func (e *exchange) String() string {
	return strings.TrimSpace(fmt.Sprint(e.status, " ", e.code()))
}
func (e *exchange) is(status int) bool { return e != nil && e.status == status }
func (e *exchange) succeeded() bool    { return e != nil && e.status >= 200 && e.status < 300 }
func (e *exchange) failed() bool {
	return e != nil && e.status >= 400 && e.status < 500 && e.status != 429
}

// broke reports whether the service, or what is before it, says that it has failed.
func (e *exchange) broke() bool {
	return e != nil && e.status >= 500 && e.status != http.StatusNotImplemented
}

// code is the code of an error, if it looks like one.
func (e *exchange) code() string {
	if e == nil || !isName(e.page.Error.Code) {
		return ""
	}
	return e.page.Error.Code
}

// leadsNowhere reports whether a response says that there is no such path.
func (e *exchange) leadsNowhere() bool {
	return (e.is(404) || e.is(405) || e.is(410)) && (e.code() == "ENDPOINT_NOT_FOUND" || e.code() == "")
}

// retryAfter is how long it says to wait, and what is wrong with how it says so.
func (e *exchange) retryAfter() (wait time.Duration, problem string) {
	value := e.header.Get("Retry-After")
	wait, ok := ratehdr.ParseRetryAfter(e.header, e.at, nil)
	switch {
	case value == "":
		problem = "is missing from a 429"
	case !ok:
		problem = "is neither seconds nor a date"
	case number(value) < 0:
		problem = "is a date instead of seconds"
	}
	return min(max(wait, time.Second), 2*MaxWaits), problem
}
