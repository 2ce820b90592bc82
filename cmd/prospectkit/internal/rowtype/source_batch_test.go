//go:build !js && !wasip1

package rowtype

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The golden lists and random ones, in one program: each type compiles, and decodes each row without a loss. So it does other rows
// that the comparison says it fits.
func TestRows_CompileAndKeepEveryRow(t *testing.T) {
	b := &batch{dir: t.TempDir(), files: map[string]string{}, Rows: map[string][]json.RawMessage{}, Fitting: map[string][]json.RawMessage{}}
	for name, rows := range lists {
		iterate := slices.Contains([]string{"names", "nulls", "plain"}, name) // it takes the compiler long
		b.add(t, "Golden"+name, iterate, rows, nil)
	}
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 1))
		columns := testColumns[:seed%uint64(len(testColumns)+1)]
		maker := randomList(r, columns)
		b.add(t, fmt.Sprintf("Random%d", seed), false, maker(1+r.IntN(8)), maker(100))
	}
	require.Greater(t, b.fitting, 100, "most are fit to be compared")
	b.write(t, "registry_test.go", "package batch\n\nimport (\n\"encoding/json\"\n\"testing\"\n)\n\nfunc init() {\n"+b.registry.String()+"}\n")
	require.Contains(t, b.run(t), fmt.Sprintf("%d types, %d rows\n", len(b.Rows), b.rows))
}

// run runs the tests of the types. The types are only in an overlay.
func (b *batch) run(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	require.NoError(t, err)
	overlay := map[string]map[string]string{"Replace": {}}
	for path, at := range b.files {
		overlay["Replace"][filepath.Join(here, path)] = at
	}
	text, err := json.Marshal(overlay)
	require.NoError(t, err)
	name := filepath.Join(b.dir, "overlay.json")
	require.NoError(t, os.WriteFile(name, text, 0o600))
	rows, err := json.Marshal(b)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "rows.json"), rows, 0o600))

	run := exec.Command("go", "test", "-v", "-vet=off", "-gcflags=-l", "-ldflags=-s -w", "-overlay", name, "./testdata/batch")
	run.Env = append(os.Environ(), "ROWTYPE_ROWS="+filepath.Join(b.dir, "rows.json"))
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}
