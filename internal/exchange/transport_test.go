package exchange

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Of a proxy that does not connect, the status decides, whatever words it has for it. No text of the proxy is shown.
func TestNewTransport_ProxyRefusals(t *testing.T) {
	for status, want := range map[string]struct {
		permanent bool
		text      string
	}{
		"403 Not today, Robin":              {true, "403 Forbidden"},
		"407 Who are you?":                  {true, "407 Proxy Authentication Required"},
		"400":                               {true, "400 Bad Request"},
		"302 Forbidden":                     {true, "302 Found"},
		"404 Internal Server Error":         {true, "404 Not Found"},
		"408 Faster":                        {false, "408 Request Timeout"},
		"429 Slowly":                        {false, "429 Too Many Requests"},
		"500 Forbidden":                     {false, "500 Internal Server Error"},
		"503 Later":                         {false, "503 Service Unavailable"},
		"599 Nobody knows":                  {false, "599"},
		"201 Created, but for what reason?": {true, "201 Created"},
	} {
		t.Run(status, func(t *testing.T) {
			err := connectThrough(t, status)
			require.EqualError(t, err, strings.TrimSpace("no connection to the service: the proxy responded "+want.text))
			require.Equal(t, want.permanent, IsPermanent(err))
		})
	}
}

// connectThrough asks a proxy, which responds with a status, for a connection.
func connectThrough(t *testing.T, status string) error {
	t.Helper()
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer proxy.Close()
	go func() {
		conn, err := proxy.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil && req.Method == http.MethodConnect {
			_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\nContent-Length: 0\r\n\r\n")
		}
	}()
	transport := NewTransport()
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: proxy.Addr().String()})
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://service.example/api/v1", http.NoBody)
	require.NoError(t, err)
	trace := Trace{Plain: true, Fresh: time.Minute}
	x := Exchange{Base: transport, Request: req, MaxBody: 1, Timer: time.NewTimer(time.Hour), Silence: time.Hour, Began: time.Now()}
	x.Request = req.WithContext(httptrace.WithClientTrace(req.Context(), trace.Hooks(false, func(error) {})))
	r := x.Do()
	require.Error(t, r.Err)
	failed := trace.Failed(r.Err, transport, req)
	require.True(t, trace.Unconnected)
	return failed
}
