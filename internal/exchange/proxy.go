package exchange

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/redact"
)

// checkConnected keeps the status with which a proxy refuses to connect: net/http only shows its reason phrase.
func checkConnected(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return proxyError(resp.StatusCode)
}

// proxyError is the status of a proxy that did not connect.
type proxyError int

func (e proxyError) Error() string {
	return strings.TrimSpace("the proxy responded " + strconv.Itoa(int(e)) + " " + http.StatusText(int(e)))
}

// permanent reports whether the proxy will respond the same again.
func (e proxyError) permanent() bool {
	return e < http.StatusInternalServerError && e != http.StatusRequestTimeout && e != http.StatusTooManyRequests
}

// refusedBy returns the status with which a proxy has refused to connect, for a transport of net/http that shows only its reason phrase,
// as an error without a type; or 0. Of any other transport, only a 407 is sure to be that.
func refusedBy(base http.RoundTripper, err error) proxyError {
	std, ok := base.(*http.Transport)
	if ok && std.Proxy == nil || fmt.Sprintf("%T", err) != "*errors.errorString" {
		return 0
	}
	for status := http.StatusCreated; status < 600; status++ {
		if phrase := http.StatusText(status); phrase != "" && strings.EqualFold(phrase, err.Error()) && (ok || status == http.StatusProxyAuthRequired) {
			return proxyError(status)
		}
	}
	return 0
}

// ProxyOf is the host of the proxy that a transport of net/http uses for a request, without credentials, or empty.
func ProxyOf(base http.RoundTripper, req *http.Request) string {
	std, ok := base.(*http.Transport)
	if !ok || std.Proxy == nil || req == nil {
		return ""
	}
	proxy, err := std.Proxy(req)
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.Host
}

// connectError says that there was no connection. Of a proxy's refusal, net/http shows only the
// reason phrase, which would read as if the service had said it.
type connectError struct{ error }

func (e *connectError) Error() string {
	text := "no connection to the service: " + e.error.Error()
	if dns, ok := errors.AsType[*net.DNSError](e.error); ok && slices.Contains(proxySchemes, dns.Name) {
		text += ": percent-encode user name and password in the URL of the proxy"
	}
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](e.error); ok && unknown.Cert != nil {
		const most = 200
		issuer := redact.Shorten(redact.OneLine(unknown.Cert.Issuer.String()), most)
		text += ", issued by " + issuer + "; perhaps a proxy has opened the connection: trust its CA, such as by SSL_CERT_FILE"
	}
	return text
}

func (e *connectError) Unwrap() error { return e.error }

var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

// UnreadableProxy is the variable with the proxy of a URL, if net/http cannot read it, and would connect without one.
func UnreadableProxy(base *url.URL) string {
	name := strings.ToUpper(base.Scheme) + "_PROXY"
	for _, name := range []string{name, strings.ToLower(name)} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		if proxy, err := url.Parse(value); err == nil && slices.Contains(proxySchemes, proxy.Scheme) {
			return ""
		}
		if _, err := url.Parse("http://" + value); err == nil {
			return ""
		}
		return name
	}
	return ""
}
