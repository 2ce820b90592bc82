package tests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
	"example.com/prospectkit/sandbox"
)

// A storm is a random program of writes under random faults. After every step, what the client
// claims has to agree with what the sandbox's journal says that it did.

// mishaps are the faults of a storm; each hits the next one to three requests.
var faults = []struct {
	name string
	opts []sandbox.FaultOption
}{
	{"refused connection", []sandbox.FaultOption{sandbox.Refuse()}},
	{"lost request", []sandbox.FaultOption{sandbox.DropBefore()}},
	{"lost response", []sandbox.FaultOption{sandbox.DropAfter()}},
	{"reset", []sandbox.FaultOption{sandbox.Reset()}},
	{"truncated", []sandbox.FaultOption{sandbox.Truncate(9)}},
	{"empty", []sandbox.FaultOption{sandbox.EmptyBody()}},
	{"stalled", []sandbox.FaultOption{sandbox.Stall(50 * time.Second)}},
	{"late", []sandbox.FaultOption{sandbox.Latency(50 * time.Second)}},
	{"slow", []sandbox.FaultOption{sandbox.SlowBody(100)}},
	{"failed", []sandbox.FaultOption{sandbox.Status(500, "UNEXPECTED_ERROR")}},
	{"sparse 500", []sandbox.FaultOption{sandbox.Status(500, "")}},
	{"gateway", []sandbox.FaultOption{sandbox.HTML(502)}},
	{"late gateway", []sandbox.FaultOption{sandbox.HTML(504), sandbox.Applied()}},
	{"failed at the end", []sandbox.FaultOption{sandbox.Status(500, "UNEXPECTED_ERROR"), sandbox.Applied()}},
	{"another server in between", []sandbox.FaultOption{sandbox.HTML(403), sandbox.Applied()}},
	{"unavailable", []sandbox.FaultOption{sandbox.HTML(503), sandbox.RetryAfterRaw("2")}},
	{"redirected", []sandbox.FaultOption{sandbox.Redirect(307, "https://elsewhere.invalid/")}},
	{"limited", []sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(3)}},
	{"busy", []sandbox.FaultOption{sandbox.Status(409, "LIST_PROCESSING")}},
	{"2xx of another server", []sandbox.FaultOption{sandbox.RawBody(200, "<html>welcome</html>"), sandbox.ContentType("text/html")}},
	{"none", nil},
}

type stormStep struct {
	act   int // index into acts
	name  int // of a small pool, so that names collide
	kind  int
	fault int
	hits  int
}

var acts = []struct {
	name, op string
	run      func(*storm, stormStep) error
}{
	{"create", "lists.create", func(s *storm, g stormStep) error {
		_, err := s.client.Lists.Create(s.ctx, g.list())
		return err
	}},
	{"create, AllowRetryUnknown", "lists.create", func(s *storm, g stormStep) error {
		_, err := s.client.Lists.Create(s.ctx, g.list(), prospectkit.AllowRetryUnknown())
		return err
	}},
	{"move", "lists.move", func(s *storm, g stormStep) error {
		_, err := s.client.Lists.Move(s.ctx, s.someList(g), stormFolders[g.kind])
		return err
	}},
	{"move to the root", "lists.move", func(s *storm, g stormStep) error {
		_, err := s.client.Lists.MoveToRoot(s.ctx, s.someList(g))
		return err
	}},
	{"push", "lists.crm-push", func(s *storm, g stormStep) error {
		_, err := s.client.Lists.PushToCRM(s.ctx, s.someList(g), prospectkit.CRMPush{CRM: "crm-a"})
		return err
	}},
	{"add contacts", "lists.add-contacts", func(s *storm, g stormStep) error {
		rows := []map[string]any{{"firstName": fmt.Sprintf("Person %d", g.name)}}
		_, err := s.client.Lists.AddContacts(s.ctx, s.someList(g), prospectkit.Fields{"contacts": rows})
		return err
	}},
}

func (g stormStep) list() prospectkit.NewList {
	kind := [...]prospectkit.ListKind{prospectkit.ContactList, prospectkit.CompanyList}[g.kind]
	return prospectkit.NewList{Name: fmt.Sprintf("List %d", g.name), Kind: kind}
}

var stormFolders = [...]string{"f00000000000000000000001", "f00000000000000000000002"}

type storm struct {
	ctx    context.Context //nolint:containedctx // the storm is its scope
	sb     *sandbox.Sandbox
	client *prospectkit.Client
}

func newStorm(ctx context.Context) (*storm, error) {
	sb := sandbox.New(nil, sandbox.NoLimits(), sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
		Name: "main", Credits: 1_000_000,
		Folders: []sandbox.Folder{
			{ID: stormFolders[0], Name: "Contacts", Type: "contactList"},
			{ID: stormFolders[1], Name: "Companies", Type: "companyList"},
		},
		Lists: []sandbox.List{
			{ID: "a00000000000000000000001", Name: "People", EntityType: sandbox.ContactList},
			{ID: "a00000000000000000000002", Name: "Firms", EntityType: sandbox.CompanyList},
		},
		CRM: sandbox.CRM{Supported: []string{"crm-a"}, Connected: []string{"crm-a"}},
	}}}))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	return &storm{ctx: ctx, sb: sb, client: client}, err
}

func (s *storm) someList(g stormStep) string {
	return [...]string{"a00000000000000000000001", "a00000000000000000000002"}[(g.kind+g.name)%2]
}

// step runs one act under its fault and returns what is wrong with the claims.
func (s *storm) step(g stormStep) error {
	act := acts[g.act]
	time.Sleep(5 * time.Minute) // so that what was made before cannot be taken for what is made now
	if m := faults[g.fault]; m.opts != nil {
		s.sb.Fail("*", append([]sandbox.FaultOption{sandbox.First(g.hits)}, m.opts...)...)
	}
	before := len(s.sb.Journal())
	err := act.run(s, g)
	sent, applied := s.count(before, act.op)
	if err := s.judge(err, act.op, act.name, sent, applied); err != nil {
		return err
	}
	var unknown *prospectkit.OutcomeUnknownError
	if !errors.As(err, &unknown) {
		s.sb.Clear()
		return nil
	}
	r, err := unknown.Resolve(s.ctx) // what is left of the fault hits the reads
	s.sb.Clear()
	if err != nil {
		r, err = unknown.Resolve(s.ctx)
	}
	if err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	return s.judgeResolution(r, g, act.op, applied)
}

// count tells how often the operation arrived since an entry of the journal, and how often it had an effect.
func (s *storm) count(since int, op string) (sent, applied int) {
	for _, e := range s.sb.Journal()[since:] {
		if e.Op == op {
			sent++
			if len(e.Effects) > 0 {
				applied++
			}
		}
	}
	return sent, applied
}

func (s *storm) judge(err error, op, act string, sent, applied int) error {
	outcome := prospectkit.OutcomeOf(err)
	switch {
	case applied > 1:
		return fmt.Errorf("%s was applied %d times: %w", op, applied, err)
	case outcome == prospectkit.OutcomeApplied && applied != 1:
		return fmt.Errorf("%s: claimed as applied, but it was not: %w", op, err)
	case outcome == prospectkit.OutcomeNotApplied && applied != 0:
		return fmt.Errorf("%s: claimed as not applied, but it was: %w", op, err)
	case sent > 3:
		return fmt.Errorf("%s was sent %d times", op, sent)
	case outcome == prospectkit.OutcomeUnknown && sent > 1 && !strings.Contains(act, "AllowRetryUnknown") && !s.provenUnsent(err, sent):
		return fmt.Errorf("%s arrived %d times before the outcome was unknown: %w", op, sent, err)
	}
	return nil
}

// provenUnsent reports whether all attempts but the last were refused before work.
func (s *storm) provenUnsent(err error, sent int) bool {
	var unknown *prospectkit.OutcomeUnknownError
	if !errors.As(err, &unknown) {
		return false
	}
	earlier := unknown.Attempts[:len(unknown.Attempts)-1]
	return sent <= len(unknown.Attempts) && !slices.ContainsFunc(earlier, func(a prospectkit.Attempt) bool {
		return a.Delivery != event.DeliveryNotSent && a.Status != 429
	})
}

func (s *storm) judgeResolution(r *prospectkit.Resolution, g stormStep, op string, applied int) error {
	switch op {
	case "lists.create":
		if (r.Verdict == prospectkit.VerdictHappened) != (applied == 1) || r.Verdict == prospectkit.VerdictUnknowable {
			return fmt.Errorf("create was applied %d times, resolved as %+v", applied, r)
		}
	case "lists.move":
		var folder string
		for _, l := range s.sb.Lists() {
			if l.ID == s.someList(g) {
				folder = l.FolderID
			}
		}
		list, found := prospectkit.Resolved[prospectkit.List](r)
		if !found || list.FolderID != folder || applied == 1 && r.Verdict != prospectkit.VerdictHappened {
			return fmt.Errorf("move was applied %d times to folder %q, resolved as %+v", applied, folder, r)
		}
	default:
		if r.Verdict != prospectkit.VerdictUnknowable || r.Note == "" {
			return fmt.Errorf("%s cannot be resolved, but was as %+v", op, r)
		}
	}
	return nil
}

// TestStorm runs random programs of 120 steps, 12,000 steps with rapid's default of 100 programs.
func TestStorm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		program := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) stormStep {
			return stormStep{
				act:   rapid.IntRange(0, len(acts)-1).Draw(rt, "act"),
				name:  rapid.IntRange(0, 40).Draw(rt, "name"),
				kind:  rapid.IntRange(0, 1).Draw(rt, "kind"),
				fault: rapid.IntRange(0, len(faults)-1).Draw(rt, "fault"),
				hits:  rapid.IntRange(1, 4).Draw(rt, "hits"),
			}
		}), 120, 120).Draw(rt, "program")
		var wrong error
		synctest.Test(t, func(t *testing.T) {
			s, err := newStorm(t.Context())
			require.NoError(t, err)
			for i, g := range program {
				if err := s.step(g); err != nil {
					wrong = fmt.Errorf("step %d, %s under %q: %w", i, acts[g.act].name, faults[g.fault].name, err)
					return
				}
			}
			if problems := s.sb.Problems(); len(problems) > 0 {
				wrong = fmt.Errorf("sandbox: %q", problems)
			}
		})
		if wrong != nil {
			rt.Fatal(wrong)
		}
	})
}
