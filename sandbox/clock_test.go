package sandbox_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestSleepingOnAManualClockJumps(t *testing.T) {
	clock := sandbox.NewManualClock(start)
	require.NoError(t, clock.Sleep(t.Context(), 23*time.Hour))
	require.NoError(t, clock.Sleep(t.Context(), -time.Hour))
	clock.Advance(time.Hour)
	clock.Advance(-2 * time.Hour)
	require.Equal(t, start.Add(24*time.Hour), clock.Now())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, clock.Sleep(ctx, time.Hour), context.Canceled)
	require.Equal(t, start.Add(24*time.Hour), clock.Now(), "a cancelled sleep does not move the clock")
}

func TestRealClockIsTheBubblesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := sandbox.RealClock()
		before := clock.Now()
		require.NoError(t, clock.Sleep(t.Context(), time.Hour))
		require.Equal(t, time.Hour, clock.Now().Sub(before))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, clock.Sleep(ctx, time.Hour), context.DeadlineExceeded)
		require.Equal(t, time.Hour+time.Minute, clock.Now().Sub(before))
	})
}

func TestScaledClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := sandbox.NewScaledClock(60)
		before, begin := clock.Now(), time.Now()
		require.NoError(t, clock.Sleep(t.Context(), time.Hour))
		require.Equal(t, time.Minute, time.Since(begin))
		require.Equal(t, time.Hour, clock.Now().Sub(before))
	})
	require.Panics(t, func() { sandbox.NewScaledClock(0) })
}

// backwards is a clock that somebody sets back.
type backwards struct{ now time.Time }

func (b *backwards) Now() time.Time                                 { return b.now }
func (b *backwards) Sleep(_ context.Context, _ time.Duration) error { return nil }

func TestTimeNeverGoesBack(t *testing.T) {
	clock := &backwards{start}
	sb := sandbox.New(t, sandbox.WithClock(clock))
	c := inPlace(t, sb)
	c.get("/business/me").ok(200)
	clock.now = start.Add(-time.Hour)
	c.get("/business/me").requireRate(120, 118, 60)
	require.Equal(t, start, sb.Journal()[1].Time)
}

func TestAUseBeforeTheBubbleIsReported(t *testing.T) {
	rec := &recorder{}
	sb := sandbox.New(rec)
	sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "x"}) })
	require.Empty(t, rec.errors)
	synctest.Test(t, func(t *testing.T) {
		inPlace(t, sb).get("/business/me").ok(200)
		inPlace(t, sb).get("/business/me").ok(200)
	})
	require.Len(t, rec.errors, 1)
	require.Contains(t, rec.errors[0], "use it inside the synctest bubble only")
}

func TestEventsHappenInOrderAndOnce(t *testing.T) {
	sb := sandbox.New(t, sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.HideFor(30*time.Minute))
	for _, after := range []time.Duration{2 * time.Hour, time.Hour} {
		sb.Do(func(tx *sandbox.Tx) {
			tx.Put("hubs", sandbox.Row{"name": "x", "status": "processing", "readyAt": start.Add(after)})
		})
	}
	inPlace(t, sb).do("POST", lists, object{"name": "x"}).ok(201)
	require.Empty(t, sb.Advance(30*time.Minute-1))
	require.Equal(t, []string{"list visible", "hub ready", "hub ready"}, kinds(sb.Advance(3*time.Hour)))
	require.Empty(t, sb.Advance(time.Hour))
	require.Len(t, sb.Events(), 3)
}

// What happens at one instant happens in the order in which it was scheduled, without what was put off since.
func TestEventsOfOneInstantHappenInTheOrderOfTheirScheduling(t *testing.T) {
	sb := sandbox.New(t, manual())
	var made []string
	ready := func(fields sandbox.Row, after time.Duration) (id string) {
		fields["status"], fields["readyAt"] = "processing", start.Add(after)
		sb.Do(func(tx *sandbox.Tx) { id = tx.Put("hubs", fields) })
		return id
	}
	for _, name := range []string{"b", "d", "a", "c", "e"} {
		made = append(made, ready(sandbox.Row{"name": name}, time.Hour))
	}
	ready(sandbox.Row{"id": made[1]}, 2*time.Hour)
	var subjects []string
	for _, event := range sb.Advance(2 * time.Hour) {
		subjects = append(subjects, event.Subject)
	}
	require.Equal(t, []string{made[0], made[2], made[3], made[4], made[1]}, subjects)
	require.Empty(t, sb.Advance(time.Hour))
}

func TestOnlyAManualClockIsAdvanced(t *testing.T) {
	rec := &recorder{}
	sb := sandbox.New(rec)
	require.Nil(t, sb.Advance(time.Hour))
	require.Len(t, rec.errors, 1)
	require.Contains(t, rec.errors[0], "manual clock")
}

func TestHiddenListsAppearLater(t *testing.T) {
	sb := sandbox.New(t, sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.HideFor(5*time.Second))
	c := inPlace(t, sb)
	list := at(c.do("POST", lists, object{"name": "x"}).ok(201), "list", "id").(string)
	require.Empty(t, c.get(lists).ok(200)["data"])
	c.get(lists + "/" + list).ok(200)
	c.do("POST", lists, object{"name": "x"}).fails(409, "LIST_NAME_TAKEN")
	hidden := sb.Snapshot()
	sb.Advance(5 * time.Second)
	require.Equal(t, []string{"x"}, names(c.get(lists).ok(200), "name"))

	again := sandbox.New(t, sandbox.Seed(hidden), sandbox.WithClock(sandbox.NewManualClock(start)))
	require.Empty(t, inPlace(t, again).get(lists).ok(200)["data"], "a snapshot remembers")
	require.Len(t, again.Advance(5*time.Second), 1)
	require.Len(t, inPlace(t, again).get(lists).ok(200)["data"], 1)
}
