package tests

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
)

// Counted is a server on a socket that counts its connections.
func Counted(t *testing.T, h http.HandlerFunc) (server *httptest.Server, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	server = httptest.NewUnstartedServer(h)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server, connections
}

// Zip compresses a text.
func Zip(text string) string {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

// Described is an operation of the test, of a method and a class.
func Described(method string, class op.Class) prospectkit.Operation {
	return OfClass(class, prospectkit.Operation{Name: "test", Method: method, Path: "/business/test", Surface: "campaigns"})
}

// OfClass is the operation as one of a class.
func OfClass(class op.Class, o prospectkit.Operation) prospectkit.Operation {
	o.Reads, o.Free = class == op.Read || class == op.PaidRead, class == op.Read
	o.Repeatable = class == op.Idempotent || class == op.GuardedByName
	return o
}

// Serves is a handler that gives one response.
func Serves(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { Write(w, status, body, header...) }
}

// OtherServer is a response without rate headers.
func OtherServer(status int, body string, header ...string) http.HandlerFunc {
	return Serves(status, body, append(header, Bare...)...)
}

// Raw is a handler that writes a text in place of a response.
func Raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { Hijack(w, text) }
}

// Hangs is a handler that never responds.
func Hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// Drips sends a head and the beginning of a body, then nothing.
func Drips(w http.ResponseWriter, r *http.Request) {
	Write(w, 200, `{"user":`)
	_ = http.NewResponseController(w).Flush()
	Hangs(w, r)
}

// What gateways and cut connections send.
const (
	// GatewayError looks like the service's envelope, with a code of its own.
	GatewayError = `{"error":{"code":"GATEWAY","message":"try later"}}`

	HTML        = "<!DOCTYPE html><title>Error</title>"
	HTMLType    = "text/html"
	ContentType = "Content-Type"
	BareHead    = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	JSONHead    = BareHead + "RateLimit-Remaining: 9\r\n"
)

// Drained reads the request's body first.
func Drained(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		h(w, r)
	}
}

// Breaks fails without a response.
var Breaks RoundTrip = func(*http.Request) (*http.Response, error) { return nil, ErrBroken }

// DialFunc is how a transport dials.
type DialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer makes a transport whose connections come from f, and counts them.
type Dialer struct {
	*http.Transport
	Dials atomic.Int32
}

// Dialing is a transport that dials with f.
func Dialing(f DialFunc) *Dialer {
	d := &Dialer{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
	d.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		d.Dials.Add(1)
		return f(ctx, network, address)
	}
	return d
}

// DialError fails to dial.
func DialError(err error) DialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
}

// ErrBroken is what fails on purpose.
var ErrBroken = errors.New("broken on purpose")

// Latin1 is no UTF-8.
const Latin1 = "caf\xe9" // from a file that was never UTF-8
