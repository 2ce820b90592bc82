package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const output = `goos: linux
BenchmarkRows/kept   	     100	    261331 ns/op	  121552 B/op	     162 allocs/op
BenchmarkGet-2       	     100	      6966 ns/op	    4619 B/op	      43 allocs/op
PASS
`

func TestCounts(t *testing.T) {
	found, err := counts(output)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"BenchmarkGet-2": 43, "BenchmarkRows/kept": 162}, found)
	_, err = counts("PASS\n")
	require.ErrorContains(t, err, "no benchmarks")
	_, err = counts("BenchmarkGet 100 6966 ns/op\n")
	require.ErrorContains(t, err, "no allocations")
}

func TestBaseline(t *testing.T) {
	text := render(map[string]int{"BenchmarkGet": 43, "BenchmarkRows/kept": 162}, "go1.26")
	found, of := parse(text)
	require.Equal(t, "go1.26", of)
	require.Equal(t, map[string]int{"BenchmarkGet": 43, "BenchmarkRows/kept": 162}, found)
	require.Equal(t, "go1.26", release("go1.26.8"))
	require.Equal(t, "devel", release("devel"))
}

func TestCompare(t *testing.T) {
	worse, better := compare(map[string]int{"A": 5, "B": 5, "C": 5, "E": 5, "F": 400, "G": 400}, map[string]int{"F": 402, "G": 403, "A": 5, "B": 6, "C": 4, "D": 0})
	require.Equal(t, []string{
		"B allocates 6 times, it was 5", "D is not in testdata/allocations.txt", "E is in testdata/allocations.txt, but there is no such benchmark",
		"G allocates 403 times, it was 400",
	}, worse)
	require.Len(t, better, 1)
	require.Contains(t, better[0], "C allocates 4 times, it was 5")
}
