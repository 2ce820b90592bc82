package prospectkit

import (
	"context"
	"fmt"
	"strings"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

// listing is a collection whose response the document does not show: an array that is bare, or under its name or "data", where a
// pagination stands beside it. Further pages are asked for by pageNum, as those of lists are. All of that is assumed.
type listing[T any] struct {
	client *Client
	op     *op.Op
	ids    []string
	name   string
	read   reader[T]
}

// pager walks over the pages. Their size is not shown: 1 makes the walk go back far enough when records vanish.
func (l listing[T]) pager(id func(*T) string) pager[T] {
	return pager[T]{client: l.client, op: l.op, limit: 1, query: strings.Join(l.ids, "/"), id: id, fetch: l.page}
}

func (l listing[T]) page(ctx context.Context, number int, opts []CallOption) (*Page[T], error) {
	var query struct {
		PageNum int `url:"pageNum,omitempty"`
	}
	if number > 1 {
		query.PageNum = number
	}
	return do(ctx, l.client, l.op, request{ids: l.ids, query: query, proof: isPage}, l.readPage, opts)
}

func (l listing[T]) readPage(c *jsonscan.Cursor, p *Page[T]) error {
	var answer Object
	if err := readObject(c, &answer); err != nil {
		return err
	}
	array, ok := elementsOf(answer, l.name)
	if !ok {
		return fmt.Errorf("the answer shows no %s: it is %s", l.name, answer.outline())
	}
	items := jsonscan.New(array.raw)
	if err := readElements(&items, &p.Items, mostElements, l.read); err != nil {
		return err
	}
	totals, paged := answer.Get("pagination")
	if paged {
		inner := jsonscan.New(totals.raw)
		p.readTotals(&inner)
	}
	switch {
	case !paged:
		p.Number, p.TotalPages, p.TotalRecords, p.TotalsKnown = 1, 1, len(p.Items), true
	case p.Number == 0 && p.TotalPages == 0 && !p.TotalsKnown:
		p.TotalPages = 1 // nothing says that there are more, or how to ask for them
	}
	return nil
}

// elementsOf finds the array of a listing.
func elementsOf(answer Object, name string) (array Object, ok bool) {
	for _, path := range []string{"", name, "data"} {
		if array, ok = answer.Get(path); ok && array.isArray() {
			return array, true
		}
	}
	return Object{}, false
}
