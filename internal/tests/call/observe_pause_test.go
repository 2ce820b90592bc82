package call_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A pause that the context cuts short is part of the time waited.
func TestEventCall_CountsThePauseThatWasCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended prospectkit.Event
		client := tests.NewClient(t, tests.Always(http.StatusServiceUnavailable, "", "Retry-After", "60"), tests.Watch(func(e prospectkit.Event) {
			if e.Kind == prospectkit.EventEnd {
				ended = e
			}
		}))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(7*time.Second, cancel)
		_, err := client.Account.Me(ctx)
		require.Error(t, err)
		require.Equal(t, 7*time.Second, ended.Duration)
		require.Equal(t, 7*time.Second, ended.Waited)
	})
}
