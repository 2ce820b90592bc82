package prospectkit

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"example.com/prospectkit/internal/op"
)

// listing is a collection whose response the document does not show: an array that is bare, or under its name or "data", where a
// pagination stands beside it. Further pages are asked for by pageNum, as those of lists are. All of that is assumed.
type listing[T any] struct {
	client *Client
	op     *op.Op
	ids    []string
	name   string
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
	var page *Page[T]
	_, err := do[Object](ctx, l.client, l.op, args{
		ids: l.ids, query: query, responseType: reflect.TypeFor[T](), responseKeys: []string{l.name, "data"}, proof: func(any) bool { return page.shown() },
		accept: func(response any) (err error) {
			page, err = l.read(*response.(*Object)) //nolint:forcetypeassert // it is what do was asked for
			return err
		},
	}, opts)
	if err != nil {
		return nil, err
	}
	return page, nil
}

func (l listing[T]) read(response Object) (*Page[T], error) {
	array, ok := elementsOf(response, l.name)
	if !ok {
		return nil, fmt.Errorf("the answer shows no %s: it is %s", l.name, response.outline())
	}
	items, err := recordOf[[]T](array)
	if err != nil {
		return nil, err
	}
	if what := missingIn(*items); what != "" {
		return nil, errors.New(what)
	}
	pagination, paged := response.Get("pagination")
	t, err := recordOf[pageTotals](pagination)
	p := newPage(*items, "", t)
	switch {
	case !paged:
		p.Number, p.TotalPages, p.TotalRecords, p.TotalsKnown = 1, 1, len(p.Items), true
	case p.Number == 0 && p.TotalPages == 0 && !p.TotalsKnown:
		p.TotalPages = 1 // nothing says that there are more, or how to ask for them
	}
	return p, err
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
