package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// failing is a test whose failure is read. It ends as a real one does.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f)
}

// told is how a comparison fails, or nothing.
func told(t *testing.T, path, text string) string {
	t.Helper()
	f := &failing{TB: t}
	func() {
		defer func() { _ = recover() }()
		Equal(f, path, text)
	}()
	return f.text
}

func TestEqual(t *testing.T) {
	const command = "If that is meant: go test ./internal/golden -run '^TestEqual$' -update"
	path := filepath.Join(t.TempDir(), "deep", "x.txt")
	require.Equal(t, path+" does not exist.\n"+command, told(t, path, "a\n"))

	*Update = true
	defer func() { *Update = false }()
	require.Empty(t, told(t, path, "a\nb\nc\nd\n"))
	*Update = false
	require.Empty(t, told(t, path, "a\nb\nc\nd\n"))
	require.Equal(t, path+" is not what the test made (-: the file, +: the test).\n"+command+"\nfrom line 2 on:\n- b\n- c\n+ x\n", told(t, path, "a\nx\nd\n"))
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "a\nb\nc\nd\n", string(kept), "only with -update")
}

// However long a text is, what is shown of it fits a screen, and holds the place where it differs.
func TestDifference_IsShort(t *testing.T) {
	long := strings.Repeat("x", 28_000)
	shown := Difference(long+"a"+long, long+"b"+long)
	require.Less(t, len(shown), 1000)
	require.Contains(t, shown, "xa")
	require.Contains(t, shown, "xb")
	require.Equal(t, "from line 1 on:\n"+strings.Repeat("+ y\n", mostLines)+"+ ... 80 more lines\n", Difference("", strings.Repeat("y\n", 100)))
}
