package sandbox_test

import (
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// rate reads the headers.
func (r result) rate() (limit, remaining, reset int) {
	r.t.Helper()
	read := func(name string) int {
		n, err := strconv.Atoi(r.header.Get(name))
		require.NoError(r.t, err, name)
		return n
	}
	return read("RateLimit-Limit"), read("RateLimit-Remaining"), read("RateLimit-Reset")
}

func (r result) requireRate(limit, remaining, reset int) {
	r.t.Helper()
	l, m, s := r.rate()
	require.Equal(r.t, [3]int{limit, remaining, reset}, [3]int{l, m, s})
}

func TestWindowsAreTheDocumentedOnes(t *testing.T) {
	sb := sandbox.New(t, manual())
	c := inPlace(t, sb)
	rows := map[op.Surface]*op.Op{}
	for _, row := range op.All() {
		if row.Path != "" {
			rows[row.Surface] = row
		}
	}
	require.Len(t, rows, len(op.DocumentedLimits))
	for surface, row := range rows {
		w := op.DocumentedLimits[surface]
		if w.PerMinute == 0 {
			w = op.Limits{PerMinute: 120, PerDay: 10_000} // assumed: none is shown
		}
		path := regexp.MustCompile(`{\w+}`).ReplaceAllString(row.Path, id(99))
		limit, left, _ := c.do(row.Method, path, nil).rate()
		require.Equal(t, []int{w.PerMinute, w.PerMinute - 1}, []int{limit, left}, surface)
		for used := 1; used < w.PerDay-1; used = min(used+w.PerMinute, w.PerDay-1) {
			sb.Advance(time.Minute)
			sb.Consume(string(surface), min(w.PerMinute, w.PerDay-1-used))
		}
		sb.Advance(time.Minute)
		limit, left, _ = c.do(row.Method, path, nil).rate()
		require.Equal(t, []int{w.PerDay, 0}, []int{limit, left}, surface)
	}
}

func TestMinuteWindow(t *testing.T) {
	clock := sandbox.NewManualClock(start)
	onEachRoad(t, []sandbox.Option{sandbox.WithClock(clock)}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		c.get(lists).requireRate(120, 119, 60)
		sb.Advance(time.Second / 2)
		c.get(lists).requireRate(120, 118, 60)
		sb.Advance(time.Second / 2)
		sb.Consume("lists", 117)
		r := c.get(lists)
		r.ok(200)
		r.requireRate(120, 0, 59)
		r = c.get(lists)
		r.fails(429, "RATE_LIMITED")
		r.requireRate(120, 0, 59)
		require.Equal(t, "59", r.header.Get("Retry-After"))
		sb.Advance(59*time.Second - 1)
		r = c.get(lists)
		r.fails(429, "RATE_LIMITED")
		require.Equal(t, "1", r.header.Get("Retry-After"), "rounded up")
		sb.Advance(1)
		c.get(lists).requireRate(120, 119, 60)
		require.Empty(t, c.get("/business/me").header.Get("Retry-After"), "other surfaces are not concerned")
	})
}

func TestDayWindowAndBothExhausted(t *testing.T) {
	clock := sandbox.NewManualClock(start)
	sb := sandbox.New(t, sandbox.WithClock(clock), sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 5, PerDay: 7}}))
	c := inPlace(t, sb)
	sb.Consume("lists", 5)
	r := c.get(lists)
	r.fails(429, "RATE_LIMITED")
	require.Equal(t, "60", r.header.Get("Retry-After"), "only the minute is used up")
	sb.Advance(time.Minute)
	c.get(lists).requireRate(7, 1, 24*3600-60)
	c.get(lists).requireRate(7, 0, 24*3600-60)
	r = c.get(lists)
	r.fails(429, "RATE_LIMITED")
	require.Equal(t, strconv.Itoa(24*3600-60), r.header.Get("Retry-After"), "only the day is used up")

	sb = sandbox.New(t, sandbox.WithClock(clock), sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 5, PerDay: 5}}))
	c = inPlace(t, sb)
	c.get(lists).requireRate(5, 4, 24*3600)
	sb.Consume("lists", 4)
	r = c.get(lists)
	require.Equal(t, strconv.Itoa(24*3600), r.header.Get("Retry-After"), "both are used up: the later reset")
}

func TestWhatCounts(t *testing.T) {
	sb := sandbox.New(t, manual(), sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 120, PerDay: 240}}))
	c := inPlace(t, sb)
	c.get(lists, "limit", "0").fails(422, "VALIDATION_FAILED")
	c.get(lists+"/"+id(1)).fails(404, "LIST_NOT_FOUND")
	c.get(lists).requireRate(120, 117, 60)
	c.as("nobody").get(lists).fails(401, "UNAUTHORIZED")
	c.as(sb.Key("search")).get(lists).fails(403, "INSUFFICIENT_SCOPE")
	c.do("DELETE", lists, nil).fails(404, "ENDPOINT_NOT_FOUND")
	c.get(lists).requireRate(120, 116, 60)
	sb.Consume("lists", 1_000)
	r := c.get(lists)
	r.fails(429, "RATE_LIMITED")
	r.requireRate(120, 0, 60)
	sb.Advance(time.Minute)
	sb.Consume("lists", 119)
	c.get(lists).requireRate(240, 0, 24*3600-60) // the minute held the rest back
}

func TestLimitsCanBeChangedAndSwitchedOff(t *testing.T) {
	sb := sandbox.New(t, sandbox.NoLimits())
	c := inPlace(t, sb)
	for n := range 130 {
		limit, remaining, reset := c.get("/business/me").rate()
		require.Equal(t, []int{1_000_000, 999_999 - n}, []int{limit, remaining}, "raised, and still told")
		require.LessOrEqual(t, reset, 60)
	}
	sb.Consume("lists", 999_999)
	limit, remaining, _ := c.get(lists).rate()
	require.Equal(t, []int{1_000_000, 0}, []int{limit, remaining}, "a day has more than a minute")

	sb = sandbox.New(t, sandbox.Limits(map[string]sandbox.Limit{"account": {PerMinute: 1}}), sandbox.WithClock(sandbox.NewManualClock(start)))
	c = inPlace(t, sb)
	c.get("/business/me").requireRate(1, 0, 60)
	c.get("/business/me").fails(429, "RATE_LIMITED")
	c.get(lists).requireRate(120, 119, 60)
}

func TestTheDocumentedWindowsOverADayInABubble(t *testing.T) {
	sb := sandbox.New(t) // outside the bubble, decades later
	c := inPlace(t, sb)
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		for i := range 10_000 {
			for {
				r := c.get("/business/me")
				if r.status == 200 {
					break
				}
				require.Equal(t, 429, r.status)
				wait, err := strconv.Atoi(r.header.Get("Retry-After"))
				require.NoError(t, err)
				require.LessOrEqual(t, wait, 60, "request %d", i)
				time.Sleep(time.Duration(wait) * time.Second)
			}
		}
		require.Equal(t, 83*time.Minute, time.Since(begin), "120 a minute")
		r := c.get("/business/me")
		require.Equal(t, strconv.Itoa(24*3600-83*60), r.header.Get("Retry-After"))
	})
}

func TestSlidingWindow(t *testing.T) {
	clock := sandbox.NewManualClock(start)
	sb := sandbox.New(t, sandbox.WithClock(clock), sandbox.SlidingWindows(), sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 3}}))
	c := inPlace(t, sb)
	for range 3 {
		c.get(lists).ok(200)
		sb.Advance(10 * time.Second)
	}
	r := c.get(lists)
	r.fails(429, "RATE_LIMITED")
	require.Equal(t, "30", r.header.Get("Retry-After"), "until the oldest leaves")
	sb.Advance(30 * time.Second)
	c.get(lists).requireRate(3, 0, 10)
	c.get(lists).fails(429, "RATE_LIMITED")
}

func TestWindowsAgreeWithASlowModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := sandbox.Limit{PerMinute: rapid.IntRange(1, 6).Draw(rt, "minute"), PerDay: rapid.IntRange(1, 30).Draw(rt, "day")}
		clock := sandbox.NewManualClock(start)
		sb := sandbox.New(nil, sandbox.WithClock(clock), sandbox.Limits(map[string]sandbox.Limit{"account": limit}))
		c := inPlace(t, sb)
		minute, day := &model{limit: limit.PerMinute, length: time.Minute}, &model{limit: limit.PerDay, length: 24 * time.Hour}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			clock.Advance(time.Duration(rapid.OneOf(rapid.IntRange(0, 40_000), rapid.IntRange(0, 90_000_000)).Draw(rt, "ms")) * time.Millisecond)
			now := clock.Now()
			minute.roll(now)
			day.roll(now)
			r := c.get("/business/me")
			if minute.used == minute.limit || day.used == day.limit {
				until := time.Time{}
				for _, w := range []*model{minute, day} {
					if w.used == w.limit && w.end().After(until) {
						until = w.end()
					}
				}
				r.fails(429, "RATE_LIMITED")
				require.Equal(t, strconv.Itoa(ceil(until.Sub(now))), r.header.Get("Retry-After"))
			} else {
				r.ok(200)
				minute.take(now)
				day.take(now)
			}
			binding := minute
			if left, other := minute.limit-minute.used, day.limit-day.used; other < left || other == left && day.endFrom(now).After(minute.endFrom(now)) {
				binding = day
			}
			r.requireRate(binding.limit, binding.limit-binding.used, ceil(binding.endFrom(now).Sub(now)))
			require.LessOrEqual(t, minute.used, minute.limit)
			require.LessOrEqual(t, day.used, day.limit)
		}
	})
}

// model is a fixed window, written for reading.
type model struct {
	limit, used int
	length      time.Duration
	start       time.Time
}

func (m *model) end() time.Time { return m.start.Add(m.length) }

func (m *model) endFrom(now time.Time) time.Time {
	if m.used == 0 {
		return now.Add(m.length)
	}
	return m.end()
}

func (m *model) roll(now time.Time) {
	if !now.Before(m.end()) {
		m.used = 0
	}
}

func (m *model) take(now time.Time) {
	if m.used == 0 {
		m.start = now
	}
	m.used++
}

func ceil(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
