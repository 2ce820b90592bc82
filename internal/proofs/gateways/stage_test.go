package gateways

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/proofs/need"
	"example.com/prospectkit/sandbox"
)

// gateway is a program in front of the service, and what its configuration does to truth.
type gateway struct {
	name    string
	program string
	path    string // of the program, where it is found
	config  string // ORIGIN, SPARE and PORT stand for addresses, BACK for the port of ORIGIN, DIR for a directory
	tls     bool   // with HTTP/2, see certify
	closes  bool   // it closes a connection after a response without saying so: a write on it is unknown, and does not arrive
	repeats bool   // it may send a POST twice
	lies    bool   // its error pages are JSON with status 200: the read of something whose shape nobody knows believes them
	hides   bool   // it may close the connection while a body is being sent that it does not take: net/http then drops the 413
	as502   bool   // it passes on such a body up to the limit, and responds 502
}

// program is how one is started. FILE stands for the file of the configuration.
type program struct {
	debian string // the package that has it
	args   []string
}

var programs = map[string]program{
	"nginx":          {debian: "nginx-light", args: []string{"-p", "DIR", "-c", "FILE", "-e", "DIR/error.log"}},
	"haproxy":        {debian: "haproxy", args: []string{"-db", "-f", "FILE"}},
	"apache2":        {debian: "apache2", args: []string{"-D", "FOREGROUND", "-d", "DIR", "-f", "FILE"}},
	"caddy":          {debian: "caddy", args: []string{"run", "--adapter", "caddyfile", "--config", "FILE"}},
	"varnishd":       {debian: "varnish", args: []string{"-F", "-n", "DIR", "-a", "127.0.0.1:PORT", "-b", "ORIGIN"}},
	"traffic_server": {debian: "trafficserver", args: []string{"--run-root=DIR"}},
	"squid":          {debian: "squid-openssl", args: []string{"-N", "-f", "FILE"}},
	"lighttpd":       {debian: "lighttpd", args: []string{"-D", "-f", "FILE"}},
	"nghttpx":        {debian: "nghttp2-proxy", args: []string{"--conf=FILE"}},
	"h2o":            {debian: "h2o", args: []string{"-c", "FILE"}},
	"tinyproxy":      {debian: "tinyproxy", args: []string{"-d", "-c", "FILE"}},
}

// behind runs a test behind each gateway of a table, in parallel.
func behind(t *testing.T, table []gateway, test func(t *testing.T, g gateway)) {
	t.Helper()
	for _, g := range table {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			g.path = need.Program(t, g.program, programs[g.program].debian)
			test(t, g)
		})
	}
}

// every is what a test runs behind.
func every() []gateway { return slices.Concat(configured, defaults, overTLS) }

// stage is the service behind a gateway, and what was claimed about it.
type stage struct {
	gateway
	sb     *sandbox.Sandbox
	origin *http.Server
	url    string
	roots  *x509.CertPool
	calls  int

	mu   sync.Mutex
	pace time.Duration // how long the service takes
	lost func()        // is called after the work of the next write, whose response is then lost
}

func start(t *testing.T, g gateway, opts ...sandbox.Option) *stage {
	t.Helper()
	opts = append(opts, sandbox.AllowRemote(), sandbox.NoLimits(), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", Credits: 1_000_000, Accounts: []string{"email"}, CRM: sandbox.CRM{Connected: []string{"crm-1"}},
		Folders:   []sandbox.Folder{{ID: folders[0], Name: "A", Type: sandbox.ContactList}, {ID: folders[1], Name: "B", Type: sandbox.ContactList}},
		Lists:     []sandbox.List{{ID: listID, Name: "People", Rows: sandbox.Rows(sandbox.Row{"id": contactID, "firstName": "Ada", "email": "ada@engines.example"})}},
		Facts:     []sandbox.Fact{{ID: factID, Claim: "Customers stay.", Category: "pricing"}},
		Prospects: sandbox.Rows(sandbox.Row{"firstName": "Ada"}, sandbox.Row{"firstName": "Bob"}),
		Companies: sandbox.Rows(sandbox.Row{"name": "Engines"}),
	}}}))
	s := &stage{gateway: g, sb: sandbox.New(nil, opts...)}
	s.origin = &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	t.Cleanup(func() { _ = s.origin.Close() })
	var addresses []string
	for range 2 {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addresses = append(addresses, l.Addr().String())
		go func() { _ = s.origin.Serve(l) }()
	}
	s.launch(t, addresses[0], addresses[1])
	return s
}

// ServeHTTP is the service: its work takes as long as pace says, and one response may be lost, with the connection.
func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	pace, lost := s.pace, s.lost
	if lost != nil && r.Method != http.MethodGet {
		s.lost = nil
	}
	s.mu.Unlock()
	if lost == nil || r.Method == http.MethodGet {
		time.Sleep(pace)
		s.sb.Handler().ServeHTTP(w, r)
		return
	}
	s.sb.Handler().ServeHTTP(httptest.NewRecorder(), r)
	lost()
	time.Sleep(pace)
	panic(http.ErrAbortHandler)
}

func (s *stage) set(pace time.Duration, lost func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace, s.lost = pace, lost
}

// launch starts the program, and ends it with the test.
func (s *stage) launch(t *testing.T, origin, spare string) {
	t.Helper()
	dir, port := need.Dir(t), need.Port(t)
	address := "127.0.0.1:" + port
	_, back, err := net.SplitHostPort(origin)
	require.NoError(t, err)
	if s.tls {
		s.certify(t, dir)
	}
	conf := filepath.Join(dir, "conf")
	fill := strings.NewReplacer("ORIGIN", origin, "SPARE", spare, "PORT", port, "BACK", back, "DIR", dir, "FILE", conf)
	for i, part := range strings.Split(fill.Replace(s.config), "\n-- ") { // the first is the configuration, others are files by name
		name, text := "conf", part
		if i > 0 {
			name, text, _ = strings.Cut(part, " --\n")
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644))
	}
	var args []string
	for _, arg := range programs[s.program].args {
		args = append(args, fill.Replace(arg))
	}
	cmd := exec.Command(s.path, args...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	s.url = map[bool]string{false: "http://", true: "https://"}[s.tls] + address + "/api/v1"
	need.Start(t, cmd, address)
}
