package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

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
				const n = 4 // so that a walk that brings nothing new would be noticed
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
	o := options{
		rounds: 1, scale: 0.0001, works: regexp.MustCompile("^(W[157]|W8[AJ]s?)$"), contenders: regexp.MustCompile("^(prospectkit.*|by hand.*|godo|body.*)$"),
		log: io.Discard, gos: here(),
	}
	table, err := o.compare(t.Context())
	require.NoError(t, err)
	report := table.report()
	require.Contains(t, report, "| **prospectkit** |")
	require.Contains(t, report, "### W5: 404 to a typed error")
	require.Contains(t, report, "(code lost)")
	require.Contains(t, report, "| W1 with everything on, µs of CPU above a bare round trip | at most 8 |")
	require.Contains(t, report, "| Row types against by hand, median | at least ")
	require.Regexp(t, `\| \*\*median\*\* \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \|`, report)
	require.Contains(t, report, "- W1: One small GET, again and again (10)")
	require.Contains(t, report, "contenders built with "+runtime.Version())
	require.NotContains(t, report, "NaN")
	require.NotContains(t, report, "### W6")
	require.NotContains(t, report, "### W8")
}

// Each version of Go has its own figures, and ratios are those of single turns.
func TestVersionsApart(t *testing.T) {
	w := find("W2")
	o := &options{scale: 1, gos: []string{"go1.26.8", "go1.27.4"}}
	table := &table{options: o, results: make(map[cell][]result)}
	for i, slow := range []time.Duration{1, 10, 1} { // a slow turn meets both
		for j, version := range o.gos {
			table.add(cell{version, w.id, ours}, result{Wall: slow * 10, CPU: 10})
			table.add(cell{version, w.id, byHandName}, result{Wall: slow * time.Duration(50-20*j+i), CPU: 40})
		}
	}
	var b strings.Builder
	table.writeGoals(&b)
	require.Contains(t, b.String(), "| W2 against by hand | at least 4 | 5.1 | 4.0 | reached | at least 2.5 | 3.1 | 4.0 | reached |")
	require.Equal(t, 3, table.times(w))
}

func TestSupportedVersions(t *testing.T) {
	script, err := os.ReadFile("../../../.ci/run")
	require.NoError(t, err)
	require.Contains(t, string(script), "versions=("+strings.ReplaceAll(supported, ",", " ")+")")
}

func TestNeeds(t *testing.T) {
	one := func(v any) uint64 { return needs(reflect.ValueOf(v)) }
	number := 1.5
	require.Zero(t, one(struct{ A, B string }{"a", "b"}))
	require.Zero(t, one([]string{}))
	require.EqualValues(t, 1, one([]string{"a", "b"}))
	require.EqualValues(t, 1, one(&number))
	require.EqualValues(t, 4, one([]any{"text", 1.5, true, nil, []any{}, []any(nil), ""}), "the array; text, number and the empty slice's header")
	require.Equal(t, mapNeeds(reflect.TypeFor[map[string]any](), 2)+1, one(map[string]any{"a": "text", "b": nil}))
	require.Less(t, mapNeeds(reflect.TypeFor[map[string]any](), 3), mapNeeds(reflect.TypeFor[map[string]any](), 30))
}

// What differs in one value has another digest, whatever the order of keys.
func TestDigest(t *testing.T) {
	one := func(v any) uint64 { return digest(reflect.ValueOf(&v).Elem()) }
	seen := make(map[uint64]bool)
	for _, v := range []any{
		nil, "", "a", 0.0, 1.0, true, false,
		[]any{},
		[]any(nil),
		[]any{"a", "b"},
		[]any{"b", "a"},
		map[string]any{},
		map[string]any{"a": "b"},
		map[string]any{"b": "a"},
		json.Number("1"), time.Unix(1, 0), time.Unix(2, 0), int64(1), uint16(1), float32(1),
	} {
		require.False(t, seen[one(v)], "%#v", v)
		seen[one(v)] = true
	}
	require.Equal(t, one(map[string]any{"a": 1, "b": 2}), one(map[string]any{"b": 2, "a": 1}))
}

func TestOthers(t *testing.T) {
	before := machineTime{total: 100, busy: 50, own: 10}
	require.InDelta(t, 0.25, machineTime{total: 200, busy: 100, own: 35}.othersSince(before), 1e-9)
	require.Zero(t, before.othersSince(before))
	require.Zero(t, machineTime{total: 200, busy: 60, own: 35}.othersSince(before), "clocks differ a little")
}
