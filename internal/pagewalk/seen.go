package pagewalk

import "hash/maphash"

// Recent remembers at least the last 32,768 ids that were added, and at most twice as many. Records
// come back from the pages read last, and these are 32 of the largest pages.
//
// It keeps 64 bits of hash for each id, with a seed of the process, in two tables of 512 KiB at
// most. That a walk over a million records takes a new id for a known one has a chance below one in
// a hundred million.
type Recent struct {
	young, old table
	forgot     bool // some ids
}

const (
	recentIDs  = 1 << 15 // in a table, which then is half full
	firstSlots = 1 << 10 // of a table
	growth     = 4
)

var seed = maphash.MakeSeed()

// Has reports whether an id is remembered. An empty one never is.
func (r *Recent) Has(id string) bool {
	h := hash(id)
	_, young := r.young.find(h)
	_, old := r.old.find(h)
	return young || old
}

// Add remembers an id and reports whether it is new. An empty one always is.
func (r *Recent) Add(id string) bool {
	if id == "" {
		return true
	}
	h := hash(id)
	if _, known := r.old.find(h); known {
		return false
	}
	slot, known := r.young.find(h)
	if known {
		return false
	}
	if 2*r.young.n == len(r.young.slots) {
		if r.young.n == recentIDs {
			r.forgot = r.old.n > 0
			r.young, r.old = r.old.emptied(), r.young
		} else {
			r.young = r.young.grown()
		}
		slot, _ = r.young.find(h)
	}
	r.young.slots[slot] = h
	r.young.n++
	return true
}

// table is a hash table with open addressing. Its size is a power of two, and 0 marks an empty
// slot.
type table struct {
	slots []uint64
	n     int
}

// find returns the slot of a hash, or the one where it belongs.
func (t *table) find(h uint64) (slot int, known bool) {
	if t.slots == nil {
		return 0, false
	}
	last := len(t.slots) - 1
	for slot = int(h>>32) & last; t.slots[slot] != 0; slot = (slot + 1) & last {
		if t.slots[slot] == h {
			return slot, true
		}
	}
	return slot, false
}

// emptied is the table without its hashes, at its full size.
func (t *table) emptied() table {
	if t.slots == nil {
		t.slots = make([]uint64, 2*recentIDs)
	}
	clear(t.slots)
	return table{slots: t.slots}
}

// grown is a larger table with the same hashes.
func (t *table) grown() table {
	larger := table{slots: make([]uint64, max(firstSlots, growth*len(t.slots))), n: t.n}
	for _, h := range t.slots {
		if h != 0 {
			slot, _ := larger.find(h)
			larger.slots[slot] = h
		}
	}
	return larger
}

func hash(id string) uint64 { return maphash.String(seed, id) | 1 }
