package prospectkit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
)

// seenIDs remembers the last ids of a walk, 32,768 of them at least and twice as many at most, so that memory stays bounded however
// long it is. Drift brings records back from the pages just read, and those are 32 of the largest pages.
//
// An id is remembered by 64 bits of hash with a seed of the process. That a walk over a million records takes any of them for
// another, and drops it, has a chance below one in a hundred million.
type seenIDs struct{ young, old hashSet }

const seenLeast = 1 << 15

var seenSeed = maphash.MakeSeed()

func seenHash(id string) uint64 { return cmp.Or(maphash.String(seenSeed, id), 1) }

func (s *seenIDs) has(id string) bool {
	h := seenHash(id)
	return id != "" && (s.young.has(h) || s.old.has(h))
}

// add remembers an id and reports whether it is new. An empty id always is.
func (s *seenIDs) add(id string) bool {
	if id == "" {
		return true
	}
	h := seenHash(id)
	if s.old.has(h) || !s.young.add(h) {
		return false
	}
	if s.young.n == seenLeast {
		slots := s.old.slots
		if clear(slots); slots == nil {
			slots = make([]uint64, 2*seenLeast)
		}
		s.young, s.old = hashSet{slots: slots}, s.young
	}
	return true
}

// hashSet is a flat table of hashes, at most half full. One that is not in its place is in the next that was free.
type hashSet struct {
	slots []uint64 // 0 is free
	n     int
}

func (s *hashSet) has(h uint64) bool { return s.n > 0 && *s.find(h) == h }

// find returns the place of a hash, or the free one where it belongs.
func (s *hashSet) find(h uint64) *uint64 {
	mask := uint64(len(s.slots) - 1) //nolint:gosec // G115: a table that is asked has slots
	i := h & mask
	for s.slots[i] != h && s.slots[i] != 0 {
		i = (i + 1) & mask
	}
	return &s.slots[i]
}

// add adds a hash and reports whether it is new.
func (s *hashSet) add(h uint64) bool {
	if 2*s.n == len(s.slots) {
		s.grow()
	}
	slot := s.find(h)
	if *slot == h {
		return false
	}
	*slot = h
	s.n++
	return true
}

func (s *hashSet) grow() {
	old := s.slots
	s.slots = make([]uint64, max(1024, 4*len(old)))
	for _, h := range old {
		*s.find(h) = h
	}
}

// idKey is an id in 12 bytes, for sets that forget nothing.
type idKey [12]byte

func keyOf(id string) (k idKey) {
	if len(id) == 2*len(k) {
		if _, err := hex.Decode(k[:], []byte(id)); err == nil {
			return k
		}
	}
	sum := sha256.Sum256([]byte(id))
	copy(k[:], sum[:])
	return k
}
