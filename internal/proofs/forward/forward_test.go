// Package forward proves what a forward proxy makes of writes: Squid, which opens TLS with a private CA, or passes it on.
package forward

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/proofs/relay"
	"example.com/prospectkit/journal"
)

// through is a client whose transport is the user's own.
func (s *stage) through(t *testing.T, proxy, base string, user *url.Userinfo, roots *x509.CertPool, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	transport := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: proxy, User: user}),
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}
	client, err := prospectkit.New(base, s.sb.Token(), append(opts, prospectkit.WithTransport(transport))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func create(t *testing.T, client *prospectkit.Client, name string, opts ...prospectkit.CallOption) error {
	t.Helper()
	_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: name}, opts...)
	return err
}

// The CA of a proxy that opens TLS is the only one that the client needs.
func TestOpened(t *testing.T) {
	s := start(t, opens, open)
	client := s.through(t, s.proxy, s.secure, nil, s.proxyCA.pool())
	for i := range 20 {
		require.NoError(t, create(t, client, fmt.Sprint("List ", i)))
	}
	read := 0
	for _, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{}) {
		require.NoError(t, err)
		read++
	}
	require.Equal(t, 20, read)
	require.EqualValues(t, 20, s.arrived.Load())

	err := create(t, s.through(t, s.proxy, s.secure, nil, s.originCA.pool()), "Berlin")
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), err)
	require.ErrorContains(t, err, "Company proxy", "the issuer")
	require.EqualValues(t, 20, s.arrived.Load())
}

// A proxy that passes TLS on shows the certificate of the service.
func TestPassed(t *testing.T) {
	s := start(t, passes, open)
	require.NoError(t, create(t, s.through(t, s.proxy, s.secure, nil, s.originCA.pool()), "Berlin"))
	err := create(t, s.through(t, s.proxy, s.secure, nil, s.proxyCA.pool()), "Paris")
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), err)
	require.EqualValues(t, 1, s.arrived.Load())
}

// Without the right password, nothing is sent, and nothing keeps the write from being made with it.
func TestPassword(t *testing.T) {
	s := start(t, opens, asks)
	for name, base := range map[string]string{"https": s.secure, "http": s.plain} {
		t.Run(name, func(t *testing.T) {
			books, before := journal.NewMemory("acme"), s.arrived.Load()
			for _, user := range []*url.Userinfo{nil, url.UserPassword("ada", "wrong")} {
				err := create(t, s.through(t, s.proxy, base, user, s.proxyCA.pool(), prospectkit.WithJournal(books)), "List of "+name, prospectkit.Once("monday"))
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), err)
				require.ErrorContains(t, err, "proxy")
			}
			require.Equal(t, before, s.arrived.Load())
			right := s.through(t, s.proxy, base, url.UserPassword("ada", "right"), s.proxyCA.pool(), prospectkit.WithJournal(books))
			require.NoError(t, create(t, right, "List of "+name, prospectkit.Once("monday")))
			require.Equal(t, before+1, s.arrived.Load())
		})
	}
}

// The proxy closes what was idle for 5 s, while clients pause for 3 to 8 s, 40 ms away.
func TestIdle(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]string{"opened": opens + "client_idle_pconn_timeout 5 seconds\n", "passed": passes + "read_timeout 5 seconds\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, lines, open)
			const clients, writes = 40, 6
			r := relay.Start(t, s.proxy, 40*time.Millisecond)
			roots := s.proxyCA.pool()
			roots.AddCert(s.originCA.cert)
			failures := make([]error, clients*writes)
			var all sync.WaitGroup
			for c := range clients {
				client := s.through(t, r.Address, s.secure, nil, roots)
				all.Go(func() {
					for w := range writes {
						failures[c*writes+w] = create(t, client, fmt.Sprintf("List %d of %d", w, c))
						time.Sleep(3*time.Second + rand.N(5*time.Second))
					}
				})
			}
			all.Wait()
			for _, err := range failures {
				require.NoError(t, err)
			}
			require.EqualValues(t, clients*writes, s.arrived.Load())
			require.Greater(t, int(r.Accepted.Load()), clients, "some were closed")
			require.Less(t, int(r.Accepted.Load()), clients*writes, "some were used again")
		})
	}
}
