package feed

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	// overlap is how long a change may take to become visible in the order of changes.
	overlap = time.Minute

	// skew is how far the clock that the service's responses tell, or this machine's if they tell none, and that of the changes may differ.
	skew = 2 * time.Minute
)

// position is the place of a version of a row in the order of changes.
type position struct {
	at int64 // in microseconds; the service has milliseconds
	id string
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.at, q.at), strings.Compare(p.id, q.id))
}

// beginning is before every position.
var beginning = position{at: math.MinInt64}

// after is after every row of that instant, and before those of the next.
func after(at int64) position { return position{at: at + 1} }

// state says which versions of rows were delivered: those up to the floor, and those in the window.
type state struct {
	floor  position
	window []position // above the floor, in order, one for each id

	// The service counts low to high rows, if none was removed and none added without a change. low is
	// unknown if it did not say, and broken once that is known to be false.
	low, high int

	// At cut, by the service's clock, changes were forgotten that others may still stand beside, visible late. An overlap
	// after that, all up to top are visible. Both are 0 if nothing was.
	cut, top int64

	keep    int   // the most of the window; not part of a checkpoint
	settled int64 // what was changed until then is visible; not part of a checkpoint either
}

const (
	unknown = -1
	broken  = -2
)

// begin returns the state in which the rows of the first page were delivered, and all that changed before.
func (s *state) begin(page []position, now time.Time) state {
	next := state{floor: beginning, window: page, low: unknown, high: unknown, keep: s.keep, settled: s.settled}
	return next.delivered(nil, now, true)
}

// due reports whether what was hidden by late changes is visible now, so that a full sync shows it.
func (s *state) due(now time.Time) bool {
	return s.cut != 0 && now.UnixMicro() >= s.cut+overlap.Microseconds()
}

// delivered returns the state after more versions were delivered, which are in order. At the end of a
// pass nothing is left to deliver, and the rows of one instant are forgotten together.
func (s *state) delivered(more []position, now time.Time, end bool) state {
	next := state{floor: s.floor, low: s.low, high: s.high, cut: s.cut, top: s.top, keep: s.keep, settled: s.settled}
	more = more[max(0, len(more)-s.keep-1):]
	newer := make(map[string]bool, len(more))
	for _, p := range more {
		newer[p.id] = true
	}
	for _, p := range s.window {
		if !newer[p.id] {
			next.window = append(next.window, p)
		}
	}
	next.window = append(next.window, more...)
	slices.SortFunc(next.window, position.compare)
	latest := now.Add(skew).UnixMicro() // a time that lies ahead of the clock says nothing about the others
	if !end {
		latest = min(latest, more[len(more)-1].at)
	}
	for _, p := range slices.Backward(next.window) {
		if p.at <= latest {
			next.raise(position{at: p.at - overlap.Microseconds()})
			break
		}
	}
	if n := len(next.window) - s.keep; n > 0 {
		last := next.window[n-1]
		if next.cut == 0 && last.at > max(s.settled, now.Add(-overlap-skew).UnixMicro()) {
			next.cut, next.top = now.UnixMicro(), next.window[len(next.window)-1].at
		}
		if end {
			last = after(last.at)
		}
		next.raise(last)
	}
	return next
}

// raise forgets what was delivered up to a position.
func (s *state) raise(floor position) {
	if floor.compare(s.floor) > 0 {
		n, found := slices.BinarySearchFunc(s.window, floor, position.compare)
		if found {
			n++
		}
		s.floor, s.window = floor, s.window[n:]
	}
}

// ahead reports whether the floor would hide what changes now.
func (s *state) ahead(now time.Time) bool { return s.floor.at > now.Add(skew).UnixMicro() }

// counts notes that so many rows were delivered, which may be new, and what the service counts now. It
// reports whether that can be.
func (s *state) counts(delivered, total int, known bool) bool {
	s.high += delivered
	switch {
	case s.low == broken:
		return false
	case !known:
		return true
	case s.low != unknown && (total < s.low || total > s.high):
		return false
	}
	s.low, s.high = total, total
	return true
}

// A state that was cut has a prefix of its own, so that no older version of this package takes it for another.
const (
	prefix    = "changes1."
	cutPrefix = "changes2."
)

// encode returns the state as a checkpoint of a list.
func (s *state) encode(list string) string {
	var b []byte
	begins := prefix
	if s.cut != 0 {
		begins, list = cutPrefix, cutPrefix+list
		b = binary.AppendVarint(binary.AppendVarint(b, s.cut), s.top)
	}
	b = binary.AppendVarint(b, int64(s.low))
	b = binary.AppendVarint(b, int64(s.high))
	b = binary.AppendVarint(b, s.floor.at)
	b = appendID(b, s.floor.id)
	before := s.floor.at
	for _, p := range s.window {
		b = binary.AppendUvarint(b, uint64(p.at-before)) //nolint:gosec // they are in order; it wraps from the beginning, and back
		b = appendID(b, p.id)
		before = p.at
	}
	return begins + sum(list, b) + "." + base64.RawURLEncoding.EncodeToString(b)
}

// sum proves that a checkpoint is whole, and of that list.
func sum(list string, b []byte) string {
	sum := sha256.Sum256(append([]byte(list+"\x00"), b...))
	return hex.EncodeToString(sum[:8])
}

// parse reads a checkpoint of a list.
func parse(text, list string, keep int) (*state, bool) {
	rest, ours := strings.CutPrefix(text, prefix)
	cut := !ours
	if cut {
		list = cutPrefix + list
		rest, ours = strings.CutPrefix(text, cutPrefix)
	}
	proof, rest, _ := strings.Cut(rest, ".")
	b, err := base64.RawURLEncoding.DecodeString(rest)
	if !ours || err != nil || sum(list, b) != proof {
		return nil, false
	}
	r := bytes.NewReader(b) // what encode wrote, which sum has proved
	s := &state{keep: keep}
	if cut {
		s.cut, s.top = varint(r), varint(r)
	}
	s.low, s.high = int(varint(r)), int(varint(r))
	s.floor = position{at: varint(r), id: readID(r)}
	before := s.floor.at
	for r.Len() > 0 {
		before += int64(uvarint(r)) //nolint:gosec // see encode
		s.window = append(s.window, position{before, readID(r)})
	}
	return s, true
}

// appendID appends an id: the usual one as 12 bytes after a zero, any other after its length.
func appendID(b []byte, id string) []byte {
	if plain, err := hex.DecodeString(id); err == nil && len(plain) == shortID && hex.EncodeToString(plain) == id {
		return append(append(b, 0), plain...)
	}
	return append(binary.AppendUvarint(b, uint64(len(id))+1), id...)
}

const shortID = 12

func varint(r *bytes.Reader) int64 {
	v, _ := binary.ReadVarint(r)
	return v
}

func uvarint(r *bytes.Reader) uint64 {
	v, _ := binary.ReadUvarint(r)
	return v
}

// readID reads what appendID has appended.
func readID(r *bytes.Reader) string {
	length := uvarint(r)
	text := make([]byte, min(cmp.Or(length, shortID+1)-1, uint64(r.Len()))) //nolint:gosec // G115: no length is negative
	_, _ = r.Read(text)
	if length == 0 {
		return hex.EncodeToString(text)
	}
	return string(text)
}
