package call_test

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/tests"
)

// A failure that no retry cures is one of the connection. The same text after something was sent, or from a transport without a
// trace, proves nothing: a write has an unknown outcome, and a read is retried.
func TestRetry_PermanentFailuresAfterSending(t *testing.T) {
	for _, fault := range []error{
		errors.New("remote error: tls: bad record MAC"), errors.New(`unsupported protocol scheme "x"`), &net.DNSError{Err: "no such host", IsNotFound: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, fault }))
			info, err := tests.Call(t.Context(), client, true)
			tests.RequireUnknown(t, err)
			require.Len(t, info.Attempts, 1)
			info, err = tests.Call(t.Context(), client, false)
			require.Error(t, err)
			require.Len(t, info.Attempts, 3)
			require.Equal(t, "unknown", info.Attempts[2].Delivery)
		})
	}
}
