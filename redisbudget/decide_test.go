package redisbudget

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/budget"
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
	answer, err := w.store.eval(w.t.Context(), "evalsha", w.store.sha, prospectkit.SurfaceLists, a.Encode())
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		answer, err = w.store.eval(w.t.Context(), "eval", w.store.script, prospectkit.SurfaceLists, a.Encode())
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
	return lua
}

// step lets time pass, some requests end and some begin.
func (w *twin) step() {
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
		o.Refused, o.RetryAfter, o.HasRetry = w.random.IntN(3) > 0, time.Duration(w.random.IntN(90))*time.Second, w.random.IntN(2) == 0
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
		o.Refused, o.Limit, o.Remaining, o.HasReset = true, -1, -1, false
	}
	return o
}

// TestScriptAgreesWithThePackage: for random histories the script grants the same permits, denies for the same reason until the same
// moment, and keeps the same state, to the last bit.
func TestScriptAgreesWithThePackage(t *testing.T) {
	store := startRedis(t).store(t, "twin")
	store.script = strings.Replace(script, clock, "loadstring('return '..redis.call('GET', '{twin}:clock'))()", 1)
	store.sha = digest(store.script)
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
		for range 300 {
			w.step()
		}
	}
}
