package prospectkit

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
)

// seenIDs remembers the last 32,768 ids of a walk, so that memory stays bounded however long it is. Drift brings records back from
// the pages just read, and those are 32 of the largest pages.
//
// An id is remembered by 64 bits of hash with a seed of the process. That a walk over a million records takes any of them for
// another, and drops it, has a chance below one in a hundred million.
//
// Nearly every id is new, and the hashes are too many for the caches next to the processor. Hence a Bloom filter in front of them,
// which is not: where it says that an id is new, hashes are only written, for which nobody waits.
type seenIDs struct {
	n      int      // ids so far
	hashes []uint64 // of the last ids, in a ring
	before []uint16 // for each of them, the number of the one before it in its bucket
	last   []uint16 // for each bucket, the number of the last one in it
	filter []bloom  // for each bucket
}

// bloom has four bits for each id of a bucket: for the younger ones, and for those before. When 32,768 have come, the old ones are
// surely overwritten, and the young ones become old.
type bloom struct{ young, old uint64 }

const (
	seenMost   = 1 << 15
	seenFirst  = 1 << 9 // room to begin with
	seenGrowth = 4
	bucketSize = 4 // ids of a full ring, on average
)

var seenSeed = maphash.MakeSeed()

func (s *seenIDs) has(id string) bool {
	return id != "" && s.n > 0 && s.remembers(maphash.String(seenSeed, id))
}

// add remembers an id and reports whether it is new. An empty id always is.
func (s *seenIDs) add(id string) bool {
	if id == "" {
		return true
	}
	if s.n == len(s.hashes) && s.n < seenMost {
		s.grow()
	}
	h := maphash.String(seenSeed, id)
	if s.remembers(h) {
		return false
	}
	s.put(h)
	return true
}

func (s *seenIDs) remembers(h uint64) bool {
	f, bits := &s.filter[s.bucket(h)], bloomBits(h)
	return (f.young&bits == bits || f.old&bits == bits) && s.search(h)
}

// search goes back in time through a bucket. A number that was overwritten meanwhile shows by its age: too high, or not higher than
// the one before.
func (s *seenIDs) search(h uint64) bool {
	number, age := s.last[s.bucket(h)], 0
	for {
		older := int(uint16(s.n) - number) //nolint:gosec // G115: numbers are counted modulo 1<<16
		if older <= age || older > len(s.hashes) {
			return false
		}
		place := s.place(int(number))
		if s.hashes[place] == h {
			return true
		}
		number, age = s.before[place], older
	}
}

func (s *seenIDs) put(h uint64) {
	place, bucket := s.place(s.n), s.bucket(h)
	s.hashes[place], s.before[place] = h, s.last[bucket]
	s.last[bucket] = uint16(s.n) //nolint:gosec // G115: numbers are counted modulo 1<<16
	s.filter[bucket].young |= bloomBits(h)
	if s.n++; s.n%seenMost == 0 {
		for i := range s.filter {
			s.filter[i] = bloom{old: s.filter[i].young}
		}
	}
}

// place and bucket are taken from powers of two.
func (s *seenIDs) place(number int) int { return number & (len(s.hashes) - 1) }
func (s *seenIDs) bucket(h uint64) int  { return int(h>>32) & (len(s.filter) - 1) }

func bloomBits(h uint64) uint64 { return 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63) | 1<<(h>>18&63) }

func (s *seenIDs) grow() {
	room := max(seenFirst, seenGrowth*len(s.hashes))
	old, buckets := s.hashes, room/bucketSize
	*s = seenIDs{
		hashes: make([]uint64, room), before: make([]uint16, room), last: make([]uint16, buckets), filter: make([]bloom, buckets),
	}
	for _, h := range old {
		s.put(h)
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
