package flips

import (
	"go/format"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const small = `package p

var decisions = [...]struct {
	reason               string
	read, paid, write step
}{
	failCut: {"cut", stepRetry, stepUnknown, stepUnknown},
	failSent: {"sent", stepWait, stepStop, stepRetry},
}

func decide(a, b bool, n int) bool {
	if a && (b || n > 1) {
		return b || a
	}
	switch {
	case n == 2:
		return true
	}
	return other(a && b)
}

func other(a bool) bool { return a || true }
`

func TestInstrument(t *testing.T) {
	files, flips, err := instrument("small.go", []byte(small))
	require.NoError(t, err)
	var texts []string
	for _, f := range flips {
		texts = append(texts, f.text)
	}
	require.Len(t, texts, 6*3+6*2)
	require.Equal(t, []string{
		"failCut, read: stepRetry -> stepStop", "failCut, read: stepRetry -> stepUnknown", "failCut, read: stepRetry -> stepWait",
	}, texts[:3])
	require.Contains(t, texts, "decide, n > 1 -> true")
	require.Contains(t, texts, "decide, n == 2 -> false")
	code := string(files["small.go"])
	require.Contains(t, code, `failCut:  {"cut", flipped("failCut.read", stepRetry, stepStop, stepUnknown, stepWait), flipped("failCut.paid", stepUnknown, stepRetry,`)
	require.Contains(t, texts, "decide, b (2) -> true")
	require.Contains(t, code, `if flipped("condition 6", a, true, false) && (flipped("condition 7", b, true, false) || flipped("condition 8", n > 1, true, false)) {`)
	require.Contains(t, code, `return other(a && b)`, "no condition of its own")
	require.Contains(t, code, `func other(a bool) bool { return a || true }`, "not a function that chooses")
	for name, text := range files {
		_, err := format.Source(text)
		require.NoError(t, err, name)
	}
}

func TestInstrument_NoTable(t *testing.T) {
	_, _, err := instrument("none.go", []byte("package p\n"))
	require.Error(t, err)
}

// Each cell can be one of six other steps.
func TestInstrument_TheTable(t *testing.T) {
	code, err := os.ReadFile(filepath.Join(root, source))
	require.NoError(t, err)
	_, flips, err := instrument(source, code)
	require.NoError(t, err)
	cells := map[string]int{}
	for _, f := range flips {
		if f.cell {
			cells[f.place]++
		}
	}
	require.NotEmpty(t, cells)
	for cell, others := range cells {
		require.Equal(t, 6, others, cell)
	}
	require.Len(t, choose(flips, "few"), len(cells))
	require.Greater(t, len(flips), 6*len(cells), "conditions, too")
}
