package pagewalk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// mover edits a shelf whose records stand in any order: they move, come and go everywhere.
type mover struct {
	*rand.Rand

	all     string // that may ever be on the shelf, each a byte
	items   []byte
	fresh   int    // of all, that were on the shelf
	touched string // moved, came or went
	joins   int    // moves, and records that came
}

func newMover(t *rapid.T) *mover {
	m := &mover{Rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), fresh: rapid.IntRange(1, 70).Draw(t, "records")}
	for letter := byte(1); letter < 128; letter++ {
		if letter != '!' && letter != '?' {
			m.all += string(rune(letter))
		}
	}
	m.items = []byte(m.all[:m.fresh])
	return m
}

func (m *mover) remove(letter byte) {
	m.touched += string(rune(letter))
	m.items = slices.DeleteFunc(m.items, func(other byte) bool { return other == letter })
}

func (m *mover) join(letter byte, to int) {
	m.joins++
	m.touched += string(rune(letter))
	m.items = slices.Insert(m.items, to, letter)
}

// edit moves, removes and adds records, most of them among those delivered last.
func (m *mover) edit(delivered string) {
	for range m.IntN(7) {
		many := 1 + m.IntN(2)*m.IntN(10)
		switch m.IntN(5) {
		case 0:
			for range min(many, len(m.all)-m.fresh) {
				m.join(m.all[m.fresh], []int{0, m.IntN(len(m.items) + 1), len(m.items)}[m.IntN(3)])
				m.fresh++
			}
		case 1:
			for range min(many, len(m.items)) {
				m.remove(m.items[m.IntN(len(m.items))])
			}
		default:
			for range many {
				letter := delivered[len(delivered)-1-m.IntN(min(anchors+2, len(delivered)))]
				m.remove(letter)
				if end := len(m.items); m.IntN(4) > 0 {
					near := min(end, max(0, len(delivered)-8+m.IntN(16)))
					m.join(letter, []int{0, m.IntN(end + 1), near, near, end, end, end, end}[m.IntN(8)])
				}
			}
		}
	}
}

// judge counts what was there throughout, but was not delivered, and what came twice. Whether a loss is told matters only where it can be.
func (m *mover) judge(before, got string, r Report, told bool) error {
	lost, twice := 0, 0
	for _, letter := range before {
		switch n := strings.Count(got, string(letter)); {
		case strings.ContainsRune(m.touched, letter):
		case n == 0:
			lost++
		case n > 1:
			twice++
		}
	}
	if told && lost > 0 && !r.Rewound && !r.Incomplete || !r.Incomplete && lost > m.joins || twice > 0 && !r.Rewound {
		return fmt.Errorf("%d are lost and %d came twice with %d joins: %q of %q, now %q, %+v", lost, twice, m.joins, got, before, m.items, r)
	}
	return nil
}

// Whichever records move, come and go while a walk is stopped, also those that its checkpoint names: nothing that stays is lost without
// a word, and no more than has joined. What comes twice is told, too.
func TestWalkResumesWhereRecordsMoved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMover(rt)
		before := string(m.items)
		stop, early := rapid.IntRange(1, m.fresh).Draw(rt, "stop"), max(0, rapid.IntRange(-5, 5).Draw(rt, "ahead"))
		s := &shelf{items: before, limit: rapid.IntRange(1, 40).Draw(rt, "limit")}
		var p Progress
		p.Start("q", false)
		c := ahead(s, early, Config{Progress: &p})
		first, err := s.walk(t.Context(), c, stop)
		require.NoError(rt, err)
		m.edit(first)
		s.items, s.asked = string(m.items), nil
		c.Resume, err = Parse(p.Checkpoint(), "q")
		require.NoError(rt, err)
		p.Start("q", false)
		rest, err := s.walk(t.Context(), c, -1)
		require.NoError(rt, err)
		require.NoError(rt, m.judge(before, first+rest, p.Report(), true), "checkpoint %+v, asked %v, rest %q", *c.Resume, s.asked, rest)
	})
}

// While records move between the pages of a walk, no more are lost than have joined.
func TestWalkOverRecordsThatMove(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMover(rt)
		before, got := string(m.items), ""
		edits := rapid.IntRange(1, 3).Draw(rt, "edits")
		s := &shelf{items: before, limit: rapid.IntRange(1, 40).Draw(rt, "limit"), edit: func(s *shelf, _ int) {
			if edits > 0 && got != "" && m.IntN(2) == 0 {
				edits--
				m.edit(got)
				s.items = string(m.items)
			}
		}}
		var p Progress
		p.Start("q", false)
		var stuck error
		over(s, Config{Limit: s.limit, Progress: &p}).Walk(t.Context(), func(page *Page, err error) bool {
			if stuck = err; err == nil {
				got += strings.Join(lettersOn(page), "")
			}
			return err == nil
		})
		if errors.Is(stuck, errBroken) {
			return // short pages of nothing but records that have moved look like a walk in circles
		}
		require.NoError(rt, stuck)
		require.NoError(rt, m.judge(before, got, p.Report(), false), "asked %v", s.asked)
	})
}

// One of the records delivered last has moved to the end of the page, of the list, or to the front. What follows the others comes once,
// and the report says that the place was unsure. A checkpoint of an earlier version has no index.
func TestWalkResumesThoughOneRecordMoved(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 7, 20, 26, 40} {
		for stop := 1; stop < len(letters); stop++ {
			for moved := max(0, stop-anchors); moved < stop; moved++ {
				letter, others := letters[moved:moved+1], letters[:moved]+letters[moved+1:]
				for _, items := range []string{others + letter, others[:stop] + letter + others[stop:], letter + others} {
					s := &shelf{items: letters, limit: limit}
					var p Progress
					p.Start("q", false)
					first, err := s.walk(t.Context(), Config{Progress: &p}, stop)
					require.NoError(t, err)
					for _, version := range []string{"this", "an earlier one"} {
						cp, err := Parse(p.Checkpoint(), "q")
						require.NoError(t, err)
						if version != "this" {
							cp.Index = 0
						}
						s.items = items
						rest, report, err := s.reresumed(t, cp)
						require.NoError(t, err)
						name := []any{"limit %d, stopped after %d, now %q, checkpoint of %s", limit, stop, items, version}
						got := first + rest
						missing := strings.IndexFunc(letters, func(letter rune) bool { return !strings.ContainsRune(got, letter) })
						require.True(t, missing < 0 || version != "this" && report.Rewound, name...)
						if len(got) > len(letters) {
							require.True(t, report.Rewound, name...)
						}
						require.Zero(t, report.Missing, name...)
					}
				}
			}
		}
	}
}

// reresumed walks on in an unknown order.
func (s *shelf) reresumed(t *testing.T, cp *Checkpoint) (got string, report Report, err error) {
	t.Helper()
	var p Progress
	p.Start("q", false)
	got, err = collect(t.Context(), over(s, Config{Limit: s.limit, Resume: cp, Progress: &p}), 100)
	return got, p.Report(), err
}
