package firstcontact

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	network "example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/waits"
)

// MaxRequests bounds the requests of one run, with everything that is sent twice.
func MaxRequests() int { return len(plan()) + 6 }

// Share is how many requests of a surface a run sends in any minute: a sixth of what the documentation allows, and at least 8. It
// is 0 where no limit is documented. So a further request of the plan costs time, and takes the place of no other.
func Share(s op.Surface) int {
	if limit := op.DocumentedLimits[s].PerMinute; limit > 0 {
		return max(8, limit/6)
	}
	return 0
}

// pace leaves the rest of a minute to the others of the workspace.
type pace struct {
	alone bool // a double on this machine serves nobody else
	sent  map[op.Surface][]time.Time
	tell  func(time.Duration)
}

// wait returns when the run may send another request of a surface, or with the error of the context.
func (p *pace) wait(ctx context.Context, s op.Surface) error {
	share, sent := Share(s), p.sent[s]
	if share > 0 && len(sent) >= share && !p.alone {
		left := time.Until(sent[len(sent)-share].Add(time.Minute))
		if p.tell != nil && left > 0 {
			p.tell(left)
		}
		if err := waits.Sleep(ctx, max(0, left)); err != nil {
			return err
		}
	}
	p.sent[s] = append(sent, time.Now())
	return nil
}

var (
	errTooMany = errors.New("the run has sent all its requests")
	errWrites  = errors.New("the run sends only GET requests")
)

// exchange is a request and its response, in which the key is hidden: also where it is the name of a field.
type exchange struct {
	ask    *ask
	status int
	header http.Header
	body   []byte
	value  any // of a body that is JSON
	isJSON bool
	at     time.Time // by the header Date, or else by the clock here
}

// recorder is the transport of a run. It lets only GET requests through, and only so many.
type recorder struct {
	next http.RoundTripper
	key  redact.Secrets
	most int // requests
	sent atomic.Int32
	ask  *ask // at hand
	last *exchange
}

const longestBody = 32 << 20

// RoundTrip sends a request and keeps its response.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.Method != http.MethodGet || req.Body != nil && req.Body != http.NoBody:
		return nil, errWrites
	case int(r.sent.Load()) >= r.most:
		return nil, errTooMany
	}
	r.sent.Add(1)
	if r.ask.noKey {
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestBody))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	e := &exchange{ask: r.ask, status: resp.StatusCode, header: r.key.Header(resp.Header, body), body: []byte(r.key.Hide(string(body))), at: time.Now()}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		e.at = at
	}
	text := bytes.TrimPrefix(e.body, byteOrder)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	e.isJSON = json.Valid(text) && d.Decode(&e.value) == nil
	r.last = e
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// byteOrder is a mark that some programs write before a text. JSON must not begin with it.
var byteOrder = []byte("\ufeff")

func (e *exchange) succeeded() bool { return e != nil && e.status >= 200 && e.status < 300 }

// isGarbled reports whether a response has content, and that is no JSON.
func (e *exchange) isGarbled() bool { return !e.isJSON && len(bytes.TrimSpace(e.body)) > 0 }

var mediaPattern = regexp.MustCompile(`^[a-z]+/[a-z0-9.+-]{1,40}$`)

// mediaType is the content type of a response without parameters, or nothing if it is unlike one.
func (e *exchange) mediaType() string {
	kind, _, err := mime.ParseMediaType(e.header.Get("Content-Type"))
	if err != nil || !mediaPattern.MatchString(kind) {
		return ""
	}
	return kind
}

var codePattern = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)

// code finds the code of an error, wherever it stands: a text that is a known code, or else one that looks like one
// and stands under a key that says so.
func (e *exchange) code() string {
	known, likely := codesIn("", e.value)
	return cmp.Or(known, likely)
}

func codesIn(key string, value any) (known, likely string) {
	add := func(key string, item any) {
		more, maybe := codesIn(key, item)
		known, likely = cmp.Or(known, more), cmp.Or(maybe, likely)
	}
	switch v := value.(type) {
	case string:
		if _, ok := op.CodeByName(v); ok {
			return v, ""
		}
		if strings.Contains(strings.ToLower(key), "code") && len(v) <= 60 && codePattern.MatchString(v) {
			return "", v
		}
	case []any:
		for _, item := range v {
			add(key, item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			add(name, v[name])
		}
	}
	return known, likely
}

// NewTransport returns the transport of the command: that of a client, with a connection for each request. net/http repeats a GET if a
// connection that it used before breaks: none is used twice.
func NewTransport() http.RoundTripper {
	t := network.NewTransport()
	t.DisableKeepAlives = true
	return t
}
