package pagewalk

import "reflect"

// Records are those of a page, in its order. Only they know the type of the records: the walk is compiled once, and not for each type
// in each package that walks.
type Records interface {
	Len() int
	ID(i int) string  // empty where a record has none
	Move(i, to int)   // in place of another
	Cut(from, to int) // drops all others

	// AppendTo adds a record to others, which are nil before the first.
	AppendTo(others Records, i int) Records

	// Same compares with the records of another page; nil has none.
	Same(others Records) bool
}

// List is Records of one type.
type List[T any] struct {
	Items []T
	Named func(*T) string // is the id of a record
}

// Len is how many there are.
func (l *List[T]) Len() int { return len(l.Items) }

// ID names a record.
func (l *List[T]) ID(i int) string { return l.Named(&l.Items[i]) }

// Move puts a record in place of another.
func (l *List[T]) Move(i, to int) { l.Items[to] = l.Items[i] }

// Cut keeps only a part.
func (l *List[T]) Cut(from, to int) { l.Items = l.Items[from:to] }

// AppendTo adds a record to others.
func (l *List[T]) AppendTo(others Records, i int) Records {
	to, _ := others.(*List[T])
	if to == nil {
		to = &List[T]{Named: l.Named}
	}
	to.Items = append(to.Items, l.Items[i])
	return to
}

// Same compares contents.
func (l *List[T]) Same(others Records) bool {
	var items []T
	if o, ok := others.(*List[T]); ok {
		items = o.Items
	}
	return reflect.DeepEqual(l.Items, items)
}

// Len is how many records the page holds.
func (p *Page) Len() int {
	if p.Records == nil {
		return 0
	}
	return p.Records.Len()
}
