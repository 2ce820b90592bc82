package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary play the parts of server and clients.
func TestMain(m *testing.M) {
	if done, err := playRole(); done {
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// perPage keeps the pages of tests small.
const perPage = 60

// Everybody has to do the same, or there is nothing to compare.
func TestAllReadTheSame(t *testing.T) {
	server := httptest.NewServer(newService(perPage))
	t.Cleanup(server.Close)
	for _, w := range works() {
		t.Run(w.id, func(t *testing.T) {
			var want result
			same := func(r result) result { return result{N: r.N, Sum: r.Sum, All: r.All, Needs: r.Needs} }
			for _, c := range contenders() {
				if !w.has(&c) || !c.runs(runtime.Version()) {
					continue
				}
				const n = 2
				r, err := job{Server: server.URL, Work: w.id, Contender: c.name, N: n, PerPage: perPage}.measure(t.Context())
				require.NoError(t, err, c.name)
				require.NotZero(t, r.Allocs, c.name)
				if c.floor {
					continue
				}
				require.NotZero(t, r.N, c.name)
				if want == (result{}) {
					want = same(r)
				}
				require.Equal(t, want, same(r), c.name)
			}
		})
	}
}

func TestCodesThatAreHandedOver(t *testing.T) {
	server := httptest.NewServer(newService(perPage))
	t.Cleanup(server.Close)
	lost := map[string]bool{"go-github": true, "GitLab": true, "godo": true}
	w := find("W5")
	for _, c := range contenders() {
		if !w.has(&c) || c.floor {
			continue
		}
		r, err := job{Server: server.URL, Work: w.id, Contender: c.name, N: 1}.measure(t.Context())
		require.NoError(t, err, c.name)
		if lost[c.name] {
			require.Empty(t, r.Code, c.name)
			continue
		}
		require.Equal(t, "LIST_NOT_FOUND", r.Code, c.name)
	}
}

// A row is about as large as the report says, and no two have the same id.
func TestPages(t *testing.T) {
	s := newService(rowsPerPage)
	require.InDelta(t, 750, len(s.contacts().text)/rowsPerPage, 40)
	require.Len(t, s.contacts().ids, rowsPerPage)
	require.InDelta(t, 1400, len(s.rich().text)/rowsPerPage, 60)
	require.Len(t, s.rich().ids, rowsPerPage)
	seen := make(map[string]bool)
	for number := range 3 {
		recorder := httptest.NewRecorder()
		s.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, basePath(3, 0, false)+(&pageQuery{rowsPerPage, number + 1}).appendTo(rowsPath), nil))
		for _, id := range regexp.MustCompile(`"id":"[0-9a-f]{24}"`).FindAllString(recorder.Body.String(), -1) {
			require.False(t, seen[id], id)
			seen[id] = true
		}
	}
	require.Len(t, seen, 3*rowsPerPage)
}

// The whole command, small: processes, rounds, report.
func TestReport(t *testing.T) {
	all := regexp.MustCompile("")
	o := options{rounds: 2, scale: 0.0001, works: regexp.MustCompile("^W[157]$"), contenders: all, log: io.Discard}
	table, err := o.compare(t.Context())
	require.NoError(t, err)
	report := table.report()
	require.Contains(t, report, "| **prospectkit** |")
	require.Contains(t, report, "### W5: 404 to a typed error")
	require.Contains(t, report, "(code lost)")
	require.Contains(t, report, "| W1 against by hand | at least 1 |")
	require.NotContains(t, report, "NaN")
	require.NotContains(t, report, "### W6")
}

func TestOthers(t *testing.T) {
	before := machineTime{total: 100, busy: 50, own: 10}
	require.InDelta(t, 0.25, machineTime{total: 200, busy: 100, own: 35}.othersSince(before), 1e-9)
	require.Zero(t, before.othersSince(before))
	require.Zero(t, machineTime{total: 200, busy: 60, own: 35}.othersSince(before), "clocks differ a little")
}
