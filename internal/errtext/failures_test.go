package errtext_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/errtext"
)

func TestResponse(t *testing.T) {
	t.Parallel()
	cause := errors.New("no route")
	for want, r := range map[string]errtext.Response{
		"prospectkit: o: no details are known":                                                           {},
		"prospectkit: o: prose":                                                                          {Message: "prose"},
		"prospectkit: o: no route":                                                                       {Cause: cause},
		"prospectkit: o: GONE":                                                                           {Code: "GONE"},
		"prospectkit: o: 410 GONE: prose (param p, request r, 2 attempts)":                               {Status: 410, Code: "GONE", Message: "prose", Param: "p", RequestID: "r", Attempts: 2},
		"prospectkit: o: 302, a redirect, which is not followed; it points to host x":                    {Status: 302, Hint: "it points to host x"},
		`prospectkit: o: 299 without the error envelope (content type "text/html")`:                      {Status: 299, ContentType: "text/html", Attempts: 1},
		`prospectkit: o: 400 without the error envelope (content type "")`:                               {Status: 400},
		"prospectkit: o: unusable response with status 200: no route":                                    {Status: 200, Cause: cause},
		"prospectkit: o: applied (status 201), but the response was lost: no route":                      {Status: 201, Code: "GONE", Applied: true, Cause: cause},
		"prospectkit: o: applied, but the response was lost: no route":                                   {Applied: true, Cause: cause},
		"prospectkit: o: 403 NO: Not you; this operation needs the scope \"lists\" (request \"r\\n s\")": {Status: 403, Code: "NO", Message: "Not you.", Hint: `this operation needs the scope "lists"`, RequestID: "\"r\\n s\""},
	} {
		r.Op = "o"
		require.Equal(t, want, r.String())
	}
}

func TestFull(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 13, 0, 0, 0, time.FixedZone("", 3600))
	for want, f := range map[string]errtext.Full{
		"the rate limit has no room within the longest wait allowed (WithMaxWait)": {},
		"the rate limit has no room within the context's deadline":                 {Deadline: true},
		"after a wait of 2ms, the rate limit of surface lists (day) has room in 1.5s, which is beyond the longest wait allowed (WithMaxWait); " +
			"retry at 2026-11-22T12:00:00Z": {Surface: "lists", Window: "day", Wait: 1500*time.Millisecond + 1, FitsAt: at, Waited: 2 * time.Millisecond},
	} {
		require.Equal(t, want, f.String())
	}
}

func TestNotSettled(t *testing.T) {
	t.Parallel()
	require.Equal(t, "not settled", errtext.NotSettled(0, time.Second, ""))
	require.Equal(t, "not settled after 2s and 1 poll, no state was seen", errtext.NotSettled(1, 2*time.Second, ""))
	require.Equal(t, "not settled after 2s and 3 polls, last seen as a", errtext.NotSettled(3, 2*time.Second, "a"))
	require.Equal(t, "not settled, last seen as a", errtext.NotSettled(0, 0, "a"))
}
