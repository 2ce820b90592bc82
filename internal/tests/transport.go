package tests

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// What most tests speak of.
const (
	BaseURL = "https://api.example.com/api/v1"
	Token   = "tok-Zx81-qWv7-secret" //nolint:gosec // no credential: what no output may ever show
	ListID  = "65f0c0ffee65f0c0ffee65f0"
	OneList = `{"id":"` + ListID + `","name":"Q1","entityType":"contactList"}`
	OneUser = `{"user":{"id":"65f0c0ffee65f0c0ffee65f1","email":"ada@example.com","name":"Ada"}}`
)

// RoundTrip makes a transport of a function.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f(r)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

// Respond makes a response with a JSON body, unless header says otherwise in pairs of key and value.
// A success has the rate headers, as all of the service's have.
func Respond(status int, body string, header ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	RateHeaders(h, status)
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status) + " " + http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// RateHeaders gives a success the headers that the service's have.
func RateHeaders(h http.Header, status int) {
	if status >= 200 && status < 300 {
		for i := 0; i < len(Room); i += 2 {
			h.Set(Room[i], Room[i+1])
		}
	}
}

// Bare takes the rate headers from a response. Those of another server have none, nor those that lost
// them on the way.
var Bare = []string{"RateLimit-Limit", "", "RateLimit-Remaining", "", "RateLimit-Reset", ""}

// Room says that a surface has room for every call of a test.
var Room = []string{"RateLimit-Limit", "1000000", "RateLimit-Remaining", "999999", "RateLimit-Reset", "60"}

// Always gives the same response to every request.
func Always(status int, body string, header ...string) RoundTrip {
	return func(*http.Request) (*http.Response, error) { return Respond(status, body, header...), nil }
}

// Counting counts the requests that a transport gets.
func Counting(n *int, rt RoundTrip) RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		*n++
		return rt.RoundTrip(r)
	}
}

// Lost loses the response to each write, and responds to reads.
func Lost(reads RoundTrip) RoundTrip { return Writes(CutOff, reads) }

// Writes responds to writes in one way, and to reads in another.
func Writes(writes, reads RoundTrip) RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			return reads.RoundTrip(r)
		}
		return writes.RoundTrip(r)
	}
}

// Made responds to the creation of a list or an agent, with its name, as the service does.
func Made(r *http.Request) (*http.Response, error) {
	var sent struct{ Name, ListName string }
	err := json.NewDecoder(r.Body).Decode(&sent)
	record := `{"id":"` + ListID + `","name":` + strconv.Quote(sent.Name+sent.ListName) + `,"status":"initializing"}`
	return Respond(201, `{"list":`+record+`,"agent":`+record+`}`), err
}

// Envelope is the service's error body.
func Envelope(code string) string {
	return `{"error":{"code":` + strconv.Quote(code) + `,"message":"prose","param":null,"doc_url":null,"request_id":"req-1"}}`
}

// NewClient is a client over a transport of the test.
func NewClient(tb testing.TB, rt http.RoundTripper, opts ...prospectkit.ClientOption) *prospectkit.Client {
	tb.Helper()
	return Through(tb, &http.Client{Transport: rt}, opts...)
}

// Through is a client that sends through h.
func Through(tb testing.TB, h *http.Client, opts ...prospectkit.ClientOption) *prospectkit.Client {
	tb.Helper()
	client, err := prospectkit.New(BaseURL, Token, append([]prospectkit.ClientOption{Routes(), prospectkit.WithHTTPClient(h)}, opts...)...)
	require.NoError(tb, err)
	return client
}

// Unrouted is a client that knows no undocumented route, and must send nothing.
func Unrouted(t *testing.T) *prospectkit.Client {
	t.Helper()
	client, err := prospectkit.New(BaseURL, Token, prospectkit.WithTransport(Untouched(t)))
	require.NoError(t, err)
	return client
}

// Consumed reads a request as a server does, and then loses the response.
func Consumed(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	return nil, io.ErrUnexpectedEOF
}

// Script responds to one request after the other and notes what was sent: method, path below the base URL, query and body.
type Script struct {
	t     *testing.T
	steps []RoundTrip
	Sent  []string
}

// RoundTrip plays the next step.
func (s *Script) RoundTrip(r *http.Request) (*http.Response, error) {
	line := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v1/business")
	if body := BodyOf(s.t, r); body != "" {
		line += " " + body
		r.Body = io.NopCloser(strings.NewReader(body))
	}
	s.Sent = append(s.Sent, line)
	require.LessOrEqual(s.t, len(s.Sent), len(s.steps), "one request too many: %s", line)
	return s.steps[len(s.Sent)-1].RoundTrip(r)
}

// Done demands that the whole script was played.
func (s *Script) Done() {
	s.t.Helper()
	require.Len(s.t, s.Sent, len(s.steps), "requests: %q", s.Sent)
}

// Stage makes a script of steps.
func Stage(t *testing.T, steps ...RoundTrip) *Script {
	t.Helper()
	return &Script{t: t, steps: steps}
}

// Times repeats a step.
func Times(n int, step RoundTrip) []RoundTrip { return slices.Repeat([]RoundTrip{step}, n) }

// CutOff loses the response to a request.
func CutOff(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// Repeats is a gateway that sends some requests again, because it has lost the response, and hands on the second one.
func Repeats(base http.RoundTripper, which func(*http.Request) bool) RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		if !which(r) {
			return base.RoundTrip(r)
		}
		first, second := r.Clone(r.Context()), r.Clone(r.Context())
		if r.Body != nil {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			first.Body, second.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
		}
		lost, err := base.RoundTrip(first)
		if err != nil {
			return nil, err
		}
		_ = lost.Body.Close()
		return base.RoundTrip(second)
	}
}

// IsPost reports whether a request is a POST.
func IsPost(r *http.Request) bool { return r.Method == http.MethodPost }

// SameFields compares the documented fields of records.
func SameFields(t *testing.T, want, got any, about ...any) {
	t.Helper()
	require.Equal(t, JSONText(want), JSONText(got), about...)
}

// Discard keeps the error of two results.
func Discard[T any](_ T, err error) error { return err }
