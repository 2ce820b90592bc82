package jsonscan

import (
	"reflect"
	"slices"
	"sync"
)

// Lookup returns the value of a key of an object, a part of data. Of duplicate keys the last one counts.
func Lookup(data []byte, key string) (value []byte, ok bool) {
	c := New(data)
	if c.Object() {
		for name, more := c.Member(); more; name, more = c.Member() {
			if string(name) == key {
				value = c.Span()
			} else {
				c.Skip()
			}
		}
	}
	if c.bad != 0 {
		return nil, false
	}
	return value, value != nil
}

// Valid checks one whole JSON text.
func Valid(data []byte) error {
	c := New(data)
	c.Skip()
	return c.End()
}

// Index tells where the members of an object are, so that a lookup need not read them all: per member the offset of the key, and
// twelve bits that most other keys do not have.
type Index []uint32

const (
	hashBits  = 12
	maxOffset = 1<<(32-hashBits) - 1
)

func hash(name []byte) uint32 {
	n := len(name)
	if n == 0 {
		return 0
	}
	return (uint32(n) + 7*uint32(name[0]) + 61*uint32(name[n/2]) + 509*uint32(name[n-1])) % (1 << hashBits) //nolint:gosec // G115: a hash may overflow
}

// Lookup is the function [Lookup] for the object that the index was made for. Without an index it reads the object.
func (x Index) Lookup(data []byte, key string) (value []byte, ok bool) {
	if x == nil {
		return Lookup(data, key)
	}
	want := hash([]byte(key))
	for _, member := range slices.Backward(x) {
		if member%(1<<hashBits) != want {
			continue
		}
		c := Cursor{data: data, pos: int(member >> hashBits)}
		if name, _ := c.key(); string(name) == key {
			c.colon()
			value = c.Span()
			return value, value != nil
		}
	}
	return nil, false
}

// Indexer reads objects that nobody has asked a field of yet. It is for one goroutine.
type Indexer struct {
	object object
	id     struct {
		ID string `json:"id"` // so that it is a string to read
	}
	chunk Index
}

var indexers = sync.Pool{New: func() any {
	x := &Indexer{object: object{indexed: true, keys: newKeys()}}
	x.object.bind(reflect.ValueOf(&x.id))
	return x
}}

// NewIndexer returns an indexer. Release keeps what it has learnt for the next one.
func NewIndexer() *Indexer { return indexers.Get().(*Indexer) } //nolint:forcetypeassert // nothing else is in it

// Release lets others use it. Nothing of what it has read stays.
func (x *Indexer) Release() {
	x.object.forget()
	x.id.ID, x.chunk = "", nil
	indexers.Put(x)
}

// Read reads the next value, which has to be an object. It returns a copy of its text, an index of it, and the string under "id".
func (x *Indexer) Read(c *Cursor) (raw []byte, index Index, id string) {
	start := c.Mark()
	x.object.read(c)
	if c.bad != 0 {
		return nil, nil, ""
	}
	span, members := c.Since(start), x.object.members
	if len(span) <= maxOffset && len(members) <= mostMembers {
		if cap(x.chunk)-len(x.chunk) < len(members) {
			x.chunk = make(Index, 0, max(len(members), min(chunkSize/4, len(members)*(1+c.Left()/(len(span)+1)))))
		}
		first := len(x.chunk)
		for _, m := range members {
			x.chunk = append(x.chunk, uint32(m.at-start)<<hashBits|m.hash) //nolint:gosec // G115: maxOffset is checked
		}
		index = x.chunk[first:len(x.chunk):len(x.chunk)]
	}
	return c.Copy(span), index, x.object.id
}
