// Package benchmarks compares prospectkit with net/http by hand and with other clients, on the same bytes. See README.md.
package benchmarks

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// serverRole marks the process that TestMain starts from this binary.
const serverRole = "BENCHMARKS_SERVER"

var (
	serverURL string
	table     []string // of the rows that were measured
)

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
	code := run()
	fmt.Println(strings.Join(table, "\n"))
	return code
}

// A row of the table: a work of so many calls or pages.
type row struct {
	name      string
	n         int
	work      work
	transport func() http.RoundTripper // nil: the client's own, to the server
}

func tableRows() []row {
	small := work{peerUser, oursUser}
	types := []row{
		{"text", 3, rows[contact](listID), rendered},
		{"pointers and times", 3, rows[pointersRow](richListID), rendered},
		{"numbers", 3, rows[numbersRow](richListID), rendered},
		{"objects and slices inside", 3, rows[nestedRow](richListID), rendered},
		{"long text", 3, rows[notesRow](notesListID), rendered},
		{"5 fields of 30", 3, rows[wideRow](richListID), rendered},
		{"unknown fields kept", 3, kept(richListID), rendered},
	}
	return append([]row{
		{"one small GET", 2560, small, nil},
		{"a 404 as a typed error", 2560, work{peerMissing, oursMissing}, nil},
		{"64 goroutines, one client", 6400, in64(small), nil},
		{"100 pages of 20 ms", 100, rows[contact](listID), late},
	}, types...)
}

// standard is the transport by hand: that of net/http with room for the goroutines.
func standard() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is
	t.MaxIdleConnsPerHost = 64
	return t
}

func (r *row) open(c client, n int) (session, error) {
	h := &http.Client{Transport: standard()}
	if r.transport != nil {
		h.Transport = r.transport()
	}
	return c.open(serverURL+basePath(n), h)
}

// BenchmarkTable prints how many times as fast as by hand each client does each row, by wall and by CPU time. Each iteration is a round, in
// which all take turns; ratios are medians of rounds. Use -benchtime 5x.
func BenchmarkTable(b *testing.B) {
	names := []string{"", "prospectkit"}
	for _, c := range clients()[2:] {
		names = append(names, c.name)
	}
	table = append(table, "", join(names), "|---|"+strings.Repeat("---:|", len(names)-1))
	for _, r := range tableRows() {
		b.Run(strings.ReplaceAll(r.name, " ", "-"), func(b *testing.B) {
			times := r.measure(b)
			cells := []string{r.name}
			for i, c := range clients()[1:] {
				wall, cpu := median(times[0], times[i+1], 0), median(times[0], times[i+1], 1)
				b.ReportMetric(wall, c.name+"-wall")
				b.ReportMetric(cpu, c.name+"-CPU")
				cells = append(cells, fmt.Sprintf("%.2f / %.2f", wall, cpu))
			}
			b.ReportMetric(0, "ns/op")
			table = append(table, join(cells))
		})
	}
	b.Run("allocations", func(b *testing.B) {
		for b.Loop() {
			ours, bare := allocations(b, openOurs), allocations(b, hand(drop))
			b.ReportMetric(ours-bare, "more")
		}
	})
}

// measure returns wall and CPU time of each round, by client.
func (r *row) measure(b *testing.B) [][][2]float64 {
	b.Helper()
	var all []session
	for _, c := range clients() {
		s, err := r.open(c, r.n)
		require.NoError(b, err)
		all = append(all, s)
	}
	times := make([][][2]float64, len(all))
	turn := func(s session) [2]float64 {
		start, used := time.Now(), cpuTime()
		require.NoError(b, r.work.run(b.Context(), s, r.n, new(sum)))
		return [2]float64{float64(time.Since(start)), float64(cpuTime() - used)}
	}
	for _, s := range all { // what is made once for each type, and connections
		turn(s)
	}
	for b.Loop() {
		for i, s := range all {
			runtime.GC()
			times[i] = append(times[i], turn(s))
		}
	}
	return times
}

// median is that of the ratios of rounds.
func median(of, to [][2]float64, kind int) float64 {
	var ratios []float64
	for i := range of {
		ratios = append(ratios, of[i][kind]/to[i][kind])
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// allocations is how many a small GET makes.
func allocations(b *testing.B, open func(string, *http.Client) (session, error)) float64 {
	b.Helper()
	s, err := open(serverURL+basePath(1), &http.Client{Transport: standard()})
	require.NoError(b, err)
	small, before, after := work{peerUser, oursUser}, new(runtime.MemStats), new(runtime.MemStats)
	const calls = 2000
	require.NoError(b, small.run(b.Context(), s, calls, new(sum)))
	runtime.ReadMemStats(before)
	require.NoError(b, small.run(b.Context(), s, calls, new(sum)))
	runtime.ReadMemStats(after)
	return float64(after.Mallocs-before.Mallocs) / calls
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Everybody has to read the same values, or there is nothing to compare.
func TestAllReadTheSame(t *testing.T) {
	for _, r := range tableRows() {
		var first *sum
		for _, c := range clients() {
			n := min(r.n, 64)
			if r.transport != nil {
				n = 2
			}
			s, err := r.open(c, n)
			require.NoError(t, err)
			got := newSum()
			require.NoError(t, r.work.run(t.Context(), s, n, got), "%s, %s", r.name, c.name)
			if first == nil {
				first = got
			}
			require.NotZero(t, got.n)
			require.Equal(t, []any{first.n, first.digest.Sum64()}, []any{got.n, got.digest.Sum64()}, "%s, %s", r.name, c.name)
		}
	}
}

// A row is about as large as the page says.
func TestPages(t *testing.T) {
	s := newService()
	require.InDelta(t, 750, len(s.contacts().text)/rowsPerPage, 40)
	require.InDelta(t, 1400, len(s.rich().text)/rowsPerPage, 60)
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, basePath(3)+pagePath(listID, 1), nil))
	require.Equal(t, http.StatusOK, recorder.Code)
}
