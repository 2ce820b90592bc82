package retrydata

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const file = "../../../testdata/retry.json"

func TestTextIsTheFile(t *testing.T) {
	f, err := Load(file)
	require.NoError(t, err)
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	got, err := f.Text()
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// The words that the cells use are explained in the file.
func TestWordsAreExplained(t *testing.T) {
	f, err := Load(file)
	require.NoError(t, err)
	require.NotEmpty(t, f.Failures)
	explained := func(word string, terms []Term) bool {
		return slices.ContainsFunc(terms, func(term Term) bool { return term.Name == word && term.Means != "" })
	}
	kinds := map[string]bool{}
	for _, o := range f.Operations {
		kinds[o.Kind] = true
		require.True(t, explained(o.Kind, f.Kinds), o.Name)
	}
	require.Len(t, f.Kinds, len(kinds))
	for _, failure := range f.Failures {
		require.True(t, failure.Needs == "" || explained(failure.Needs, f.Needs), failure.Name)
		require.NotEqual(t, failure.Fault == "", failure.Needs != ClosedPort && failure.Needs != TLS, failure.Name)
		for _, cells := range []Cells{failure.Once, failure.Always} {
			for kind, cell := range cells {
				require.True(t, kinds[kind], "%s, %s", failure.Name, kind)
				require.True(t, explained(cell.Result, f.Results), "%s, %s", failure.Name, kind)
			}
		}
	}
}

func TestLoad_Mistakes(t *testing.T) {
	_, err := Load("nowhere.json")
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "retry.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"failure": []}`), 0o600))
	_, err = Load(path)
	require.ErrorContains(t, err, "unknown field")
}
