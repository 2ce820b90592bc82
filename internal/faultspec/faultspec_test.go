package faultspec

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// trial is a test that collects what the sandbox reports.
type trial []error

func (*trial) Helper()        {}
func (*trial) Cleanup(func()) {}
func (t *trial) Errorf(format string, args ...any) {
	*t = append(*t, fmt.Errorf(format, args...))
}

func TestWords(t *testing.T) {
	for spec, want := range map[string]string{
		"lists.rows:nth=3:status=429:code=RATE_LIMITED:retry-after=2": "fault 1, lists.rows: request 3, Retry-After: 2, 429 RATE_LIMITED",
		"lists.create:nth=2:drop-after":                               "fault 1, lists.create: request 2, dropped after",
		"lists.create:drop-before:reset":                              "fault 1, lists.create: dropped before, reset",
		"*:every=10:refuse":                                           "fault 1, *: every 10, refused",
		"account.me:always:code=RATE_LIMITED":                         "fault 1, account.me: always, 429 RATE_LIMITED",
		"account.me:code=INSUFFICIENT_SCOPE":                          "fault 1, account.me: 403 INSUFFICIENT_SCOPE",
		"account.me:status=422:code=INSUFFICIENT_CREDITS":             "fault 1, account.me: 422 INSUFFICIENT_CREDITS",
		"account.me:status=503":                                       "fault 1, account.me: 503",
		"account.me:status=409:future-code=NEW":                       "fault 1, account.me: 409 NEW",
		"account.me:latency=1.5s":                                     "fault 1, account.me: latency 1.5s",
		"account.me:stall=1s":                                         "fault 1, account.me: stall 1s",
		"account.me:truncate=0":                                       "fault 1, account.me: truncated after 0",
		"account.me:oversized=9":                                      "fault 1, account.me: oversized to 9",
		"account.me:empty-body:header=Content-Type=a/b":               "fault 1, account.me: empty body, Content-Type: a/b",
		`account.me:nth=1:set=user.name="x:y"`:                        `fault 1, account.me: request 1, user.name = "x:y"`,
		"campaigns.approve:resent":                                    "fault 1, campaigns.approve: sent twice",
		"lists.rows:cap-totals=9:header=Age=2":                        "fault 1, lists.rows: totals of at most 9, Age: 2",
		"lists.rows:nth=1:empty-page":                                 "fault 1, lists.rows: request 1, empty page",
		`account.me:body={"user":{}}`:                                 "fault 1, account.me: 200 application/json",
		"account.me:status=500:body=":                                 "fault 1, account.me: 500 application/json",
		"account.me:code=RATE_LIMITED:header=Retry-After=12:00":       "fault 1, account.me: Retry-After: 12:00, 429 RATE_LIMITED",
	} {
		f, err := Parse(spec)
		require.NoError(t, err, spec)
		require.Equal(t, want, sandbox.New(new(trial)).Fail(f.Operation, f.Options...).String(), spec)
	}
}

func TestMistakes(t *testing.T) {
	for spec, want := range map[string]string{
		"":                                          "no operation",
		"lists.row:status=500":                      `"lists.row"`,
		"agents.pause:status=500":                   "is undocumented",
		"lists.rows":                                "does nothing",
		"lists.rows:nth=1":                          "does nothing",
		"lists.rows:nth=x:status=500":               "nth=x: not a number",
		"lists.rows:status=x":                       "not a number",
		"lists.rows:body":                           "needs a value",
		"lists.rows:nth=0:status=500":               "at least 1",
		"lists.rows:nth=1:first=1:refuse":           "two options",
		"lists.rows:wait=1s":                        "wait=1s",
		"lists.rows:drop":                           `"drop"`,
		"lists.rows:drop-after=1":                   "drop-after=1",
		"lists.rows:latency=5":                      "duration",
		"lists.rows:latency":                        "duration",
		"lists.rows:status=":                        "does nothing",
		"lists.rows:status=404":                     "without a code",
		"lists.rows:status=404:code=LIST_LOST":      "the code is undocumented",
		"lists.rows:code=LIST_LOST":                 "the code is undocumented",
		"lists.rows:status=500:code=NOTE_NOT_FOUND": "NOTE_NOT_FOUND",
		"lists.rows:future-code=NEW":                "FutureCode",
		"lists.rows:set=path":                       "needs a name and a value",
		"lists.rows:set=path=x":                     "a value of JSON",
		"lists.rows:html=502:code=RATE_LIMITED":     "two options",
		"lists.rows:drop-after:status=500":          "a cut connection",
		"lists.create:resent:status=500":            "Resent is for the service's own responses",
		"lists.rows:cap-totals=0":                   "at least 1",
	} {
		f, err := Parse(spec)
		var told trial
		if err == nil {
			sandbox.New(&told).Fail(f.Operation, f.Options...)
			err = errors.Join(told...)
		}
		require.ErrorContains(t, err, want, spec)
	}
}

func FuzzParse(f *testing.F) {
	for _, spec := range []string{"lists.rows:nth=3:status=429:retry-after=2", "*:body={}", "account.me:null=a.*.b:enum=a=b", ":=:", "a.b:html=-1"} {
		f.Add(spec)
	}
	f.Fuzz(func(_ *testing.T, spec string) {
		fault, err := Parse(spec)
		if err == nil {
			sandbox.New(new(trial)).Fail(fault.Operation, fault.Options...)
		}
	})
}
