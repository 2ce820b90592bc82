package jsonscan

import "bytes"

// keys are those of the objects that one node has read. Objects of one kind mostly have the same keys in the same order, so that it takes
// one comparison to find a key: with the one that came next the last time. The first entry stands for the opening brace.
type keys []key

type key struct {
	text  []byte // with its quotes, to the colon
	name  []byte
	plain string // the name, for maps
	hash  uint32
	next  int  // index of the key that came after it last time; 0: none yet
	id    bool // its name is "id"

	offset   uintptr // of its field
	node     *node   // nil: there is no such field
	isString bool    // its field is one
}

// maxKeys bounds what is learnt about objects that have other keys every time.
const maxKeys = 128

func newKeys() keys { return make(keys, 1, 16) }

// find returns the index of the key at the cursor, which stays there, and whether it is new; 0 if there is no key. The key before
// it has index last.
func (k *keys) find(c *Cursor, last int) (n int, fresh bool) {
	if n = (*k)[last].next; n > 0 && bytes.HasPrefix(c.data[c.pos:], (*k)[n].text) {
		return n, false
	}
	if n, fresh = k.learn(c); n > 0 {
		(*k)[last].next = n
	}
	return n, fresh
}

// learn is find for a key that was not expected.
func (k *keys) learn(c *Cursor) (n int, fresh bool) {
	start := c.pos
	name, ok := c.key()
	if !ok {
		return 0, false
	}
	if c.colon(); c.bad != 0 {
		return 0, false
	}
	text := c.data[start:c.pos]
	c.pos = start
	for n = 1; n < len(*k); n++ {
		if bytes.Equal((*k)[n].text, text) {
			return n, false
		}
	}
	switch {
	case n == maxKeys:
		n--
	case len(text) > maxShared: // too long to be handed on
		*k = append(*k, make(keys, maxKeys-n)...)
		n = maxKeys - 1
	default:
		*k = append(*k, key{})
	}
	both := append(append((*k)[n].text[:0], text...), name...)
	(*k)[n] = key{text: both[:len(text)], name: both[len(text):], id: string(name) == "id", hash: hash(name)}
	return n, true
}
