package pagewalk

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"
)

// Report says how complete a walk was. Its fields are explained where users meet them.
type Report struct {
	Requests   int
	Delivered  int
	Total      int
	TotalKnown bool
	Repeats    int
	Rereads    int
	Recovered  int
	Incomplete bool
	Rewound    bool
	Finished   bool
	Missing    int
	OrderKnown bool
	Joined     int
}

// Progress follows a walk. It is safe for concurrent use.
type Progress struct {
	mu     sync.Mutex
	report Report
	place  Checkpoint // its Count is that before the range
	size   int        // of the page reached, with its repeats
}

// Start begins a new walk over the collection of the query. Without a query there are no
// checkpoints.
func (p *Progress) Start(query string, orderKnown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report, p.place, p.size = Report{OrderKnown: orderKnown}, Checkpoint{Version: version, Query: query}, 0
}

// Delivered notes a record.
func (p *Progress) Delivered(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Delivered++
	p.place.Index = min(p.place.Index+1, p.size)
	if id == "" || p.place.Query == "" {
		return
	}
	if len(p.place.Last) == anchors {
		p.place.Last = append(p.place.Last[:0], p.place.Last[1:]...)
	}
	p.place.Last = append(p.place.Last, id)
}

// tell takes the report of the walk. If a place is given, it is that of the page that is about to be handed out, of a size.
func (p *Progress) tell(r Report, at *Checkpoint, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.Delivered = p.report.Delivered
	if p.report = r; at == nil {
		return
	}
	last := p.place.Last
	if p.place, p.size = *at, size; last == nil { // or those of the checkpoint that the walk resumes from
		last = slices.Clone(at.Last)
	}
	p.place.Last = last
}

// Report returns the state of the walk.
func (p *Progress) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.report
}

// Checkpoint returns the place after the last record delivered, as a text for [Parse]; empty before
// the first. That of a walk that has ended has no place.
func (p *Progress) Checkpoint() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.place.Query == "" || p.report.Delivered == 0 && len(p.place.Last) == 0 {
		return ""
	}
	place := p.place
	place.Incomplete, place.Count = p.report.Incomplete, max(0, place.Count+p.report.Delivered+p.report.Repeats)
	if p.report.Finished {
		place = Checkpoint{Version: version, Query: place.Query, Page: 1, First: place.First, Ended: true}
	}
	text, err := json.Marshal(&place)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// anchors is how many of the last ids a checkpoint names. The place is found again if one of these records is
// on its page, or as near to it as the total has moved.
const anchors = 16

// Checkpoint is the place after the last record delivered.
type Checkpoint struct {
	Version int      `json:"v"`
	Query   string   `json:"q"`
	Page    int      `json:"p"`
	Total   int      `json:"t,omitempty"`
	Last    []string `json:"l,omitempty"` // ids, oldest first
	Size    int      `json:"s,omitempty"` // of the largest page
	Index   int      `json:"i,omitempty"` // of the place on its page
	Count   int      `json:"n,omitempty"` // records that came, repeats included, if each page has had this total; 0 if unknown
	Unsure  bool     `json:"u,omitempty"` // others that were delivered may come after these
	Joined  int      `json:"j,omitempty"` // by how much the total has risen, all in all
	First   int      `json:"f,omitempty"` // page that the walk began with; 0 is 1
	Ended   bool     `json:"e,omitempty"` // the walk: there is no place

	Incomplete bool `json:"k,omitempty"` // as in the report: some in front of the place may have been skipped
}

const version = 1

// Fingerprint identifies a query without storing it.
func Fingerprint(query []byte) string {
	sum := sha256.Sum256(query)
	return hex.EncodeToString(sum[:8])
}

// Parse reads the text of a checkpoint of the same query.
func Parse(text, query string) (*Checkpoint, error) {
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("got something that this version of Checkpoint did not return")
	}
	cp := new(Checkpoint)
	switch err := json.Unmarshal(plain, cp); {
	case err != nil || cp.Version != version || min(cp.Page-1, cp.Size, cp.Index, cp.Joined, cp.Count, math.MaxInt/4-cp.Count) < 0 || len(cp.Last) > anchors:
		return nil, errors.New("got something that this version of Checkpoint did not return")
	case cp.Query != query:
		return nil, errors.New("was taken from another base URL, workspace, key, collection, filter, sort order or page size; an empty one starts at the beginning")
	}
	return cp, nil
}

func (cp *Checkpoint) names(id string) bool { return slices.Contains(cp.Last, id) }
