//go:build !js && !wasip1

package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

// The program that is killed: this test binary, started with its orders in the environment.

func init() { journal.Program = program }

// Mutations, each of which the judge has to notice.
const (
	sendsFirst  = "the ticket is stored after the request is sent"
	lies        = "an unknown outcome is noted as not applied"
	repeats     = "calls are retried after an unknown outcome"
	forgetsCall = "an applied call is noted as not applied"
)

type orders struct {
	Path, Archive, BaseURL, Token string

	Generation int // of the process
	Seed       uint64
	Calls      int // until it ends
	Goals      bool
	Disk       journal.DiskConfig
	Mutation   string
}

// Exit codes of the program.
const (
	exitDone   = 0
	exitKilled = 1 // on Windows
	exitBroken = 3 // something is wrong with the journal or the client; 2 is a panic
	exitDisk   = 4 // its disk failed when it opened the journal
)

// A message is what the program says, on a pipe that outlives it.
type message struct {
	Kind    string // doubt, verdict, ready, said
	ID      string // of the ticket
	Mark    string
	Verdict prospectkit.Verdict
	Final   bool
	Outcome prospectkit.Outcome
}

type writer struct {
	orders

	client *prospectkit.Client
	file   *journal.FileJournal
	mu     sync.Mutex // guards out
	out    *json.Encoder
}

func (w *writer) say(m message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.out.Encode(m) // the parent is gone
}

func program(text string) int {
	w := &writer{out: json.NewEncoder(os.Stdout)}
	if err := json.Unmarshal([]byte(text), &w.orders); err != nil {
		return fail(err)
	}
	var err error
	if w.file, err = journal.OpenOn(w.Path, w.Disk); err != nil {
		if w.Disk.FailRate > 0 {
			return exitDisk
		}
		return fail(err)
	}
	var j journal.Journal = w.file
	if w.Mutation != "" {
		j = mutant{w.file, w.Mutation}
	}
	w.client, err = prospectkit.New(w.BaseURL, w.Token, prospectkit.WithJournal(j), prospectkit.WithWorkspace("main"),
		prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{TrustHeaders: true})))
	if err != nil {
		return fail(err)
	}
	ctx := context.Background()
	if _, err := w.client.Account.Me(ctx); err != nil { // hears the clock of the service
		return fail(err)
	}
	if err := w.settle(ctx); err != nil {
		return fail(err)
	}
	w.say(message{Kind: "ready"})
	w.work(ctx)
	if err := w.file.Close(); err != nil && w.Disk.FailRate == 0 {
		return fail(err)
	}
	return exitDone
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return exitBroken
}

// settle resolves what earlier processes left in doubt.
func (w *writer) settle(ctx context.Context) error {
	var info prospectkit.Info
	if _, err := w.client.Account.Me(ctx, prospectkit.WithInfo(&info)); err != nil {
		return err
	}
	now, err := http.ParseTime(info.Header.Get("Date"))
	if err != nil {
		return err
	}
	ahead := time.Until(now)
	for ticket, err := range w.client.InDoubt(ctx) {
		if err != nil {
			return err
		}
		w.say(message{Kind: "doubt", ID: ticket.ID, Mark: markOf(ticket.Actor)})
		r, err := w.client.Resolve(ctx, aged(ticket, ahead))
		if r == nil {
			return fmt.Errorf("%+v: %w", ticket, err)
		}
		w.say(message{Kind: "verdict", ID: ticket.ID, Mark: markOf(ticket.Actor), Verdict: r.Verdict, Final: r.Final})
	}
	return nil
}

// aged is a ticket of a machine whose clock has gone on as the service's has since, which the judge advances. Otherwise the two clocks
// would differ about the age of a call, and Resolve would watch for as long as a change may need.
func aged(t journal.Ticket, ahead time.Duration) journal.Ticket {
	passed := 3 * time.Minute // at least: an earlier process sent it
	if t.ServiceAhead != nil {
		passed = ahead - *t.ServiceAhead
		t.ServiceAhead = &ahead
	}
	t.FirstSent, t.LastSent = t.FirstSent.Add(-passed), t.LastSent.Add(-passed)
	return t
}

// work makes calls from several goroutines, while the journal is compacted.
func (w *writer) work(ctx context.Context) {
	const writers = 4
	var wg sync.WaitGroup
	for id := range writers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(w.Seed, uint64(id)))
			for n := range w.Calls / writers {
				w.call(ctx, random, fmt.Sprintf("%d.%d.%d", w.Generation, id, n))
				if id == 0 && n%3 == 2 {
					w.compact(ctx)
				}
			}
		})
	}
	wg.Wait()
}

var actors = []string{"ada", "bob", "", "nightly job", "Zoë \"the boss\"\n"}

// Marks tell what a call may do: one that ends so may be retried after an unknown outcome, or makes several calls.
const (
	mayRepeat = "!"
	isGoal    = "+"
)

func markOf(actor string) string {
	_, mark, _ := strings.Cut(actor, "#")
	return mark
}

// call makes a random call. Its mark is in the query of each request, and with who made it in the ticket.
func (w *writer) call(ctx context.Context, random *rand.Rand, mark string) {
	names := w.names()
	name := names[random.IntN(len(names))]
	var opts []prospectkit.CallOption
	switch {
	case strings.HasPrefix(name, "goal"):
		mark += isGoal
	case random.IntN(6) == 0:
		mark += mayRepeat
		opts = append(opts, prospectkit.AllowRetryUnknown())
	case w.Mutation == repeats:
		opts = append(opts, prospectkit.AllowRetryUnknown())
	}
	opts = append(opts, prospectkit.WithQuery("mark", mark))
	ctx = prospectkit.WithActor(ctx, actors[random.IntN(len(actors))]+"#"+mark)
	call, own := ownCalls(random, mark)[name]
	if !own {
		call = tests.EveryCall[name]
	}
	_, err := call(ctx, w.client, opts...)
	w.say(message{Kind: "said", Mark: mark, Outcome: prospectkit.OutcomeOf(err)})
}

// names are the operations that need a ticket, and the calls that converge.
func (w *writer) names() []string {
	names := []string{"imports.create upload"}
	if w.Goals {
		names = append(names, "goal list", "goal agent")
	}
	for _, o := range op.All() {
		if o.Class != op.Read {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names
}

const targets = 48 // of each kind: enough that few calls have the same one

func target(kind byte, n int) string { return fmt.Sprintf("65f0c0ffee65f0c0%c%07d", kind, n) }

// ownCalls are those with a name or a target of their own, so that a verdict is about one call.
func ownCalls(random *rand.Rand, mark string) map[string]tests.AnyCall {
	type (
		client = *prospectkit.Client
		option = prospectkit.CallOption
	)
	n, goal := random.IntN(targets), random.IntN(3)
	discovery, watcher, monitor := tests.Discovery(), tests.Watcher(), tests.Monitor()
	discovery.ListName, watcher.ListName, monitor.ListName = "D "+mark, "W "+mark, "M "+mark
	goalSpec := tests.Discovery()
	goalSpec.ListName, goalSpec.MaxCreditSpend = fmt.Sprintf("goal agent %d", goal), 1000
	return map[string]tests.AnyCall{
		"lists.create": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Lists.Create(ctx, prospectkit.NewList{Name: "L " + mark}, opts...)
		},
		"lists.move": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Lists.Move(ctx, target('a', n), tests.FolderID, opts...)
		},
		"agents.create-person-discovery": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Agents.Create(ctx, discovery, opts...)
		},
		"agents.create-people-watcher": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Agents.Create(ctx, watcher, opts...)
		},
		"agents.create-web-monitor": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Agents.Create(ctx, monitor, opts...)
		},
		"agents.activate": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Agents.Activate(ctx, target('b', n), opts...)
		},
		"agents.pause": func(ctx context.Context, c client, opts ...option) (any, error) {
			opts = append(opts, prospectkit.WithRoute("POST /business/agents/{agentId}/pause"))
			return c.Agents.Pause(ctx, target('c', n), opts...)
		},
		"campaigns.approve": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Campaigns.Approve(ctx, target('d', n), opts...)
		},
		"imports.create upload": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Imports.Upload(ctx, tests.CSVUpload("firstName\nEve\n"), opts...)
		},
		"goal list": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Lists.Ensure(ctx, prospectkit.NewList{Name: fmt.Sprintf("goal %d", goal)}, opts...)
		},
		"goal agent": func(ctx context.Context, c client, opts ...option) (any, error) {
			return c.Agents.CreateAndStart(ctx, goalSpec, opts...)
		},
	}
}

// compact archives what is settled.
func (w *writer) compact(ctx context.Context) {
	archive, err := os.OpenFile(w.Archive, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer archive.Close()
	_ = w.file.Compact(ctx, time.Now(), func(e journal.Entry) error { // if it fails, nothing leaves the journal
		text, err := json.Marshal(e)
		if err == nil {
			_, err = archive.Write(append(text, '\n'))
		}
		return errors.Join(err, archive.Sync())
	})
}

// A mutant is a journal with a mistake.
type mutant struct {
	*journal.FileJournal

	mistake string
}

func (m mutant) Sending(ctx context.Context, t journal.Ticket) error {
	if m.mistake != sendsFirst {
		return m.FileJournal.Sending(ctx, t)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = m.FileJournal.Sending(context.WithoutCancel(ctx), t) })
	return nil
}

func (m mutant) Ended(ctx context.Context, id string, o journal.Outcome) error {
	if m.mistake == lies && o == journal.Unknown || m.mistake == forgetsCall && o == journal.Applied {
		o = journal.NotApplied
	}
	return m.FileJournal.Ended(ctx, id, o)
}
