package pagewalk

import "hash/maphash"

// Recent remembers at least the last 32,768 ids that were added, and at most twice as many. Records
// come back from the pages read last, and these are 32 of the largest pages.
//
// It keeps 64 bits of hash for each id, with a seed of the process, in two maps of 1.2 MiB at
// most. That a walk over a million records takes a new id for a known one has a chance below one in
// a hundred million.
type Recent struct {
	young, old map[uint64]struct{}
	forgot     bool // some ids
}

const recentIDs = 1 << 15 // in a map

var seed = maphash.MakeSeed()

// Has reports whether an id is remembered. An empty one never is.
func (r *Recent) Has(id string) bool { return id != "" && r.has(maphash.String(seed, id)) }

func (r *Recent) has(h uint64) bool {
	_, young := r.young[h]
	_, old := r.old[h]
	return young || old
}

// Add remembers an id and reports whether it is new. An empty one always is.
func (r *Recent) Add(id string) bool {
	if id == "" {
		return true
	}
	h := maphash.String(seed, id)
	if r.has(h) {
		return false
	}
	if len(r.young) == recentIDs {
		r.forgot = len(r.old) > 0
		r.young, r.old = r.old, r.young
		clear(r.young)
	}
	if r.young == nil {
		r.young = make(map[uint64]struct{}, len(r.old))
	}
	r.young[h] = struct{}{}
	return true
}
