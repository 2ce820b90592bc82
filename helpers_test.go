package prospectkit_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

const (
	baseURL = "https://api.example.com/api/v1"
	token   = "tok-Zx81-qWv7-secret" // what no output may ever show
	listID  = "65f0c0ffee65f0c0ffee65f0"
	oneList = `{"id":"` + listID + `","name":"Berlin","entityType":"contactList"}`
	oneUser = `{"user":{"id":"65f0c0ffee65f0c0ffee65f1","email":"ada@example.com","name":"Ada"}}`
)

// roundTrip makes a transport of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f(r)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

// answer is a response with a JSON body unless header, in pairs of key and value, says otherwise. A success has the rate headers, as
// every one of the service's has.
func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	rateHeaders(h, status)
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status) + " " + http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// rateHeaders gives a success the headers that the service's have.
func rateHeaders(h http.Header, status int) {
	if status >= 200 && status < 300 {
		h.Set("RateLimit-Limit", "1000000")
		h.Set("RateLimit-Remaining", "999999")
		h.Set("RateLimit-Reset", "60")
	}
}

// bare makes an answer one without rate headers, as those of strangers are, and those that have lost them on the way.
var bare = []string{"RateLimit-Limit", "", "RateLimit-Remaining", "", "RateLimit-Reset", ""}

// always gives the same answer to every request.
func always(status int, body string, header ...string) roundTrip {
	return func(*http.Request) (*http.Response, error) { return answer(status, body, header...), nil }
}

// envelope is the service's error body.
func envelope(code string) string {
	return `{"error":{"code":` + strconv.Quote(code) + `,"message":"prose","param":null,"doc_url":null,"request_id":"req-1"}}`
}

// unpaced is for servers of a test that know no limits.
func unpaced() prospectkit.ClientOption {
	return prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{TrustHeaders: true}))
}

// newClient is a client over a transport of the test, which is not paced.
func newClient(tb testing.TB, rt http.RoundTripper, opts ...prospectkit.ClientOption) *prospectkit.Client {
	tb.Helper()
	client, err := prospectkit.New(baseURL, token, append([]prospectkit.ClientOption{prospectkit.WithTransport(rt), unpaced()}, opts...)...)
	require.NoError(tb, err)
	return client
}
