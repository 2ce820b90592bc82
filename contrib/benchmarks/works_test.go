package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"hash"
	"hash/fnv"

	"example.com/prospectkit"
)

// A work is what is measured: through a get, and through prospectkit.
type work struct {
	name string
	rows bool // n counts pages of rows; else calls
	peer func(ctx context.Context, call get, n int, s *sum) error
	ours func(ctx context.Context, client *prospectkit.Client, n int, s *sum) error
}

var (
	small = work{name: "call", peer: peerUser, ours: oursUser}
	wrong = work{name: "error", peer: peerMissing, ours: oursMissing}
	bulk  = rows[contact]("sync", listID)
)

// rowTypes read the same rows into different types.
func rowTypes() []work {
	return []work{
		rows[flatRow]("flat", richListID), rows[nestedRow]("nested", richListID), rows[anyColumnsRow]("map-any", richListID),
		rows[rawColumnsRow]("map-raw", richListID), rows[pointersRow]("pointers", richListID), rows[fewRow]("3-fields", richListID),
		rows[eventsRow]("events", richListID), rows[namedRow]("named", richListID), rows[mapsRow]("maps", richListID),
		rows[map[string]any]("whole", richListID),
	}
}

func (w *work) run(ctx context.Context, c session, n int, s *sum) error {
	if c.ours != nil {
		return w.ours(ctx, c.ours, n, s)
	}
	return w.peer(ctx, c.get, n, s)
}

// rows is the work of reading all rows of a list into a type.
func rows[T any](name, list string) work {
	w := work{name: name, rows: true}
	w.peer = func(ctx context.Context, call get, n int, s *sum) error {
		for number := range n {
			var p struct {
				Data []T `json:"data"`
			}
			if err := call(ctx, pagePath(list, number+1), &p); err != nil {
				return err
			}
			for i := range p.Data {
				s.add(&p.Data[i])
			}
		}
		return nil
	}
	w.ours = func(ctx context.Context, client *prospectkit.Client, _ int, s *sum) error {
		for row, err := range prospectkit.RowsOf[T](ctx, client.Lists, list, prospectkit.RowsParams{}) {
			if err != nil {
				return err
			}
			s.add(row)
		}
		return nil
	}
	return w
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
