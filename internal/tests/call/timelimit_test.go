package call_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// The end of an attempt's time is a timeout for whoever asks as of any other HTTP client. It is not the end of the caller's context.
func TestAttempt_TimeLimitIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}), prospectkit.WithAttemptTimeout(time.Second))
		_, err := client.Lists.Get(t.Context(), tests.ListID, prospectkit.GetListParams{})
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout())
		require.NotErrorIs(t, err, context.DeadlineExceeded)
	})
}
