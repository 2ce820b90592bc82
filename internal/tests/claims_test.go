package tests

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// ledger is what a server has really done: how often each list was created.
type ledger struct {
	mu      sync.Mutex
	created map[string]int
}

func (l *ledger) create(r *http.Request) (list string, err error) {
	var in struct{ Name string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.created[in.Name]++
	return fmt.Sprintf(`{"list":{"id":"%s","name":%q}}`, ListID, in.Name), nil
}

// count may be asked once the server has stopped.
func (l *ledger) count(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.created[name]
}

// chaos serves one connection: it processes some requests, and sooner or later cuts the connection at a random point, before,
// within or after a request or its response.
func (l *ledger) chaos(c net.Conn) {
	defer c.Close()
	if tcp, ok := c.(*net.TCPConn); ok && rand.N(2) == 0 {
		_ = tcp.SetLinger(0) // a reset instead of an orderly end
	}
	limit := int64(rand.N(64 << 10))
	switch rand.N(4) {
	case 0:
		limit = int64(rand.N(600)) // within the first request
	case 1:
		return
	}
	in := bufio.NewReader(io.LimitReader(c, limit))
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		list, err := l.create(r)
		if err != nil {
			return
		}
		reply := "HTTP/1.1 201 Created\r\nRateLimit-Remaining: 999999\r\nContent-Length: 98\r\n\r\n" + fmt.Sprintf("%-98s", list)
		switch rand.N(6) {
		case 0:
			_, _ = io.WriteString(c, reply[:rand.N(len(reply))])
			return
		case 1:
			reply = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
		}
		if _, err := io.WriteString(c, reply); err != nil {
			return
		}
	}
}

// The claims of thousands of writes against servers that cut connections anywhere, held against what the servers did.
func TestDelivery_ClaimsAreTrue(t *testing.T) {
	servers := map[string]func(t *testing.T, l *ledger) (url string, rt http.RoundTripper, stop func()){
		"HTTP/1": func(t *testing.T, l *ledger) (string, http.RoundTripper, func()) {
			t.Helper()
			address, stop := acceptAll(t, l.chaos)
			return "http://" + address, new(http.Transport), stop
		},
		"TLS": func(t *testing.T, l *ledger) (string, http.RoundTripper, func()) {
			t.Helper()
			s := httptest.NewUnstartedServer(nil) // for its certificate
			s.TLS = quickTLS(t)
			s.StartTLS()
			t.Cleanup(s.Close)
			address, stop := acceptAll(t, func(c net.Conn) { l.chaos(tls.Server(c, s.TLS)) })
			return "https://" + address, s.Client().Transport, stop
		},
		"HTTP/2": func(t *testing.T, l *ledger) (string, http.RoundTripper, func()) {
			t.Helper()
			s := httptest.NewUnstartedServer(http.HandlerFunc(l.chaosHTTP2))
			s.TLS = quickTLS(t)
			s.Config.ErrorLog, s.EnableHTTP2 = log.New(io.Discard, "", 0), true
			s.StartTLS()
			return s.URL, s.Client().Transport, s.Close
		},
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			l := &ledger{created: map[string]int{}}
			url, rt, stop := start(t, l)
			outcomes := writeThousands(t, ClientAt(t, url, prospectkit.WithTransport(rt)))
			stop()
			totals := map[prospectkit.Outcome]int{}
			for list, outcome := range outcomes {
				totals[outcome]++
				times := l.count(list)
				require.LessOrEqual(t, times, 1, "%s was created twice", list)
				require.False(t, outcome == prospectkit.OutcomeNotApplied && times > 0, "%s: said to be not applied", list)
				require.False(t, outcome == prospectkit.OutcomeApplied && times == 0, "%s: said to be applied", list)
			}
			require.Greater(t, totals[prospectkit.OutcomeApplied], 50)
			require.Greater(t, totals[prospectkit.OutcomeUnknown], 50)
			require.Positive(t, totals[prospectkit.OutcomeNotApplied], "%v", totals)
		})
	}
}

// quickTLS has a key whose handshakes take a tenth of the time of httptest's, which is of RSA.
func quickTLS(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"example.com"}, IsCA: true, BasicConstraintsValid: true,
	}
	text, err := x509.CreateCertificate(crand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{text}, PrivateKey: key}}}
}

func (l *ledger) chaosHTTP2(w http.ResponseWriter, r *http.Request) {
	chance := rand.N(8)
	if chance == 0 {
		panic(http.ErrAbortHandler)
	}
	list, err := l.create(r)
	if err != nil {
		return
	}
	switch chance {
	case 1, 2:
		panic(http.ErrAbortHandler)
	case 3:
		w.Header().Set("Connection", "close") // GOAWAY
	}
	Write(w, 201, list)
}

// acceptAll serves connections until it is stopped, and then waits for all of them.
func acceptAll(t *testing.T, serve func(net.Conn)) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var all sync.WaitGroup
	var open sync.Map
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(c, nil)
			all.Go(func() {
				serve(c)
				open.Delete(c)
			})
		}
	})
	return l.Addr().String(), func() {
		_ = l.Close()
		open.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		all.Wait()
	}
}

// writeThousands creates lists of many sizes, some with hardly any time, and returns what was said about each.
func writeThousands(t *testing.T, client *prospectkit.Client) map[string]prospectkit.Outcome {
	t.Helper()
	const workers = 8
	each := 250
	if testing.Short() {
		each = 100
	}
	said := make(map[string]prospectkit.Outcome)
	var mu sync.Mutex
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range each {
				name := fmt.Sprintf("%d-%d-%s", w, i, strings.Repeat("x", rand.N(200)))
				ctx, cancel := t.Context(), func() {}
				if rand.N(4) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.N(int64(2*time.Millisecond))))
				}
				_, err := client.Lists.Create(ctx, prospectkit.NewList{Name: name}, padding())
				cancel()
				mu.Lock()
				said[name] = prospectkit.OutcomeOf(err)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return said
}

// padding makes the headers of some requests longer than the buffers on the way.
func padding() prospectkit.CallOption {
	n := 1
	if rand.N(8) == 0 {
		n = rand.N(16 << 10)
	}
	return prospectkit.WithHeader("X-Padding", strings.Repeat("x", n+1))
}
