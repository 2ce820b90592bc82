package jsonscan

import (
	"bytes"
	"unsafe"
)

// members reads an object into the fields.
func (o *object) members(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if inside, ok := d.enter('{'); !inside {
		return ok
	}
	learnt, data, top := &d.learnt[o.slot], c.data, c.depth == d.top
	recording, i := top && d.recording, c.pos
	for last := learnt.keys[0]; ; {
		k := last.next
		if i++; k == nil || c.first || i >= len(data) || data[i-1] != ',' || !bytes.HasPrefix(data[i:], k.text) {
			if c.pos = i - 1; !c.next('}') {
				return c.bad == 0
			}
			if k = learnt.keys.find(c, last, o); k == nil {
				return false
			}
			i = c.pos
		}
		if recording {
			d.found = append(d.found, i)
			d.escaped = d.escaped || k.escaped
		}
		i += len(k.text)
		last = k
		if top && k.id {
			d.id = i
		}
		if k.node == nil {
			end, bad := skipValue(data, skipSpace(data, i), c.depth)
			if i = end; bad != 0 {
				c.pos, c.bad = end, bad
				return false
			}
			continue
		}
		c.pos = i
		target := unsafe.Add(p, k.offset)
		if k.node.isString && i < len(data) && data[i] == '"' {
			*(*string)(target) = c.String()
		} else if !k.node.read(d, target) && !d.misfit(k.node, target, i) {
			return false
		}
		if i = c.pos; c.bad != 0 {
			return false
		}
	}
}

// keys are those of the objects that one node has read. Objects of one kind mostly have the same keys in the same order, so that it takes
// one comparison to find a key: with the one that came next the last time. The first entry stands for the opening brace.
type keys []*key

type key struct {
	text []byte // with its quotes, to the colon
	name string
	id   bool // its name is "id"
	next *key // that came after it the last time

	escaped bool // the text between the quotes is not the name

	field // without a node: there is none
}

// maxKeys bounds what is learnt about objects that have other keys every time.
const maxKeys = 128

func newKeys() keys { return append(make(keys, 0, 16), new(key)) }

// find returns the key at the cursor, which stays there; nil if there is none. It is a key of a struct, or of a map.
func (k *keys) find(c *Cursor, last *key, of *object) *key {
	if last.next == nil || !bytes.HasPrefix(c.data[c.pos:], last.next.text) {
		last.next = k.learn(c, of)
	}
	return last.next
}

// learn is find for a key that was not expected.
func (k *keys) learn(c *Cursor, of *object) *key {
	start := c.pos
	name, ok := c.key()
	if !ok {
		return nil
	}
	text := c.data[start:c.pos]
	c.pos = start
	for _, known := range *k {
		if bytes.Equal(known.text, text) {
			return known
		}
	}
	for long := true; long && len(*k) < maxKeys; long = len(text) > maxShared { // which is not to be handed on
		*k = append(*k, new(key))
	}
	found := (*k)[len(*k)-1]
	escaped := !bytes.HasPrefix(text[1:], name) || text[1+len(name)] != '"'
	*found = key{text: append(found.text[:0], text...), name: string(name), id: string(name) == "id", escaped: escaped}
	if of != nil {
		found.field = of.find(found.name)
	}
	return found
}
