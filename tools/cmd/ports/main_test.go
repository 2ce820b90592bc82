package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindings(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module sample.invalid/m\n\ngo 1.26.0\n",
		"code.go":        "package m\n\nimport \"syscall\"\n\nvar Refused = syscall.ECONNREFUSED\n",
		"code_test.go":   "package m\n\nimport \"testing\"\n\nfunc TestWide(*testing.T) { var _ int = 1 << 40 }\n",
		"d/d_windows.go": "package d\n\nvar Wrong int = \"text\"\n",
		"d/d.go":         "package d\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	var out strings.Builder
	require.False(t, run(&out, dir, []string{"linux/386", "linux/amd64", "plan9/amd64", "windows/amd64"}))
	require.Regexp(t, `^linux/386 linux/amd64 plan9/amd64 windows/amd64
linux/386: code_test\.go:5:\d+: .*1 << 40.*overflow.*
plan9/amd64: code\.go:5:\d+: undefined: syscall\.ECONNREFUSED
windows/amd64: d/d_windows\.go:3:\d+: .*string.*
$`, filepath.ToSlash(out.String()))

	out.Reset()
	require.True(t, run(&out, dir, []string{"linux/amd64"}))
	require.False(t, run(&out, filepath.Join(dir, "missing"), []string{"linux/amd64"}), "nothing was looked at")
}

func TestDistinct(t *testing.T) {
	require.Equal(t, []string{"android/arm64", "js/wasm", "linux/386", "linux/amd64"},
		distinct([]string{"android/386", "android/arm64", "ios/arm64", "js/wasm", "linux/386", "linux/amd64", "linux/arm", "linux/s390x"}))
}
