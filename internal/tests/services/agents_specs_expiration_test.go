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
		`{}`:                              "",
		`{"expirationDate":null}`:         prospectkit.NeverExpires,
		`{"expirationDate":"2027-03-01"}`: "2027-03-01",
		`{"expirationDate":"0999-12-31"}`: "0999-12-31",
	} {
		text, err := json.Marshal(body{expires})
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
	_, err := json.Marshal(prospectkit.Expiration(""))
	require.ErrorContains(t, err, "has to be left out", "null would mean never")
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
	for _, e := range []prospectkit.Expiration{"2999-02-29", "2999-13-01", "2999-1-1", "10000-05-01", "0000-05-01", "01.03.2999", "2999-03-01T00:00:00Z", "Never", "x\x00"} {
		require.Equal(t, []string{"expirationDate is not a date like 2027-03-01"}, expires(t, e))
	}
	require.Nil(t, expires(t, "2996-02-29"))
	require.Nil(t, expires(t, prospectkit.NeverExpires))
}

// A date is definitely past only once it is past at UTC-12: noon UTC of the day after.
func TestExpiration_PastDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The bubble begins at midnight UTC of 2000-01-01, which is noon of 1999-12-31 at UTC-12.
		require.Nil(t, expires(t, "1999-12-31"), "today somewhere: the service decides")
		require.Equal(t, []string{"expirationDate is 1999-12-30, must be in the future"}, expires(t, "1999-12-30"))
		time.Sleep(12*time.Hour - time.Second)
		require.Nil(t, expires(t, "1999-12-31"))
		time.Sleep(time.Second)
		require.Equal(t, []string{"expirationDate is 1999-12-31, must be in the future"}, expires(t, "1999-12-31"))
		require.Nil(t, expires(t, "2000-01-01"))
	})
}
