package exchange

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A connection is left alone a second before the server closes it, and after 4 s at the latest.
func TestIdle(t *testing.T) {
	for announced, want := range map[string]time.Duration{
		"": 4 * time.Second, "timeout=5": 4 * time.Second, "timeout=5, max=100": 4 * time.Second, "timeout=60": 4 * time.Second, "max=3, Timeout=4": 3 * time.Second,
		"timeout=2": time.Second, "timeout=1": 0, "timeout=0": 0, `timeout="3"`: 2 * time.Second, "timeout=": 4 * time.Second, "timeout=soon": 4 * time.Second, "timeout=-1": 4 * time.Second,
	} {
		var idle Idle
		idle.Hear(http.Header{"Keep-Alive": {announced}})
		idle.Hear(http.Header{}) // says nothing new
		require.Equal(t, want, idle.Fresh(), "%q", announced)
	}
	require.Equal(t, 4*time.Second, NewTransport().IdleConnTimeout)
}
