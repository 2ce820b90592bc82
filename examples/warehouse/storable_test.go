package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

func TestStorableJSON(t *testing.T) {
	for from, to := range map[string]string{
		`{"a":"x\u0000y"}`:                   `{"a":"x\ufffdy"}`,
		`{"a":"x\\u0000y"}`:                  `{"a":"x\\u0000y"}`,
		`{"a":"x\\\u0000y"}`:                 `{"a":"x\\\ufffdy"}`,
		`{"a":"\ud83d\ude00 \u00e4 \u000a"}`: `{"a":"\ud83d\ude00 \u00e4 \u000a"}`,
		`{"a":"\ud83d \uDE00 \ud83d\ud83d"}`: `{"a":"\ufffd \ufffd \ufffd\ufffd"}`,
		`{"a":"\"\n"}`:                       `{"a":"\"\n"}`,
	} {
		require.Equal(t, to, storableJSON(from))
		require.True(t, json.Valid([]byte(storableJSON(from))))
	}
	require.Equal(t, "a\uFFFDb\uFFFDc", storable("a\x00b\xffc"))
}

// Names and rows that PostgreSQL refuses do not stop the sync, on any database.
func TestUnstorableTexts(t *testing.T) { syncsUnstorable(t, testStore(t)) }

func syncsUnstorable(t *testing.T, s *store) {
	t.Helper()
	sb := sandbox.New(t)
	sb.Do(func(tx *sandbox.Tx) {
		tx.CreateList(sandbox.List{Name: "x\x00y", Rows: sandbox.Rows(
			sandbox.Row{"firstName": "A\x00da", "jobTitle": "=1+1", "createdAt": stamp(time.Now()), "updatedAt": stamp(time.Now())},
		)})
	})
	for range 2 {
		require.Empty(t, synced(t, sb, s).report.unsettled)
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	rows, err := s.export(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, 1, rows)
	require.NoError(t, s.records(t.Context(), func(r *record) error {
		require.Equal(t, "x\uFFFDy", r.List)
		require.Equal(t, "A\uFFFDda", r.FirstName)
		require.Contains(t, r.csv(), "'=1+1")
		return nil
	}))
}

func TestFilesAreTheirOwners(t *testing.T) {
	dir := t.TempDir()
	s, err := openStore(t.Context(), config{file: filepath.Join(dir, "w.db")})
	require.NoError(t, err)
	defer s.Close()
	synced(t, sandbox.New(t), s)
	_, err = s.export(t.Context(), filepath.Join(dir, "rows.csv"))
	require.NoError(t, err)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 2)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f.Name())
	}
}

func TestBadFlags(t *testing.T) {
	for _, page := range []int{-1, 0, 1001, 5000} {
		require.ErrorContains(t, config{pageSize: page}.check(), "-page is")
	}
	require.NoError(t, config{pageSize: 1}.check())
	require.NoError(t, config{pageSize: 1000}.check())
	require.ErrorContains(t, config{pageSize: 1, fullEvery: -1}.check(), "-full-every")
	t.Setenv(prospectkit.EnvBaseURL, "")
	t.Setenv(prospectkit.EnvToken, "half an account")
	_, _, _, err := connect(nil)
	require.ErrorContains(t, err, "is not set")
}
