package pushing_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/pushing"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/push"
)

var (
	errUnknown = errors.New("an earlier run sent the part")
	errLost    = errors.New("lost")
	errRefused = errors.New("refused")
	errKey     = errors.New("wrong key")
	errFull    = errors.New("disk full")
)

// crm is where the parts go, and where the checkpoint is kept.
type crm struct {
	sent   []string         // the ids of each part that was sent, by their last digits
	fail   map[string]error // by the first id of a part
	stored []string         // checkpoints, without their prefix
	whole  string           // the last one
	full   int              // no checkpoint is stored after so many

	with    *pushing.Sender // instead of sender
	tickets []string        // of the last part that run has seen
}

func (c *crm) save(_ context.Context, checkpoint string) error {
	if c.full > 0 && len(c.stored) >= c.full {
		return errFull
	}
	c.whole = checkpoint
	c.stored = append(c.stored, checkpoint[strings.LastIndex(checkpoint, ".")+1:])
	return nil
}

func (c *crm) sender() pushing.Sender {
	return pushing.Sender{
		Target: "a list", Size: 2,
		Send: func(_ context.Context, ids []string, _ string, save func() error) error {
			if err := save(); err != nil {
				return errRefused
			}
			c.sent = append(c.sent, short(ids))
			return c.fail[short(ids[:1])]
		},
		Outcome: func(err error) journal.Outcome {
			switch {
			case err == nil:
				return journal.Applied
			case errors.Is(err, errLost):
				return journal.Unknown
			}
			return journal.NotApplied
		},
		Ends:    func(err error) bool { return errors.Is(err, errKey) },
		Refuse:  func(bad check.Violations) error { return fmt.Errorf("%s %s", bad[0].Param, bad[0].Problem) },
		Unknown: errUnknown,
		Early:   func(err error) error { return fmt.Errorf("early: %w", err) },
	}
}

// run ranges over a push, and tells each part in one line.
func (c *crm) run(t *testing.T, ids []string, opts ...push.Option) (parts []string) {
	t.Helper()
	s := c.sender()
	if c.with != nil {
		s = *c.with
	}
	for part, err := range pushing.Each(t.Context(), s, ids, opts) {
		text := "none"
		if part != nil {
			c.tickets = part.Tickets
			text = fmt.Sprintf("%d/%d %s", part.Number, part.Of, part.Outcome)
			if len(part.ContactIDs) > 0 {
				text += " " + short(part.ContactIDs)
			}
			if len(part.Excepted) > 0 {
				text += " without " + short(part.Excepted)
			}
			if len(part.MaybeSent) > 0 {
				text += ", maybe before " + short(part.MaybeSent)
			}
			if part.Earlier {
				text += ", earlier"
			}
		}
		if err != nil {
			text += ": " + err.Error()
		}
		parts = append(parts, text)
	}
	return parts
}

// drain ranges over a push to its end.
func drain(seq iter.Seq2[*push.Part, error]) (errs []error) {
	for _, err := range seq {
		errs = append(errs, err)
	}
	return errs
}

const idStart = "65f0c0ffee65f0c0ffee65f"

func contacts(digits string) (ids []string) {
	for _, d := range digits {
		ids = append(ids, idStart+string(d))
	}
	return ids
}

func short(ids []string) (digits string) {
	for _, id := range ids {
		digits += id[len(idStart):]
	}
	return digits
}

func TestEach_PartsAndCheckpoints(t *testing.T) {
	c := &crm{fail: map[string]error{"3": errLost, "5": errRefused}}
	got := c.run(t, contacts("12345671"), push.SaveTo(c.save), push.Except(contacts("2")), push.Except(contacts("7")))
	require.Equal(t, []string{
		"1/4 applied 1 without 2", "2/4 unknown 34: lost", "3/4 not applied 56: refused", "4/4 not applied without 7",
	}, got)
	require.Equal(t, []string{"1", "34", "56"}, c.sent)
	require.Equal(t, []string{"u---", "a---", "au--", "au--", "auu-", "au--"}, c.stored, "before a part, and after it")
	require.Regexp(t, `^push1\.[0-9a-f]{16}\.au--$`, c.whole)
}

// A second process sends what was not applied, and what was excepted no more; never what may have been sent.
func TestEach_Resumes(t *testing.T) {
	first := &crm{fail: map[string]error{"3": errLost, "5": errRefused}}
	first.run(t, contacts("1234567"), push.SaveTo(first.save), push.Except(contacts("7")))
	second := new(crm)
	require.Equal(t, []string{"2/4 unknown 34, earlier: " + errUnknown.Error(), "3/4 applied 56", "4/4 applied 7"},
		second.run(t, contacts("1234567"), push.ResumeFrom(first.whole), push.SaveTo(second.save), push.Except(contacts("3"))))
	require.Equal(t, []string{"56", "7"}, second.sent)
	require.Equal(t, []string{"auu-", "aua-", "auau", "auaa"}, second.stored)

	third := new(crm)
	require.Equal(t, []string{"2/4 applied 4, maybe before 3"},
		third.run(t, contacts("1234567"), push.ResumeFrom(second.whole), push.RepeatUnknown(), push.Except(contacts("3"))))
	require.Equal(t, []string{"4"}, third.sent)
	require.Empty(t, third.stored)
}

// A part that is repeated and fails without effect stays unknown: its first copy may have arrived.
func TestEach_RepeatedPartThatFailsStaysUnknown(t *testing.T) {
	first := &crm{fail: map[string]error{"1": errLost}}
	first.run(t, contacts("12"), push.SaveTo(first.save))
	second := &crm{fail: map[string]error{"1": errRefused}}
	require.Equal(t, []string{"1/1 not applied 12: refused"},
		second.run(t, contacts("12"), push.ResumeFrom(first.whole), push.RepeatUnknown(), push.SaveTo(second.save)))
	require.Equal(t, []string{"u", "u"}, second.stored)
}

// What Except keeps back from a repetition may have been sent before: nothing says that it was not, and its tickets stay visible.
func TestEach_RepeatedPartWithExcepted(t *testing.T) {
	for name, c := range map[string]struct {
		except  string
		fail    error
		want    string
		tickets []string
		sent    []string
	}{
		"all":                  {"12", nil, "1/1 unknown 12, earlier: " + errUnknown.Error(), []string{"T1"}, []string{"12"}},
		"some, applied":        {"2", nil, "1/1 applied 1, maybe before 2", []string{"T1"}, []string{"12", "1"}},
		"some, lost":           {"2", errLost, "1/1 unknown 1, maybe before 2: lost", []string{"T1", "T2"}, []string{"12", "1"}},
		"some, without effect": {"2", errRefused, "1/1 not applied 1, maybe before 2: refused", []string{"T1"}, []string{"12", "1"}},
		"none, applied":        {"", nil, "1/1 applied 12", nil, []string{"12", "12"}},
	} {
		t.Run(name, func(t *testing.T) {
			crm, n := &crm{fail: map[string]error{"1": errLost}}, 0
			s := crm.sender()
			s.Ticket = func() string { n++; return fmt.Sprint("T", n) }
			s.Calls = calls(new(map[string]journal.Outcome)) // it knows nothing
			crm.with = &s
			crm.run(t, contacts("12"), push.SaveTo(crm.save))
			crm.fail["1"] = c.fail
			require.Equal(t, []string{c.want}, crm.run(t, contacts("12"), push.SaveTo(crm.save), push.ResumeFrom(crm.whole), push.RepeatUnknown(), push.Except(contacts(c.except))))
			require.Equal(t, c.tickets, crm.tickets)
			require.Equal(t, c.sent, crm.sent)
		})
	}
	old := &crm{fail: map[string]error{"1": errLost}}
	old.run(t, contacts("12"), push.SaveTo(old.save))
	seq := pushing.Each(t.Context(), old.sender(), contacts("12"), []push.Option{push.ResumeFrom(old.whole), push.RepeatUnknown(1), push.Except(contacts("12"))})
	require.Equal(t, []error{errUnknown}, drain(seq))
	require.Empty(t, drain(seq), "it was yielded")
}

// Only the parts that are named are sent again.
func TestEach_RepeatsSomeParts(t *testing.T) {
	first := &crm{fail: map[string]error{"1": errLost, "3": errLost, "5": errLost}}
	first.run(t, contacts("123456"), push.SaveTo(first.save))
	second := new(crm)
	require.Equal(t, []string{"1/3 applied 12", "2/3 unknown 34, earlier: " + errUnknown.Error(), "3/3 applied 56"},
		second.run(t, contacts("123456"), push.ResumeFrom(first.whole), push.RepeatUnknown(3), push.RepeatUnknown(1, 3)))
	require.Equal(t, []string{"12", "56"}, second.sent)
	for _, wrong := range []int{0, -1, 4} {
		require.Equal(t, []string{fmt.Sprintf("none: RepeatUnknown has no part %d: the push has 3", wrong)},
			second.run(t, contacts("123456"), push.ResumeFrom(first.whole), push.RepeatUnknown(1, wrong)))
	}
	require.Len(t, second.sent, 2)
}

// A part that was sent twice is known when all its tickets are: applied if one was.
func TestEach_Tickets(t *testing.T) {
	for name, c := range map[string]struct {
		known map[string]journal.Outcome
		want  string
	}{
		"nothing":          {nil, "1/1 unknown 12, earlier: " + errUnknown.Error()},
		"one not applied":  {map[string]journal.Outcome{"T1": journal.NotApplied}, "1/1 unknown 12, earlier: " + errUnknown.Error()},
		"one unknown":      {map[string]journal.Outcome{"T1": journal.NotApplied, "T2": journal.Unknown}, "1/1 unknown 12, earlier: " + errUnknown.Error()},
		"both not applied": {map[string]journal.Outcome{"T1": journal.NotApplied, "T2": journal.NotApplied}, "1/1 applied 12"},
		"one applied":      {map[string]journal.Outcome{"T2": journal.Applied}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			crm, n := &crm{fail: map[string]error{"1": errLost}}, 0
			s := crm.sender()
			var known map[string]journal.Outcome
			s.Ticket = func() string { n++; return fmt.Sprint("T", n) }
			s.Calls = calls(&known)
			for range 2 {
				drain(pushing.Each(t.Context(), s, contacts("12"), []push.Option{push.SaveTo(crm.save), push.ResumeFrom(crm.whole), push.RepeatUnknown()}))
				if n == 1 {
					require.Regexp(t, `\.u\.T1$`, crm.whole)
				}
			}
			require.Regexp(t, `\.u\.T1\+T2$`, crm.whole)
			crm.fail, known = nil, c.known
			var got []string
			for part, err := range pushing.Each(t.Context(), s, contacts("12"), []push.Option{push.SaveTo(crm.save), push.ResumeFrom(crm.whole)}) {
				text := fmt.Sprintf("%d/%d %s %s", part.Number, part.Of, part.Outcome, short(part.ContactIDs))
				if part.Earlier {
					require.Equal(t, []string{"T1", "T2"}, part.Tickets)
					text += ", earlier: " + err.Error()
				}
				got = append(got, text)
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

// calls is what a journal tells that knows some outcomes.
func calls(known *map[string]journal.Outcome) func(context.Context) iter.Seq2[journal.Entry, error] {
	return func(context.Context) iter.Seq2[journal.Entry, error] {
		return func(yield func(journal.Entry, error) bool) {
			for id, outcome := range *known {
				if !yield(journal.Entry{Ticket: journal.Ticket{ID: id}, Outcome: outcome}, nil) {
					return
				}
			}
		}
	}
}

// A part that was unknown before there was a journal stays so, whatever the journal says of a repetition that was not applied.
func TestEach_TicketsOfAnOldCheckpoint(t *testing.T) {
	old := &crm{fail: map[string]error{"1": errLost, "3": errLost}}
	old.run(t, contacts("1234"), push.SaveTo(old.save))
	s := old.sender()
	s.Ticket = func() string { return "T" }
	s.Calls = calls(&map[string]journal.Outcome{"T": journal.NotApplied})
	drain(pushing.Each(t.Context(), s, contacts("1234"), []push.Option{push.SaveTo(old.save), push.ResumeFrom(old.whole), push.RepeatUnknown(2)}))
	require.Regexp(t, `\.uu\.\.\+T$`, old.whole)
	require.Len(t, drain(pushing.Each(t.Context(), s, contacts("1234"), []push.Option{push.ResumeFrom(old.whole)})), 2)
	require.Len(t, old.sent, 3)
	require.Equal(t, []string{"none: ResumeFrom is not a checkpoint of this push: its list, CRM or contact ids are others"},
		old.run(t, contacts("1234"), push.ResumeFrom(old.whole+".T")))
}

// A second range continues the first: it sends again what was not applied, and nothing else.
func TestEach_SecondRange(t *testing.T) {
	c := &crm{fail: map[string]error{"3": errLost, "5": errRefused}}
	seq := pushing.Each(t.Context(), c.sender(), contacts("123456"), nil)
	drain(seq)
	c.fail = nil
	var outcomes []string
	for part, err := range seq {
		outcomes = append(outcomes, fmt.Sprintf("%d %s %v", part.Number, part.Outcome, err))
		for _, refused := range seq { // within the loop
			outcomes = append(outcomes, refused.Error())
		}
	}
	require.Equal(t, []string{"3 applied <nil>", "PushEach is already running in another loop"}, outcomes)
	require.Equal(t, []string{"12", "34", "56", "56"}, c.sent)
}

func TestEach_Ends(t *testing.T) {
	c := &crm{fail: map[string]error{"1": errKey}}
	require.Equal(t, []string{"1/2 not applied 12: wrong key"}, c.run(t, contacts("1234")))

	c = &crm{full: 2}
	require.Equal(t, []string{"1/3 applied 12", "2/3 not applied 34: early: disk full"}, c.run(t, contacts("123456"), push.SaveTo(c.save)))
	require.Equal(t, []string{"12"}, c.sent, "nothing is sent that is not noted")

	c = &crm{full: 2}
	seq := pushing.Each(t.Context(), c.sender(), contacts("1234"), []push.Option{push.SaveTo(c.save)})
	require.Len(t, drain(seq), 2)
	c.full = 0
	for part, err := range seq {
		require.NoError(t, err, "the part was not sent before")
		require.Equal(t, 2, part.Number)
	}
	require.Equal(t, []string{"12", "34"}, c.sent)

	c = &crm{full: 1}
	require.Equal(t, []string{"1/2 applied 12", "none: early: disk full"}, c.run(t, contacts("1234"), push.SaveTo(c.save)))
	require.Equal(t, []string{"12"}, c.sent)

	c = new(crm)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ends []error
	for part, err := range pushing.Each(ctx, c.sender(), contacts("123456"), []push.Option{push.Except(contacts("34"))}) {
		cancel()
		require.Equal(t, part == nil, err != nil)
		ends = append(ends, err)
	}
	require.Len(t, ends, 2)
	require.ErrorIs(t, ends[1], context.Canceled)
	require.ErrorContains(t, ends[1], "before all parts were sent")
	require.Equal(t, []string{"12"}, c.sent)

	c = new(crm)
	for _, err := range pushing.Each(t.Context(), c.sender(), contacts("123456"), []push.Option{push.Except(contacts("12"))}) {
		require.NoError(t, err)
		break
	}
	require.Empty(t, c.sent)

	seq = pushing.Each(t.Context(), c.sender(), contacts("12"), nil)
	require.Panics(t, func() {
		for part, err := range seq {
			require.NoError(t, err)
			panic(part.Outcome)
		}
	})
	require.Empty(t, drain(seq), "the part was applied")
	require.Equal(t, []string{"12"}, c.sent)
}

// A checkpoint that could not be stored after a part is stored although the context has ended.
func TestEach_CheckpointOutlivesTheContext(t *testing.T) {
	c := new(crm)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := c.sender()
	s.Send = func(_ context.Context, _ []string, _ string, save func() error) error {
		defer cancel()
		return cmp.Or(save(), errLost)
	}
	var ended []error
	save := push.SaveTo(func(ctx context.Context, checkpoint string) error {
		ended = append(ended, ctx.Err())
		return c.save(ctx, checkpoint)
	})
	errs := drain(pushing.Each(ctx, s, contacts("1234"), []push.Option{save}))
	require.Len(t, errs, 2)
	require.Equal(t, errLost, errs[0])
	require.ErrorIs(t, errs[1], context.Canceled)
	require.Equal(t, []string{"u-", "u-"}, c.stored)
	require.Equal(t, []error{nil, nil}, ended)
}

// A checkpoint after a part gets a second beyond the context, and SaveTo holds the push no longer. What it was given it may
// still store, so the same push goes no further.
func TestEach_SaveToThatHangs(t *testing.T) {
	for name, heeds := range map[string]bool{"until its context ends": true, "ignores its context": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, hang := new(crm), make(chan struct{})
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				save := push.SaveTo(func(ctx context.Context, checkpoint string) error {
					if len(c.stored) == 1 && heeds {
						<-ctx.Done()
						return ctx.Err()
					} else if len(c.stored) == 1 {
						<-hang
					}
					return c.save(ctx, checkpoint)
				})
				began := time.Now()
				seq := pushing.Each(ctx, c.sender(), contacts("1234"), []push.Option{save})
				errs := drain(seq)
				require.Len(t, errs, 2)
				require.NoError(t, errs[0], "the part was applied")
				require.ErrorContains(t, errs[1], "early: ", "its checkpoint was not stored")
				require.InDelta(t, 3.95, time.Since(began).Seconds(), 0.06)
				if !heeds {
					require.Len(t, drain(seq), 1)
					require.ErrorContains(t, drain(seq)[0], "SaveTo did not return")
				}
				close(hang)
				synctest.Wait()
				require.Equal(t, []string{"12"}, c.sent)
			})
		})
	}
}

// A part whose sending panicked is not sent again by this process.
func TestEach_SendPanics(t *testing.T) {
	c := new(crm)
	s := c.sender()
	s.Send = func(_ context.Context, _ []string, _ string, save func() error) error {
		panic(fmt.Sprint("in a transport", save()))
	}
	var checkpoint string
	seq := pushing.Each(t.Context(), s, contacts("12"), []push.Option{push.SaveTo(func(_ context.Context, text string) error { checkpoint = text; return nil })})
	require.Panics(t, func() { drain(seq) })
	require.Empty(t, drain(seq), "the part may have been sent")
	require.True(t, strings.HasSuffix(checkpoint, ".u"))
}

func TestEach_Refuses(t *testing.T) {
	c := new(crm)
	c.run(t, contacts("1234"), push.SaveTo(c.save))
	const other = "none: ResumeFrom is not a checkpoint of this push: its list, CRM or contact ids are others"
	digits := strings.TrimSuffix(c.whole, "aa")
	for _, wrong := range []string{digits + "a", digits + "aaa", digits + "ax", digits + "\x00\x00", "push1.0011223344556677.aa", "aa"} {
		require.Equal(t, []string{other}, c.run(t, contacts("1234"), push.ResumeFrom(wrong)), "%q", wrong)
	}
	require.Equal(t, []string{other}, c.run(t, contacts("1243"), push.ResumeFrom(c.whole)), "in another order")
	require.Equal(t, []string{other}, c.run(t, contacts("123"), push.ResumeFrom(c.whole)), "others")
	for _, change := range []func(*pushing.Sender){func(s *pushing.Sender) { s.Target = "another" }, func(s *pushing.Sender) { s.Size = 3 }} {
		s := c.sender()
		change(&s)
		refused := drain(pushing.Each(t.Context(), s, contacts("1234"), []push.Option{push.ResumeFrom(c.whole)}))
		require.Len(t, refused, 1)
		require.ErrorContains(t, refused[0], "is not a checkpoint of this push")
	}
	require.Empty(t, c.run(t, append(contacts("1234"), strings.ToUpper(contacts("1")[0])), push.ResumeFrom(c.whole)), "the same push, all of it applied")
	require.Equal(t, []string{"none: option is nil"}, c.run(t, contacts("1"), nil))
	require.Equal(t, []string{"none: SaveTo got nil"}, c.run(t, contacts("1"), push.SaveTo(nil)))
	require.Equal(t, []string{"none: Except must all be 24 hexadecimal digits; index 0 is not"}, c.run(t, contacts("1"), push.Except([]string{"x"})))
	require.Equal(t, []string{"none: contactIds must all be 24 hexadecimal digits; index 0 is not"}, c.run(t, []string{"x"}))
	require.Equal(t, []string{"12", "34"}, c.sent, "only by the first push")

	first := contacts("1")[0]
	require.Equal(t, []string{"1/1 applied 2 without 1"}, new(crm).run(t, contacts("12"), push.Except([]string{strings.ToUpper(first)}), push.ResumeFrom("")))
}
