package jsonscan

import "bytes"

// keys are those of the objects that one node has read. Objects of one kind mostly have the same keys in the same order, so that it takes
// one comparison to find a key: with the one that came next the last time. The first entry stands for the opening brace.
type keys []*key

type key struct {
	text  []byte // with its quotes, to the colon
	name  []byte
	plain string // the name, for maps
	hash  uint32
	id    bool // its name is "id"
	next  *key // that came after it the last time

	field // without a node: there is none
}

// maxKeys bounds what is learnt about objects that have other keys every time.
const maxKeys = 128

func newKeys() keys { return append(make(keys, 0, 16), new(key)) }

// find returns the key at the cursor, which stays there, and whether it is new; nil if there is none.
func (k *keys) find(c *Cursor, last *key) (found *key, fresh bool) {
	if last.next != nil && bytes.HasPrefix(c.data[c.pos:], last.next.text) {
		return last.next, false
	}
	if found, fresh = k.learn(c); found != nil {
		last.next = found
	}
	return found, fresh
}

// learn is find for a key that was not expected.
func (k *keys) learn(c *Cursor) (found *key, fresh bool) {
	start := c.pos
	name, ok := c.key()
	if !ok {
		return nil, false
	}
	text := c.data[start:c.pos]
	c.pos = start
	for _, known := range *k {
		if bytes.Equal(known.text, text) {
			return known, false
		}
	}
	for long := true; long && len(*k) < maxKeys; long = len(text) > maxShared { // which is not to be handed on
		*k = append(*k, new(key))
	}
	found = (*k)[len(*k)-1]
	both := append(append(found.text[:0], text...), name...)
	*found = key{text: both[:len(text)], name: both[len(text):], id: string(name) == "id", hash: hash(name)}
	return found, true
}
