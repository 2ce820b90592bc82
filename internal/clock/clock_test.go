package clock_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"example.com/prospectkit/internal/clock"
)

func dated(t time.Time) http.Header {
	return http.Header{"Date": {t.UTC().Format(http.TimeFormat)}}
}

func aged(h http.Header, age string) http.Header {
	h = h.Clone()
	h.Set("Age", age)
	return h
}

// An Age proves a cache beyond the time that the attempt took, and a second. A Date beside any other counts.
func TestCached(t *testing.T) {
	for want, ages := range map[bool][][]string{false: {nil, {""}, {"0"}, {"0", "0"}, {"6"}, {"2", "6"}}, true: {{"7"}, {"0", "300"}, {"0, 300"}, {"soon"}, {"99999999999"}}} {
		for _, age := range ages {
			h := dated(time.Now())
			h["Age"] = age
			require.Equal(t, want, clock.Cached(h, 5*time.Second), "%q", age)
			_, known := clock.DateOf(h, 5*time.Second)
			require.Equal(t, !want, known, "%q", age)
		}
	}
	for age, older := range map[string]time.Duration{"": 0, "0": 0, "5": 0, "6": time.Second, "30": 25 * time.Second} {
		require.Equal(t, older, clock.Older(http.Header{"Age": {age}}, 5*time.Second), age)
	}
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
			"from elsewhere, long ago":          {clock.Sent{Last: sent.Add(-25 * time.Hour)}, nil, false}, // by one clock alone
			"the same, and only the look dated": {clock.Sent{Last: sent.Add(-25 * time.Hour)}, dated(time.Now()), false},
			"the service's clock is known":      {clock.Sent{Last: sent, Ahead: &hour}, dated(time.Now().Add(hour)), true},
			"it is known, too early":            {clock.Sent{Last: sent, Ahead: &hour}, dated(time.Now().Add(hour - 15*time.Second)), false},
			"it is known, but the lookup lacks": {clock.Sent{Last: sent, Ahead: &hour}, nil, false},
			"its clock is behind, no date":      {clock.Sent{Last: sent, Ahead: &behind}, nil, false},
			"an instant ahead":                  {clock.Sent{Last: sent.Add(48 * time.Hour)}, nil, false},
			"an old Date was heard":             {clock.Sent{Last: time.Now(), Ahead: &behind}, dated(time.Now()), false},
		} {
			require.Equal(t, test.want, test.sent.Overdue(10*time.Second, time.Now(), test.header), name)
			require.False(t, test.sent.Overdue(10*time.Second, sent.Add(-25*time.Hour), test.header), "%s, read before", name)
		}
	})
}

// A call is recent if no clock says otherwise, and none is missing. What was made is younger than the call if every clock says so.
func TestSent_RecentAndYounger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called, hour, behind, day := time.Now(), time.Hour, -time.Hour, 24*time.Hour
		const within = 15 * time.Minute
		time.Sleep(within)
		now := time.Now()
		local, there := clock.Sent{Last: called, Local: true}, clock.Sent{Last: called, Ahead: new(time.Duration)}
		early := clock.Sent{Last: called.Add(-time.Second), Ahead: new(time.Duration)}
		for name, test := range map[string]struct {
			sent          clock.Sent
			header        http.Header
			recent        bool
			younger, same time.Duration // made so long after the call: younger than it, and not
		}{
			"of this process":             {local, dated(now), true, 18 * time.Minute, 17 * time.Minute},
			"and no Date":                 {local, nil, true, day + 16*time.Minute, day + 15*time.Minute},
			"longer ago":                  {clock.Sent{Last: called.Add(-time.Second), Local: true}, nil, false, day + 15*time.Minute, day},
			"from elsewhere":              {there, dated(now), true, 18 * time.Minute, 17 * time.Minute},
			"from elsewhere, longer ago":  {early, dated(now), false, 18 * time.Minute, 16 * time.Minute},
			"nobody has heard the clock":  {clock.Sent{Last: called}, dated(now), false, 18 * time.Minute, 17 * time.Minute},
			"no Date now":                 {there, nil, false, 18 * time.Minute, 17 * time.Minute},
			"longer ago by the Date":      {there, dated(now.Add(time.Second)), false, 18 * time.Minute, 17 * time.Minute},
			"the service was ahead":       {clock.Sent{Last: called, Ahead: &hour}, dated(now.Add(hour)), true, hour + 18*time.Minute, hour + 17*time.Minute},
			"an instant ahead":            {clock.Sent{Last: called.Add(hour), Ahead: &behind}, dated(now), false, 33 * time.Minute, 31 * time.Minute},
			"it was behind, and is ahead": {clock.Sent{Last: called, Ahead: &behind}, dated(now.Add(hour)), false, hour + 18*time.Minute, hour + 17*time.Minute},
			"a creation has shown it":     {clock.Sent{Last: called, Local: true, Made: &hour}, dated(now), true, hour + 18*time.Minute, hour + 17*time.Minute},
			"by one clock alone":          {clock.Sent{Last: called, Made: &hour}, nil, false, day + hour + 16*time.Minute, day + hour + 15*time.Minute},
		} {
			require.Equal(t, test.recent, test.sent.Recent(within, now, test.header), name)
			require.True(t, test.sent.Younger(within, called.Add(test.younger), test.header), name)
			require.False(t, test.sent.Younger(within, called.Add(test.same), test.header), name)
		}
		require.False(t, local.Recent(within, now.Add(time.Second), nil))
	})
}

func TestSent_Older(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, hour, behind := time.Now(), time.Hour, -time.Hour
		time.Sleep(time.Minute)
		now, later := dated(time.Now()), dated(time.Now().Add(5*hour))
		local := clock.Sent{First: sent, Local: true}
		known := clock.Sent{First: sent, Ahead: &hour}
		for name, test := range map[string]struct {
			sent           clock.Sent
			made           time.Duration // after the call, by the clock of this machine
			header         http.Header
			older, certain bool
		}{
			"older by both":              {local, -3 * time.Minute, now, true, false},
			"by more than a day":         {local, -25 * hour, now, true, true},
			"a creation has shown it":    {clock.Sent{First: sent, Local: true, Made: &hour}, hour - 3*time.Minute, now, true, true},
			"and not old enough":         {clock.Sent{First: sent, Local: true, Made: &hour}, hour - time.Minute, later, false, true},
			"and by both clocks":         {clock.Sent{First: sent, Made: &behind, Ahead: &hour}, -hour - 3*time.Minute, dated(time.Now().Add(hour)), true, true},
			"and by one clock less old":  {clock.Sent{First: sent, Made: &behind, Ahead: new(time.Duration)}, -hour - 3*time.Minute, dated(time.Now().Add(-hour)), true, true},
			"and by one alone":           {clock.Sent{First: sent, Made: &behind}, -hour - 3*time.Minute, now, true, false},
			"not old enough":             {local, -time.Minute, now, false, true},
			"older by the Date alone":    {local, 4 * hour, later, true, false},
			"since the call by the Date": {local, 5 * hour, later, false, true},
			"older by all three":         {known, -3 * time.Minute, later, true, false},
			"older by both Dates":        {known, 30 * time.Minute, later, true, false},
			"older by the later Date":    {known, 2 * hour, later, false, true},
			"older by one against two":   {clock.Sent{First: sent, Ahead: new(time.Duration)}, 2 * hour, later, false, true},
			"older by no Date":           {known, hour, dated(time.Now().Add(hour)), false, true},
			"the call lies ahead":        {clock.Sent{First: sent.Add(hour)}, -10 * time.Minute, now, true, false},
			"it does, and no Date":       {clock.Sent{First: sent.Add(100 * hour)}, -25 * hour, nil, true, false},
			"and another clock knows":    {clock.Sent{First: sent.Add(hour), Ahead: &behind}, -10 * time.Minute, now, true, false},
			"of an unknown age":          {clock.Sent{First: sent}, -23 * hour, now, true, false},
			"of one, a day older":        {clock.Sent{First: sent}, -25 * hour, now, true, true},
			"no Date now":                {known, 30 * time.Minute, nil, true, false},
			"no Date at all":             {local, -25 * hour, nil, true, true},
			"no Date, not a day older":   {local, -23 * hour, nil, false, true},
		} {
			older, certain := test.sent.Older(sent.Add(test.made), test.header)
			require.Equal(t, test.older, older, name)
			require.Equal(t, test.certain, certain || !older, name)
		}
		require.True(t, clock.Before(sent, nil, later).Equal(sent.Add(-10*time.Second)), "by the earlier clock")
		require.True(t, clock.Before(sent, nil, dated(time.Now().Add(-hour))).Equal(sent.Add(-hour-10*time.Second)))
		require.True(t, clock.Before(sent, nil, nil).Equal(sent.Add(-24*hour)))
		require.True(t, clock.Before(sent, &behind, later).Equal(sent.Add(-hour-10*time.Second)), "a creation has shown it")
	})
}

// TestSent_OneClockMayBeWrong: whichever clock is wrong, and however wrong, nothing final is said against a call that took effect.
func TestSent_OneClockMayBeWrong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		off := time.Duration(rapid.Int64Range(int64(-100*time.Hour), int64(100*time.Hour)).Draw(t, "off"))
		heard, looked, before, now := time.Duration(0), time.Duration(0), time.Duration(0), time.Duration(0)
		wrong := rapid.SampledFrom([]string{"heard", "looked", "edge", "before", "since", "machine"}).Draw(t, "wrong")
		switch wrong {
		case "heard":
			heard = off
		case "looked":
			looked = off
		case "edge": // in all of its Dates
			heard, looked = off, off
		case "before": // this machine set its clock after the call
			before = off
		case "since":
			now = off
		case "machine":
			before, now = off, off
		}
		const within = 10 * time.Second
		age := time.Duration(rapid.Int64Range(0, int64(within)-1).Draw(t, "age"))
		truth := time.Now().Add(-now) // this machine's clock is that of the test
		ahead := heard - before
		called := truth.Add(-age + before)
		sent := clock.Sent{First: called, Last: called, Ahead: &ahead}
		header := dated(truth.Add(looked))
		require.False(t, sent.Overdue(within, time.Now(), header))
		require.False(t, sent.Recent(age-3*time.Second, time.Now(), header), "it is older by one clock at least; a Date tells seconds")
		service := time.Duration(rapid.Int64Range(int64(-100*time.Hour), int64(100*time.Hour)).Draw(t, "createdAt"))
		made := service - now // as a creation has shown
		for _, ahead := range []*time.Duration{&ahead, nil} {
			sent.Ahead = ahead
			for _, local := range []bool{false, now == 0} {
				sent.Local, sent.Made = local, &made
				_, certain := sent.Older(truth.Add(service-age), header)
				require.False(t, certain && (ahead != nil || local || off.Abs() < 24*time.Hour), "a creation has shown it")
				sent.Made = nil
				older, certain := sent.Older(truth.Add(-age), header)
				require.False(t, certain)
				require.False(t, older && sent.Ahead != nil && wrong != "edge", "two of three clocks are right")
			}
		}
		if off.Abs() < 24*time.Hour { // so much a clock may be off if no other one is known
			age = time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "age of an older call"))
			sent.First, sent.Local = truth.Add(-age+before), false
			for _, ahead := range []*time.Duration{&ahead, nil} {
				sent.Ahead = ahead
				_, certain := sent.Older(truth.Add(-age), header)
				require.False(t, certain)
			}
		}
	})
}

func TestService_Ahead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s clock.Service
		require.Nil(t, s.Ahead())
		s.Hear(http.Header{}, time.Now(), 0)
		s.Hear(http.Header{"Date": {"today"}}, time.Now(), 0)
		require.Nil(t, s.Ahead())
		s.Hear(dated(time.Now().Add(time.Hour)), time.Now(), 0)
		time.Sleep(time.Minute)
		s.Hear(http.Header{}, time.Now(), 0)
		s.Hear(aged(dated(time.Now()), "60"), time.Now(), 0)
		require.Equal(t, time.Hour, *s.Ahead(), "a cache tells nothing")
		require.Equal(t, time.Now().Add(time.Hour), s.At(time.Now()))
		require.Equal(t, time.Now(), new(clock.Service).At(time.Now()))
	})
}

// What was known of two clocks is no more once this machine's was set, or stood still.
func TestService_AfterTheClockWasSet(t *testing.T) {
	for off, known := range map[time.Duration]bool{9 * time.Second: true, time.Hour: false, -time.Hour: false} {
		var s clock.Service
		s.Hear(dated(time.Now()), slept(off), 0)
		require.Equal(t, known, s.Ahead() != nil, off)
	}
}

// slept is an instant of this process that is so long ago, of which the machine has slept as long: its monotonic clock stood still.
func slept(long time.Duration) time.Time {
	t := time.Now()
	*(*uint64)(unsafe.Pointer(&t)) -= uint64(long/time.Second) << 30 // the seconds of the wall clock, beside the monotonic reading
	return t
}

// A list that was made right after the call is not older than it, however long the machine has slept since; nor is it younger than what
// was made when it woke up.
func TestSent_AfterASleep(t *testing.T) {
	const long = 2 * time.Hour
	sent, now := slept(long), time.Now()
	require.Less(t, time.Since(sent), time.Minute)
	require.InDelta(t, long, time.Since(sent.Round(0)), float64(time.Minute))
	call := clock.Sent{First: sent, Last: sent, Local: true}
	for name, h := range map[string]http.Header{"a Date": dated(now), "none": nil} {
		_, certain := call.Older(now.Add(1-long), h)
		require.False(t, certain, name)
		require.False(t, call.Younger(time.Minute, now.Add(-time.Second), h), name)
	}
	require.True(t, clock.Before(sent, nil, dated(now)).Before(now.Add(-long)))
}
