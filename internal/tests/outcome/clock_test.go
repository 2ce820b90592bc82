package outcome_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// withDate shifts the Date of every response, as an edge with a clock of its own does, or drops it.
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
func TestResolve_AgesAcrossClocks(t *testing.T) {
	for _, d := range []withDate{{shift: -time.Minute}, {shift: -4 * time.Second}, {shift: 4 * time.Second}, {shift: time.Minute}, {none: true}} {
		tests.Ensuring(t, tests.SeededList("old", sandbox.ContactList), nil, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
			d.base = sb.Transport()
			client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(d))
			require.NoError(t, err)
			r, err := outcomeUnknown(t, sb, "lists.create", sandbox.DropAfter(), tests.Create(t, client, tests.Q1)).Resolve(t.Context())
			require.NoError(t, err)
			require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, "%s: %s", d.shift, r.Note)

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

// Whichever Date is wrong, and whatever sent it: a list that shows four seconds later is found by another process, not given up. What a
// cache shows stays open.
func TestTicket_AWrongDate(t *testing.T) {
	asksWho := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/me") }
	looks := func(r *http.Request) bool { return r.Method == http.MethodGet && !asksWho(r) }
	for name, of := range map[string]func(*http.Request) bool{"before the call": asksWho, "at the look": looks} {
		for _, header := range [][]string{nil, {"Age", "60"}, append([]string{"Content-Type", "text/html"}, tests.Bare...)} {
			for _, shift := range []time.Duration{-time.Hour, -time.Minute, -20 * time.Second, 20 * time.Second, time.Minute, time.Hour} {
				tests.Ensuring(t, sandbox.Workspace{}, []sandbox.Option{sandbox.HideFor(4 * time.Second)}, func(t *testing.T, sb *sandbox.Sandbox, _ *prospectkit.Client) {
					through := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
						if !of(r) {
							return withDate{base: sb.Transport()}.RoundTrip(r)
						}
						resp, err := withDate{base: sb.Transport(), shift: shift}.RoundTrip(r)
						for i := 0; i+1 < len(header); i += 2 {
							resp.Header.Set(header[i], header[i+1])
						}
						return resp, err
					})
					first := tests.SandboxClient(t, sb, prospectkit.WithTransport(through))
					require.NoError(t, tests.Discard(first.Account.Me(t.Context())))
					ticket := tests.Written(t, outcomeUnknown(t, sb, "lists.create", sandbox.DropAfter(), tests.Create(t, first, tests.Q1)).Ticket())
					r := resolved(t, ofTicket(tests.SandboxClient(t, sb, prospectkit.WithTransport(through)), ticket))
					want := prospectkit.OutcomeApplied
					if name == "at the look" && slices.Contains(header, "Age") {
						want = prospectkit.OutcomeUnknown
					}
					require.Equal(t, want, r.Outcome, "%s, %s, %v: %s", name, shift, header, r.Note)
					require.Equal(t, want == prospectkit.OutcomeUnknown, r.Again.After(time.Now()), "%s, %s, %v: %s", name, shift, header, r)
				})
			}
		}
	}
}

// Pages of a gateway tell nothing about the service's clock. Its responses and its errors do.
func TestTicket_HearsOnlyTheService(t *testing.T) {
	const page = "<html>"
	at := func(status int, body string, header ...string) tests.RoundTrip {
		return func(*http.Request) (*http.Response, error) {
			date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
			return tests.Respond(status, body, append([]string{"Date", date}, header...)...), nil
		}
	}
	for name, c := range map[string]struct {
		sends tests.RoundTrip
		hears bool
	}{
		"a success":              {at(200, tests.OneUser), true},
		"one without the limits": {at(200, tests.OneUser, tests.Bare...), true},
		"an error of it":         {at(404, tests.Envelope("AGENT_NOT_FOUND")), true},
		"a login page":           {at(200, page, tests.Bare...), false},
		"a gateway's error":      {at(502, page), false},
		"one that took no time":  {at(200, tests.OneUser, "Age", "1"), true},
		"a cached success":       {at(200, tests.OneUser, "Age", "2"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.LosesWrites(c.sends), tests.OneAttempt)
			_ = tests.Discard(client.Account.Me(t.Context()))
			unknown := tests.AsUnknown(t, tests.Create(t, client, tests.Q1)())
			require.Equal(t, c.hears, unknown.Ticket().ServiceAhead != nil, name)
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

// If the clock of this machine is set between the call and the look, neither what is found changes,
// nor whether it is settled. Instants in a bubble have no monotonic reading, so this test is of
// real time, and does not wait.
func TestResolve_AcrossAClockThatIsSet(t *testing.T) {
	for _, d := range []time.Duration{-time.Hour, -10 * time.Minute, -5 * time.Second, 5 * time.Second, 10 * time.Minute, time.Hour} {
		for _, arrives := range []bool{true, false} {
			sb := sandbox.New(t)
			client := tests.SandboxClient(t, sb)
			fault := map[bool]sandbox.FaultOption{true: sandbox.DropAfter(), false: sandbox.DropBefore()}[arrives]
			unknown := outcomeUnknown(t, sb, "lists.create", fault, tests.Create(t, client, tests.Q1))
			before := unknown.SentAt
			unknown.SentAt = clockSet(before, d)
			require.Equal(t, -d, unknown.SentAt.Round(0).Sub(before.Round(0)), "the wall reading differs")
			require.Zero(t, unknown.SentAt.Sub(before), "and the monotonic one does not")
			ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond) // no time for a second look
			r, err := unknown.Resolve(ctx)
			cancel()
			require.NoError(t, err)
			if arrives {
				require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, "%s: %s", d, r.Note)
			} else {
				require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
				require.WithinRange(t, r.Again, before, time.Now().Add(10*time.Second))
			}
		}
	}
}

// A look that began within 15 minutes of the call may have ended after them, such as after a 429: somebody may have undone it in between (seed
// 710864 of the simulation at 17978d9e).
func TestResolve_ALookThatEndsLater(t *testing.T) {
	for undone, want := range map[time.Duration]prospectkit.Outcome{0: prospectkit.OutcomeNotApplied, 20 * time.Second: prospectkit.OutcomeUnknown} {
		tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
			unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropAfter(), tests.Create(t, client, tests.Q1))
			time.Sleep(15*time.Minute - 10*time.Second)
			if want == prospectkit.OutcomeUnknown {
				sb.Fail("lists.list", sandbox.First(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(45))
			}
			time.AfterFunc(undone, func() { sb.Do(func(tx *sandbox.Tx) { tx.Delete("lists", sb.Lists()[0].ID) }) })
			synctest.Wait()
			r := resolved(t, unknown.Resolve)
			require.Equal(t, want, r.Outcome, r.Note)
			require.Zero(t, r.Again, "a person has to look")
		})
	}
}

// An instant that was read back from somewhere has no monotonic reading. If it lies ahead, the clock was set back.
func TestResolve_WithAnInstantAhead(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropAfter(), tests.Create(t, client, tests.Q1))
		unknown.SentAt = unknown.SentAt.Round(0).Add(time.Hour)
		r := resolved(t, unknown.Resolve)
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)

		unknown = lost(t, sb, sandbox.DropBefore(), client, "Q2")
		unknown.SentAt = unknown.SentAt.Round(0).Add(time.Hour)
		began := time.Now()
		r = resolved(t, unknown.Resolve)
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "nobody knows how long ago it was")
		require.Equal(t, 10*time.Second, time.Since(began).Round(time.Second))
	})
}

// slowJournal takes its time to store a ticket.
type slowJournal struct {
	*journal.MemoryJournal
	takes []time.Duration
}

func (j *slowJournal) Sending(ctx context.Context, t journal.Ticket) error {
	if len(j.takes) > 0 {
		time.Sleep(j.takes[0])
		j.takes = j.takes[1:]
	}
	return j.MemoryJournal.Sending(ctx, t)
}

// A verdict is final so long after the request was sent, however long its ticket took to be stored. If it takes too long, three times,
// nothing is sent: another process would read in the ticket that the call is older than it is.
func TestResolve_AfterASlowJournal(t *testing.T) {
	for name, takes := range map[string][]time.Duration{
		"once":   {12 * time.Second},
		"slowly": {8 * time.Second, 8 * time.Second, 8 * time.Second},
		"always": {12 * time.Second, 12 * time.Second, 12 * time.Second},
	} {
		tests.InTime(t, name, func(t *testing.T) {
			sb, j := sandbox.New(t), &slowJournal{new(journal.MemoryJournal), takes}
			client := tests.SandboxClient(t, sb, prospectkit.WithJournal(j))
			if name == "always" {
				require.ErrorIs(t, tests.Discard(client.Lists.Create(t.Context(), tests.Q1)), prospectkit.RuleJournal)
				require.Empty(t, sb.Journal())
				return
			}
			unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropBefore(), tests.Create(t, client, tests.Q1))
			sent := time.Now()
			require.Equal(t, sent, unknown.Ticket().LastSent.Local())
			stored := map[string]journal.Ticket{}
			for ticket, err := range j.InDoubt(t.Context()) {
				require.NoError(t, err)
				stored[name] = ticket
			}
			if name == "once" {
				require.Equal(t, sent, stored[name].LastSent.Local(), "it was stored again")
			}
			r := resolved(t, unknown.Resolve)
			require.Equal(t, prospectkit.OutcomeNotApplied, r.Outcome)
			require.GreaterOrEqual(t, time.Since(sent), 10*time.Second)
		})
	}
}

// slowHistory takes its time to tell of earlier calls, right before the request. By then, another worker may have taken over the ticket.
type slowHistory struct {
	*journal.MemoryJournal
	looks int
	takes time.Duration
	taken bool
}

func (j *slowHistory) Calls(ctx context.Context, op string) iter.Seq2[journal.Entry, error] {
	if j.looks++; j.looks == 2 {
		time.Sleep(j.takes)
	}
	return j.MemoryJournal.Calls(ctx, op)
}

func (j *slowHistory) Sending(ctx context.Context, t journal.Ticket) error {
	if j.taken && j.looks == 2 {
		return errors.New("another worker has settled it")
	}
	return j.MemoryJournal.Sending(ctx, t)
}

// A ticket says when its request was sent, however long it took to look for other calls with its key: whoever finds it counts from then, and
// nothing is sent if another worker has taken it over.
func TestResolve_AfterASlowHistory(t *testing.T) {
	for _, taken := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			sb, j := sandbox.New(t), &slowHistory{new(journal.MemoryJournal), 0, 6 * time.Minute, taken}
			client := tests.SandboxClient(t, sb, prospectkit.WithJournal(j))
			_, err := client.Lists.Create(t.Context(), tests.Q1, prospectkit.Once("q1"))
			if taken {
				require.ErrorIs(t, err, prospectkit.RuleJournal)
				require.Empty(t, sb.Journal())
				return
			}
			require.NoError(t, err)
			require.Equal(t, sb.Journal()[0].Time.UTC(), j.Entries()[0].Ticket.LastSent.UTC())
		})
	}
}

// While a ticket is stored, another call may be told to pause: the call then waits, too, and its ticket is stored again.
func TestJournal_SlowUntilThePauseHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &slowJournal{new(journal.MemoryJournal), []time.Duration{5 * time.Second, 0, 0, 6 * time.Second}}
		began := time.Now()
		var sent []time.Duration
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost:
				sent = append(sent, time.Since(began))
				return tests.CutOff(r)
			case time.Since(began) == time.Second:
				return tests.Respond(429, "", "Retry-After", "30"), nil
			}
			return tests.Respond(200, `{"data":[]}`), nil
		}), prospectkit.WithJournal(j))
		list := func() error { return tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{})) }
		require.NoError(t, list()) // so that more than one may be sent
		refused := make(chan error, 1)
		time.AfterFunc(time.Second, func() { refused <- list() })
		unknown := tests.AsUnknown(t, tests.Create(t, client, tests.Q1)())
		require.Len(t, sent, 1)
		require.InDelta(t, 31, sent[0].Seconds(), 4)
		require.NoError(t, <-refused)
		for ticket, err := range j.InDoubt(t.Context()) {
			require.NoError(t, err)
			require.WithinDuration(t, began.Add(sent[0]), ticket.LastSent, 500*time.Millisecond)
		}

		require.ErrorAs(t, tests.Create(t, client, tests.Q1)(), &unknown)
		require.Len(t, sent, 2, "without a pause, once is enough")
		tests.NothingInFlight(t, client)
	})
}

// sluggishJournal takes its time for every ticket.
type sluggishJournal struct{ *journal.MemoryJournal }

func (j sluggishJournal) Sending(ctx context.Context, t journal.Ticket) error {
	time.Sleep(600 * time.Millisecond)
	return j.MemoryJournal.Sending(ctx, t)
}

// Without a pause, a call whose ticket takes long keeps its place, or two of them would take turns after a 429, and never be sent.
func TestJournal_AlwaysSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int32
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if sent.Add(1) == 1 {
				return tests.Respond(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "5"), nil
			}
			return tests.Made(r)
		}), prospectkit.WithJournal(sluggishJournal{new(journal.MemoryJournal)}))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		calls := make(chan error)
		for _, name := range []string{"Q1", "Q2", "Q3"} {
			go func() { calls <- tests.Discard(client.Lists.Create(ctx, prospectkit.NewList{Name: name})) }()
		}
		for range 3 {
			require.NoError(t, <-calls)
		}
		tests.NothingInFlight(t, client)
	})
}

// A process that reads a ticket counts from when its request can have left last, by the limit that the call had for an attempt.
func TestResolve_AfterALongAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, j := sandbox.New(t, sandbox.HideFor(5*time.Second)), new(journal.MemoryJournal)
		slow := tests.RoundTrip(func(req *http.Request) (*http.Response, error) {
			if req.Method != http.MethodPost {
				return sb.Transport().RoundTrip(req)
			}
			time.Sleep(4 * time.Minute)
			resp, err := sb.Transport().RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			return nil, io.ErrUnexpectedEOF
		})
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(slow), prospectkit.WithJournal(j),
			prospectkit.WithAttemptTimeout(5*time.Minute))
		require.NoError(t, err)
		_, err = client.Account.Me(t.Context()) // the clock of the service is known from then on
		require.NoError(t, err)
		_, err = client.Lists.Create(t.Context(), tests.Q1)
		require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
		for ticket, err := range j.InDoubt(t.Context()) {
			require.NoError(t, err)
			r := resolved(t, ofTicket(client, ticket))
			require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, r.Note)
		}
	})
}

// A service that was silent until the attempt ended is slow, so what it makes may show later than usual: no look right after that is final.
// Whoever gave up earlier, or was killed, does not know how long it would have been silent.
func TestResolve_AfterASilentAttempt(t *testing.T) {
	for name, test := range map[string]struct {
		waited, limit time.Duration
		killed        bool
	}{
		"to its limit":                  {waited: time.Hour, limit: 30 * time.Second},
		"until its context ended":       {waited: 2 * time.Second, limit: 30 * time.Second},
		"to a short limit":              {waited: time.Hour, limit: 2 * time.Second},
		"until a kill":                  {waited: 2 * time.Second, limit: 30 * time.Second, killed: true},
		"until a kill, without a limit": {waited: 2 * time.Second, limit: math.MaxInt64, killed: true},
	} {
		t.Run(name, func(t *testing.T) {
			var made atomic.Bool
			tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
				list := ""
				if r.Method == http.MethodPost {
					time.Sleep(35 * time.Second)
					made.Store(true)
				} else if made.Load() {
					list = fmt.Sprintf(`{"id":%q,"name":"Q1","entityType":"contactList","createdAt":%q}`, tests.ListID, time.Now().UTC().Format(time.RFC3339))
				}
				fmt.Fprintf(w, `{"data":[%s],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":%d}}`, list, min(1, len(list)))
			}, func(t *testing.T, m *tests.MemoryServer) {
				client := m.Client(t, prospectkit.WithAttemptTimeout(test.limit), tests.Journaled())
				require.NoError(t, tests.Discard(client.Lists.Page(t.Context(), prospectkit.ListsParams{})))
				ctx, cancel := context.WithTimeout(t.Context(), test.waited)
				defer cancel()
				_, err := client.Lists.Create(ctx, tests.Q1)
				unknown := tests.AsUnknown(t, err)
				resolve := unknown.Resolve
				if test.killed {
					ticket := tests.Written(t, unknown.Ticket())
					resolve = func(ctx context.Context, _ ...prospectkit.CallOption) (*prospectkit.Resolution, error) {
						return m.Client(t, tests.Journaled()).Resolve(ctx, ticket)
					}
				}
				ctx, cancel = context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				r, err := resolve(ctx)
				require.NoError(t, err)
				require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, r.Note)
				require.True(t, r.Again.After(time.Now()), r)
				r, err = resolve(t.Context())
				require.NoError(t, err)
				require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, r.Note)
			})
		})
	}
}

// A transport that does not return when the context ends may still send the request: nothing that a read shows now is final.
func TestResolve_WhatATransportKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		queue := tests.RoundTrip(func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodPost {
				req = req.WithContext(context.WithoutCancel(req.Context()))
				time.Sleep(time.Minute)
			}
			return sb.Transport().RoundTrip(req)
		})
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(queue))
		require.NoError(t, err)
		ctx := tests.Within(t, time.Second)
		_, err = client.Lists.Create(ctx, tests.Q1)
		unknown := tests.AsUnknown(t, err)
		r := resolved(t, unknown.Resolve)
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, r.Note)
		require.True(t, r.Again.After(time.Now()), "it may come")
		time.Sleep(time.Minute)
		require.Len(t, sb.Lists(), 1)
	})
}

// A verdict is final so long after the request has left, not after the name was looked for and a connection was made.
func TestResolve_AfterASlowConnection(t *testing.T) {
	var active atomic.Bool
	tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
		status := "initializing"
		if r.Method == http.MethodPost {
			time.Sleep(58 * time.Second) // of the 60 that an activation may take
			active.Store(true)
		}
		if active.Load() {
			status = "active"
		}
		fmt.Fprintf(w, `{"agent":{"id":%q,"name":"x","type":"people-watcher","status":%q}}`, tests.AgentID, status)
	}, func(t *testing.T, m *tests.MemoryServer) {
		dial, slow := m.Transport.DialTLSContext, 20*time.Second
		m.Transport.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			time.Sleep(slow)
			slow = 0
			return dial(ctx, network, address)
		}
		_, err := m.Client(t).Agents.Activate(t.Context(), tests.AgentID)
		unknown := tests.AsUnknown(t, err)
		r := resolved(t, unknown.Resolve)
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, r.Note)
	})
}
