package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		1900 * time.Millisecond: "",
		2100 * time.Millisecond: "\rtext 11\r       \r",
		4100 * time.Millisecond: "\rtext 11\rtext 1 \rtext 1 \r       \r",
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			n := 11
			stop := show(&out, func() string {
				defer func() { n = 1 }()
				return fmt.Sprintf("text %d", n)
			})
			time.Sleep(wait)
			stop()
			stop()
			require.Equal(t, want, out.String())
		})
	}
}

// Neither a file nor anything but a file is a terminal.
func TestProgress_OnATerminalOnly(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer file.Close()
	require.False(t, isTerminal(file))
	require.False(t, isTerminal(&strings.Builder{}))
	Progress(file, func() string { return "" })()
}
