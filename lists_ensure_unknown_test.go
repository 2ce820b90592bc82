package prospectkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// After a creation whose outcome is unknown, no refusal of a later one says that nothing was made.
func TestEnsureKeepsItsDoubt(t *testing.T) {
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
			ensuring(t, sandbox.Workspace{}, []sandbox.Option{sandbox.HideFor(tc.hidden)}, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
				sb.Fail("lists.create", tc.first...)
				if tc.then != nil {
					sb.Fail("lists.create", tc.then...)
				}
				got, err := client.Lists.Ensure(t.Context(), q1)
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

// What holds the name and is of another kind was made by nobody's creation of ours.
func TestEnsureKeepsNoDoubtBesideAnotherKind(t *testing.T) {
	ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropBefore())
		time.AfterFunc(8*time.Second, func() {
			sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "Q1", EntityType: sandbox.ContactList}) })
		})
		_, err := client.Lists.Ensure(t.Context(), firms)
		var held *prospectkit.NameConflictError
		require.ErrorAs(t, err, &held)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	})
}

// A request that got lost does not use up the whole context: half of it is left for the next one.
func TestEnsureInAShortContext(t *testing.T) {
	for _, limit := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second} {
		ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
			sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropBefore())
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			got, err := client.Lists.Ensure(ctx, q1)
			require.NoError(t, err, limit)
			require.LessOrEqual(t, time.Since(began), limit/2)
			require.True(t, got.Created && got.Certain)
			require.Equal(t, 2, sb.Calls("lists.create"))
		})
	}
	ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropBefore())
		began := time.Now()
		_, err := client.Lists.Ensure(t.Context(), q1)
		require.NoError(t, err)
		require.Equal(t, 10*time.Second, time.Since(began).Round(time.Second), "without a deadline it waits until it would surely show")
	})
}

// Ensure waits for a list that holds the name and does not show yet, with growing pauses.
func TestEnsureWaitsForAListThatDoesNotShowYet(t *testing.T) {
	ensuring(t, sandbox.Workspace{}, []sandbox.Option{sandbox.HideFor(5 * time.Second)}, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		_, err := client.Lists.Create(t.Context(), q1)
		require.NoError(t, err)
		began := time.Now()
		got, err := client.Lists.Ensure(t.Context(), q1)
		require.NoError(t, err)
		require.Equal(t, 7*time.Second, time.Since(began).Round(time.Second), "it looks after 0, 1, 3 and 7 s")
		require.Equal(t, 4, sb.Calls("lists.list"))
		require.False(t, got.Created)
	})
}

// repeating is a gateway that sends each POST twice and hands on the second answer.
type repeating struct{ base http.RoundTripper }

func (g repeating) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost {
		return g.base.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	for range 2 {
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := g.base.RoundTrip(again)
		if err != nil || resp.StatusCode != http.StatusCreated {
			return resp, err
		}
		_ = resp.Body.Close()
	}
	panic("a name was given twice")
}

// A list that is younger than the call may have been made by it, through a gateway that repeats requests.
func TestEnsureBehindARepeatingGateway(t *testing.T) {
	ensuring(t, seededList("old", sandbox.ContactList), nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(repeating{sb.Transport()}))
		require.NoError(t, err)
		got, err := client.Lists.Ensure(t.Context(), q1)
		require.NoError(t, err)
		require.False(t, got.Created)
		require.False(t, got.Certain, "it is younger than the call")

		got, err = client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "old"})
		require.NoError(t, err)
		require.False(t, got.Created)
		require.True(t, got.Certain)

		_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q2"})
		require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		require.ErrorContains(t, err, "younger than this call")
	})
}

// What is found is certain only if it is surely older than the call: by ten seconds if no request of the call is in doubt, and by two
// minutes if one is.
func TestEnsureIsCertainOfOlderLists(t *testing.T) {
	for name, tc := range map[string]struct {
		age    time.Duration // when the call begins
		unseen time.Duration // from then on
		fault  []sandbox.FaultOption
		sure   bool
	}{
		"a moment old":              {5 * time.Second, 0, nil, false},
		"some moments old":          {15 * time.Second, 0, nil, true},
		"made while the call waits": {-20 * time.Second, 0, []sandbox.FaultOption{sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(60)}, false},
		"older, a wait":             {15 * time.Second, 0, []sandbox.FaultOption{sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(60)}, true},
		"a minute old, a doubt":     {time.Minute, 12 * time.Second, []sandbox.FaultOption{sandbox.Nth(1), sandbox.DropBefore()}, false},
		"older, a doubt":            {3 * time.Minute, 12 * time.Second, []sandbox.FaultOption{sandbox.Nth(1), sandbox.DropBefore()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
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
				if tc.fault != nil {
					sb.Fail("lists.create", tc.fault...)
				}
				got, err := client.Lists.Ensure(t.Context(), q1)
				require.NoError(t, err)
				require.False(t, got.Created)
				require.Equal(t, tc.sure, got.Certain)
			})
		})
	}
}

// A list that tells no age is certain, unless a request of the call is in doubt.
func TestEnsureOfAListWithoutAnAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken := always(409, envelope("LIST_NAME_TAKEN"))
		nobody, there := always(200, `{"data":[],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`), always(200, `{"data":[`+oneList+`],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`)
		for _, doubted := range []bool{false, true} {
			steps := []roundTrip{taken, there}
			if doubted {
				steps = []roundTrip{breaks, nobody, nobody, nobody, nobody, nobody, taken, there}
			}
			rt, _ := inTurn(t, steps...)
			got, err := newClient(t, rt).Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Berlin"})
			require.NoError(t, err)
			require.Equal(t, !doubted, got.Certain)
		}
	})
}

// Whenever one looks, a list that the call made is not too old for it.
func TestResolveLongAfterTheCall(t *testing.T) {
	ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		doubt := inDoubt(t, sb, "lists.create", sandbox.DropAfter(), create(t, client, q1))
		time.Sleep(time.Hour)
		r, err := doubt.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.VerdictHappened, r.Verdict, r.Note)
	})
}

// Without a Date nobody knows how far the clocks differ.
func TestResolveWithoutADate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := sandbox.NewManualClock(time.Now().Add(-time.Hour))
		sb := sandbox.New(t, sandbox.WithClock(clock))
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(withDate{base: sb.Transport(), none: true}))
		require.NoError(t, err)
		r, err := inDoubt(t, sb, "lists.create", sandbox.DropAfter(), create(t, client, q1)).Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.VerdictHappened, r.Verdict, r.Note)
	})
}

// withDate shifts the Date of every answer, as an edge with a clock of its own does, or drops it.
type withDate struct {
	base  http.RoundTripper
	shift time.Duration
	none  bool
}

func (d withDate) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.base.RoundTrip(r)
	if resp != nil {
		resp.Header = resp.Header.Clone()
		resp.Header.Set("Date", time.Now().Add(d.shift).UTC().Format(http.TimeFormat))
		if d.none {
			resp.Header.Del("Date")
		}
	}
	return resp, err
}

// The clock of the edge and that of createdAt may differ: a list that the call made is not taken for an older one.
func TestAgesAcrossClocks(t *testing.T) {
	for _, d := range []withDate{{shift: -time.Minute}, {shift: -4 * time.Second}, {shift: 4 * time.Second}, {shift: time.Minute}, {none: true}} {
		ensuring(t, seededList("old", sandbox.ContactList), nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
			d.base = sb.Transport()
			client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(d))
			require.NoError(t, err)
			r, err := inDoubt(t, sb, "lists.create", sandbox.DropAfter(), create(t, client, q1)).Resolve(t.Context())
			require.NoError(t, err)
			require.Equal(t, prospectkit.VerdictHappened, r.Verdict, "%s: %s", d.shift, r.Note)

			sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
			got, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Q2"})
			require.NoError(t, err)
			require.False(t, got.Created || got.Certain)

			sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
			got, err = client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "old"})
			require.NoError(t, err)
			require.False(t, got.Created)
			require.True(t, got.Certain, "decades older")
		})
	}
}

// clockSet is what an instant that was noted before the clock was set by d looks like after it: its wall reading is of the old
// clock, and its monotonic one is true.
func clockSet(at time.Time, d time.Duration) time.Time {
	parts := (*struct {
		wall uint64 // a bit, 33 of seconds, 30 of nanoseconds
		ext  int64
		loc  *time.Location
	})(unsafe.Pointer(&at))
	parts.wall -= uint64(int64(d/time.Second)) << 30
	return at
}

// If the clock of this machine is set between the call and the look, neither what is found changes, nor whether it is settled. Instants
// in a bubble have no monotonic reading, so this test is of real time, and does not wait.
func TestResolveAcrossAClockThatIsSet(t *testing.T) {
	for _, d := range []time.Duration{-time.Hour, -10 * time.Minute, -5 * time.Second, 5 * time.Second, 10 * time.Minute, time.Hour} {
		for _, arrives := range []bool{true, false} {
			sb := sandbox.New(t)
			client := sandboxClient(t, sb)
			fault := map[bool]sandbox.FaultOption{true: sandbox.DropAfter(), false: sandbox.DropBefore()}[arrives]
			doubt := inDoubt(t, sb, "lists.create", fault, create(t, client, q1))
			before := doubt.SentAt
			doubt.SentAt = clockSet(before, d)
			require.Equal(t, -d, doubt.SentAt.Round(0).Sub(before.Round(0)), "the wall reading differs")
			require.Zero(t, doubt.SentAt.Sub(before), "and the monotonic one does not")
			ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond) // no time for a second look
			r, err := doubt.Resolve(ctx)
			cancel()
			require.NoError(t, err)
			require.False(t, r.Final)
			if arrives {
				require.Equal(t, prospectkit.VerdictHappened, r.Verdict, "%s: %s", d, r.Note)
			} else {
				require.Equal(t, prospectkit.VerdictNotSeen, r.Verdict)
			}
		}
	}
}

// An instant that was read back from somewhere has no monotonic reading. If it lies ahead, the clock was set back.
func TestResolveWithAnInstantAhead(t *testing.T) {
	ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		doubt := inDoubt(t, sb, "lists.create", sandbox.DropAfter(), create(t, client, q1))
		doubt.SentAt = doubt.SentAt.Round(0).Add(time.Hour)
		r, err := doubt.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.VerdictHappened, r.Verdict)

		doubt = inDoubtAgain(t, sb, client)
		doubt.SentAt = doubt.SentAt.Round(0).Add(time.Hour)
		began := time.Now()
		r, err = doubt.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.VerdictNotSeen, r.Verdict)
		require.False(t, r.Final, "nobody knows how long ago it was")
		require.Equal(t, 10*time.Second, time.Since(began).Round(time.Second))
	})
}

func inDoubtAgain(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) *prospectkit.OutcomeUnknownError {
	t.Helper()
	sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropBefore())
	_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q2"})
	var doubt *prospectkit.OutcomeUnknownError
	require.ErrorAs(t, err, &doubt)
	return doubt
}

// Ids are hexadecimal, in either case.
func TestResolveMoveIgnoresTheCaseOfIDs(t *testing.T) {
	seed := seededList("People", sandbox.ContactList)
	seed.Folders = []sandbox.Folder{{ID: "f0000000000000000000000a", Name: "Spring", Type: sandbox.ContactList}}
	ensuring(t, seed, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		doubt := inDoubt(t, sb, "lists.move", sandbox.DropAfter(), func() error {
			_, err := client.Lists.Move(t.Context(), "a00000000000000000000001", "F0000000000000000000000A")
			return err
		})
		r, err := doubt.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.VerdictHappened, r.Verdict)
	})
}

// Errors that no call has made, or that were written down and read back, print, and say that they cannot look.
func TestOutcomesThatNoCallHasMade(t *testing.T) {
	var zero prospectkit.OutcomeUnknownError
	require.Equal(t, "prospectkit: outcome unknown, it may have happened", zero.Error())
	require.NotEmpty(t, zero.LogValue().String())
	r, err := zero.Resolve(t.Context())
	require.NoError(t, err)
	require.Equal(t, prospectkit.VerdictUnknowable, r.Verdict)
	require.Equal(t, "this error was not made by a call of this process, so it cannot read the state", r.Note, "nobody knows what the service shows of it")

	ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		doubt := inDoubt(t, sb, "lists.create", sandbox.DropAfter(), create(t, client, q1))
		text, err := json.Marshal(doubt)
		require.NoError(t, err)
		var back prospectkit.OutcomeUnknownError
		require.NoError(t, json.Unmarshal(text, &back))
		require.ErrorContains(t, &back, "lists.create: outcome unknown")
		require.Len(t, back.Attempts, 1)
		require.Equal(t, prospectkit.DeliveryUnknown, back.Attempts[0].Delivery)
		require.NoError(t, back.Attempts[0].Err, "JSON holds no errors")
		r, err := back.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.VerdictUnknowable, r.Verdict)
		require.Contains(t, r.Note, "not made by a call of this process")
		require.Contains(t, r.Note, "the list of that name")
	})

	require.Contains(t, new(prospectkit.NameConflictError).Error(), "the name is taken")
}

// An activation in doubt stays in doubt, whatever is refused after it: the first one may have spent.
func TestCreateAndStartKeepsItsDoubt(t *testing.T) {
	for code, status := range map[string]int{"INSUFFICIENT_CREDITS": 402, "AGENT_NOT_FOUND": 404, "VALIDATION_FAILED": 422} {
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t, sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{Name: "main", Credits: 5000}}}))
			sb.Fail("agents.activate", sandbox.Nth(1), sandbox.DropBefore())
			sb.Fail("agents.activate", sandbox.Nth(2), sandbox.Status(status, code))
			draft, err := sandboxClient(t, sb).Agents.CreateAndStart(t.Context(), capped())
			require.ErrorIs(t, err, prospectkit.ErrNotStarted)
			require.True(t, draft.Draft())
			require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
			require.Equal(t, prospectkit.ActionVerifyFirst, prospectkit.AdviceOf(err).Action)
			require.ErrorIs(t, err, prospectkit.Code(code), "why it ended is told, too")
		})
	}
}
