package firstcontact_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// requireModest demands that a run takes its share of any minute. What is sent again after a failure is not counted.
func requireModest(t *testing.T, sb *sandbox.Sandbox) {
	t.Helper()
	sent, last := map[op.Surface][]time.Time{}, sandbox.Entry{}
	for _, e := range sb.Journal() {
		if o, known := op.ByName(e.Op); known && (e.Path != last.Path || e.Query != last.Query) {
			sent[o.Surface] = append(sent[o.Surface], e.Time)
		}
		last = e
	}
	for surface, times := range sent {
		share := firstcontact.Share(surface)
		for i := share; share > 0 && i < len(times); i++ {
			require.GreaterOrEqual(t, times[i].Sub(times[i-share]), time.Minute, "%s: more than %d requests in a minute", surface, share)
		}
	}
}

// However long the plan is, the rest of each minute is left to others.
func TestShare_LeavesTheRestToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, told := time.Now(), 0
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		run, err := firstcontact.Start(firstcontact.Config{
			BaseURL: sb.BaseURL(), Token: sb.Token(), Transport: sb.Transport(), Waits: func(time.Duration) { told++ },
		})
		require.NoError(t, err)
		once := run.Planned()
		run.Twice()
		require.NoError(t, run.Ask(t.Context()))
		require.GreaterOrEqual(t, run.Sent(), 2*once)
		require.NotZero(t, told)
		require.GreaterOrEqual(t, time.Since(began), time.Minute)
		requireModest(t, sb)

		time.Sleep(time.Minute)
		began = time.Now() // on this machine is nobody else
		run, err = firstcontact.Start(firstcontact.Config{BaseURL: "http://127.0.0.1/api/v1", Token: sb.Token(), Transport: elsewhere{sb}})
		require.NoError(t, err)
		run.Twice()
		require.NoError(t, run.Ask(t.Context()))
		require.Less(t, time.Since(began), time.Minute)
	})
}

// elsewhere is a sandbox at another address.
type elsewhere struct{ sb *sandbox.Sandbox }

func (m elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "https", strings.TrimSuffix(strings.TrimPrefix(m.sb.BaseURL(), "https://"), "/api/v1")
	r.Host = r.URL.Host
	return m.sb.Transport().RoundTrip(r)
}

// A stopped run does not wait for the next minute.
func TestShare_EndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		run, err := firstcontact.Start(firstcontact.Config{BaseURL: sb.BaseURL(), Token: sb.Token(), Transport: sb.Transport()})
		require.NoError(t, err)
		run.Twice()
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		require.ErrorIs(t, run.Ask(ctx), ctx.Err())
		require.True(t, run.Found())
	})
}
