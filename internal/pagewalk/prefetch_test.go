package pagewalk

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// distant is a shelf whose pages take a second.
type distant struct {
	*shelf
	early   func(ctx context.Context, number int) (*Page, error) // instead of a page; nil, nil for the page
	change  func(p *Page)
	running int
	most    int // at the same time
	alone   []int
}

func (d *distant) Fetch(ctx context.Context, number int) (*Page, error) {
	d.alone = append(d.alone, number)
	time.Sleep(time.Second)
	return d.page(ctx, number)
}

func (d *distant) page(ctx context.Context, number int) (*Page, error) {
	p, err := d.shelf.Fetch(ctx, number)
	if d.change != nil {
		d.change(p)
	}
	return p, err
}

func (d *distant) FetchAhead(ctx context.Context, number int) (*Page, func(), error) {
	d.mu.Lock()
	d.running++
	d.most = max(d.most, d.running)
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.running--
		d.mu.Unlock()
	}()
	deliver := func() { d.turns = append(d.turns, number) }
	select {
	case <-time.After(time.Second + time.Duration(number%2)*100*time.Millisecond): // the later one may come first
	case <-ctx.Done():
		return nil, deliver, ctx.Err()
	}
	if d.early != nil {
		if p, err := d.early(ctx, number); p != nil || err != nil {
			return p, deliver, err
		}
	}
	p, err := d.page(ctx, number)
	return p, deliver, err
}

// readingAhead walks over letters in pages of two.
func readingAhead(t *testing.T, letters string, prefetch int, test func(t *testing.T, d *distant, c Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &distant{shelf: &shelf{items: letters, limit: 2}}
		test(t, d, Config{Source: d, Limit: 2, Prefetch: prefetch})
	})
}

func collect(ctx context.Context, c Config, stop int) (got string, err error) {
	c.Walk(ctx, func(p *Page, fault error) bool {
		if err = fault; err == nil {
			got += strings.Join(lettersOn(p), "")
		}
		return err == nil && len(got) < stop
	})
	return got, err
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// Pages that are read ahead save their time, come in order, and are asked for once.
func TestAhead_SavesTime(t *testing.T) {
	for prefetch, want := range map[int]time.Duration{0: 13 * time.Second, 1: 8 * time.Second, 3: 5 * time.Second, 12: 3 * time.Second, 100: 3 * time.Second} {
		readingAhead(t, letters[:25], prefetch, func(t *testing.T, d *distant, c Config) {
			t.Helper()
			began := time.Now()
			got, err := collect(t.Context(), c, 100)
			require.NoError(t, err)
			require.Equal(t, letters[:25], got)
			require.InDelta(t, want.Seconds(), time.Since(began).Seconds(), 1.3, "%d ahead", prefetch)
			require.Len(t, d.asked, 13)
			if prefetch == 0 {
				require.Empty(t, d.turns)
			} else {
				require.Equal(t, min(prefetch+1, 12), d.most, "the next one, and so many after it")
				require.Equal(t, []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, d.turns)
				require.Equal(t, []int{1}, d.alone)
			}
		})
	}
}

// At a sign of a change all pages read ahead are dropped. A few are read on their own, and then ahead again.
func TestAhead_Change(t *testing.T) {
	for name, edit := range map[string]func(s *shelf, request int){
		"one comes in front": func(s *shelf, request int) {
			if request == 2 {
				s.items = "A" + s.items
			}
		},
		"one in front goes": func(s *shelf, request int) {
			if request == 2 {
				s.items = s.items[1:]
			}
		},
		"one comes, one goes": func(s *shelf, request int) {
			if request == 2 {
				s.items = "A" + s.items[:25]
			}
		},
	} {
		readingAhead(t, letters, 4, func(t *testing.T, d *distant, c Config) {
			t.Helper()
			d.edit = edit
			got, err := collect(t.Context(), c, 100)
			require.NoError(t, err, name)
			require.Equal(t, letters[:len(got)], got, name)
			require.GreaterOrEqual(t, len(got), 25, name)
			require.Contains(t, d.alone, 2, name)
			require.NotContains(t, d.turns, 2, name)
			require.NotEmpty(t, d.turns, name)
			require.LessOrEqual(t, len(d.alone), 6, name)
		})
	}
}

// A page that failed early is read again if it was too early. Otherwise its error comes after the pages before it.
func TestAhead_Failures(t *testing.T) {
	broken := errors.New("broken")
	for name, fail := range map[string]error{"too early": errEarly, "broken": broken} {
		readingAhead(t, letters, 3, func(t *testing.T, d *distant, c Config) {
			t.Helper()
			d.early = func(_ context.Context, number int) (*Page, error) {
				if number == 4 {
					return nil, fail
				}
				return nil, nil //nolint:nilnil // the page
			}
			got, err := collect(t.Context(), c, 100)
			if fail == errEarly { //nolint:errorlint // it is ours
				require.NoError(t, err)
				require.Equal(t, letters, got)
				require.Equal(t, []int{1, 4}, d.alone[:2], name)
				require.NotContains(t, d.turns, 4)
			} else {
				require.Equal(t, broken, err)
				require.Equal(t, letters[:6], got)
				require.Equal(t, []int{2, 3, 4}, d.turns, "it was paid for")
			}
			require.Zero(t, d.running)
		})
	}
}

// A panic while reading ahead is the walk's. After an exit of that goroutine, the page is read again.
func TestAhead_PanicsAndExits(t *testing.T) {
	readingAhead(t, letters, 3, func(t *testing.T, d *distant, c Config) {
		t.Helper()
		d.early = func(_ context.Context, number int) (*Page, error) {
			if number == 3 {
				panic("in the source")
			}
			return nil, nil //nolint:nilnil // the page
		}
		require.PanicsWithValue(t, "in the source", func() { _, _ = collect(t.Context(), c, 100) })
		require.Zero(t, d.running)
		d.early = func(_ context.Context, number int) (*Page, error) {
			if number == 3 {
				runtime.Goexit()
			}
			return nil, nil //nolint:nilnil // the page
		}
		got, err := collect(t.Context(), c, 100)
		require.NoError(t, err)
		require.Equal(t, letters, got)
	})
}

// A page of another number is an error, whenever it was read.
func TestAhead_OtherNumber(t *testing.T) {
	for _, prefetch := range []int{0, 2} {
		readingAhead(t, letters, prefetch, func(t *testing.T, d *distant, c Config) {
			t.Helper()
			d.change = func(p *Page) {
				if p.Number == 3 {
					p.Number = 7
				}
			}
			got, err := collect(t.Context(), c, 100)
			require.ErrorContains(t, err, "asked for page 3, got page 7")
			require.Equal(t, letters[:4], got)
		})
	}
}

// Whoever leaves early cancels what is on its way, and waits until it has ended; so does the end of the context.
func TestAhead_EndsWithTheWalk(t *testing.T) {
	readingAhead(t, letters, 5, func(t *testing.T, d *distant, c Config) {
		t.Helper()
		began := time.Now()
		got, err := collect(t.Context(), c, 2)
		require.NoError(t, err)
		require.Equal(t, letters[:2], got)
		require.Zero(t, d.running)
		require.Equal(t, time.Second, time.Since(began))
		require.Len(t, d.asked, 1)
	})
	readingAhead(t, letters, 5, func(t *testing.T, d *distant, c Config) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		_, err := collect(ctx, c, 100)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, d.running)
		require.Len(t, d.asked, 1, "they end with the context")
	})
}

// Nothing is read ahead of a page whose changes would not be seen: without a total, or with records that have no id.
func TestAhead_OnlyWhereChangesShow(t *testing.T) {
	for name, change := range map[string]func(*Page){
		"no total": func(p *Page) { p.TotalKnown = false },
		"no id": func(p *Page) {
			for i := range p.Records {
				p.Records[i] = Record{Of: "?"}
			}
		},
	} {
		readingAhead(t, letters[:25], 3, func(t *testing.T, d *distant, c Config) {
			t.Helper()
			d.change = change
			got, err := collect(t.Context(), c, 100)
			require.NoError(t, err, name)
			require.Len(t, got, 25, name)
			require.Empty(t, d.turns, name)
			require.Len(t, d.asked, 13, "%s: no page is asked for in vain", name)
		})
		readingAhead(t, letters[:25], 3, func(t *testing.T, d *distant, c Config) {
			t.Helper()
			d.change = func(p *Page) {
				if p.Number == 3 { // from there on
					change(p)
				}
			}
			got, err := collect(t.Context(), c, 100)
			require.NoError(t, err, name)
			require.Len(t, got, 25, name)
			require.NotContains(t, d.turns, 3, name)
		})
	}
}
