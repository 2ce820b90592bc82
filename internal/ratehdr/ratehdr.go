// Package ratehdr reads the rate-limit headers: RateLimit-Limit, RateLimit-Remaining,
// RateLimit-Reset and Retry-After. The first three are integers; parameters after them are ignored. A header that cannot be
// parsed counts as absent.
package ratehdr

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/clock"
)

// Never is a wait that is too long to be meant: an absurd number of seconds, or an overflowing
// date.
const Never = time.Duration(1<<63 - 1)

const (
	maxSeconds       = 1 << 31       // more are absurd
	maxRelativeReset = 86_400        // up to here, RateLimit-Reset is seconds from now
	epochFloor       = 1_000_000_000 // from here on, it is a Unix time
)

// Rate is what the RateLimit headers of a response say.
type Rate struct {
	Limit     int // -1 when absent
	Remaining int // -1 when absent
	Reset     time.Duration
	HasReset  bool
}

// ParseRate parses the three RateLimit headers. A reset that is a time stamp is relative to the Date of the response, or
// else to now by the service's clock if that is known, and one with decimals is rounded up. Of several lines, as where a gateway has a limit of its own, the
// one with the fewest requests remaining counts. It reports false if both limit and remaining are absent.
func ParseRate(h http.Header, now time.Time, service *clock.Service) (r Rate, ok bool) {
	r = rateOf(h, 0, now, service)
	for i := 1; i < len(h["Ratelimit-Remaining"]); i++ {
		if other := rateOf(h, i, now, service); r.Remaining < 0 || other.Remaining >= 0 && other.Remaining < r.Remaining {
			r = other
		}
	}
	return r, r.Limit >= 0 || r.Remaining >= 0
}

// rateOf is what the lines in one place say. A header with fewer lines says the same for all.
func rateOf(h http.Header, i int, now time.Time, service *clock.Service) (r Rate) {
	line := func(key string) string {
		if lines := h[key]; len(lines) > 0 {
			return lines[min(i, len(lines)-1)]
		}
		return ""
	}
	r.Limit, r.Remaining = count(line("Ratelimit-Limit")), count(line("Ratelimit-Remaining"))
	item, params, _ := strings.Cut(line("Ratelimit-Reset"), ";")
	whole, decimals, _ := strings.Cut(item, ".")
	reset, found := integer(whole + ";" + params) // which refuses a list
	if decimals != "" {
		n, err := strconv.ParseUint(decimals, 10, 63)
		if err != nil {
			return r
		}
		reset += int64(min(n, 1))
	}
	switch {
	case !found:
	case reset <= maxRelativeReset:
		r.Reset, r.HasReset = time.Duration(reset)*time.Second, true
	case reset >= epochFloor:
		r.Reset, r.HasReset = max(0, time.Unix(reset, 0).Sub(sentAt(h, now, service))), true
	}
	return r
}

// ParseRetryAfter parses Retry-After: seconds, or a date in any of the three forms of RFC 9110,
// relative to the Date of the response if the service has just sent it, or else to now by the service's clock if that is known. Of several lines, which a proxy may have
// joined by commas, the longest wait counts.
// Negative and invalid values count as absent, a date in the past as zero, an absurd value as
// [Never].
func ParseRetryAfter(h http.Header, now time.Time, service *clock.Service) (wait time.Duration, ok bool) {
	if len(h["Retry-After"]) > 0 {
		now = sentAt(h, now, service)
	}
	for _, line := range h["Retry-After"] {
		before := ""
		for part := range strings.SplitSeq(line, ",") {
			for _, text := range [...]string{part, before + "," + part} { // a date has a comma
				if w, good := retryAfter(strings.TrimSpace(text), now); good {
					wait, ok = max(wait, w), true
				}
			}
			before = part
		}
	}
	return wait, ok
}

func retryAfter(s string, now time.Time) (time.Duration, bool) {
	if n, err := strconv.ParseUint(s, 10, 63); err == nil && n <= maxSeconds {
		return time.Duration(n) * time.Second, true
	} else if err == nil || errors.Is(err, strconv.ErrRange) {
		return Never, true
	}
	at, err := http.ParseTime(s)
	if err != nil {
		return 0, false
	}
	if wait := at.Sub(now); wait <= maxSeconds*time.Second {
		return max(0, wait), true
	}
	return Never, true
}

// sentAt is the instant that the dates of a response are relative to: the Date of the service, or else now.
func sentAt(h http.Header, now time.Time, service *clock.Service) time.Time {
	if date, dated := clock.DateOf(h, 0); dated {
		return date
	}
	return service.At(now)
}

func count(line string) int {
	if n, ok := integer(line); ok {
		return int(min(n, math.MaxInt))
	}
	return -1
}

// integer parses an integer that is not negative, without what follows after a semicolon. A list is invalid.
func integer(line string) (int64, bool) {
	item, params, _ := strings.Cut(strings.TrimSpace(line), ";")
	if item == "" || strings.Contains(params, ",") {
		return 0, false
	}
	n, err := strconv.ParseUint(item, 10, 63)
	return int64(n), err == nil && n <= 999_999_999_999_999
}
