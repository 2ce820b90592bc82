// Package benchmarks compares prospectkit with net/http by hand and with other clients, on the same bytes. See README.md.
package benchmarks

import (
	"bufio"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serverRole marks the process that TestMain starts from this binary.
const serverRole = "BENCHMARKS_SERVER"

var serverURL string

func TestMain(m *testing.M) {
	if os.Getenv(serverRole) != "" {
		serve()
		return
	}
	os.Exit(withServer(m.Run))
}

func withServer(run func() int) int {
	binary, err := os.Executable()
	if err != nil {
		panic(err)
	}
	server := exec.Command(binary) // it ends with its standard input
	server.Env, server.Stderr = append(os.Environ(), serverRole+"=1"), os.Stderr
	in, inErr := server.StdinPipe()
	out, outErr := server.StdoutPipe()
	if inErr != nil || outErr != nil || server.Start() != nil {
		panic("the server does not start")
	}
	defer func() { _, _ = in.Close(), server.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	serverURL = strings.TrimSpace(line)
	return run()
}

// BenchmarkCall is a small GET.
func BenchmarkCall(b *testing.B) { compare(b, &small, http.DefaultClient) }

// BenchmarkError is a 404, to a typed error.
func BenchmarkError(b *testing.B) { compare(b, &wrong, http.DefaultClient) }

// BenchmarkSync reads pages of 1,000 rows into a struct of 20 fields. With -benchtime 1000x, they are a million.
func BenchmarkSync(b *testing.B) { compare(b, &bulk, http.DefaultClient) }

// BenchmarkRows reads larger rows into ten types. The service responds in the same process, so that decoding counts and not the kernel.
func BenchmarkRows(b *testing.B) {
	for _, w := range rowTypes() {
		b.Run("type="+w.name, func(b *testing.B) { compare(b, &w, &http.Client{Transport: &inProcess{service: newService()}}) })
	}
}

// compare measures each client. An operation is a call or a page.
func compare(b *testing.B, w *work, h *http.Client) {
	b.Helper()
	for _, c := range clients() {
		b.Run("client="+c.name, func(b *testing.B) {
			const few = 2 // so that what is made once for each type is there, and a connection
			s, err := c.open(serverURL+basePath(few), h)
			require.NoError(b, err)
			require.NoError(b, w.run(b.Context(), s, few, new(sum)))
			s, err = c.open(serverURL+basePath(b.N), h)
			require.NoError(b, err)
			debug.FreeOSMemory()
			_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // Linux: peakRSS starts from here
			b.ReportAllocs()
			var total sum
			start := cpuTime()
			b.ResetTimer()
			err = w.run(b.Context(), s, b.N, &total)
			b.StopTimer()
			require.NoError(b, err)
			n := float64(b.N)
			if w.rows {
				require.True(b, c.name == bare || total.n == b.N*rowsPerPage)
				n *= rowsPerPage
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/row")
			}
			b.ReportMetric(float64(cpuTime()-start)/n, "CPU-ns")
			b.ReportMetric(peakRSS(), "peak-MiB")
		})
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakRSS is 0 where the system does not tell.
func peakRSS() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseFloat(kib, 64)
	return n / 1024
}

// Everybody has to read the same values, or there is nothing to compare.
func TestAllReadTheSame(t *testing.T) {
	server := httptest.NewServer(newService())
	t.Cleanup(server.Close)
	for _, w := range append(rowTypes(), small, wrong, bulk) {
		var first *sum
		for _, c := range clients() {
			s, err := c.open(server.URL+basePath(2), http.DefaultClient)
			require.NoError(t, err)
			got := sum{digest: fnv.New64a()}
			require.NoError(t, w.run(t.Context(), s, 2, &got), "%s, %s", w.name, c.name)
			if c.name == bare {
				continue
			}
			require.NotZero(t, got.n, "%s, %s", w.name, c.name)
			if first == nil {
				first = &got
			}
			require.Equal(t, []any{first.n, first.digest.Sum64()}, []any{got.n, got.digest.Sum64()}, "%s, %s", w.name, c.name)
		}
	}
}

// A row is about as large as the page says, and no two have the same id.
func TestPages(t *testing.T) {
	s := newService()
	require.InDelta(t, 750, len(s.contacts().text)/rowsPerPage, 40)
	require.InDelta(t, 1400, len(s.rich().text)/rowsPerPage, 60)
	seen := make(map[string]bool)
	for number := range 3 {
		recorder := httptest.NewRecorder()
		s.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, basePath(3)+pagePath(listID, number+1), nil))
		body, err := io.ReadAll(recorder.Body)
		require.NoError(t, err)
		for _, id := range regexp.MustCompile(`"id":"[0-9a-f]{24}"`).FindAllString(string(body), -1) {
			require.False(t, seen[id], id)
			seen[id] = true
		}
	}
	require.Len(t, seen, 3*rowsPerPage)
}
