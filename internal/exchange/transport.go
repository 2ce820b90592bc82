package exchange

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// MaxIdle is how many idle connections NewTransport keeps.
const MaxIdle = 64

// NewTransport returns a transport for one host at a few requests a second. It uses HTTP/1.1 only: HTTP/2 gains
// nothing there, and weakens the proof that a request was not sent.
func NewTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		OnProxyConnectResponse: checkConnected,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		Protocols:              protocols,
		MaxIdleConns:           MaxIdle,
		MaxIdleConnsPerHost:    MaxIdle,
		IdleConnTimeout:        IdleTimeout,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

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
