package gateways

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// overTLS speak HTTP/2 to the client. CERT, KEY and PAIR are files in DIR.
var overTLS = []gateway{
	{name: "nginx, HTTP/2 with 20 requests a connection", program: "nginx", tls: true, config: strings.Replace(
		nginx("keepalive_requests 20;", "ssl_certificate DIR/CERT; ssl_certificate_key DIR/KEY;"), "PORT;", "PORT ssl http2;", 1)},
	{name: "haproxy, HTTP/2", program: "haproxy", tls: true, config: strings.Replace(
		haproxy("backend origin", "server a ORIGIN"), "127.0.0.1:PORT", "127.0.0.1:PORT ssl crt DIR/PAIR alpn h2,http/1.1", 1)},
	{name: "caddy, HTTP/2", program: "caddy", tls: true, config: strings.Replace(
		caddyHead, "http://127.0.0.1:PORT {", "https://127.0.0.1:PORT {\ntls DIR/CERT DIR/KEY", 1) + "reverse_proxy ORIGIN\n}\n"},
	{name: "h2o, HTTP/2", program: "h2o", tls: true, config: strings.Replace(
		h2o(""), "  port: PORT\n", "  port: PORT\n  ssl:\n    certificate-file: DIR/CERT\n    key-file: DIR/KEY\n", 1)},
	{name: "nghttpx, HTTP/2", program: "nghttpx", tls: true, config: strings.Replace(nghttpx, ";no-tls", "", 1) + "private-key-file=DIR/KEY\ncertificate-file=DIR/CERT\n"},
}

// certify writes a certificate and its key for a gateway, and trusts it.
func (s *stage) certify(t *testing.T, dir string) {
	t.Helper()
	model := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	model.Close()
	pair := model.TLS.Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}))
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	for name, text := range map[string]string{"CERT": cert, "KEY": key, "PAIR": cert + key} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	s.roots = x509.NewCertPool()
	s.roots.AddCert(model.Certificate())
}

func (s *stage) transport() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
}

// TestConnectionsEndOverHTTP2 writes 800 times, eight at a time, while connections end under the writes: each is applied once.
func TestConnectionsEndOverHTTP2(t *testing.T) {
	t.Parallel()
	behind(t, overTLS, func(t *testing.T, g gateway) {
		s := start(t, g)
		resp, err := s.transport().RoundTrip(httptest.NewRequest(http.MethodGet, s.url, http.NoBody))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 2, resp.ProtoMajor)
		client := s.client(t)
		var all sync.WaitGroup
		errs := make([][100]error, 8)
		for n := range errs {
			all.Go(func() {
				for i := range errs[n] {
					errs[n][i] = second(client.Lists.Create(t.Context(), prospectkit.NewList{Name: fmt.Sprint(n, " of ", i)}))
				}
			})
		}
		all.Wait()
		for n := range errs {
			for i := range errs[n] {
				require.NoError(t, errs[n][i])
			}
		}
		require.Equal(t, 800, s.served("lists.create"))
	})
}
