package prospectkit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
)

// Report says how complete a walk over pages was.
type Report struct {
	Requests  int // pages read, all included
	Delivered int // records handed to you, in this range
	Total     int // records in the collection when it was last told
	TotalTold bool
	Repeats   int  // records that came a second time and were dropped
	Rereads   int  // pages read again because the total had fallen
	Recovered int  // records found by that, which a plain loop would have skipped
	Unsettled bool // records kept vanishing while a border was read again: some may have slipped past
	Rewound   bool // the checkpoint's records were gone: some records may have been delivered twice
	Finished  bool // the end was reached

	// Missing is how many more records the service has told of than have come, at the end of a walk over the whole collection: the
	// smallest total that was told, less the records of all pages. Some may have come in and others gone meanwhile.
	Missing int

	Restarts  int // of a search whose token was dead: see RestartSkippingSeen
	PaidAgain int // pages read after a restart that held something delivered before; Repeats says how much

	// OrderKnown says that the service promises an order. It does so for all lists, not for those of a folder or a search. Without one,
	// what was recovered is the best that can be done, and records may have slipped past where the total did not fall.
	OrderKnown bool
}

// Progress follows one iterator; see [Track]. The zero value is ready. It is safe to read while the iterator runs.
type Progress struct {
	mu     sync.Mutex
	report Report
	cp     checkpoint
}

// Track fills p while an iterator runs: the report, and a checkpoint from which another process can go on. A new range
// starts it afresh.
func Track(p *Progress) IterOption {
	return iterOption(func(c *iterConfig, bad *checks) {
		if p == nil {
			bad.add("Track", "got nil")
			return
		}
		c.progress = p
	})
}

// ResumeFrom starts an iterator after the record that was delivered last when the checkpoint was taken. It has to be the same
// collection, with the same filter, sort order and page size. An empty checkpoint, as there is before a first run, starts at the
// beginning.
func ResumeFrom(checkpoint string) IterOption {
	return iterOption(func(c *iterConfig, _ *checks) { c.resumes, c.checkpoint = true, checkpoint })
}

// Report returns the state of the walk.
func (p *Progress) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.report
}

// Checkpoint returns a string for [ResumeFrom]. Inside the loop it counts the current record as delivered: take it once the
// record is stored, in the same transaction if you can. It is empty before the first record, and for a scroll,
// whose token must not be kept. It names the ids of the last records, but no token and no other content.
func (p *Progress) Checkpoint() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cp.Query == "" || p.report.Delivered == 0 && len(p.cp.Last) == 0 {
		return ""
	}
	return p.cp.encode()
}

// anchors is how many of the last ids a checkpoint names: as long as one of them is alive, the place is found again.
const anchors = 16

// checkpoint is the place after the last record delivered.
type checkpoint struct {
	Version int      `json:"v"`
	Query   string   `json:"q"`
	Page    int      `json:"p"`
	Total   int      `json:"t,omitempty"`
	Last    []string `json:"l,omitempty"` // ids, oldest first
}

const checkpointVersion = 1

func (cp *checkpoint) encode() string {
	text, err := json.Marshal(cp)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func (cp *checkpoint) names(id string) bool { return id != "" && slices.Contains(cp.Last, id) }

func parseCheckpoint(s, query string) (*checkpoint, error) {
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, errors.New("got something that Checkpoint did not return")
	}
	cp := new(checkpoint)
	switch err := json.Unmarshal(text, cp); {
	case err != nil || cp.Version < 1 || cp.Page < 1 || len(cp.Last) > anchors:
		return nil, errors.New("got something that Checkpoint did not return")
	case cp.Version > checkpointVersion:
		return nil, errors.New("was taken by a newer version of this package")
	case cp.Query != query:
		return nil, errors.New("was taken from another collection, filter, sort order or page size")
	}
	return cp, nil
}

// fingerprint tells collections apart without storing what was asked.
func (p pager[T]) fingerprint() string {
	sum := sha256.Sum256([]byte(p.op.Name + "\x00" + p.client.conf.base.Host + "\x00" + p.query))
	return hex.EncodeToString(sum[:8])
}

// What a walk tells its progress goes nowhere if nobody asked for it.

func (p *Progress) start(query string, order bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report, p.cp = Report{OrderKnown: order}, checkpoint{Version: checkpointVersion, Query: query}
}

// resume goes on from a checkpoint, so that the next one names its records too.
func (p *Progress) resume(cp *checkpoint) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cp = *cp
	p.cp.Last = slices.Clone(cp.Last)
}

func (p *Progress) update(f func(*Report)) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.report)
}

func (p *Progress) request()        { p.update(func(r *Report) { r.Requests++ }) }
func (p *Progress) reread()         { p.update(func(r *Report) { r.Rereads++ }) }
func (p *Progress) recovered(n int) { p.update(func(r *Report) { r.Recovered += n }) }
func (p *Progress) repeats(n int)   { p.update(func(r *Report) { r.Repeats += n }) }
func (p *Progress) unsettled()      { p.update(func(r *Report) { r.Unsettled = true }) }
func (p *Progress) rewound()        { p.update(func(r *Report) { r.Rewound = true }) }
func (p *Progress) finished(missing int) {
	p.update(func(r *Report) { r.Finished, r.Missing = true, missing })
}

func (p *Progress) restarted() { p.update(func(r *Report) { r.Restarts++ }) }

// again notes what a page of a scroll repeated.
func (p *Progress) again(repeats int) {
	if repeats > 0 {
		p.update(func(r *Report) { r.Repeats, r.PaidAgain = r.Repeats+repeats, r.PaidAgain+1 })
	}
}

// reached notes the page that is about to be handed out. Until its last record is delivered, the place is there.
func (p *Progress) reached(number, total int, told bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Total, p.report.TotalTold = total, told
	p.cp.Page, p.cp.Total = number, total
}

func (p *Progress) delivered(id string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Delivered++
	if id == "" {
		return
	}
	if len(p.cp.Last) == anchors {
		p.cp.Last = append(p.cp.Last[:0], p.cp.Last[1:]...)
	}
	p.cp.Last = append(p.cp.Last, id)
}
