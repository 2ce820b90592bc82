package exchange

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// HTTP/1 of net/http writes to a connection that it was handed without another look at the context.
// So where a write is to be sent a second time, the context has to end and the connection has to be
// of no use.
func TestDelivery_SecondConnectionForAWrite(t *testing.T) {
	for name, test := range map[string]struct {
		fields   []string
		replayed bool
		closed   bool
	}{
		"a write over HTTP/1":              {[]string{"Host"}, false, false}, // nothing was written on the first
		"with an idempotency key":          {[]string{"Host", "Idempotency-Key"}, true, true},
		"with the other one":               {[]string{"x-idempotency-key"}, true, true},
		"a write over HTTP/2":              {[]string{":path", "accept"}, true, false},
		"over HTTP/2, with a key":          {[]string{":path", "idempotency-key"}, true, false},
		"a read that costs credits":        {[]string{":path"}, true, false},
		"a header that only looks like it": {[]string{"X-Idempotency-Key-Of-Mine"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			near, far := net.Pipe()
			defer far.Close()
			var request Trace
			trace := request.Hooks(false, cancel)
			for _, field := range test.fields {
				trace.WroteHeaderField(field, nil)
			}
			trace.GotConn(httptrace.GotConnInfo{Conn: near})
			require.NoError(t, ctx.Err(), "the first one")
			trace.GotConn(httptrace.GotConnInfo{Conn: near})
			require.Equal(t, test.replayed, errors.Is(context.Cause(ctx), ErrReplay))
			require.Equal(t, test.closed, errors.Is(near.SetDeadline(time.Time{}), io.ErrClosedPipe))
		})
	}
	require.Nil(t, new(Trace).Hooks(true, func(error) {}).WroteHeaderField, "a read may be sent again")
}

// A transport may tell its connections without showing them: none can be closed then.
func TestTrace_HiddenConnection(t *testing.T) {
	var request Trace
	hooks := request.Hooks(false, func(error) {})
	hooks.GotConn(httptrace.GotConnInfo{Reused: true, IdleTime: time.Hour})
	require.False(t, request.Stale(io.EOF))
	hooks.WroteHeaderField("Idempotency-Key", nil)
	hooks.GotConn(httptrace.GotConnInfo{})
	require.Equal(t, 1, request.Replays())
}

// went is the trace of a request that got so far.
func went(steps ...string) *Trace {
	t := Trace{Plain: true, Fresh: time.Minute}
	hooks := t.Hooks(false, func(error) {})
	for _, step := range steps {
		switch step {
		case "hooked":
			t.Hooked = true
		case "asked":
			hooks.GetConn("host:443")
		case "connected":
			hooks.GotConn(httptrace.GotConnInfo{})
		case "reused":
			hooks.GotConn(httptrace.GotConnInfo{Reused: true})
		case "http2":
			hooks.WroteHeaderField(":method", nil)
		case "wrote":
			hooks.WroteHeaders()
		}
	}
	return &t
}

func TestTrace_HowFarItGot(t *testing.T) {
	for _, c := range []struct {
		steps     []string
		unwritten bool
		replays   int
	}{
		{nil, false, 0}, // the transport calls no hooks: that proves nothing
		{[]string{"asked"}, true, 0},
		{[]string{"asked", "connected"}, true, 0},
		{[]string{"asked", "connected", "wrote"}, false, 0},
		{[]string{"asked", "reused", "asked", "connected"}, true, 1},
		{[]string{"asked", "reused", "asked", "reused", "asked", "connected", "wrote"}, false, 2},
	} {
		request := went(c.steps...)
		require.Equal(t, c.unwritten, request.Unwritten(io.EOF), "%v", c.steps)
		require.Equal(t, c.replays, request.Replays(), "%v", c.steps)
		require.False(t, request.Unconnected)
	}
	var read Trace
	require.NotNil(t, read.Hooks(true, func(error) {}).WroteHeaders, "how far a read got is known likewise")
}

// Only the text of net/http itself is a promise that nothing was processed, and only over HTTP/2. A refused stream is none: HAProxy refuses one
// whose request the service has processed, if the connection to the service then ends without a response.
func TestTrace_Refused(t *testing.T) {
	const wrap = "http2: Transport: cannot retry err [%s] after Request.Body was written; define Request.GetBody to avoid this error"
	for text, want := range map[string]bool{
		fmt.Sprintf(wrap, "stream error: stream ID 3; REFUSED_STREAM"):                                 false,
		fmt.Sprintf(wrap, "stream error: stream ID 3; REFUSED_STREAM; received from peer"):             false,
		fmt.Sprintf(wrap, "http2: Transport received Server's graceful shutdown GOAWAY"):               true,
		fmt.Sprintf(wrap, "stream error: stream ID 3; CANCEL; received from peer"):                     false,
		fmt.Sprintf(wrap, "stream error: stream ID 3; REFUSED_STREAM; the peer's words"):               false,
		"the peer's words: " + fmt.Sprintf(wrap, "stream error: stream ID 3; REFUSED_STREAM"):          false,
		"http2: Transport received Server's graceful shutdown GOAWAY":                                  false,
		"stream error: stream ID 3; REFUSED_STREAM":                                                    false,
		fmt.Sprintf(wrap, "http2: Transport received Server's graceful shutdown GOAWAY") + " and more": false,
	} {
		err := errors.New(text)
		require.Equal(t, want, went("http2").Unprocessed(err), text)
		require.Equal(t, want, went("http2").Unprocessed(&url.Error{Op: "Post", URL: "https://host", Err: err}), text)
		require.False(t, went("asked", "connected", "wrote").Unprocessed(err), text)
	}
	require.False(t, went("http2").Unprocessed(nil))
}

// A peer that ends the handshake over our certificate has read nothing, unless the connection had served before.
func TestTrace_RefusedByTLS(t *testing.T) {
	alert := func(op, text string) error { return &net.OpError{Op: op, Err: errors.New(text)} }
	for _, text := range []string{
		"certificate required", "bad certificate", "unsupported certificate", "revoked certificate", "expired certificate",
		"unknown certificate", "unknown certificate authority", "access denied",
	} {
		err := fmt.Errorf("wrapped: %w", alert("remote error", "tls: "+text))
		require.True(t, went("asked", "connected", "wrote").Unprocessed(err), text)
		require.False(t, went("connected", "reused", "wrote").Unprocessed(err), text)
		require.False(t, went().Unprocessed(err), "a transport without hooks may have used the connection before: %s", text)
		require.False(t, went("connected").Unprocessed(alert("local error", "tls: "+text)), text)
	}
	require.False(t, went("connected").Unprocessed(alert("remote error", "tls: internal error")))
	require.False(t, went("connected").Unprocessed(&net.OpError{Op: "remote error"}))
	require.False(t, went("connected").Unprocessed(errors.New("tls: bad certificate")))
}

// A request without a connection failed before it was sent, if the transport calls the hooks, or if nobody named its proxy.
func TestTrace_Failed(t *testing.T) {
	fault, unnamed := errors.New("connection refused"), errors.New("no such proxy")
	proxy := func(err error) *http.Transport {
		return &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return nil, err }}
	}
	for name, c := range map[string]struct {
		steps []string
		err   error
		base  http.RoundTripper
		want  bool
	}{
		"no connection":              {[]string{"asked"}, fault, proxy(nil), true},
		"a connection":               {[]string{"asked", "connected"}, fault, proxy(nil), false},
		"no hooks":                   {nil, fault, roundTrip(nil), false},
		"before the hooks":           {nil, fault, proxy(nil), false},
		"before the hooks, for sure": {[]string{"hooked"}, fault, proxy(nil), true},
		"a connection, hooked":       {[]string{"hooked", "asked", "connected"}, fault, proxy(nil), false},
		"the proxy is not named":     {nil, unnamed, proxy(unnamed), true},
		"another failure than its":   {nil, fault, proxy(unnamed), false},
		"no proxy is looked for":     {nil, unnamed, &http.Transport{}, false},
		"it fails after all, for us": {[]string{"asked", "connected"}, unnamed, proxy(unnamed), false},
	} {
		t.Run(name, func(t *testing.T) {
			request := went(c.steps...)
			got := request.Failed(c.err, c.base, nil)
			require.ErrorIs(t, got, c.err)
			require.Equal(t, c.want, request.Unconnected)
			if c.want {
				require.EqualError(t, got, "no connection to the service: "+c.err.Error())
			} else {
				require.Equal(t, c.err, got)
			}
		})
	}
}

func TestIsPermanent(t *testing.T) {
	connect := func(status proxyError) error { return &connectError{fmt.Errorf("proxy: %w", status)} }
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":              {nil, false},
		"refused":              {errors.New("connection refused"), false},
		"no such host":         {&net.DNSError{IsNotFound: true}, true},
		"a name server":        {&net.DNSError{IsTimeout: true}, false},
		"verification":         {&tls.CertificateVerificationError{Err: errors.New("x")}, true},
		"unknown authority":    {x509.UnknownAuthorityError{}, true},
		"other host":           {x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, true},
		"expired":              {x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired}, true},
		"no TLS":               {tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, true},
		"other version":        {errors.New("remote error: tls: protocol version not supported"), true},
		"other scheme":         {errors.New(`unsupported protocol scheme "ftp"`), true},
		"forbidden by a proxy": {connect(403), true},
		"bad, for a proxy":     {connect(400), true},
		"the last one":         {connect(499), true},
		"a proxy in a hurry":   {connect(408), false},
		"a proxy under load":   {connect(429), false},
		"a proxy in trouble":   {connect(500), false},
		"not a proxy's":        {errors.New("Forbidden"), false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, IsPermanent(c.err)) })
		if c.err != nil {
			require.Equal(t, c.want, IsPermanent(fmt.Errorf("wrapped: %w", c.err)), name)
		}
	}
}

// A transport that has two ways may name the failures of both. What one of them proves, the other may refute.
func TestTrace_SeveralErrors(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	alert := &net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}
	name := &net.DNSError{IsNotFound: true}
	broken := fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", &net.OpError{Op: "write", Err: errors.New("broken pipe")})
	for with, both := range map[string]func(error) error{
		"joined":          func(err error) error { return errors.Join(err, io.EOF) },
		"joined, wrapped": func(err error) error { return &url.Error{Op: "Post", Err: errors.Join(io.EOF, err)} },
		"formatted":       func(err error) error { return fmt.Errorf("both ways failed: %w; %w", err, io.EOF) },
		"text in front":   func(err error) error { return fmt.Errorf("%w; %w", err, io.EOF) },
	} {
		proves := func(err error) (proofs []bool) {
			asked, connected := went("asked"), went("asked", "connected")
			asked.Plain, connected.Plain = false, false
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://host", http.NoBody)
			_ = asked.Failed(err, roundTrip(nil), r)
			return []bool{asked.Unconnected, connected.Unwritten(err), went("connected").Unprocessed(err), IsPermanent(err)}
		}
		for _, err := range []error{dial, alert, name, broken} {
			require.Contains(t, proves(err), true, "%v", err)
			require.Equal(t, []bool{false, false, false, false}, proves(both(err)), "%s: %v", with, err)
		}
	}
}

func TestNewTransport(t *testing.T) {
	transport := NewTransport()
	require.True(t, transport.Protocols.HTTP1())
	require.False(t, transport.Protocols.HTTP2())
	require.False(t, transport.Protocols.UnencryptedHTTP2())
	require.NotNil(t, transport.Proxy)
	require.False(t, InBrowser())
}

// Only texts that cannot quote a request are words for a log.
func TestWords(t *testing.T) {
	dns := &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}
	for want, err := range map[string]error{
		"lookup api.example.com: no such host":                  dns,
		"dial tcp: lookup api.example.com: no such host":        &net.OpError{Op: "dial", Net: "tcp", Err: dns},
		"x509: certificate signed by unknown authority":         x509.UnknownAuthorityError{},
		"tls: no supported versions":                            errors.New("tls: no supported versions"),
		"net/http: TLS handshake timeout":                       errors.New("net/http: TLS handshake timeout"),
		"the proxy responded 407 Proxy Authentication Required": proxyError(407),
		"the response is longer than 7 bytes":                   &TooLargeError{7},
		"":                                                      fmt.Errorf("GET https://host/?q=name: %w", dns),
	} {
		require.Equal(t, want, Words(err))
	}
	require.Empty(t, Words(errors.New("of a proxy: tls: ")))
}
