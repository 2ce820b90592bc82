package ratehdr

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/clock"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	const absent = -1
	for _, tc := range []struct {
		name  string
		lines []string
		date  string
		want  time.Duration
	}{
		{"none", nil, "", absent},
		{"empty", []string{""}, "", absent},
		{"seconds", []string{"120"}, "", 2 * time.Minute},
		{"spaces around", []string{" 7 "}, "", 7 * time.Second},
		{"zero", []string{"0"}, "", 0},
		{"leading zeros", []string{"0005"}, "", 5 * time.Second},
		{"largest sensible", []string{"2147483648"}, "", 2147483648 * time.Second},
		{"one more", []string{"2147483649"}, "", Never},
		{"overflows when multiplied", []string{"9223372037"}, "", Never},
		{"overflows int64", []string{"99999999999999999999999"}, "", Never},
		{"negative", []string{"-5"}, "", absent},
		{"signed", []string{"+5"}, "", absent},
		{"fraction", []string{"1.5"}, "", absent},
		{"words", []string{"soon"}, "", absent},
		{"RFC 1123", []string{"Sat, 21 Nov 2026 12:01:00 GMT"}, "", time.Minute},
		{"RFC 850", []string{"Saturday, 21-Nov-26 12:01:00 GMT"}, "", time.Minute},
		{"asctime", []string{"Sat Nov 21 12:01:00 2026"}, "", time.Minute},
		{"other zone", []string{"Sat, 21 Nov 2026 12:01:00 EST"}, "", absent},
		{"past", []string{"Sat, 21 Nov 2026 11:00:00 GMT"}, "", 0},
		{"in a hundred years", []string{"Thu, 21 Nov 2126 12:00:00 GMT"}, "", Never},
		{"year 9999", []string{"Fri, 31 Dec 9999 23:59:59 GMT"}, "", Never},
		{"date at the largest sensible wait", []string{now.Add(2147483648 * time.Second).Format(http.TimeFormat)}, "", 2147483648 * time.Second},
		{"date one second later", []string{now.Add(2147483649 * time.Second).Format(http.TimeFormat)}, "", Never},
		{"against Date", []string{"Sat, 21 Nov 2026 12:01:00 GMT"}, "Sat, 21 Nov 2026 12:00:30 GMT", 30 * time.Second},
		{"unreadable Date", []string{"Sat, 21 Nov 2026 12:01:00 GMT"}, "yesterday", time.Minute},
		{"several lines, longest", []string{"5", "60", "7"}, "", time.Minute},
		{"several lines, one unreadable", []string{"soon", "6"}, "", 6 * time.Second},
		{"joined lines", []string{"5, 50"}, "", 50 * time.Second},
		{"joined lines, the larger first", []string{"50,5"}, "", 50 * time.Second},
		{"joined lines, one unreadable", []string{"soon, 6, 1.5"}, "", 6 * time.Second},
		{"joined lines, a date", []string{"5, Sat, 21 Nov 2026 12:01:00 GMT, 7"}, "", time.Minute},
		{"joined lines, none readable", []string{"soon, -5"}, "", absent},
		{"parameters", []string{"50;q=1"}, "", absent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := http.Header{}
			for _, l := range tc.lines {
				h.Add("Retry-After", l)
			}
			if tc.date != "" {
				h.Set("Date", tc.date)
			}
			got, ok := ParseRetryAfter(h, now, new(clock.Service))
			require.Equal(t, tc.want != absent, ok)
			if ok {
				require.Equal(t, tc.want, got)
			}
		})
	}
}

// How long a cache has kept a response is no part of the wait.
func TestRetryAfter_FromACache(t *testing.T) {
	h := http.Header{"Retry-After": {"Sat, 21 Nov 2026 12:00:30 GMT"}, "Date": {"Sat, 21 Nov 2026 11:59:30 GMT"}, "Age": {"20"}}
	got, ok := ParseRetryAfter(h, now, new(clock.Service))
	require.True(t, ok)
	require.Equal(t, 30*time.Second, got)
}

func TestRate(t *testing.T) {
	header := func(limit, remaining, reset string) http.Header {
		h := http.Header{}
		for k, v := range map[string]string{"RateLimit-Limit": limit, "RateLimit-Remaining": remaining, "RateLimit-Reset": reset} {
			if v != "-" {
				h.Set(k, v)
			}
		}
		return h
	}
	for _, tc := range []struct {
		name string
		h    http.Header
		want Rate
		ok   bool
	}{
		{"all", header("120", "119", "60"), Rate{120, 119, time.Minute, true}, true},
		{"none left", header("120", "0", "0"), Rate{120, 0, 0, true}, true},
		{"day", header("10000", "5", "86400"), Rate{10000, 5, 24 * time.Hour, true}, true},
		{"between delta and stamp", header("120", "5", "86401"), Rate{120, 5, 0, false}, true},
		{"time stamp", header("120", "5", "1795262430"), Rate{120, 5, 30 * time.Second, true}, true},
		{"time stamp in the past", header("120", "5", "1000000000"), Rate{120, 5, 0, true}, true},
		{"absent", header("-", "-", "-"), Rate{-1, -1, 0, false}, false},
		{"reset alone", header("-", "-", "5"), Rate{-1, -1, 5 * time.Second, true}, false},
		{"limit of nothing alone", header("0", "-", "-"), Rate{0, -1, 0, false}, true},
		{"nothing remaining alone", header("-", "0", "-"), Rate{-1, 0, 0, false}, true},
		{"remaining alone", header("-", "4", "-"), Rate{-1, 4, 0, false}, true},
		{"garbage", header("many", "-3", "later"), Rate{-1, -1, 0, false}, false},
		{"parameters", header("120;w=60", `5; w=60;a="x;\"y" ;b`, "3;c;*d=:YQ==:"), Rate{120, 5, 3 * time.Second, true}, true},
		{"lists are no integers", header("10, 10;w=1", "10;w=1, 5;w=60", "1,2"), Rate{-1, -1, 0, false}, false},
		{"nothing before parameters", header(";w=1", "-0;w=1", " ;w"), Rate{-1, -1, 0, false}, false},
		{"next to digits", header("1:", ":", "1/"), Rate{-1, -1, 0, false}, false},
		{"fractions and signs", header("1.5", "+1", "-1"), Rate{-1, -1, 0, false}, false},
		{"beyond 32 bits", header("999999999999999", "2147483648", "60"), Rate{int(min(999_999_999_999_999, int64(math.MaxInt))), int(min(1<<31, int64(math.MaxInt))), time.Minute, true}, true},
		{"reset with decimals", header("120", "5", "12.25"), Rate{120, 5, 13 * time.Second, true}, true},
		{"reset with a zero", header("120", "5", "12.000"), Rate{120, 5, 12 * time.Second, true}, true},
		{"decimals of a parameter", header("120", "5", "60;w=1.5"), Rate{120, 5, time.Minute, true}, true},
		{"reset with decimals and a parameter", header("120", "5", "12.25;w=1"), Rate{120, 5, 13 * time.Second, true}, true},
		{"a list of decimals", header("120", "5", "12.5;w=1, 60"), Rate{120, 5, 0, false}, true},
		{"reset with other decimals", header("120", "5", "12.2e5"), Rate{120, 5, 0, false}, true},
		{"two limits", http.Header{"Ratelimit-Limit": {"120", "30"}, "Ratelimit-Remaining": {"90", "4"}, "Ratelimit-Reset": {"50", "20"}}, Rate{30, 4, 20 * time.Second, true}, true},
		{"two limits, the scarcer first", http.Header{"Ratelimit-Limit": {"30", "120"}, "Ratelimit-Remaining": {"4", "90"}, "Ratelimit-Reset": {"20", "50"}}, Rate{30, 4, 20 * time.Second, true}, true},
		{"two limits, one reset", http.Header{"Ratelimit-Remaining": {"later", "4"}, "Ratelimit-Reset": {"20"}}, Rate{-1, 4, 20 * time.Second, true}, true},
		{"out of range", header("99999999999999999999", "1000000000000000", "1000000000000000"), Rate{-1, -1, 0, false}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := ParseRate(tc.h, now, new(clock.Service))
			require.Equal(t, tc.ok, ok)
			require.Equal(t, tc.want, got)
		})
	}
}

// FuzzHeaders: no panic, no negative wait, whatever a server sends.
func FuzzHeaders(f *testing.F) {
	f.Add("120", "119", "60", "5", "")
	f.Add("-1", "9223372036854775807", "1795262430", "Sat, 21 Nov 2026 12:01:00 GMT", "Sat, 21 Nov 2026 12:00:00 GMT")
	f.Add(`2; w=60;a="x\"y"`, "-0;b", "60;c=?1", "", "")
	f.Add("", "0x10", "1e9", "9223372037", "Fri, 31 Dec 9999 23:59:59 GMT")
	f.Fuzz(func(t *testing.T, limit, remaining, reset, after, date string) {
		h := http.Header{
			"Ratelimit-Limit": {limit}, "Ratelimit-Remaining": {remaining}, "Ratelimit-Reset": {reset},
			"Retry-After": {after}, "Date": {date},
		}
		rate, ok := ParseRate(h, now, new(clock.Service))
		require.GreaterOrEqual(t, rate.Limit, -1)
		require.GreaterOrEqual(t, rate.Remaining, -1)
		require.GreaterOrEqual(t, rate.Reset, time.Duration(0))
		require.Equal(t, ok, rate.Limit >= 0 || rate.Remaining >= 0)
		wait, _ := ParseRetryAfter(h, now, new(clock.Service))
		require.GreaterOrEqual(t, wait, time.Duration(0))
	})
}
