package budget

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// serves is a service: what is left after a request that arrives at an instant, and when the window resets.
type serves func(at Instant) (left float64, reset Instant)

// fixedMinute is a service whose minutes begin by the clock, or with a request.
func fixedMinute(limit float64, floating bool) serves {
	used, end := 0.0, 37*second
	return func(at Instant) (float64, Instant) {
		if at >= end && floating {
			used, end = 0, at+minute
		} else if at >= end {
			used, end = 0, end+minute*(1+(at-end)/minute)
		}
		used++
		return limit - used, end - at
	}
}

func slidingMinute(limit float64) serves {
	var all []Instant
	return func(at Instant) (float64, Instant) {
		for len(all) > 0 && all[0]+minute <= at {
			all = all[1:]
		}
		all = append(all, at)
		return limit - float64(len(all)), all[0] + minute - at
	}
}

func bucket(limit float64) serves {
	missing, last := 0.0, Instant(0)
	return func(at Instant) (float64, Instant) {
		missing = max(0, missing-limit*float64(at-last)/float64(minute)) + 1
		last = at
		return limit - math.Ceil(missing), Instant(missing / limit * float64(minute))
	}
}

// weighedMinute rounds what the last minute weighs, up or down.
func weighedMinute(limit float64, rounded func(float64) float64) serves {
	last, used, end := 0.0, 0.0, 37*second
	return func(at Instant) (float64, Instant) {
		for at >= end {
			last, used, end = used, 0, end+minute
		}
		used++
		return limit - used - rounded(last*float64(end-at)/float64(minute)), end - at
	}
}

// told is what a request was told that is so far behind in the queue.
type toldWait struct {
	at, expected Instant
	known        knowledge
}

// playWaits lets so many goroutines make requests all the time, and compares what each was told with what came. It returns how many were
// compared, and how many learned something while they waited.
func playWaits(t *testing.T, limit, goroutines int, trip, within Instant, serve serves, certain func(knowledge) bool) (compared, learned int) {
	t.Helper()
	s := NewState(Config{PerMinute: limit, PerDay: 10_000, Share: DefaultShare})
	now, permit := second, Permit{}
	var flights []flight
	told := map[int64]toldWait{}
	for now < 5*minute {
		d, granted := Delay{Until: now + minute}, false
		if len(flights) < goroutines {
			d, granted = s.take(now, Interactive, &permit)
		}
		if granted {
			flights = append(flights, flight{permit, 0, now + trip + Instant(s.Dispatched%7)*millisecond})
			slices.SortStableFunc(flights, func(a, b flight) int { return cmp.Compare(a.over, b.over) })
			if w, ok := told[s.Dispatched]; ok && w.known == s.knows(now) && certain(w.known) {
				compared++
				off := max(w.expected-now, now-w.expected)
				require.LessOrEqual(t, off, (now-w.at)/10+within, "at %s told %s, waited %s", w.at.Duration(), (w.expected - w.at).Duration(), (now - w.at).Duration())
			} else if ok {
				learned++
			}
			continue
		}
		if waiting := goroutines - len(flights); waiting > 0 && s.Dispatched%3 == 0 { // the last of the queue has just joined
			at, _ := s.Expected(now, waiting-1, Interactive, trip)
			told[s.Dispatched+int64(waiting)] = toldWait{now, at, s.knows(now)}
		}
		now = max(d.Until, now+millisecond)
		if len(flights) > 0 && flights[0].over <= now {
			now = flights[0].over
			o := NoFigures
			if serve != nil {
				left, reset := serve(now - trip/2)
				require.GreaterOrEqual(t, left, 0.0)
				o = told120(limit, int(left), reset)
			}
			s.Report(now, flights[0].permit, o)
			flights = flights[1:]
		}
	}
	return compared, learned
}

func told120(limit, left int, reset Instant) Observation {
	return told(limit, left, ((reset + second - 1) / second * second).Duration())
}

func always(knowledge) bool     { return true }
func weighing(k knowledge) bool { return k.Weighs }

// What a call is told is what it waits, within a tenth: alone and behind others, near and far, with every kind of service. A service that
// gives back all the time tells whole requests: so it can be one request more.
func TestExpectedIsTrue(t *testing.T) {
	for _, limit := range []int{20, 120} {
		each := minute / Instant(limit)
		for _, trip := range []Instant{20 * millisecond, 300 * millisecond} {
			for _, goroutines := range []int{1, 16, 30} {
				for name, c := range map[string]struct {
					within  Instant
					serve   serves
					certain func(knowledge) bool
				}{
					"fixed":           {second, fixedMinute(float64(limit), false), always},
					"from a request":  {second, fixedMinute(float64(limit), true), always},
					"sliding":         {2 * second, slidingMinute(float64(limit)), func(k knowledge) bool { return k.Sliding == sure }},
					"bucket":          {each, bucket(float64(limit)), func(k knowledge) bool { return k.Refills >= 4 }},
					"weighed, up":     {each, weighedMinute(float64(limit), math.Ceil), weighing},
					"weighed, down":   {each, weighedMinute(float64(limit), math.Floor), weighing},
					"without figures": {0, nil, always},
				} {
					t.Run(fmt.Sprintf("%s, %d a minute, %d goroutines, %s", name, limit, goroutines, trip.Duration()), func(t *testing.T) {
						compared, learned := playWaits(t, limit, goroutines, trip, c.within+2*trip, c.serve, c.certain)
						t.Logf("%d compared, %d learned something", compared, learned)
						require.Positive(t, compared)
					})
				}
			}
		}
	}
}

// knowledge is what expected waits rest on, apart from figures. They hold as long as it does not change.
type knowledge struct {
	Refusals      int64
	Figures       bool // the last response had some
	Weighs, Fixed bool // how the service counts, as far as is known
	Sliding       int8 // evidence, as much as is needed
	Refills       int64
	Drips         int8
	Others        bool
	Limit         int64
}

func (s *State) knows(now Instant) knowledge {
	return knowledge{
		Refusals: s.Epoch, Figures: s.Figures.Valid, Sliding: min(s.Others.Slides, sure), Weighs: s.weighs(), Fixed: s.Weighs < 0,
		Refills: min(int64(s.Refills), s.refillsFrom()), Drips: s.Drips, Others: s.Others.Rate(now) > 0, Limit: s.Limits[Minute],
	}
}
