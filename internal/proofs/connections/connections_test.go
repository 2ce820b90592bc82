// Package connections proves that no write travels on a connection that a server is just closing: before the servers that close idle
// connections soonest, Node's default one and nginx with 5 s, behind a network that takes 40 ms each way. It takes a minute of real time.
package connections

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/proofs/need"
	"example.com/prospectkit/internal/proofs/relay"
	"example.com/prospectkit/sandbox"
)

var (
	clients = flag.Int("clients", 200, "how many clients write at once")
	writes  = flag.Int("writes", 10, "how many writes each makes")
)

// node is a server with Node's defaults, which passes requests on.
const node = `const http = require('http'), [, , port, origin] = process.argv, agent = new http.Agent({ keepAlive: false })
http.createServer((req, res) => {
	const up = http.request('http://' + origin + req.url, { method: req.method, headers: req.headers, agent }, (from) => {
		delete from.headers.connection
		res.writeHead(from.statusCode, from.headers)
		from.pipe(res)
	})
	up.on('error', () => res.destroy())
	req.pipe(up)
}).listen(port, '127.0.0.1')
`

const nginx = `daemon off; master_process off; pid DIR/pid; error_log DIR/error.log; worker_rlimit_nofile 4096;
events { worker_connections 4000; }
http {
	access_log off;
	client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/f; uwsgi_temp_path DIR/u; scgi_temp_path DIR/s;
	server {
		listen 127.0.0.1:PORT;
		keepalive_timeout 5s;
		location / { proxy_pass http://ORIGIN; }
	}
}
`

// service is the sandbox, which counts what arrives.
type service struct {
	sb     *sandbox.Sandbox
	origin string

	mu    sync.Mutex
	names map[string]int
}

func startService(t *testing.T) *service {
	t.Helper()
	s := &service{sb: sandbox.New(nil, sandbox.AllowRemote(), sandbox.NoLimits()), names: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var list struct{ Name string }
		_ = json.Unmarshal(body, &list)
		s.mu.Lock()
		s.names[list.Name]++
		s.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		s.sb.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.origin = server.Listener.Addr().String()
	return s
}

// start starts a server before an origin, and returns its address.
func start(t *testing.T, program, origin string) string {
	t.Helper()
	dir, port := need.Dir(t), need.Port(t)
	file := filepath.Join(dir, "config.cjs")
	text, args, debian := node, []string{file, port, origin}, "nodejs"
	if program == "nginx" {
		text, args, debian = strings.NewReplacer("DIR", dir, "PORT", port, "ORIGIN", origin).Replace(nginx), []string{"-p", dir, "-c", file, "-e", filepath.Join(dir, "error.log")}, "nginx-light"
	}
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	address := "127.0.0.1:" + port
	need.Start(t, exec.Command(need.Program(t, program, debian), args...), address)
	return address
}

// Each client pauses for 3 to 8 s between writes. None is unknown, and none arrives twice.
func TestPauses(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"node", "nginx"} {
		for name, transport := range map[string]func() []prospectkit.ClientOption{
			"default transport": func() []prospectkit.ClientOption { return nil },
			"plain transport": func() []prospectkit.ClientOption {
				return []prospectkit.ClientOption{prospectkit.WithTransport(&http.Transport{})}
			},
		} {
			t.Run(program+", "+name, func(t *testing.T) {
				t.Parallel()
				s := startService(t)
				r := relay.Start(t, start(t, program, s.origin), 40*time.Millisecond)
				unknown, failed := s.write(t, "http://"+r.Address+"/api/v1", transport)
				t.Logf("%d connections for %d writes: %d unknown, %d failed", r.Accepted.Load(), *clients**writes, len(unknown), len(failed))
				require.Empty(t, unknown)
				require.Empty(t, failed)
				for name, n := range s.names {
					require.Equal(t, 1, n, name)
				}
				require.Len(t, s.names, *clients**writes)
				require.Less(t, int(r.Accepted.Load()), *clients**writes, "connections are used again")
				require.Greater(t, int(r.Accepted.Load()), *clients, "connections are not used for ever")
			})
		}
	}
}

// write makes all writes, and returns what went wrong.
func (s *service) write(t *testing.T, url string, options func() []prospectkit.ClientOption) (unknown, failed []error) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for c := range *clients {
		client, err := prospectkit.New(url, s.sb.Token(), options()...)
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		all.Go(func() {
			for w := range *writes {
				pause(t.Context())
				_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: fmt.Sprintf("List %d of %d", w, c)})
				mu.Lock()
				switch {
				case err == nil:
				case prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown:
					unknown = append(unknown, err)
				default:
					failed = append(failed, err)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return unknown, failed
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(3*time.Second + rand.N(5*time.Second)):
	}
}
