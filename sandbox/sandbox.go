package sandbox

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit/internal/op"
)

// TB is the part of *testing.T that a sandbox uses.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// Sandbox is a double of the service: state, clock, limits, credits and faults. Make one with [New].
//
// The methods of [Tenant] use its first workspace. All methods are safe for concurrent use.
type Sandbox struct {
	*Tenant

	clock                  Clock
	seed                   State
	credits                *int64 // instead of those of the seed
	limits                 map[op.Surface]Limit
	sliding                bool
	hideFor                time.Duration
	prices                 Prices
	initializes, activates time.Duration // a new campaign, and an approved one, which is locked meanwhile
	plan                   AgentPlan
	remote                 bool
	paths                  map[*op.Op]string // patterns that WithRoute has set
	mux                    *http.ServeMux

	mu         sync.Mutex
	t          TB // nil without a test, and once the test is over
	now        time.Time
	begun      bool
	stuck      bool // the clock was set back
	agenda     agenda
	events     []Event
	workspaces []*workspace
	keys       map[string]*key
	faults     []*Fault
	hooks      []*between
	journal    journal
}

// New makes a sandbox. With a test, a fault that never fired fails the test, and so does a mistake in the use of the sandbox. If t is nil, a
// fault that never fired is not reported, and a mistake panics.
//
// It starts nothing and opens nothing, so there is nothing to close.
func New(t TB, opts ...Option) *Sandbox {
	sb := &Sandbox{
		t: t, clock: RealClock(), keys: map[string]*key{}, limits: defaultLimits(),
		initializes: 30 * time.Second, activates: 3 * time.Second, journal: journal{calls: map[string]int{}},
		plan: AgentPlan{}.complete(), prices: maps.Clone(defaultPrices), paths: map[*op.Op]string{},
	}
	for _, opt := range opts {
		if err := opt(sb); err != nil {
			sb.misuse("%v", err)
		}
	}
	if err := sb.seed.Validate(); err != nil {
		sb.misuse("%v", err)
		sb.seed = State{}
	}
	if len(sb.seed.Workspaces) == 0 {
		sb.seed.Workspaces = []Workspace{{Name: "main", Credits: defaultCredits}}
	}
	for _, seed := range sb.seed.Workspaces {
		if sb.credits != nil {
			seed.Credits = *sb.credits
		}
		sb.addWorkspace(seed)
	}
	sb.Tenant = &Tenant{sb, sb.workspaces[0]}
	sb.mux = sb.routes()
	if t != nil {
		t.Cleanup(sb.finish)
	}
	return sb
}

// enter locks the sandbox and brings it up to date. From the first use on, time never goes back, whatever the clock says. A test that
// uses its sandbox before a synctest bubble, where the time is years earlier, would wait for years: it is told, once.
func (sb *Sandbox) enter() (now time.Time) {
	now = sb.clock.Now()
	sb.mu.Lock()
	if sb.begun && now.Before(sb.now) {
		if t := sb.t; t != nil && !sb.stuck && sb.now.Sub(now) > time.Hour {
			sb.stuck = true
			sb.mu.Unlock()
			t.Errorf("sandbox: it was used in a later time than this: use it inside the synctest bubble only%s", callSite())
			sb.mu.Lock()
		}
		now = sb.now
	}
	sb.now = now
	if !sb.begun {
		sb.begun = true
		sb.begin(now)
	}
	sb.events = append(sb.events, sb.agenda.due(now)...)
	return now
}

// Advance moves a manual clock forward and returns what happened meanwhile.
func (sb *Sandbox) Advance(d time.Duration) []Event {
	clock, ok := sb.clock.(*ManualClock)
	if !ok {
		sb.misuse("only a manual clock can be advanced: use WithClock(NewManualClock(start))")
		return nil
	}
	before := len(sb.Events())
	clock.Advance(d)
	return sb.Events()[before:]
}

// Events lists everything that happened by the clock so far.
func (sb *Sandbox) Events() []Event {
	sb.enter()
	defer sb.mu.Unlock()
	return slices.Clone(sb.events)
}

// Snapshot copies the state: it can seed another sandbox, or be written to a file.
func (sb *Sandbox) Snapshot() State {
	sb.enter()
	defer sb.mu.Unlock()
	return State{appendEach(nil, sb.workspaces, func(ws *workspace) Workspace { return ws.snapshot() })}
}

// misuse reports a mistake in the use of the sandbox, and its line. It must not be called under the lock.
func (sb *Sandbox) misuse(format string, args ...any) {
	message := "sandbox: " + strings.TrimPrefix(fmt.Sprintf(format, args...), "sandbox: ")
	sb.mu.Lock()
	t := sb.t
	sb.mu.Unlock()
	if t == nil {
		panic(message)
	}
	t.Helper()
	t.Errorf("%s%s", message, callSite())
}

// callSite is the line of the test that called this package, which the test's own report does not name. It is empty without a test file.
func callSite() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	frame, more := frames.Next()
	ours := strings.TrimSuffix(frame.Function, "callSite")
	for more && strings.HasPrefix(frame.Function, ours) {
		frame, more = frames.Next()
	}
	if !strings.HasSuffix(frame.File, "_test.go") {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", path.Base(frame.File), frame.Line)
}

// finish checks the sandbox at the end of a test.
func (sb *Sandbox) finish() {
	sb.mu.Lock()
	t := sb.t
	sb.t = nil
	var unfired []string
	for _, f := range sb.faults {
		if f.hits == 0 {
			unfired = append(unfired, f.String()+f.setAt)
		}
	}
	end := tail(sb.journal.entries, 20)
	sb.mu.Unlock()
	for _, f := range unfired {
		t.Errorf("sandbox: a fault never fired: %s\n%s", f, end)
	}
}

// Tenant is one workspace of a sandbox, with its own keys, state, windows and credits.
type Tenant struct {
	sb *Sandbox
	ws *workspace
}

// inspect reads the state of a workspace when it is up to date.
func inspect[T any](w *Tenant, read func(*workspace) T) T {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	return read(w.ws)
}

// Workspace finds a workspace by name, or adds an empty one.
func (sb *Sandbox) Workspace(name string) *Tenant {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	ws := find(sb.workspaces, func(ws *workspace) bool { return ws.Name == name })
	if ws == nil {
		ws = sb.addWorkspace(Workspace{Name: name, Credits: defaultCredits})
	}
	return &Tenant{sb, ws}
}
