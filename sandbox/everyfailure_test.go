package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/sandbox"
)

// send sends a request of a program the plain way, and returns the status, or 0 and the error.
func send(run *sandbox.Run, method, path, body string) (int, error) {
	return sendBy(run.Context(), run, method, path, body)
}

func sendBy(ctx context.Context, run *sandbox.Run, method, path, body string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, run.BaseURL()+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.SetBasicAuth(run.Token(), "")
	req.Header.Set("Content-Type", "application/json")
	resp, err := run.Client().Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil {
		return 0, err
	}
	return resp.StatusCode, nil
}

func createList(run *sandbox.Run, name string) (int, error) {
	return send(run, "POST", "/business/lists", fmt.Sprintf(`{"name": %q}`, name))
}

func holds(*sandbox.Run) error { return nil }

// sweep is EveryFailure with a test that may fail. It returns what was reported.
func sweep(program, invariant func(*sandbox.Run) error, opts ...sandbox.SweepOption) (*sandbox.Sweep, string) {
	var r recorder
	tried := sandbox.EveryFailure(&r, program, invariant, opts...)
	r.end()
	return tried, strings.Join(r.errors, "\n")
}

func TestEveryFailureTriesEachKindAtEachRequest(t *testing.T) {
	seen := map[string]int{}
	tried := sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		first, err := createList(run, "Q1")
		if err != nil || first != 201 {
			return fmt.Errorf("%d, %w", first, err)
		}
		_, err = send(run, "GET", "/business/me", "")
		return err
	}, func(run *sandbox.Run) error {
		for _, f := range run.Failures() {
			seen[fmt.Sprintf("%d %s: %s, lists: %d", f.Request, f.Op, f.Kind, len(run.Lists()))]++
		}
		require.Len(run, run.Failures(), min(1, len(seen)))
		return nil
	})
	require.Equal(t, &sandbox.Sweep{Requests: 2, Runs: 18}, tried)
	require.Equal(t, map[string]int{
		"1 lists.create: the request was lost, lists: 0":                                                                          1,
		"1 lists.create: the response was lost, lists: 1":                                                                         1,
		"1 lists.create: 500 after the service did it, lists: 1":                                                                  1,
		"1 lists.create: the response was cut in the middle, lists: 1":                                                            1,
		"1 lists.create: 429, and the service did nothing, lists: 0":                                                              1,
		"1 lists.create: the program was stopped, and run again, before the request arrived, lists: 1":                            1,
		"1 lists.create: the program was stopped, and run again, after the service did it, before the response arrived, lists: 1": 1,
		"1 lists.create: the server closed the connection, which was idle, as the request was sent, lists: 0":                     1,
		"1 lists.create: the response took two seconds, and a gateway calls that its Age, lists: 1":                               1,
		"2 account.me: the response took two seconds, and a gateway calls that its Age, lists: 1":                                 1,
		"2 account.me: the request was lost, lists: 1":                                                                            1,
		"2 account.me: the response was lost, lists: 1":                                                                           1,
		"2 account.me: 500 after the service did it, lists: 1":                                                                    1,
		"2 account.me: the response was cut in the middle, lists: 1":                                                              1,
		"2 account.me: 429, and the service did nothing, lists: 1":                                                                1,
		"2 account.me: the program was stopped, and run again, before the request arrived, lists: 1":                              1,
		"2 account.me: the program was stopped, and run again, after the service did it, before the response arrived, lists: 1":   1,
	}, seen)
	require.Equal(t, "requests: 2, marks between them: 0, runs: 18, and the invariant held in all of them", tried.String())
}

func TestEveryFailureNamesTheFirstBreak(t *testing.T) {
	tried, report := sweep(func(run *sandbox.Run) error {
		if _, err := send(run, "GET", "/business/me", ""); err != nil {
			return err
		}
		_, err := createList(run, "Q1")
		return err
	}, func(run *sandbox.Run) error {
		if errors.Is(run.Err(), io.EOF) && len(run.Lists()) == 1 {
			return errors.New("a list that nobody knows")
		}
		return nil
	})
	require.NotNil(t, tried.Broken)
	require.Equal(t, []sandbox.Failure{{
		Kind: sandbox.ResponseLost, Request: 2, Op: "lists.create", Method: "POST", Path: "/api/v1/business/lists",
	}}, tried.Broken.Failures)
	require.EqualError(t, tried.Broken.Err, "invariant: a list that nobody knows")
	require.ErrorIs(t, tried.Broken.Program, io.EOF)
	require.Len(t, tried.Broken.Journal, 2)
	require.Equal(t, 11, tried.Runs, "the first, eight at the first request, two at the second")
	for _, part := range []string{
		"requests: 2, marks between them: 0, runs: 11, and the last one is broken",
		"broken by request 2, lists.create POST /api/v1/business/lists: the response was lost\n",
		"invariant: a list that nobody knows\n",
		"the program returned: ", ": EOF\n",
		`POST /api/v1/business/lists 201: list created: "Q1" [EveryFailure: the response was lost]`,
		"(everyfailure_test.go:",
	} {
		require.Contains(t, report, part)
	}
}

// The last line of a report is a command that replays its failures, and nothing else.
func TestEveryFailureReplays(t *testing.T) {
	tries := map[string]int{}
	once := func() (*sandbox.Sweep, string) {
		clear(tries)
		return sweep(func(run *sandbox.Run) error {
			if status, err := createList(run, "Q1"); err != nil || status == 500 {
				_, err = createList(run, "Q2")
				return err
			}
			return nil
		}, func(run *sandbox.Run) error {
			tries[fmt.Sprint(run.Failures())]++
			if len(run.Failures()) == 2 && len(run.Lists()) == 2 {
				return errors.New("two lists")
			}
			return nil
		}, sandbox.Twice())
	}
	tried, report := once()
	line := report[strings.LastIndex(report, "\n")+1:]
	require.Equal(t, "EVERYFAILURE=1:0.1.1,0.2.7 go test example.com/prospectkit/sandbox -run '^Test of a \\(sweep\\)$/^it'\\''s$'", line)
	name, rest, _ := strings.Cut(line, "=")
	value, _, _ := strings.Cut(rest, " ")
	t.Setenv(name, value)
	again, second := once()
	require.Equal(t, 1, again.Runs)
	require.Len(t, tries, 1)
	require.Equal(t, tried.Broken.Failures, again.Broken.Failures)
	require.Contains(t, second, "two lists")

	t.Setenv(name, "1:0.9.1")
	again, _ = once()
	require.Nil(t, again.Broken, "another program has no such request")
	for _, wrong := range []string{"1:here", "x"} {
		t.Setenv(name, wrong)
		_, second = once()
		require.Contains(t, second, wrong)
	}
}

// What gateways and servers do is tried where it can be.
func TestEveryFailureWhereItCanBe(t *testing.T) {
	seen := map[string][]sandbox.FailureKind{}
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		_, approval := send(run, "POST", "/business/campaigns/"+run.Campaigns()[0].ID+"/approve", "")
		_, short := createList(run, "Q1")
		_, long := send(run, "POST", "/business/lists", `{"name": "Q2"}`+strings.Repeat(" ", 8<<10))
		_, me := send(run, "GET", "/business/me", "")
		_, page := send(run, "GET", "/business/lists?limit=1", "")
		return errors.Join(approval, short, long, me, page)
	}, func(run *sandbox.Run) error {
		arrived, made := 5, 3
		for _, f := range run.Failures() {
			at := fmt.Sprint(f.Request, " ", f.Op)
			seen[at] = append(seen[at], f.Kind)
			arrived += map[sandbox.FailureKind]int{sandbox.SentTwice: 1, sandbox.IdleClosed: -1}[f.Kind]
			if f.Op == "lists.create" && f.Kind != sandbox.AgedResponse {
				made--
			}
		}
		require.Len(run, run.Journal(), arrived)
		require.Len(run, run.Lists(), made)
		return nil
	}, sandbox.Setup(func(run *sandbox.Run) {
		run.Do(func(tx *sandbox.Tx) {
			tx.ConnectAccount("email")
			tx.CreateCampaign(sandbox.ReadyCampaign("Spring", tx.CreateList(sandbox.List{Name: "Berlin"})))
		})
	}), sandbox.Only(sandbox.SentTwice, sandbox.IdleClosed, sandbox.BodyRefused, sandbox.AgedResponse, sandbox.TotalsCapped, sandbox.PageEmptied))
	require.Equal(t, map[string][]sandbox.FailureKind{
		"1 campaigns.approve": {sandbox.SentTwice, sandbox.IdleClosed, sandbox.AgedResponse},
		"2 lists.create":      {sandbox.IdleClosed, sandbox.AgedResponse},
		"3 lists.create":      {sandbox.IdleClosed, sandbox.BodyRefused, sandbox.AgedResponse},
		"4 account.me":        {sandbox.AgedResponse},
		"5 lists.list":        {sandbox.AgedResponse, sandbox.TotalsCapped, sandbox.PageEmptied},
	}, seen)
}

// What is wrong before any failure makes the rest worthless.
func TestEveryFailureOfNothing(t *testing.T) {
	me := func(run *sandbox.Run) error {
		_, err := send(run, "GET", "/business/me", "")
		return err
	}
	broken := func(*sandbox.Run) error { return errors.New("never true") }
	starts := 0
	for name, c := range map[string]struct {
		program, invariant func(*sandbox.Run) error
		opts               []sandbox.SweepOption
		want               string
	}{
		"no request":       {func(*sandbox.Run) error { return nil }, holds, nil, "sent no request through the transport of its Run"},
		"another way":      {func(run *sandbox.Run) error { call(run.Sandbox, "GET", "/business/me", ""); return nil }, holds, nil, "sent no request"},
		"two ways":         {func(run *sandbox.Run) error { call(run.Sandbox, "GET", "/business/me", ""); return me(run) }, holds, nil, "and so cannot fail: 1"},
		"invariant":        {me, broken, nil, "broken without any failure\ninvariant: never true"},
		"an error":         {func(run *sandbox.Run) error { return errors.Join(me(run), io.ErrNoProgress) }, holds, nil, "fails without any failure: " + io.ErrNoProgress.Error()},
		"an assertion":     {func(run *sandbox.Run) error { run.Errorf("wrong: %d", 1); return me(run) }, holds, nil, "wrong: 1"},
		"FailNow":          {func(run *sandbox.Run) error { require.NoError(run, me(run)); run.FailNow(); return nil }, holds, nil, "it left its goroutine"},
		"invariant leaves": {me, func(run *sandbox.Run) error { run.FailNow(); return nil }, nil, "invariant: it left its goroutine"},
		"panic":            {func(*sandbox.Run) error { panic("ouch") }, holds, nil, "panic: ouch\n"},
		"panic after":      {me, func(*sandbox.Run) error { panic("ouch") }, nil, "panic: ouch\n"},
		"setup":            {me, holds, []sandbox.SweepOption{sandbox.Setup(func(run *sandbox.Run) { run.Errorf("no ground") })}, "no ground"},
		"setup's mistake":  {me, holds, []sandbox.SweepOption{sandbox.Setup(func(run *sandbox.Run) { run.Calls("none") })}, `no operation "none"`},
		"unfired fault":    {me, holds, []sandbox.SweepOption{sandbox.Setup(func(run *sandbox.Run) { run.Fail("lists.list") })}, "the fault does nothing"},
		"fault of setup":   {me, holds, []sandbox.SweepOption{sandbox.Setup(func(run *sandbox.Run) { run.Fail("lists.list", sandbox.DropAfter()) })}, "a fault never fired"},
		"no kind":          {me, holds, []sandbox.SweepOption{sandbox.Only()}, "no failure was tried"},
		"no mark":          {me, holds, []sandbox.SweepOption{sandbox.Only(sandbox.StopBetween)}, "no failure was tried"},
		"option":           {me, holds, []sandbox.SweepOption{sandbox.Credits(-1)}, "Credits: the balance is negative"},
		"clock":            {me, holds, []sandbox.SweepOption{sandbox.WithClock(sandbox.NewManualClock(start))}, "has its own virtual time"},
		"a request less": {func(run *sandbox.Run) error {
			if starts++; starts == 1 {
				return errors.Join(me(run), me(run))
			}
			return me(run)
		}, holds, []sandbox.SweepOption{sandbox.Only(sandbox.RateLimited)}, "request or mark 2 was not reached"},
		"no end of requests": {func(run *sandbox.Run) error {
			for {
				_ = me(run)
			}
		}, holds, []sandbox.SweepOption{sandbox.NoLimits()}, "did not end within 10000 requests"},
		"no end of time": {func(run *sandbox.Run) error {
			_ = me(run)
			<-make(chan int)
			return nil
		}, holds, nil, "did not end within 31 days"},
		"left behind": {func(run *sandbox.Run) error {
			go func() { <-make(chan int) }()
			return me(run)
		}, holds, nil, "blocked goroutines remain"},
	} {
		t.Run(name, func(t *testing.T) {
			tried, report := sweep(c.program, c.invariant, c.opts...)
			require.NotNil(t, tried.Broken)
			require.Contains(t, report, c.want)
		})
	}
}

func TestEveryFailureInABubble(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		_, report := sweep(func(*sandbox.Run) error { return nil }, holds)
		require.Contains(t, report, "within a synctest bubble")
	})
}

// A program that was stopped does nothing any more, wherever it tries.
func TestEveryFailureStopsForGood(t *testing.T) {
	undone := 0
	tried := sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		_, again := run.Load("begun")
		require.Equal(run, run.Starts() > 1, again)
		run.Save("begun", "yes")
		file := filepath.Join(run.Dir(), "a", "file")
		require.NoError(run, os.MkdirAll(filepath.Dir(file), 0o700))
		if again {
			text, err := os.ReadFile(file)
			require.NoError(run, err)
			require.Equal(run, "before", string(text), "as it was when the program was stopped")
			return nil
		}
		require.NoError(run, os.WriteFile(file, []byte("before"), 0o600))
		rest := context.WithoutCancel(run.Context())
		defer func() {
			undone++
			_ = os.WriteFile(file, []byte("after"), 0o600)
			run.Save("begun", "after")
			undone += 100 // not reached
		}()
		defer func() { _, _ = sendBy(rest, run, "DELETE", "/business/me", "") }()
		go func() {
			<-run.Context().Done()
			_, _ = sendBy(rest, run, "PUT", "/business/me", "")
			undone += 100
		}()
		_, _ = send(run, "POST", "/business/me", "")
		undone += 100
		return nil
	}, func(run *sandbox.Run) error {
		if len(run.Failures()) == 0 {
			return nil
		}
		for _, e := range run.Journal() {
			require.Contains(run, []string{"POST", "DELETE"}[:run.Failures()[0].Request], e.Method)
		}
		require.Equal(run, []int{1, 101}[run.Failures()[0].Request-1], undone, "what follows the stop is left out, up to the deferred calls")
		value, _ := run.Load("begun")
		require.Equal(run, "yes", value)
		return nil
	}, sandbox.Only(sandbox.StopBefore, sandbox.StopAfter), sandbox.Setup(func(*sandbox.Run) { undone = 0 }))
	require.Equal(t, 5, tried.Runs)
}

// Goroutines that only a dead program could have woken do not matter.
func TestEveryFailureLeavesWhatWaitsForTheDead(t *testing.T) {
	tried := sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		sent := make(chan error)
		go func() {
			_, err := send(run, "GET", "/business/me", "")
			sent <- err
		}()
		return <-sent
	}, func(run *sandbox.Run) error {
		require.Equal(run, run.Err() == nil, len(run.Failures()) == 0 || run.Starts() == 2 || run.Failures()[0].Kind == sandbox.FailedAfter || run.Failures()[0].Kind == sandbox.RateLimited || run.Failures()[0].Kind == sandbox.AgedResponse)
		return nil
	})
	require.Equal(t, 9, tried.Runs)
}

func TestEveryFailureBetweenRequests(t *testing.T) {
	var rows []string
	program := func(run *sandbox.Run) error {
		if _, done := run.Load("checkpoint"); done {
			return nil
		}
		if _, err := send(run, "GET", "/business/me", ""); err != nil {
			return err
		}
		run.Save("checkpoint", "end")
		run.MayStop("")
		rows = append(rows, "row")
		return nil
	}
	whole := func(run *sandbox.Run) error {
		if run.Err() == nil && len(rows) != 1 {
			return fmt.Errorf("%d rows", len(rows))
		}
		return nil
	}
	setup := sandbox.Setup(func(*sandbox.Run) { rows = nil })
	tried, report := sweep(program, whole, setup)
	require.Equal(t, []sandbox.Failure{{
		Kind: sandbox.StopBetween, Request: 1, Op: "account.me", Method: "GET", Path: "/api/v1/business/me", Name: "a mark",
	}}, tried.Broken.Failures)
	require.Contains(t, report, `request 1, account.me GET /api/v1/business/me, and before "a mark": the program was stopped`)
	require.Equal(t, 1, tried.Requests)
	require.Equal(t, 3, tried.Marks, "the end, too")

	tried, _ = sweep(func(run *sandbox.Run) error {
		if _, err := send(run, "GET", "/business/me", ""); err != nil {
			return err
		}
		rows = append(rows, "row")
		run.Save("checkpoint", "end")
		return nil
	}, whole, setup)
	require.Equal(t, "checkpoint", tried.Broken.Failures[0].Name)

	tried, _ = sweep(func(run *sandbox.Run) error {
		if _, err := send(run, "GET", "/business/me", ""); err != nil {
			return err
		}
		run.Save("row", "1")
		rows = []string{"row"}
		return nil
	}, func(run *sandbox.Run) error {
		if run.Starts() > 1 && len(run.Failures()) == 1 && run.Failures()[0].Name == "its end" {
			return errors.New("run again although it was done")
		}
		return whole(run)
	}, setup)
	require.Equal(t, "its end", tried.Broken.Failures[0].Name)
}

// What follows a failure can fail, too.
func TestEveryFailureTwice(t *testing.T) {
	program := func(run *sandbox.Run) error {
		status, err := createList(run, "Q1")
		if err != nil || status == 500 {
			status, err = createList(run, "Q2") // only after a failure
		}
		if status == 429 || status == 409 {
			return io.ErrNoProgress
		}
		return err
	}
	invariant := func(run *sandbox.Run) error {
		if run.Err() != nil && len(run.Lists()) == 2 {
			return errors.New("two lists and an error")
		}
		return nil
	}
	tried := sandbox.EveryFailure(t, program, invariant, sandbox.Only(sandbox.RequestLost, sandbox.ResponseLost))
	require.Equal(t, 3, tried.Runs)
	tried, report := sweep(program, invariant, sandbox.Only(sandbox.RequestLost, sandbox.ResponseLost), sandbox.Twice())
	require.Len(t, tried.Broken.Failures, 2)
	require.Equal(t, 2, tried.Broken.Failures[1].Request)
	require.Equal(t, sandbox.ResponseLost, tried.Broken.Failures[1].Kind)
	require.Contains(t, report, ": the response was lost\nand then request 2, lists.create")
	require.Equal(t, 1+2+4, tried.Runs)
}

func TestEveryFailureUntilDone(t *testing.T) {
	program := func(run *sandbox.Run) error {
		status, err := createList(run, "Q1")
		if err == nil && status != 201 && status != 409 {
			err = fmt.Errorf("status %d", status)
		}
		return err
	}
	began := time.Time{}
	tried := sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		require.NoError(run, run.Err())
		require.Len(run, run.Lists(), 1)
		if f := run.Failures(); len(f) > 0 && f[0].Kind == sandbox.AgedResponse {
			return nil
		}
		require.Equal(run, 1+len(run.Failures()), run.Starts())
		require.Equal(run, time.Duration(len(run.Failures()))*time.Hour, time.Since(began))
		return nil
	}, sandbox.UntilDone(1), sandbox.RestartAfter(time.Hour), sandbox.Setup(func(*sandbox.Run) { began = time.Now() }))
	require.Equal(t, 10, tried.Runs)

	_, report := sweep(func(run *sandbox.Run) error {
		return errors.Join(program(run), map[bool]error{true: io.ErrNoProgress}[len(run.Failures()) > 0])
	}, holds, sandbox.UntilDone(2))
	require.Contains(t, report, "still returns an error after 3 starts")
}

// A client that the setup made counts as that of whatever runs.
func TestEveryFailureWithAClientOfTheSetup(t *testing.T) {
	var before *sandbox.Run
	tried := sandbox.EveryFailure(t, func(*sandbox.Run) error {
		_, err := createList(before, "Q1")
		return err
	}, func(run *sandbox.Run) error {
		require.Equal(run, 1, run.Calls("account.me"), "of the setup")
		status, err := send(run, "GET", "/business/lists", "")
		require.NoError(run, err)
		require.Equal(run, 200, status)
		return nil
	}, sandbox.Setup(func(run *sandbox.Run) {
		before = run
		run.Save("of the setup", "counts nothing")
		_, err := send(run, "GET", "/business/me", "")
		require.NoError(run, err)
	}), sandbox.Credits(3))
	require.Equal(t, &sandbox.Sweep{Requests: 1, Runs: 10}, tried)
}

// What a client draws is the same in each run: the failures that are planned by one are reached in the others.
func TestEveryFailure_DrawsAreTheSame(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		for range 1 + chance.Below(run.Context(), 8) {
			if _, err := send(run, http.MethodGet, "/business/lists", ""); err != nil {
				return err
			}
		}
		return nil
	}, func(*sandbox.Run) error { return nil })
}
