package pagewalk

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// ahead completes a walk that may read so many pages ahead.
func ahead(s source, n int, c Walk) Walk {
	c = over(s, c)
	read := c.Read
	c.Read = func(ctx context.Context, number int) (*Page, error) {
		p, err := read(ctx, number)
		if err == nil {
			p.Ahead = n
		}
		return p, err
	}
	c.Early = func(ctx context.Context, number int) *Page {
		p, err := c.Read(ctx, number)
		if err != nil {
			return nil
		}
		return p
	}
	return c
}

// distant is a shelf whose pages take a second.
type distant struct {
	*shelf
	early   func(number int) // may stand in the way of a page that is read ahead
	change  func(p *Page)
	running int
	most    int // at the same time
	alone   []int
	turns   []int // of pages read ahead
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

func (d *distant) ahead(ctx context.Context, number int) *Page {
	d.mu.Lock()
	d.running++
	d.most = max(d.most, d.running)
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.running--
		d.mu.Unlock()
	}()
	select {
	case <-time.After(time.Second + time.Duration(number%2)*100*time.Millisecond): // the later one may come first
	case <-ctx.Done():
		return nil
	}
	if d.early != nil {
		d.early(number)
	}
	p, err := d.page(ctx, number)
	if err != nil {
		return nil
	}
	p.Of = d
	return p
}

// readingAhead walks over letters in pages of two, and reads so many of them ahead.
func readingAhead(t *testing.T, letters string, n int, test func(t *testing.T, d *distant, c Walk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &distant{shelf: &shelf{items: letters, limit: 2}}
		c := ahead(d, n, Walk{Limit: 2})
		c.Early = func(ctx context.Context, number int) *Page {
			p := d.ahead(ctx, number)
			if p != nil {
				p.Ahead = n
			}
			return p
		}
		test(t, d, c)
	})
}

func collect(ctx context.Context, c Walk, stop int) (got string, err error) {
	Each(ctx, c, func(p *Page, fault error) bool {
		if err = fault; err == nil {
			if d, early := p.Of.(*distant); early {
				d.turns = append(d.turns, p.Number)
			}
			got += strings.Join(lettersOn(p), "")
		}
		return err == nil && len(got) < stop
	})
	return got, err
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// At a sign of a change all pages read ahead are dropped. A few are read on their own, and then ahead again.
func TestAhead_Change(t *testing.T) {
	for name, edit := range map[string]func(s *shelf, request int){
		"one comes in front": func(s *shelf, request int) {
			if request == 3 {
				s.items = "A" + s.items
			}
		},
		"one in front goes": func(s *shelf, request int) {
			if request == 3 {
				s.items = s.items[1:]
			}
		},
		"one comes, one goes": func(s *shelf, request int) {
			if request == 3 {
				s.items = "A" + s.items[:25]
			}
		},
	} {
		readingAhead(t, letters, 4, func(t *testing.T, d *distant, c Walk) {
			t.Helper()
			d.edit = edit
			got, err := collect(t.Context(), c, 100)
			require.NoError(t, err, name)
			require.Equal(t, letters[:len(got)], got, name)
			require.GreaterOrEqual(t, len(got), 25, name)
			require.Contains(t, d.alone, 3, name)
			require.NotContains(t, d.turns, 3, name)
			require.NotEmpty(t, d.turns, name)
			require.LessOrEqual(t, len(d.alone), 7, name)
		})
	}
}

// A page could not be read ahead, and shows a change when it is read alone: what was read ahead before that is dropped, too.
func TestAhead_ChangeOnAPageReadAlone(t *testing.T) {
	t.Parallel()
	before, after := &shelf{items: "abcdefgh", limit: 2}, &shelf{items: "Xabcdefg", limit: 2}
	c := ahead(before, 2, Walk{Limit: 2})
	read := c.Read
	c.Early = func(ctx context.Context, number int) *Page {
		p, err := read(ctx, number)
		if number == 3 || err != nil {
			return nil
		}
		return p
	}
	c.Read = func(ctx context.Context, number int) (*Page, error) {
		if number < 3 {
			return read(ctx, number)
		}
		return after.Fetch(ctx, number)
	}
	got, err := collect(t.Context(), c, 100)
	require.NoError(t, err)
	require.Equal(t, "abcdefg", got)
}

// A panic while reading ahead is the walk's.
func TestAhead_Panics(t *testing.T) {
	readingAhead(t, letters, 3, func(t *testing.T, d *distant, c Walk) {
		t.Helper()
		d.early = func(number int) {
			if number == 3 {
				panic("in the source")
			}
		}
		require.PanicsWithValue(t, "in the source", func() { _, _ = collect(t.Context(), c, 100) })
		require.Zero(t, d.running)
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
		readingAhead(t, letters[:25], 3, func(t *testing.T, d *distant, c Walk) {
			t.Helper()
			d.change = change
			got, err := collect(t.Context(), c, 100)
			require.NoError(t, err, name)
			require.Len(t, got, 25, name)
			require.Empty(t, d.turns, name)
			require.Len(t, d.asked, 13, "%s: no page is asked for in vain", name)
		})
		readingAhead(t, letters[:25], 3, func(t *testing.T, d *distant, c Walk) {
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
