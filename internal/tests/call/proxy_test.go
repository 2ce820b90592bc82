package call_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A proxy that accepts a connection and stays silent is named, without its password, and no service was reached.
func TestProxy_Silent(t *testing.T) {
	for _, scheme := range []string{"http", "socks5"} {
		address := listen(t, func(c net.Conn) { t.Cleanup(func() { _ = c.Close() }) })
		rt := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: scheme, Host: address, User: url.UserPassword("ada", "secret")})}
		t.Cleanup(rt.CloseIdleConnections)
		client := tests.ClientAt(t, "https://api.example.com", prospectkit.WithTransport(rt), prospectkit.WithAttemptTimeout(50*time.Millisecond))
		info, err := tests.Call(t.Context(), client, true)
		requireNotSent(t, err, info, 3)
		require.ErrorContains(t, err, "no connection to the service was made through the proxy "+address+" within the time limit of one attempt, 50ms")
		require.NotContains(t, err.Error(), "secret")
		var late net.Error
		require.ErrorAs(t, err, &late)
		require.True(t, late.Timeout())
	}
}

// A transport that wraps net/http's, as OpenTelemetry's does, hides through which proxy it goes, and may have sent in another way: only what the
// error proves is not applied. A 407 is a refusal, whoever sends it.
func TestProxy_Wrapped(t *testing.T) {
	for status, want := range map[string]string{
		"407 Proxy Authentication Required": "1 not applied: prospectkit: lists.create: no connection to the service: the proxy responded 407 Proxy Authentication Required",
		"502 Bad Gateway":                   "1 unknown: prospectkit: lists.create: outcome unknown, it may have happened: Bad Gateway",
	} {
		below := proxied(t, "HTTP/1.1 "+status+"\r\nContent-Length: 0\r\n\r\n")
		info, err := tests.Call(t.Context(), tests.ClientAt(t, "https://api.example.com", prospectkit.WithTransport(tests.RoundTrip(below.RoundTrip))), true)
		require.Equal(t, want, fmt.Sprintf("%d %s: %v", len(info.Attempts), prospectkit.OutcomeOf(err), err))
	}
}

// A proxy that net/http cannot read would silently not be used.
func TestProxy_UnreadableVariable(t *testing.T) {
	const broken = "http://ada:50%secret@proxy.example:3128"
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, broken)
			_, err := prospectkit.New("https://api.example.com/api/v1", tests.Token)
			require.ErrorContains(t, err, name+" cannot be read as the URL of a proxy")
			require.ErrorAs(t, err, new(*prospectkit.RefusedError))
			require.NotContains(t, err.Error(), "secret")
			_, err = prospectkit.New("https://api.example.com/api/v1", tests.Token, prospectkit.WithTransport(&http.Transport{}))
			require.NoError(t, err, "it does not use the variable")
			_, err = prospectkit.New("http://api.example.com/api/v1", tests.Token, prospectkit.AllowPlainHTTP())
			require.NoError(t, err, "nor does that")
			for _, readable := range []string{"http://ada:50%25@proxy.example:3128", "proxy.example:3128", "socks5://proxy.example"} {
				t.Setenv(name, readable)
				_, err = prospectkit.New("https://api.example.com/api/v1", tests.Token)
				require.NoError(t, err, readable)
			}
		})
	}
	t.Setenv("HTTP_PROXY", broken)
	_, err := prospectkit.New("http://api.example.com/api/v1", tests.Token, prospectkit.AllowPlainHTTP())
	require.ErrorContains(t, err, "HTTP_PROXY cannot be read")
	_, err = prospectkit.New("http://127.0.0.1:1/api/v1", tests.Token)
	require.NoError(t, err, "no proxy is used for it")
}

func refuseLookup(context.Context, string, string) (net.Conn, error) {
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

// A slash in the password makes the scheme the host of the proxy.
func TestProxy_LookupOfTheScheme(t *testing.T) {
	rt := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://http:") }}
	rt.DialContext = (&net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: refuseLookup}}).DialContext
	_, err := tests.Call(t.Context(), tests.ClientAt(t, "https://api.example.com", prospectkit.WithTransport(rt)), true)
	require.ErrorContains(t, err, "lookup http")
	require.ErrorContains(t, err, "percent-encode user name and password in the URL of the proxy")
}

// A proxy that opens TLS signs with a CA of its own: its name tells whose.
func TestProxy_UnknownCA(t *testing.T) {
	url, _ := served(t, http.NotFound, (*httptest.Server).StartTLS)
	rt := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	_, err := tests.Call(t.Context(), tests.ClientAt(t, url, prospectkit.WithTransport(rt)), true)
	require.ErrorContains(t, err, `issued by O=Acme Co; perhaps a proxy has opened the connection: trust its CA, such as by SSL_CERT_FILE`)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
}

// A page in place of the service's response is told with its content type.
func TestProxy_PageForAWrite(t *testing.T) {
	for _, header := range [][]string{{}, tests.Bare} {
		client := tests.NewClient(t, tests.Always(200, "<html><title>Sign in</title>", append([]string{"Content-Type", "text/html; charset=utf-8"}, header...)...))
		_, err := tests.Call(t.Context(), client, true)
		tests.RequireUnknown(t, err)
		require.ErrorContains(t, err, "text/html")
		require.NotContains(t, err.Error(), "Sign in")
	}
}
