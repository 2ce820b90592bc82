package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
)

// The whole program, as somebody without an account runs it.
func TestDemo(t *testing.T) {
	t.Setenv(prospectkit.EnvBaseURL, "")
	t.Setenv(prospectkit.EnvToken, "")
	dir := t.TempDir()
	cfg := config{
		file: filepath.Join(dir, "new", "warehouse.db"), csv: filepath.Join(dir, "rows.csv"), parquet: filepath.Join(dir, "rows.PARQUET"),
		pageSize: 1000, fullEvery: time.Hour,
	}
	out, err := os.Create(filepath.Join(dir, "out"))
	require.NoError(t, err)
	defer out.Close()
	for range 2 {
		require.NoError(t, run(t.Context(), cfg, out, out), "a sandbox is fresh every time, the warehouse is not")
	}
	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.Contains(t, string(text), "Run 1: 3 lists, 12,000 rows: 12,000 new, 0 changed, 0 gone.\n")
	require.Contains(t, string(text), "Run 2: 4 lists, 12,000 rows: 2 new, 3 changed, 2 gone.\n")
	require.Contains(t, string(text), "Run 4: 4 lists, 12,000 rows: ")
	requireExports(t, cfg)
}

// requireExports reads both files back, and checks that they have the same content.
func requireExports(t *testing.T, cfg config) {
	t.Helper()
	records, err := parquet.ReadFile[record](cfg.parquet)
	require.NoError(t, err)
	require.Len(t, records, 12_000)
	file, err := os.Open(cfg.csv)
	require.NoError(t, err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+len(records))
	var names []string
	for _, field := range parquet.SchemaOf(record{}).Fields() {
		names = append(names, field.Name())
	}
	require.Equal(t, names, lines[0])
	filled := map[string]int{}
	for i := range records {
		line := records[i].csv()
		require.Equal(t, lines[1+i], line)
		for j, value := range line {
			if value != "" {
				filled[lines[0][j]]++
			}
		}
	}
	for _, name := range names {
		require.NotZero(t, filled[name], "%s is empty everywhere", name)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(cfg.csv), ".export-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestBar(t *testing.T) {
	var out strings.Builder
	b := &bar{out: &out, forecast: func(requests int) time.Duration { return time.Duration(requests) * time.Second }}
	b.begin(2000, 20)
	b.page(100, 1) // no line: a tenth is not full
	b.page(900, 9)
	b.observe(t.Context(), prospectkit.Event{Kind: event.KindWait, Wait: 90 * time.Second, Reason: "the minute is used up"})
	b.at("Berlin", 9000, 0) // a list that grew
	require.Equal(t, strings.Join([]string{
		"  ░░░░░░░░░░░░░░░░░░░░ 0 of 2,000 rows, 20 requests to go, in about 20s  ",
		"  ██████████░░░░░░░░░░ 1,000 of 2,000 rows, 10 requests to go, in about 10s  ",
		"  ██████████░░░░░░░░░░ 1,000 of 2,000 rows, waiting 1m30s: the minute is used up  ",
		"  ████████████████████ 2,000 of 2,000 rows, 0 requests to go  Berlin",
		"",
	}, "\n"), out.String())
}

func TestBarCountsRequests(t *testing.T) {
	for want, requests := range map[string]int{"7 requests to go": 7, "1 request to go": 1, "more requests than planned": 0} {
		b := &bar{forecast: func(int) time.Duration { return 0 }, rows: 5, total: 10, requests: requests}
		require.Contains(t, b.line(""), "5 of 10 rows, "+want+"  ")
	}
}

func TestBarOnATerminal(t *testing.T) {
	var out strings.Builder
	b := &bar{out: &out, terminal: true, width: 30, forecast: func(int) time.Duration { return 0 }}
	b.begin(10, 1)
	b.page(10, 1)
	b.clear()
	require.Equal(t, "\r\x1b[K  ░░░░░░░░░░░░░░░░░░░░ 0 of 1\r\x1b[K  ████████████████████ 10 of \r\x1b[K", out.String())
}
