package clock_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/clock"
)

func dated(t time.Time) http.Header {
	return http.Header{"Date": {t.UTC().Format(http.TimeFormat)}}
}

func TestSent_Overdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, hour, behind := time.Now(), time.Hour, -time.Hour
		time.Sleep(30 * time.Second)
		for name, test := range map[string]struct {
			sent   clock.Sent
			header http.Header
			want   bool
		}{
			"of this process":                   {clock.Sent{Last: sent, Local: true}, nil, true},
			"just now":                          {clock.Sent{Last: time.Now(), Local: true}, nil, false},
			"from elsewhere":                    {clock.Sent{Last: sent}, dated(time.Now()), false},
			"from elsewhere, long ago":          {clock.Sent{Last: sent.Add(-25 * time.Hour)}, nil, true},
			"the service's clock is known":      {clock.Sent{Last: sent, Ahead: &hour}, dated(time.Now().Add(hour)), true},
			"it is known, too early":            {clock.Sent{Last: sent, Ahead: &hour}, dated(time.Now().Add(hour - 15*time.Second)), false},
			"it is known, but the lookup lacks": {clock.Sent{Last: sent, Ahead: &hour}, nil, false},
			"its clock is behind, no date":      {clock.Sent{Last: sent, Ahead: &behind}, nil, false},
			"an instant ahead":                  {clock.Sent{Last: sent.Add(48 * time.Hour)}, nil, false},
		} {
			require.Equal(t, test.want, test.sent.Overdue(10*time.Second, test.header), name)
		}
	})
}

func TestSent_Earliest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, hour := time.Now(), time.Hour
		time.Sleep(time.Minute)
		later := dated(time.Now().Add(5 * hour))
		require.True(t, clock.Sent{First: sent, Local: true}.Earliest(later).Equal(sent.Add(5*hour-2*time.Minute)))
		require.True(t, clock.Sent{First: sent}.Earliest(later).Equal(sent.Add(5*hour-2*time.Minute)))
		require.True(t, clock.Sent{First: sent, Ahead: &hour}.Earliest(later).Equal(sent.Add(hour-2*time.Minute)))
		require.True(t, clock.Sent{First: sent, Ahead: &hour, Local: true}.Earliest(later).Equal(sent.Add(5*hour-2*time.Minute)))
		require.True(t, clock.Sent{First: sent, Local: true}.Earliest(nil).Equal(sent.Add(-24*hour)))
		require.True(t, clock.Before(sent, later).Equal(sent.Add(5*hour-10*time.Second)))
		require.True(t, clock.Before(sent, nil).Equal(sent.Add(-24*hour)))
	})
}

func TestService_Ahead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s clock.Service
		require.Nil(t, s.Ahead())
		s.Hear(http.Header{}, time.Now())
		s.Hear(http.Header{"Date": {"today"}}, time.Now())
		require.Nil(t, s.Ahead())
		s.Hear(dated(time.Now().Add(time.Hour)), time.Now())
		time.Sleep(time.Minute)
		s.Hear(http.Header{}, time.Now())
		require.Equal(t, time.Hour, *s.Ahead())
	})
}
