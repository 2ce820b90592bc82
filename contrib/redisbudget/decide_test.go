package redisbudget

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/ratelimit"
)

// twin asks the script and the package in Go the same, at the same time.
type twin struct {
	t      *testing.T
	store  *Store
	random *rand.Rand
	config budget.Config
	stored []byte
	now    budget.Instant
	open   []budget.Permit
	left   int // as the service would tell
	ended  budget.Instant
	silent bool // the service sends no figures
	up     time.Duration
	flow   flow
	seen   budget.State // with the highest evidence of how the service counts
}

// flow is a service that gives back a little all the time: by weight, or as a bucket.
type flow struct {
	weighs, refills bool
	last, used      int
	began, at       budget.Instant
	missing         float64
}

const minute = 60_000_000

// take counts a request, and returns what is left and when it resets.
func (f *flow) take(now budget.Instant) (left int, reset budget.Instant) {
	for f.weighs && now >= f.began+minute {
		f.last, f.used, f.began = f.used, 0, max(f.began+minute, now-3*minute)
	}
	f.missing = max(0, f.missing-20*float64(now-f.at)/minute)
	f.at = now
	if f.weighs {
		f.used++
		return 20 - f.used - int(math.Ceil(float64(f.last)*float64(f.began+minute-now)/minute)), f.began + minute - now
	}
	f.missing++
	return 20 - int(math.Ceil(f.missing)), budget.Instant(f.missing / 20 * minute)
}

const clock = "redis.call('TIME')"

// ask tells both, and demands one answer.
func (w *twin) ask(a *budget.Ask) budget.Reply {
	w.t.Helper()
	// The clock is all that is replaced.
	micros := int64(w.now)
	text := "{" + strconv.FormatInt(micros/1_000_000, 10) + "," + strconv.FormatInt(micros%1_000_000, 10) + "}"
	require.Equal(w.t, 1, strings.Count(script, clock))
	require.NoError(w.t, w.store.client.Set(w.t.Context(), "{twin}:clock", text, 0).Err())
	answer, err := w.store.eval(w.t.Context(), "evalsha", w.store.sha, ratelimit.SurfaceLists, a.Encode())
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		answer, err = w.store.eval(w.t.Context(), "eval", w.store.script, ratelimit.SurfaceLists, a.Encode())
	}
	require.NoError(w.t, err)
	var lua budget.Reply
	require.NoError(w.t, lua.Decode([]byte(answer)))
	var goes budget.Reply
	w.stored, goes = budget.Decide(w.stored, w.now, 1, a)
	var carried budget.Reply
	require.NoError(w.t, carried.Decode(goes.Encode()))
	require.Equal(w.t, carried, lua, "at %v", w.now)
	kept, err := w.store.client.Get(w.t.Context(), w.store.key("lists")).Bytes()
	require.NoError(w.t, err)
	require.Equal(w.t, w.stored, kept)
	w.seen.Weighs, w.seen.Refills = max(w.seen.Weighs, lua.State.Weighs), max(w.seen.Refills, lua.State.Refills)
	w.seen.Others.Regular = max(w.seen.Others.Regular, lua.State.Others.Regular)
	return lua
}

// step lets time pass, some requests end and some begin.
func (w *twin) step() {
	if w.flow.weighs || w.flow.refills {
		w.flows()
		return
	}
	pauses := []int64{0, 1, 999, 40_000, 250_000, 1_000_000, 3_000_000, 11_000_000, 45_000_000, 130_000_000, 3_600_000_000}
	w.now += budget.Instant(pauses[min(w.random.IntN(len(pauses)), w.random.IntN(len(pauses)))])
	if w.random.IntN(400) == 0 {
		w.now -= budget.Instant(w.random.IntN(2_000_000)) // a clock that is set back
	}
	a := &budget.Ask{Config: w.config}
	if w.random.IntN(100) == 0 {
		a.Reports = append(a.Reports, budget.Report{Observation: budget.NoFigures}) // never granted
	}
	for range w.random.IntN(4) {
		if len(w.open) > 0 {
			i := w.random.IntN(len(w.open))
			p := w.open[i]
			if w.random.IntN(50) > 0 { // else it comes back twice
				w.open = append(w.open[:i], w.open[i+1:]...)
			}
			a.Reports = append(a.Reports, budget.Report{Permit: p, Observation: w.observation()})
		}
	}
	if w.random.IntN(100) == 0 {
		a.Returned, a.Elsewhere = true, w.random.IntN(5)
		w.left -= a.Elsewhere
	}
	for range w.random.IntN(8) {
		a.Wanted = append(a.Wanted, budget.Priority(w.random.IntN(2)))
	}
	for _, g := range w.ask(a).Grants {
		if w.random.IntN(30) > 0 { // else it is never heard of again
			w.open = append(w.open, g.Permit)
		}
	}
}

// flows lets a service with a teammate who comes in a rhythm answer each request after a moment.
func (w *twin) flows() {
	before := w.now
	w.now += budget.Instant(w.random.IntN(1_500_000))
	if w.now/90_000_000 > before/90_000_000 && w.now > 1_700_000_600_000_000 {
		for range 5 {
			w.flow.take(w.now)
		}
	}
	a := &budget.Ask{Config: w.config, Wanted: make([]budget.Priority, w.random.IntN(3))}
	for _, p := range w.open {
		left, reset := w.flow.take(p.At)
		o := budget.Observation{Limit: 20, Remaining: max(0, left), Reset: (reset + 999_999).Duration().Truncate(time.Second), HasReset: true, Jitter: w.random.Float64()}
		o.RateLimited = left < 0
		o.Lost = w.random.IntN(200) == 0
		a.Reports = append(a.Reports, budget.Report{Permit: p, Observation: o})
	}
	w.open = w.open[:0]
	for _, g := range w.ask(a).Grants {
		w.open = append(w.open, g.Permit)
	}
}

// observation is mostly what a service with a window of its own would say.
func (w *twin) observation() budget.Observation {
	if w.now >= w.ended {
		w.left, w.ended = 20, w.now+60_000_000
	}
	o := budget.Observation{
		Limit: 20, Remaining: max(0, w.left-1), Reset: (w.ended - w.now + 1).Duration().Truncate(time.Second) + w.up, HasReset: true,
		Jitter: w.random.Float64(),
	}
	w.left -= 1 + w.random.IntN(3)/2
	if w.left < 0 {
		o.RateLimited, o.RetryAfter, o.HasRetry = w.random.IntN(3) > 0, time.Duration(w.random.IntN(90))*time.Second, w.random.IntN(2) == 0
	}
	chance := w.random.IntN(40)
	switch {
	case w.silent && chance > 3:
		return budget.NoFigures
	case w.up > 0 && w.ended == w.now+60_000_000:
		o.Reset = time.Minute
	}
	switch chance {
	case 0, 1:
		o = budget.NoFigures
	case 2:
		o.NotSent = true
	case 3:
		o.Lost = true
	case 4:
		o.Replays = w.random.IntN(120) - 10
	case 5:
		o.Limit, o.Remaining, o.Reset = 100, w.random.IntN(100), time.Duration(w.random.IntN(80_000))*time.Second
	case 6:
		o.Limit, o.Remaining, o.Reset, o.HasReset = w.random.IntN(60)-1, w.random.IntN(60)-1, time.Duration(w.random.Int64()), w.random.IntN(2) == 0
	case 7, 8:
		o.RateLimited, o.Limit, o.Remaining, o.HasReset = true, -1, -1, false
	}
	return o
}

// TestScriptAgreesWithThePackage: for random histories the script grants the same permits, denies for the same reason until the same
// moment, and keeps the same state, to the last bit.
func TestScriptAgreesWithThePackage(t *testing.T) {
	store := startRedis(t).store(t, "twin")
	store.script = strings.Replace(script, clock, "loadstring('return '..redis.call('GET', '{twin}:clock'))()", 1)
	store.sha = digest(store.script)
	var seen budget.State
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		configs := []budget.Config{
			{PerMinute: 20, PerDay: 1000, Share: budget.DefaultShare},
			{PerMinute: 20, PerDay: 100, Reserve: 3, Share: budget.DefaultShare},
			{},
			{PerMinute: 7},
			{PerDay: 50, Reserve: 1},
		}
		require.NoError(t, store.client.FlushDB(t.Context()).Err())
		w := &twin{t: t, store: store, random: random, config: configs[seed%5], now: 1_700_000_000_000_000}
		w.silent = seed%7 > 4
		w.up = time.Second * time.Duration(seed%2)
		w.flow = flow{weighs: seed%10 == 0, refills: seed%10 == 5, began: w.now}
		for range 300 {
			w.step()
		}
		for range 900 {
			if w.flow.weighs || w.flow.refills {
				w.step()
			}
		}
		seen.Weighs, seen.Refills = max(seen.Weighs, w.seen.Weighs), max(seen.Refills, w.seen.Refills)
		seen.Others.Regular = max(seen.Others.Regular, w.seen.Others.Regular)
	}
	require.GreaterOrEqual(t, seen.Weighs, int8(2), "the service was known to weigh")
	require.GreaterOrEqual(t, seen.Refills, int8(5), "or to have a bucket")
	require.Positive(t, seen.Others.Regular, "a teammate had a rhythm")
}
