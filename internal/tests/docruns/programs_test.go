package docruns

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// Program is a block of a page, or an example.
type Program struct {
	Name string
	Run  func(w *World) error
	Own  bool // it makes the sandbox itself, by Sandbox
}

// World is what a program finds: a service with one of everything, and what the text around a block supplies.
type World struct {
	*sandbox.Run
	T *testing.T

	own   *[]sandbox.Option // with which the program makes a sandbox of its own
	file  *journal.FileJournal
	tries int // of the program in this run
}

// now is the world of the program that runs: one at a time.
var now *World

// All runs every program as Example does.
func All(t *testing.T, programs []Program) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("contacts.csv", []byte("firstName\nAda\n"), 0o600))
	silent(t)
	writing := 0
	for _, p := range programs {
		t.Run(p.Name, func(t *testing.T) {
			w := &World{T: t}
			now = w
			if p.Own && !w.discover(p) {
				return
			}
			requests, writes := w.rehearse(p)
			if requests == 0 {
				return
			}
			if writes {
				writing++
			}
			failures := kinds(requests)
			if !p.Own {
				failures = append(failures, killed)
			}
			for _, some := range failures {
				sandbox.EveryFailure(t, w.start(p), once(), w.options(some...)...)
			}
		})
	}
	require.Greater(t, writing, len(programs)/5, "of the programs write something")
}

// rehearse runs a program once, without a failure. It counts its requests, and reports whether it writes.
func (w *World) rehearse(p Program) (requests int, writes bool) {
	tried := sandbox.EveryFailure(nil, w.start(p), func(run *sandbox.Run) error {
		writes = writes || len(effects(run)) > 0
		return nil
	}, w.options(sandbox.Only())...)
	if b := tried.Broken; b != nil && tried.Requests > 0 && b.Program != nil {
		require.NoError(w.T, b.Program, "without a failure:\n%s", b)
	}
	return tried.Requests, writes
}

// start is the program for EveryFailure, with what repeats it.
func (w *World) start(p Program) func(*sandbox.Run) error {
	return again(func(run *sandbox.Run, try int) error {
		w.Run, w.tries = run, try
		return toItsEnd(p, w)
	})
}

// toItsEnd runs a program up to its end, or to log.Fatal.
func toItsEnd(p Program, w *World) (err error) {
	defer func() {
		if w.file != nil {
			require.NoError(w, w.file.Close())
			w.file = nil
		}
		switch p := recover().(type) {
		case nil:
		case fatal:
			err = p.error
		default:
			panic(p)
		}
	}()
	return p.Run(w)
}

// options are those of the service: the program's own ones, or a service with one of everything.
func (w *World) options(more ...sandbox.SweepOption) []sandbox.SweepOption {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	options := append([]sandbox.Option{sandbox.Seed(state(begin))}, tests.EveryRoute()...)
	if w.own != nil {
		options = *w.own
	}
	for _, o := range options {
		more = append(more, o)
	}
	return append(more, sandbox.Setup(func(*sandbox.Run) { time.Sleep(time.Hour) }))
}

// state is that of the other tests, and the list that a page names.
func state(begin time.Time) sandbox.State {
	s := tests.EveryState(begin, begin.Add(24*time.Hour))
	ws := &s.Workspaces[0]
	ws.FilterOptions["job_title_levels"] = append(ws.FilterOptions["job_title_levels"], "c_suite")
	ws.Lists = append(ws.Lists, sandbox.List{ID: "a10000000000000000000001", Name: "Named by a page", Rows: sandbox.Rows(
		sandbox.Row{"firstName": "Grace", "email": "grace@navy.example"},
	)})
	return s
}

// Client is the client that the text before a block has made, with a journal that all starts of a run share.
func (w *World) Client() *prospectkit.Client {
	var err error
	w.file, err = journal.Open(filepath.Join(w.Dir(), "writes.journal"), "acme")
	require.NoError(w, err)
	client, err := w.New("", "", prospectkit.WithJournal(w.file))
	require.NoError(w, err)
	return client
}

// New is prospectkit.New for the service of the run.
func (w *World) New(_, _ string, opts ...prospectkit.ClientOption) (*prospectkit.Client, error) {
	return prospectkit.New(w.BaseURL(), w.Token(), append(opts, prospectkit.WithTransport(w.Transport()))...)
}

// fatal is the end of a program by log.Fatal.
type fatal struct{ error }

// Fatal is log.Fatal: whatever started the program sees that it has failed, and starts it again.
func Fatal(v ...any) {
	for _, v := range v {
		if err, ok := v.(error); ok {
			panic(fatal{err})
		}
	}
	panic(fatal{errors.New(fmt.Sprint(v...))})
}

// many are more contacts than a call takes.
var many = slices.Repeat([]json.RawMessage{json.RawMessage(`{"lastName": "Hopper"}`)}, 501)

// Given is what the text around a block supplies under a name.
func Given[T any](w *World, name string) T {
	saved, _ := w.Load(name)
	value, ok := map[string]any{
		"listID": tests.ListID, "agentID": tests.RunsID, "campaignID": tests.CampaignID, "factID": tests.FactID,
		"agentIDs": []string{tests.RunsID}, "batches": map[string][]string{"one": {tests.ContactID, tests.StepID}},
		"batch": "batch 1", "contacts": []prospectkit.Fields{{"email": "grace@navy.example"}, {"email": "ada@engines.example"}},
		"people": many, "file": filepath.Join(w.Dir(), "parts.json"),
		"text": "Teams save a day a week.", "path": filepath.Join(w.Dir(), "journal"), "baseURL": w.BaseURL(), "token": w.Token(),
		"tokens": map[string]string{"main": w.Token()}, "saved": saved,
		"agreed": func(string) bool { return true },
		"signed": func(string) error { return nil },
		"store":  func(_ *prospectkit.Row, checkpoint string) error { w.Save("saved", checkpoint); return nil },
	}[name].(T)
	if ok {
		return value
	}
	require.Failf(w.T, "a block is given what its test does not know", "%s %T", name, *new(T))
	runtime.Goexit()
	panic("unreachable")
}

// silent keeps what the programs print out of the output of the test.
func silent(t *testing.T) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	out, errs := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = null, null
	t.Cleanup(func() { os.Stdout, os.Stderr = out, errs })
}

// discovered ends a program that has said how it makes its sandbox.
type discovered struct{}

// discover finds the options of the sandbox that a program makes. It reports false if it makes none.
func (w *World) discover(p Program) (found bool) {
	defer func() {
		found = w.own != nil
		if p := recover(); p != nil && p != any(discovered{}) {
			panic(p)
		}
	}()
	_ = p.Run(w)
	return false
}

// Sandbox is sandbox.New(nil): the service of the run.
func Sandbox(opts ...sandbox.Option) *sandbox.Sandbox {
	if now.own == nil {
		now.own = &opts
		panic(discovered{})
	}
	return now.Sandbox
}

// Advance is sb.Advance: the clock of the run is virtual.
func Advance(_ *sandbox.Sandbox, d time.Duration) { time.Sleep(d) }

// Transport is sb.Transport(), which fails as the run demands.
func Transport() http.RoundTripper { return now.Transport() }

// Do is sb.Do of a state that is there before the program starts, and survives it.
func Do(sb *sandbox.Sandbox, change func(*sandbox.Tx)) {
	if now.tries == 1 {
		sb.Do(change)
	}
}

// Fail is sb.Fail, likewise.
func Fail(sb *sandbox.Sandbox, operation string, opts ...sandbox.FaultOption) {
	if now.tries == 1 {
		sb.Fail(operation, opts...)
	}
}
