package services_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func TestExpiration_OnTheWire(t *testing.T) {
	type body struct {
		Expires prospectkit.Expiration `json:"expirationDate,omitzero"`
	}
	for want, expires := range map[string]prospectkit.Expiration{
		`{}`:                              {},
		`{"expirationDate":null}`:         prospectkit.NeverExpires(),
		`{"expirationDate":"2027-03-01"}`: prospectkit.ExpiresOn(2027, time.March, 1),
		`{"expirationDate":"0999-12-31"}`: prospectkit.ExpiresOn(999, time.December, 31),
	} {
		text, err := json.Marshal(body{expires})
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
		var back body
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, expires, back.Expires)
	}
	for _, wrong := range []string{`"2027-02-30"`, `"2027-3-1"`, `"01.03.2027"`, `"2027-03-01T00:00:00Z"`, `""`, `7`, `{}`, `"x\u0000"`} {
		var e prospectkit.Expiration
		require.Error(t, json.Unmarshal([]byte(wrong), &e), wrong)
		require.True(t, e.IsZero())
	}
	_, err := json.Marshal(prospectkit.Expiration{})
	require.ErrorContains(t, err, "has to be left out", "null would mean never")
}

func TestExpiration_SaysWhatItIs(t *testing.T) {
	date, never, none := prospectkit.ExpiresOn(2027, time.March, 1), prospectkit.NeverExpires(), prospectkit.Expiration{}
	require.Equal(t, "2027-03-01", date.String())
	require.Equal(t, "never", never.String())
	require.Equal(t, "default", none.String())
	require.True(t, never.Never())
	require.False(t, date.Never())
	require.True(t, none.IsZero())
	require.False(t, never.IsZero())
	year, month, day, ok := date.Date()
	require.True(t, ok)
	require.Equal(t, [3]int{2027, 3, 1}, [3]int{year, int(month), day})
	_, _, _, ok = never.Date()
	require.False(t, ok)
	_, _, _, ok = none.Date()
	require.False(t, ok)
}

// expires creates an agent with an expiration and returns why that was refused locally.
func expires(t *testing.T, e prospectkit.Expiration) []string {
	t.Helper()
	sent := false
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		sent = true
		return tests.Always(201, tests.AgentJSON("initializing"))(r)
	}))
	_, err := client.Agents.Create(t.Context(), tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Expires = e }))
	if sent {
		require.NoError(t, err)
		return nil
	}
	return tests.Refusals(t, err)
}

func TestExpiration_DatesThatNoCalendarHas(t *testing.T) {
	for _, e := range []prospectkit.Expiration{
		prospectkit.ExpiresOn(2999, time.February, 29), prospectkit.ExpiresOn(2999, 13, 1), prospectkit.ExpiresOn(2999, 0, 1), prospectkit.ExpiresOn(2999, time.May, 0),
		prospectkit.ExpiresOn(2999, time.April, 31), prospectkit.ExpiresOn(10_000, time.May, 1), prospectkit.ExpiresOn(0, time.May, 1), prospectkit.ExpiresOn(-1, time.May, 1),
	} {
		require.Equal(t, []string{"expirationDate is " + e.String() + ", which is not a date"}, expires(t, e))
	}
	require.Nil(t, expires(t, prospectkit.ExpiresOn(2996, time.February, 29)))
	require.Nil(t, expires(t, prospectkit.NeverExpires()))
}

// A date is definitely past only once it is past at UTC-12: noon UTC of the day after.
func TestExpiration_PastDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The bubble begins at midnight UTC of 2000-01-01, which is noon of 1999-12-31 at UTC-12.
		require.Nil(t, expires(t, prospectkit.ExpiresOn(1999, time.December, 31)), "today somewhere: the service decides")
		require.Equal(t, []string{"expirationDate is 1999-12-30, must be in the future"}, expires(t, prospectkit.ExpiresOn(1999, time.December, 30)))
		time.Sleep(12*time.Hour - time.Second)
		require.Nil(t, expires(t, prospectkit.ExpiresOn(1999, time.December, 31)))
		time.Sleep(time.Second)
		require.Equal(t, []string{"expirationDate is 1999-12-31, must be in the future"}, expires(t, prospectkit.ExpiresOn(1999, time.December, 31)))
		require.Nil(t, expires(t, prospectkit.ExpiresOn(2000, time.January, 1)))
	})
}
