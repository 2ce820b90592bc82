package exchange

import (
	"net"
	"net/http"
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
