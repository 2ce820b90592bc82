package sandbox

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// The command serves what a check has seen. Flags of its own count more.
func TestParse_Shapes(t *testing.T) {
	dir, err := os.MkdirTemp("", "sandbox") //nolint:usetesting // Wine cannot remove it, which would fail the test
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	name := filepath.Join(dir, "shapes.json")
	write := func(text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o600)) }
	write(`{"format": "prospectkit-shapes/1", "operations": {"account.me": {"status": 203}}, "windows": {"account": {"limits": [7]}}}`)
	h, err := newHost(parsed(t, "-limit", "account=9/90", "-shapes", name, "-limits", "off"), io.Discard)
	require.NoError(t, err)
	sb := sandbox.New(t, h.options()...)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sb.BaseURL()+"/business/me", nil)
	require.NoError(t, err)
	req.SetBasicAuth(sb.Token(), "")
	resp, err := sb.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 203, resp.StatusCode)
	require.Equal(t, "9", resp.Header.Get("RateLimit-Limit"))

	write(`{"format": "prospectkit-shapes/2"}`)
	var cfg config
	require.ErrorContains(t, cfg.addShapes(name), "WithShapes")
	require.Error(t, cfg.addShapes(name+".none"))
}
