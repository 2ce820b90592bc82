package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"hash"
	"hash/fnv"
	"strings"
	"sync"

	"example.com/prospectkit"
)

// A work is what is measured: n calls or pages, through a get, and through prospectkit.
type work struct {
	peer func(ctx context.Context, call get, n int, s *sum) error
	ours func(ctx context.Context, client *prospectkit.Client, n int, s *sum) error
}

func (w *work) run(ctx context.Context, c session, n int, s *sum) error {
	if c.ours != nil {
		return w.ours(ctx, c.ours, n, s)
	}
	return w.peer(ctx, c.get, n, s)
}

// pages reads all pages of a list through a get, into rows of a type.
func pages[T any](list string, see func(row *T, s *sum)) func(ctx context.Context, call get, n int, s *sum) error {
	return func(ctx context.Context, call get, n int, s *sum) error {
		for number := range n {
			var p struct {
				Data []T `json:"data"`
			}
			if err := call(ctx, pagePath(list, number+1), &p); err != nil {
				return err
			}
			for i := range p.Data {
				see(&p.Data[i], s)
			}
		}
		return nil
	}
}

// rows is the work of reading all rows of a list into a type.
func rows[T any](list string) work {
	return work{
		peer: pages(list, func(row *T, s *sum) { s.add(row) }),
		ours: func(ctx context.Context, client *prospectkit.Client, _ int, s *sum) error {
			for row, err := range prospectkit.RowsOf[T](ctx, client.Lists, list, prospectkit.RowsParams{}) {
				if err != nil {
					return err
				}
				s.add(row)
			}
			return nil
		},
	}
}

// kept reads rows whose other fields stay at hand.
func kept(list string) work {
	type kept struct{ Email, Title, Owner, Country string }
	return work{
		peer: pages(list, func(row *map[string]any, s *sum) {
			text := func(in map[string]any, key string) string { text, _ := in[key].(string); return text }
			address, _ := (*row)["address"].(map[string]any)
			s.add(kept{text(*row, "email"), text(*row, "jobTitle"), text(*row, "owner"), text(address, "country")})
		}),
		ours: func(ctx context.Context, client *prospectkit.Client, _ int, s *sum) error {
			for row, err := range client.Lists.Rows(ctx, list, prospectkit.RowsParams{}) {
				if err != nil {
					return err
				}
				s.add(kept{row.Text("email"), row.Text("jobTitle"), row.Text("owner"), row.Text("address.country")})
			}
			return nil
		},
	}
}

type user struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

func peerUser(ctx context.Context, call get, n int, s *sum) error {
	for range n {
		var out struct {
			User user `json:"user"`
		}
		if err := call(ctx, "/business/me", &out); err != nil {
			return err
		}
		s.add(&out.User)
	}
	return nil
}

func oursUser(ctx context.Context, client *prospectkit.Client, n int, s *sum) error {
	for range n {
		u, err := client.Account.Me(ctx)
		if err != nil {
			return err
		}
		s.add(&user{u.ID, u.Email, u.Name})
	}
	return nil
}

func peerMissing(ctx context.Context, call get, n int, s *sum) error {
	for range n {
		if err := call(ctx, "/business/lists/"+missingID, new(user)); !isMissing(err) {
			return errors.Join(errors.New("not the error of a 404"), err)
		}
		s.add(nil)
	}
	return nil
}

func oursMissing(ctx context.Context, client *prospectkit.Client, n int, s *sum) error {
	for range n {
		if _, err := client.Lists.Get(ctx, missingID); !errors.Is(err, prospectkit.CodeListNotFound) {
			return errors.Join(errors.New("not the error of a 404"), err)
		}
		s.add(nil)
	}
	return nil
}

// in64 does a work in 64 goroutines.
func in64(w work) work {
	const strands = 64
	split := func(n int, s *sum, run func(n int, s *sum) error) error {
		var all sync.WaitGroup
		var sums [strands]sum
		var errs [strands]error
		for i := range strands {
			all.Go(func() { errs[i] = run(n/strands, &sums[i]) })
		}
		all.Wait()
		for i := range sums {
			s.n += sums[i].n
		}
		return errors.Join(errs[:]...)
	}
	return work{
		peer: func(ctx context.Context, call get, n int, s *sum) error {
			return split(n, s, func(n int, s *sum) error { return w.peer(ctx, call, n, s) })
		},
		ours: func(ctx context.Context, client *prospectkit.Client, n int, s *sum) error {
			return split(n, s, func(n int, s *sum) error { return w.ours(ctx, client, n, s) })
		},
	}
}

// A sum tells whether two clients have decoded the same.
type sum struct {
	n      int
	digest hash.Hash64 // of all values; nil while time is measured
}

func newSum() *sum { return &sum{digest: fnv.New64a()} }

func (s *sum) add(v any) {
	s.n++
	if s.digest == nil {
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // of a value that was JSON
	}
	_, _ = s.digest.Write(text)
}

// join makes a row of a table.
func join(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }
