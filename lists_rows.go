package prospectkit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"

	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/mismatch"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/rowquery"
)

// Row is a contact or a company of a list. Its fields are undocumented; in the sandbox, the keys that sort are fields (assumed). A yielded
// pointer keeps its page in memory: to keep a few rows of many, copy the values.
type Row struct {
	Object
	id jsonscan.ID // if it was read with the page
}

// ID returns the id of the row, which is also that of its contact.
func (r *Row) ID() string {
	if r.id == "" {
		return r.Text("id")
	}
	return string(r.id)
}

// UnmarshalJSON keeps a copy of the text.
func (r *Row) UnmarshalJSON(data []byte) error {
	r.id = ""
	return r.Object.UnmarshalJSON(data)
}

// RowsParams selects and sorts rows; the zero value means all.
//
// The keys of contact lists are
//
//	firstName  lastName  jobTitle  createdAt  address.city  address.country  updatedAt (slow)
//	company.name  company.domain  company.industry  company.country  company.type  company.revenue
//	company.socialHeadCount  company.address.city  company.address.state  company.address.country
//
// those of company lists are
//
//	name  domain  industry  revenue  socialHeadCount
//
// and customColumns_ with the id of a custom column sorts either. The service ignores other keys silently, so they are refused. Other
// fields of contacts sort, too, by undocumented names: pass sortBy and sortOrder to [WithQuery].
type RowsParams struct {
	Limit      int         // per page, 1 to 1000; default: 1000, and 100 for RowsPage
	PageNum    int         // first page, from 1; default 1
	Filter     filter.Rows // filter.Contact, filter.Company or filter.Raw
	SortBy     string      // one of the keys above; empty: undocumented order
	Descending bool        // highest first
}

func (p RowsParams) check(bad *check.Violations) {
	bad.Between("limit", p.Limit, 1, maxPageSize)
	bad.AtLeast("pageNum", p.PageNum, 1)
	if p.SortBy != "" || p.Descending {
		rowquery.CheckSort(bad, p.SortBy)
	}
	if check.IsNil(p.Filter) {
		return
	}
	p.Filter.Check(bad)
	if kind, sorted := ListKind(p.Filter.Kind()), ListKind(rowquery.SortKind(p.SortBy)); kind != "" && sorted != "" && kind != sorted {
		bad.Add("sortBy", "is a key of a %s, the filter is for a %s", sorted, kind)
	}
	rowquery.CheckFilter(bad, p.Filter)
}

// rowsQuery is the parameters as they are sent.
type rowsQuery struct {
	Limit     int    `url:"limit,omitempty"`
	PageNum   int    `url:"pageNum,omitempty"`
	SortBy    string `url:"sortBy,omitempty"`
	SortOrder string `url:"sortOrder,omitempty"`
	Filters   string `url:"filters,omitempty"`
}

// Rows iterates over the rows of a list, a request for each 1,000 by default. [RowsOf] decodes them into a struct. While others change the
// list, repeats are dropped, and skipped rows recovered as far as the totals allow: see [Report].
//
// A filter or sort key of the other kind of list, which the service ignores, ends the range with [ErrInvalid] before any row.
//
// Errors: documented: [CodeInvalidRowFilters]; likely: [CodeListNotFound], [CodeListProcessing].
//
// GET /business/lists/{listId}/rows, scope lists.
func (s *ListsService) Rows(ctx context.Context, listID string, p RowsParams, opts ...PageOption) iter.Seq2[*Row, error] {
	return itemsOf[Row](ctx, rowsPager(s, listID, p, (*Row).ID), opts)
}

// RowsPages iterates over the pages of [ListsService.Rows].
//
// Errors: those of [ListsService.Rows].
//
// GET /business/lists/{listId}/rows, scope lists.
func (s *ListsService) RowsPages(ctx context.Context, listID string, p RowsParams, opts ...PageOption) iter.Seq2[*Page[Row], error] {
	return pagesOf[Row](ctx, rowsPager(s, listID, p, (*Row).ID), opts)
}

// RowsPage reads one page of rows. A page past the end is empty.
//
// Errors: those of [ListsService.Rows].
//
// GET /business/lists/{listId}/rows, scope lists.
func (s *ListsService) RowsPage(ctx context.Context, listID string, p RowsParams, opts ...CallOption) (*Page[Row], error) {
	q := p.of(listID)
	return rowsPage[Row](ctx, s, q, q.page(p.PageNum), opts)
}

// RowSource iterates over the rows of a list ([ListsService]) or an agent ([AgentsService]), or is a fake in your tests.
type RowSource interface {
	Rows(ctx context.Context, id string, p RowsParams, opts ...PageOption) iter.Seq2[*Row, error]
}

// RowsOf iterates over rows as values of your struct, decoded as encoding/json does, at the cost of [ListsService.Rows]. With client.Lists
// as the source, it is fastest.
//
// A row that does not fit ends the range with an [*Error] whose RowID names it, after the rows before it. A checkpoint taken then goes on
// behind it. The rows of a page share memory.
//
// Errors: those of [ListsService.Rows].
//
// GET /business/lists/{listId}/rows, scope lists.
func RowsOf[T any](ctx context.Context, source RowSource, id string, p RowsParams, opts ...PageOption) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		lists, direct := source.(*ListsService)
		if !direct {
			var hide redact.Secrets
			if ours, ok := source.(interface{ secrets() redact.Secrets }); ok {
				hide = ours.secrets()
			}
			decodeRows(source.Rows(ctx, id, p, opts...), hide, yield)
			return
		}
		rows := rowsPager(lists, id, p, func(r *jsonscan.Exact[T]) string { return r.ID })
		for row, err := range itemsOf[jsonscan.Exact[T]](ctx, rows, opts) {
			if err == nil && row.Unfit != nil {
				err = unfit(reflect.TypeFor[T](), row.ID, row.Unfit.Text, lists.conf.secrets(), row.Unfit.Err)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&row.Value, nil) {
				return
			}
		}
	}
}

// decodeRows yields the rows of any source as values of T. It pulls them: a loop over an unknown
// source would make every loop over RowsOf allocate.
func decodeRows[T any](rows iter.Seq2[*Row, error], hide redact.Secrets, yield func(*T, error) bool) {
	next, stop := iter.Pull2(rows)
	defer stop()
	for row, err, more := next(); more; row, err, more = next() {
		var value *T
		if err == nil {
			value = new(T)
			if cause := row.Decode(value); cause != nil {
				value, err = nil, unfit(reflect.TypeFor[T](), row.ID(), row.Raw(), hide, cause)
			}
		}
		if !yield(value, err) || err != nil {
			return
		}
	}
}

// unfit is the error of a row that does not fit a type.
func unfit(t reflect.Type, id string, text []byte, hide redact.Secrets, cause error) error {
	e := withoutEffect(op.ListsRows, mismatch.New("a row", t, text, cause))
	e.RowID = hide.Clean(id, maxName)
	return e
}

// rowsAsked is a query as it was when it was made: the caller may change maps and slices of the filter before the next page.
type rowsAsked struct {
	listID string
	query  rowsQuery
	bad    check.Violations
}

func (p RowsParams) of(listID string) *rowsAsked {
	q := &rowsAsked{listID: listID}
	q.query = rowsQuery{p.Limit, p.PageNum, p.SortBy, p.order(), rowquery.FilterText(p.Filter)}
	p.check(&q.bad)
	return q
}

func (q *rowsAsked) page(number int) args {
	query := q.query
	query.PageNum = number
	return args{ids: []string{q.listID}, query: query, check: q.check}
}

// heeded returns the error of a response from a kind of list that ignores a part of the query. Its rows would be others.
func (q *rowsAsked) heeded(kind ListKind) error {
	ignored := rowquery.Ignored(string(kind), q.query.SortBy, q.query.Filters)
	if len(ignored) == 0 {
		return nil
	}
	e := withoutEffect(op.ListsRows, fmt.Errorf("a %s ignores %s", kind, strings.Join(ignored, ", ")))
	e.classes = []ErrorClass{ErrInvalid}
	return e
}

func (q *rowsAsked) check(bad *check.Violations) { *bad = append(*bad, q.bad...) }

func rowsPage[R any](ctx context.Context, s *ListsService, q *rowsAsked, in args, opts []CallOption) (*Page[R], error) {
	page, err := readPage[R](ctx, s.conf, op.ListsRows, in, q.query.Limit, opts)
	if err == nil {
		err = q.heeded(ListKind(page.Kind))
	}
	if err != nil {
		return nil, err
	}
	return page, nil
}

func rowsPager[R any](s *ListsService, listID string, p RowsParams, id func(*R) string) collection {
	p.Limit = cmp.Or(p.Limit, maxPageSize)
	q, of := p.of(listID), collection{conf: s.conf, op: op.ListsRows, first: p.PageNum, limit: p.Limit}
	return numbered(of, q.page(0), func(ctx context.Context, number int, opts []CallOption) (*Page[R], error) {
		return rowsPage[R](ctx, s, q, q.page(number), opts)
	}, id)
}

// order goes out with the key or not at all: the service ignores one without the other.
func (p RowsParams) order() string {
	switch {
	case p.SortBy == "":
		return ""
	case p.Descending:
		return "desc"
	}
	return "asc"
}
