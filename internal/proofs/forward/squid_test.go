package forward

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/proofs/need"
	"example.com/prospectkit/sandbox"
)

const config = `http_port 127.0.0.1:PORT ssl-bump tls-cert=CERT tls-key=KEY generate-host-certificates=on dynamic_cert_mem_cache_size=4MB
sslcrtd_program CERTGEN -s DIR/certificates -M 4MB
sslcrtd_children 2
tls_outgoing_options cafile=ORIGIN
acl first at_step SslBump1
cache deny all
cache_log DIR/cache.log
access_log none
pid_filename DIR/pid
coredump_dir DIR
visible_hostname proxy.example
pinger_enable off
shutdown_lifetime 0 seconds
`

const (
	opens  = "ssl_bump peek first\nssl_bump bump all\n"
	passes = "ssl_bump splice all\n"
	open   = "http_access allow all\n"
	// A password is asked for.
	asks = `auth_param basic program /bin/sh DIR/passwords
auth_param basic children 2
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
`
	passwords = `while read -r who; do if [ "$who" = "ada right" ]; then echo OK; else echo ERR; fi; done`
)

// stage is the service, over TLS and without, behind a proxy.
type stage struct {
	sb            *sandbox.Sandbox
	proxyCA       *authority
	originCA      *authority
	secure, plain string // base URLs
	proxy         string
	arrived       atomic.Int64 // requests that change something
}

// start starts Squid with lines of its configuration.
func start(t *testing.T, lines ...string) *stage {
	t.Helper()
	s := &stage{sb: sandbox.New(nil, sandbox.AllowRemote(), sandbox.NoLimits()), proxyCA: newAuthority(t, "Company proxy"), originCA: newAuthority(t, "Origin")}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			s.arrived.Add(1)
		}
		s.sb.Handler().ServeHTTP(w, r)
	})
	secure, plain := httptest.NewUnstartedServer(handler), httptest.NewServer(handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that refuse its certificate are a part of the proof
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{s.originCA.server(t)}, MinVersion: tls.VersionTLS12}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	local := func(server *httptest.Server) string {
		return strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/api/v1"
	}
	s.secure, s.plain = local(secure), local(plain)
	s.launch(t, strings.Join(lines, ""))
	return s
}

// launch starts the program, and ends it with the test.
func (s *stage) launch(t *testing.T, lines string) {
	t.Helper()
	squid := need.Program(t, "squid", "squid-openssl")
	certgen := need.Program(t, "security_file_certgen", "squid-openssl") // which Squid with another TLS library lacks
	dir, port := need.Dir(t), need.Port(t)
	s.proxy = "127.0.0.1:" + port
	cert, key := s.proxyCA.save(t, dir, "proxy")
	origin, _ := s.originCA.save(t, dir, "origin")
	file := filepath.Join(dir, "squid.conf")
	text := strings.NewReplacer("PORT", port, "CERTGEN", certgen, "CERT", cert, "KEY", key, "ORIGIN", origin, "DIR", dir).Replace(config + lines)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "passwords"), []byte(passwords), 0o644))
	out, err := exec.CommandContext(t.Context(), certgen, "-c", "-s", filepath.Join(dir, "certificates"), "-M", "4MB").CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o777)
	}))
	need.Start(t, exec.Command(squid, "-N", "-f", file), s.proxy)
}
