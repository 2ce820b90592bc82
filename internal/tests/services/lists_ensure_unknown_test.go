package services_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// After a creation whose outcome is unknown, no refusal of a later one says that nothing was made.
func TestEnsure_StaysUnknown(t *testing.T) {
	lost := []sandbox.FaultOption{sandbox.Nth(1), sandbox.DropAfter()}
	early := []sandbox.FaultOption{sandbox.Nth(1), sandbox.DropBefore()}
	for name, tc := range map[string]struct {
		first  []sandbox.FaultOption
		hidden time.Duration
		then   []sandbox.FaultOption
		found  bool
		text   string
		code   prospectkit.Code
	}{
		"shows after the second request": {lost, 12 * time.Second, nil, true, "", ""},
		"shows after a minute":           {lost, time.Minute, nil, false, "looked 5 times, at last 10s after the call; and since: ", prospectkit.CodeListNameTaken},
		"then the key is revoked":        {early, 0, []sandbox.FaultOption{sandbox.Nth(2), sandbox.Status(401, "UNAUTHORIZED")}, false, "401 UNAUTHORIZED", prospectkit.CodeUnauthorized},
		"then it is invalid":             {early, 0, []sandbox.FaultOption{sandbox.Nth(2), sandbox.Status(422, "VALIDATION_FAILED")}, false, "looked 5 times", prospectkit.CodeValidationFailed},
		"then nothing leaves":            {early, 0, []sandbox.FaultOption{sandbox.Nth(2), sandbox.Status(403, "INSUFFICIENT_SCOPE")}, false, "and since: ", prospectkit.CodeInsufficientScope},
	} {
		t.Run(name, func(t *testing.T) {
			tests.Ensuring(t, sandbox.Workspace{}, []sandbox.Option{sandbox.HideFor(tc.hidden)}, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
				sb.Fail("lists.create", tc.first...)
				if tc.then != nil {
					sb.Fail("lists.create", tc.then...)
				}
				got, err := client.Lists.Ensure(t.Context(), tests.Q1)
				if tc.found {
					require.NoError(t, err)
					require.False(t, got.Created)
					require.False(t, got.Certain, "it was this call that made it")
					return
				}
				require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
				require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
				require.ErrorIs(t, err, tc.code, "why it ended is told, too")
				require.ErrorContains(t, err, tc.text)
			})
		})
	}
}

// Each creation has a ticket, and each lookup settles that of the creation before it.
func TestEnsure_SettlesEachCreation(t *testing.T) {
	for name, tc := range map[string]struct {
		faults map[int]sandbox.FaultOption // by the number of the creation
		want   []journal.Outcome
	}{
		"the third is confirmed": {map[int]sandbox.FaultOption{1: sandbox.DropBefore(), 2: sandbox.DropBefore()}, []journal.Outcome{journal.NotApplied, journal.NotApplied, journal.Applied}},
		"the second is found":    {map[int]sandbox.FaultOption{1: sandbox.DropBefore(), 2: sandbox.DropAfter()}, []journal.Outcome{journal.NotApplied, journal.Applied}},
	} {
		tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
			book := new(journal.MemoryJournal)
			client := tests.SandboxClient(t, sb, prospectkit.WithJournal(book))
			for n, fault := range tc.faults {
				sb.Fail("lists.create", sandbox.Nth(n), fault)
			}
			_, err := client.Lists.Ensure(t.Context(), tests.Q1)
			require.NoError(t, err, name)
			var outcomes []journal.Outcome
			for entry, err := range book.Calls(t.Context(), "lists.create") {
				require.NoError(t, err)
				outcomes = append(outcomes, entry.Outcome)
			}
			require.Equal(t, tc.want, outcomes, name)
		})
	}
}

// What has the name and is of another kind was not created by us.
func TestEnsure_IsCertainBesideAnotherKind(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropBefore())
		time.AfterFunc(8*time.Second, func() {
			sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "Q1", EntityType: sandbox.ContactList}) })
		})
		held, err := client.Lists.Ensure(t.Context(), tests.Firms)
		require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		require.Equal(t, prospectkit.ContactList, held.List.Kind)
		require.False(t, held.Created)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	})
}

// A request that got lost does not use up the whole context: half of it is left for the next one.
func TestEnsure_InAShortContext(t *testing.T) {
	for _, limit := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second} {
		tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
			sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropBefore())
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			got, err := client.Lists.Ensure(ctx, tests.Q1)
			require.NoError(t, err, limit)
			require.LessOrEqual(t, time.Since(began), limit/2)
			require.True(t, got.Created && got.Certain)
			require.Equal(t, 2, sb.Calls("lists.create"))
		})
	}
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropBefore())
		began := time.Now()
		_, err := client.Lists.Ensure(t.Context(), tests.Q1)
		require.NoError(t, err)
		require.Equal(t, 10*time.Second, time.Since(began).Round(time.Second), "without a deadline it waits until it would definitely show")
	})
}

// Ensure waits for a list that has the name and does not show yet, with growing pauses.
func TestEnsure_WaitsForAListThatDoesNotShowYet(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, []sandbox.Option{sandbox.HideFor(5 * time.Second)}, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		_, err := client.Lists.Create(t.Context(), tests.Q1)
		require.NoError(t, err)
		began := time.Now()
		got, err := client.Lists.Ensure(t.Context(), tests.Q1)
		require.NoError(t, err)
		require.Equal(t, 7*time.Second, time.Since(began).Round(time.Second), "it looks after 0, 1, 3 and 7 s")
		require.Equal(t, 4, sb.Calls("lists.list"))
		require.False(t, got.Created)
	})
}

// A list that is younger than the call may have been made by it, through a gateway that repeats requests.
func TestEnsure_BehindARepeatingGateway(t *testing.T) {
	tests.Ensuring(t, tests.SeededList("old", sandbox.ContactList), nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(tests.Repeats(sb.Transport(), tests.IsPost)))
		require.NoError(t, err)
		got, err := client.Lists.Ensure(t.Context(), tests.Q1)
		require.NoError(t, err)
		require.False(t, got.Created)
		require.False(t, got.Certain, "it is younger than the call")

		got, err = client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "old"})
		require.NoError(t, err)
		require.False(t, got.Created)
		require.True(t, got.Certain)

		_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q2"})
		require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		require.NotContains(t, err.Error(), "intermediary", "a creation alone does not know how old the list is")
	})
}

// What is found is certain only if it is definitely older than the call: by ten seconds if no
// request's outcome is unknown, and if one is by a day, or by two minutes once a creation has shown the clock of createdAt.
func TestEnsure_IsCertainOfOlderLists(t *testing.T) {
	for name, tc := range map[string]struct {
		age    time.Duration // when the call begins
		unseen time.Duration // from then on
		fault  []sandbox.FaultOption
		sure   bool
	}{
		"a moment old":                  {5 * time.Second, 0, nil, false},
		"some moments old":              {15 * time.Second, 0, nil, true},
		"made while the call waits":     {-20 * time.Second, 0, []sandbox.FaultOption{sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(60)}, false},
		"older, a wait":                 {15 * time.Second, 0, []sandbox.FaultOption{sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(60)}, true},
		"a minute old, outcome unknown": {time.Minute, 12 * time.Second, []sandbox.FaultOption{sandbox.Nth(1), sandbox.DropBefore()}, false},
		"older, outcome unknown":        {3 * time.Minute, 12 * time.Second, []sandbox.FaultOption{sandbox.Nth(1), sandbox.DropBefore()}, false},
		"a day older":                   {25 * time.Hour, 12 * time.Second, []sandbox.FaultOption{sandbox.Nth(1), sandbox.DropBefore()}, true},
		"older, of a known clock":       {3 * time.Minute, 12 * time.Second, []sandbox.FaultOption{sandbox.Nth(1), sandbox.DropBefore()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
				visible := time.Now().Add(max(tc.age, 0) + tc.unseen)
				makes := func() {
					sb.Do(func(tx *sandbox.Tx) {
						tx.CreateList(sandbox.List{Name: "Q1", EntityType: sandbox.ContactList, VisibleAt: visible})
					})
				}
				if tc.age < 0 {
					time.AfterFunc(-tc.age, makes)
				} else {
					makes()
					time.Sleep(tc.age)
				}
				if name == "older, of a known clock" {
					require.NoError(t, tests.Discard(client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q0"})))
				}
				if tc.fault != nil {
					sb.Fail("lists.create", tc.fault...)
				}
				got, err := client.Lists.Ensure(t.Context(), tests.Q1)
				require.NoError(t, err)
				require.False(t, got.Created)
				require.Equal(t, tc.sure, got.Certain)
			})
		})
	}
}

// A list without an age is certain, unless the outcome of a request of the call is unknown.
func TestEnsure_OfAListWithoutAnAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken, nobody, there := tests.NameTaken, tests.OnePage(), tests.OnePage(tests.OneList)
		for _, unknown := range []bool{false, true} {
			steps := []tests.RoundTrip{taken, there}
			if unknown {
				steps = []tests.RoundTrip{tests.Breaks, nobody, nobody, nobody, nobody, nobody, taken, there}
			}
			rt := tests.Stage(t, steps...)
			got, err := tests.NewClient(t, rt).Lists.Ensure(t.Context(), tests.Q1)
			require.NoError(t, err)
			require.Equal(t, !unknown, got.Certain)
		}
	})
}
