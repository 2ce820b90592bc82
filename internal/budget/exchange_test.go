package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Requests whose process died are forgotten, although others go on.
func TestTheDeadHoldNothing(t *testing.T) {
	s := opened(lists(), told(120, 119, time.Minute))
	dead, _ := take(s, second, 50)
	require.Len(t, dead, 50)
	now := second
	for now < 5*minute {
		now += 500 * millisecond
		if d := s.Take(now, Interactive); d.Granted {
			s.Report(now+millisecond, d.Permit, told(120, 60, 30*time.Second))
		}
	}
	require.Zero(t, s.inFlight())
	require.Equal(t, s.Dispatched, s.Completed)
	used := s.Counts[Day].Sum
	require.Equal(t, s.Dispatched, used)

	s.Report(now, dead[0], told(120, 5, time.Second)) // it lived after all
	require.Equal(t, used+1, s.Counts[Day].Sum)
	require.Equal(t, s.Dispatched, s.Completed)
	dispatched := s.Dispatched
	s.Return(dead[1])
	require.Equal(t, dispatched, s.Dispatched)
}

// A permit of another life, or of a process that was on its own, proves nothing about this one's figures.
func TestForeignPermitsOpenNothing(t *testing.T) {
	config := lists()
	stored, old := Decide(nil, 1_000_000*second, 2, &Ask{Config: config, Wanted: []Priority{Interactive}})
	require.Len(t, old.Grants, 1)
	require.NotEmpty(t, stored)
	probe := Ask{Config: config, Wanted: []Priority{Interactive}}
	stored, fresh := Decide(nil, 1_000_005*second, 2, &probe)
	permit := old.Grants[0].Permit
	permit.Then = 1000
	stored, _ = Decide(stored, 1_000_006*second, 2, &Ask{Config: config, Reports: []Report{{permit, told(120, 119, time.Minute)}}})
	_, reply := Decide(stored, 1_000_006*second, 2, &probe)
	require.True(t, reply.Denied.News, "the probe is still in flight")
	_, reply = Decide(stored, 1_000_007*second, 2, &Ask{
		Config: config, Reports: []Report{{fresh.Grants[0].Permit, told(120, 3, time.Minute)}}, Wanted: make([]Priority, 20),
	})
	require.Empty(t, reply.Grants, "three are left, and may be left to others or be the foreign one's")
	require.EqualValues(t, 2, reply.State.Dispatched)
}

func TestClockThatGoesBack(t *testing.T) {
	ask := Ask{Config: lists(), Wanted: []Priority{Interactive}}
	stored, first := Decide(nil, 1000*second, 1, &ask)
	_, reply := Decide(stored, 1000*second-millisecond, 1, &ask)
	require.Equal(t, 1000*second, reply.Now)
	require.True(t, reply.Denied.News)
	_, reply = Decide(stored, 900*second, 1, &ask)
	require.Equal(t, 900*second, reply.Now)
	require.Len(t, reply.Grants, 1)
	require.NotEqual(t, first.State.Epoch, reply.State.Epoch)
}

func TestBatchLeavesTheReserveAndInteractivePasses(t *testing.T) {
	config := Config{PerMinute: 20, Reserve: 5}
	stored, first := Decide(nil, second, 1, &Ask{Config: config, Wanted: []Priority{Interactive}})
	_, reply := Decide(stored, 2*second, 1, &Ask{
		Config: config, Reports: []Report{{first.Grants[0].Permit, told(20, 6, time.Minute)}},
		Wanted: []Priority{Batch, Batch, Interactive, Batch, Interactive},
	})
	var order []Priority
	for _, g := range reply.Grants {
		order = append(order, g.Priority)
	}
	require.Equal(t, []Priority{Batch, Interactive, Interactive}, order)
	require.False(t, reply.Denied.News)
}

// The parts of all processes together are no more than the whole.
func TestPartsAddUp(t *testing.T) {
	s := opened(Config{PerMinute: 120, PerDay: 1000}, told(120, 119, time.Minute))
	permits, _ := take(s, second, 70)
	for i, p := range permits[:60] {
		s.Report(second+Instant(i)*300*millisecond, p, told(120, 118-i, 50*time.Second))
	}
	now := 20 * second
	total := int(s.Counts[Minute].Sum + s.inFlight())
	for range 8 {
		alone := s.alone(now, 8)
		probe, _ := take(&alone, now, 20)
		require.Len(t, probe, 1, "it probes for itself")
		alone.Report(now, probe[0], told(120, 100, 40*time.Second))
		more, _ := take(&alone, now, 200)
		total += 1 + len(more)
		at, window := alone.Earliest(now, 0, Interactive)
		require.Equal(t, Minute, window)
		require.Greater(t, at, now+30*second)
	}
	require.LessOrEqual(t, total, 120)
	require.GreaterOrEqual(t, total, 120-8)
}

// FuzzDecide: a store may hold and send anything, and nothing panics.
func FuzzDecide(f *testing.F) {
	ask := Ask{Config: lists(), Wanted: []Priority{Batch, Interactive}, Reports: []Report{{Permit{Epoch: 1}, told(120, 5, time.Minute)}}}
	stored, _ := Decide(nil, minute, 1, &ask)
	f.Add(stored)
	f.Add([]byte{})
	f.Add([]byte("nonsense"))
	f.Fuzz(func(t *testing.T, stored []byte) {
		next, r := Decide(stored, hour, 1, &ask)
		require.NotEmpty(t, next)
		require.NotPanics(t, func() { r.State.Earliest(hour, 3, Batch); r.State.Forecast(hour, 10) })
	})
}

const hour = 60 * minute
