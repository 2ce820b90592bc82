package main

import (
	"go/format"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

const smallTypes = `package p

type step int

const (
	stepStop step = iota + 1
	stepUnknown
	stepLost
	stepRetry
	stepResend
	stepWait
	stepRekey
)
`

const small = `package p

var decisions = [...]struct {
	reason               string
	read, paid, write step
}{
	failCut: {"cut", stepRetry, stepUnknown, stepUnknown},
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
	files, flips, err := instrument("small.go", []byte(small), []byte(smallTypes))
	require.NoError(t, err)
	var texts []string
	for _, f := range flips {
		texts = append(texts, f.text)
	}
	require.Len(t, texts, 3*6+6*2)
	require.Equal(t, []string{
		"failCut, read: stepRetry -> stepStop", "failCut, read: stepRetry -> stepUnknown", "failCut, read: stepRetry -> stepLost",
	}, texts[:3])
	require.Contains(t, texts, "decide, n > 1 -> true")
	require.Contains(t, texts, "decide, n == 2 -> false")
	code := string(files["small.go"])
	require.Contains(t, code, `failCut: {"cut", flipStep("failCut.read", stepRetry), flipStep("failCut.paid", stepUnknown), flipStep(`)
	require.Contains(t, texts, "decide, b (2) -> true")
	require.Contains(t, code, `if flipIf("condition 3", a) && (flipIf("condition 4", b) || flipIf("condition 5", n > 1)) {`)
	require.Contains(t, code, `return other(a && b)`, "no condition of its own")
	require.Contains(t, code, `func other(a bool) bool { return a || true }`, "not a function that chooses")
	for name, text := range files {
		_, err := format.Source(text)
		require.NoError(t, err, name)
	}
}

func TestInstrument_NoTable(t *testing.T) {
	_, _, err := instrument("none.go", []byte("package p\n"), []byte(smallTypes))
	require.Error(t, err)
}

// Each cell can be one of six other steps.
func TestInstrument_TheTable(t *testing.T) {
	code, err := os.ReadFile("../../../" + source)
	require.NoError(t, err)
	types, err := os.ReadFile("../../../" + steps)
	require.NoError(t, err)
	_, flips, err := instrument(source, code, types)
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
	chosen, err := choose(flips, kinds{few: true}, regexp.MustCompile(""))
	require.NoError(t, err)
	require.Len(t, chosen, len(cells))
	require.Greater(t, len(flips), 6*len(cells), "conditions, too")
}
