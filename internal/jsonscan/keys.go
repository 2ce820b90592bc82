package jsonscan

import "bytes"

// keys are those of the objects read so far. Objects of one kind mostly have the same keys in the same order, so that it takes one
// comparison to find a key: with the one that came next the last time. The first entry stands for the opening brace.
type keys []key

type key struct {
	text  []byte // with its quotes, to the colon
	name  []byte
	hash  uint32
	next  int    // index of the key that came after it last time; 0: none yet
	id    bool   // its name is "id"
	field *field // nil: no field of that name
}

// maxKeys bounds what is learnt about objects that have other keys every time.
const maxKeys = 128

// find returns the index of the key at the cursor, which stays there, and whether it is new; 0 if there is no key. The key before
// it has index last.
func (k *keys) find(c *Cursor, last int) (n int, fresh bool) {
	if last < len(*k) {
		n = (*k)[last].next
	}
	if n > 0 && bytes.HasPrefix(c.data[c.pos:], (*k)[n].text) {
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
	if *k == nil {
		*k = make(keys, 1, 32)
	}
	for n = 1; n < len(*k); n++ {
		if bytes.Equal((*k)[n].text, text) {
			return n, false
		}
	}
	if n == maxKeys {
		n--
		*k = (*k)[:n]
	}
	both := append(bytes.Clone(text), name...)
	*k = append(*k, key{text: both[:len(text)], name: both[len(text):], id: string(name) == "id", hash: hash(name)})
	return n, true
}
