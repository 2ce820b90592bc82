package gateways

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/sandbox"
)

// TestBodiesBehindGateways reads, page by page, and sends files, up to what nginx takes by default.
func TestBodiesBehindGateways(t *testing.T) {
	t.Parallel()
	behind(t, every(), func(t *testing.T, g gateway) {
		s := start(t, g)
		client := s.steady(t)
		require.NoError(t, second(client.Account.Me(t.Context()))) // which learns what the gateway does to headers
		const rows = 2345
		s.sb.Do(func(tx *sandbox.Tx) {
			var more []sandbox.Row
			for n := range rows - 1 {
				more = append(more, sandbox.Row{"firstName": fmt.Sprint("Ada ", n), "email": fmt.Sprintf("ada%d@engines.example", n), "title": strings.Repeat("Ödipus 統括 ", 30)})
			}
			tx.AddRows(listID, more...)
		})
		names := map[string]bool{}
		for row, err := range client.Lists.Rows(t.Context(), listID, prospectkit.RowsParams{}) {
			require.NoError(t, err)
			names[row.Text("firstName")] = true
		}
		require.Len(t, names, rows)

		for n := range 30 {
			s.sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: fmt.Sprint("List ", n)}) })
		}
		lists := 0
		for _, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 10}) {
			require.NoError(t, err)
			lists++
		}
		require.Equal(t, len(s.sb.Lists()), lists)

		for _, rows := range []int{1, 1000, 20_000} { // up to a megabyte, less a little
			require.NoError(t, second(client.Imports.Upload(t.Context(), file(rows))))
			require.Equal(t, int64(rows*50+16), s.sb.Imports()[len(s.sb.Imports())-1].Size)
		}
	})
}

// torn is a file on a disk that fails behind its first half.
type torn struct{ size int64 }

func (f torn) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.size/2 {
		return 0, errTorn
	}
	for i := range p {
		p[i] = "email,firstName\n"[(off+int64(i))%16]
	}
	return len(p), nil
}

var errTorn = errors.New("the disk failed")

// TestTornUploadsBehindGateways sends files whose second half cannot be read: no gateway makes a whole request of the first.
func TestTornUploadsBehindGateways(t *testing.T) {
	t.Parallel()
	behind(t, every(), func(t *testing.T, g gateway) {
		s := start(t, g)
		client := s.steady(t)
		require.NoError(t, second(client.Account.Me(t.Context()))) // which learns what the gateway does to headers
		for _, size := range []int64{16 << 10, 256 << 10, 900 << 10} {
			err := second(client.Imports.Upload(t.Context(), prospectkit.UploadFrom("people.csv", size, torn{size})))
			require.ErrorIs(t, err, errTorn)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%v", err)
		}
		require.NoError(t, second(client.Imports.Upload(t.Context(), file(1))))
		require.Equal(t, 1, s.served("imports.create"))
	})
}

// TestLongFiltersBehindGateways reads with filters of 2,000 Japanese characters, 18 KB of URL: rows, or an error that says what to do, also where
// a gateway ends the connection, as nginx and haproxy do over HTTP/2, or net/http loses the response of one that does.
func TestLongFiltersBehindGateways(t *testing.T) {
	t.Parallel()
	behind(t, every(), func(t *testing.T, g gateway) {
		long := filter.Contact{Title: filter.AnyOf(strings.Repeat("統", 2000))}
		if _, err := start(t, g).steady(t).Lists.RowsPage(t.Context(), listID, prospectkit.RowsParams{Filter: long}); err != nil {
			require.ErrorContains(t, err, "use fewer or shorter values")
		}
	})
}

// limited take bodies of at most 64 KiB, by a setting of their own. nghttpx, tinyproxy, and varnish without VCL have none; that of apache2
// is not for what it passes on.
var limited = []gateway{
	{name: "nginx", program: "nginx", config: nginx("client_max_body_size 64k;", "")},
	{name: "haproxy", program: "haproxy", hides: true, config: haproxy("backend origin",
		"http-request deny deny_status 413 if { req.hdr_val(content-length) gt 65536 }", "server a ORIGIN")},
	{name: "caddy", program: "caddy", hides: true, as502: true, config: caddyHead + "request_body {\nmax_size 65536\n}\nreverse_proxy ORIGIN\n}\n"},
	{name: "trafficserver", program: "traffic_server", hides: true, config: trafficserver("CONFIG proxy.config.http.max_post_size INT 65536")},
	{name: "squid", program: "squid", hides: true, config: squid("request_body_max_size 64 KB\n")},
	{name: "lighttpd", program: "lighttpd", config: lighttpd("server.max-request-size = 64\n")},
	{name: "h2o", program: "h2o", hides: true, config: h2o("limit-request-body: 65536\n")},
}

// TestBodyLimitsOfGateways sends files and contacts that a gateway does not take. Nothing is done, and a 413 is a refusal.
func TestBodyLimitsOfGateways(t *testing.T) {
	t.Parallel()
	behind(t, limited, func(t *testing.T, g gateway) {
		s := start(t, g)
		client := s.steady(t)
		require.NoError(t, second(client.Imports.Upload(t.Context(), file(1000))))
		for _, rows := range []int{1500, 4000, 20_000} {
			err := second(client.Imports.Upload(t.Context(), file(rows)))
			require.Error(t, err)
			require.True(t, g.hides || is413(err), "%v", err)
			require.True(t, g.as502 || prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied, "its end was not sent: %v", err)
		}
		contacts := slices.Repeat([]prospectkit.Fields{{"firstName": strings.Repeat("Ada", 50)}}, 500)
		err := second(client.Lists.AddContacts(t.Context(), listID, prospectkit.Fields{"contacts": contacts}))
		require.NotEqual(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err))
		require.True(t, g.hides || is413(err), "%v", err)
		require.Equal(t, is413(err), prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied, "%v", err)
		require.Equal(t, 1, s.served("imports.create"))
		require.Zero(t, s.served("lists.add-contacts"))
		require.NoError(t, second(client.Imports.Upload(t.Context(), file(1))))
	})
}

func is413(err error) bool {
	return err != nil && strings.Contains(err.Error(), ": 413 without the error envelope")
}
