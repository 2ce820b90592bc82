// Package review is about what a person sees before they approve a campaign:
// [example.com/prospectkit.CampaignsService.Review] makes a [Review], and Approve compares its
// digest.
package review

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Review is a campaign with its steps, scheduled sends, source lists and their contacts, as they were
// read, and the calls that have approved it before, or may have. It holds personal data: keep it out of logs.
type Review struct {
	// Unread are the sections that the API did not show: Lists and Contacts, if the listing names no lists.
	Unread []Section
	// Began is when the first of it was read. Only the digest has it, in seconds: it is no change.
	Began time.Time

	texts  map[Section][]json.RawMessage // none of the contacts
	sums   map[Section][][]byte          // of every element
	doubts []string                      // the tickets of the approvals that may have happened

	lists, read, counted int // that count more contacts than were read of them, and both numbers
}

// Section is a part of a review.
type Section string

// The sections, in the order of the digest.
const (
	Campaign Section = "campaign"
	Steps    Section = "steps"
	Sends    Section = "sends"
	Lists    Section = "lists"
	Contacts Section = "contacts"

	Approvals Section = "approvals"
)

var sections = []Section{Campaign, Steps, Sends, Lists, Contacts, Approvals}

// Add adds a JSON text to a section. Of a contact, only a hash is kept.
func (r *Review) Add(s Section, text json.RawMessage) {
	if r.add(s, hashOf(text)); s != Contacts {
		r.texts[s] = append(r.texts[s], slices.Clone(text))
	}
}

// AddRows adds the contacts that were read of a list, which counts so many.
func (r *Review) AddRows(rows *Review, counted int) {
	for _, sum := range rows.sums[Contacts] {
		r.add(Contacts, sum)
	}
	if n := rows.Count(Contacts); n < counted {
		r.lists, r.read, r.counted = r.lists+1, r.read+n, r.counted+counted
	}
}

func (r *Review) add(s Section, sum []byte) {
	if r.sums == nil {
		r.texts, r.sums = make(map[Section][]json.RawMessage), make(map[Section][][]byte)
	}
	r.sums[s] = append(r.sums[s], sum)
}

// Count is how many elements a section has.
func (r *Review) Count(s Section) int { return len(r.sums[s]) }

// hashOf is the same for the same content: the order of keys, space, escapes, and timestamps of the
// reading do not count.
func hashOf(text json.RawMessage) []byte {
	h := sha256.Sum256(canonical(text))
	return h[:sumLength]
}

func canonical(text json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	plain, _ := json.Marshal(withoutReadTimes(v)) // what was just read; this sorts the keys
	return plain
}

// readTimes are names under which APIs say when something was read. None of them is documented for
// this service. Only a timestamp under such a name is left out.
var readTimes = []string{"asof", "fetchedat", "lastreadat", "lastviewedat", "readat", "retrievedat", "servedat", "servertime", "viewedat"}

func withoutReadTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if saysWhenRead(key, inner) {
				delete(v, key)
			} else {
				v[key] = withoutReadTimes(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutReadTimes(v[i])
		}
	}
	return v
}

func saysWhenRead(key string, value any) bool {
	text, ok := value.(string)
	if _, err := time.Parse(time.RFC3339Nano, text); !ok || err != nil {
		return false
	}
	return slices.Contains(readTimes, strings.ToLower(strings.ReplaceAll(key, "_", "")))
}

// Digest identifies what was read, and when: whoever agrees to it agrees to this content, once. It names no person
// and has about 170 characters. The order of keys and of all but the steps does not count, nor do timestamps under a name that says when
// something was read, such as readAt.
func (r *Review) Digest() string {
	parts := []string{version, strconv.FormatInt(r.Began.Unix(), 10)}
	for _, s := range sections {
		sums := r.sums[s]
		if s != Steps { // their order may be that in which they are taken
			sums = slices.SortedFunc(slices.Values(sums), bytes.Compare)
		}
		h := sha256.Sum256(bytes.Join(sums, nil))
		parts = append(parts, strconv.Itoa(len(sums)), base64.RawURLEncoding.EncodeToString(h[:sumLength]))
	}
	return strings.Join(parts, ".")
}

// Approved notes that the call with this ticket has approved the campaign, or, if it is in doubt, may have.
func (r *Review) Approved(ticket string, inDoubt bool) {
	if inDoubt {
		r.doubts = append(r.doubts, ticket)
		ticket += "?"
	}
	h := sha256.Sum256([]byte(ticket))
	r.add(Approvals, h[:])
}

// ApprovedAs reports whether the calls that have approved the campaign are those of a valid digest.
func (r *Review) ApprovedAs(digest string) bool {
	return !slices.ContainsFunc(r.Changes(digest), func(c Change) bool { return c.Section == Approvals })
}

// Change is a section that is not as it was.
type Change struct {
	Section  Section
	Was, Now int // elements
}

// String says what changed, in words.
func (c Change) String() string {
	switch {
	case c.Section == Approvals:
		return fmt.Sprintf("other calls have approved it, or may have: %d reviewed, %d now; review it again, with this journal", c.Was, c.Now)
	case c.Was == c.Now:
		return "changed"
	}
	return fmt.Sprintf("changed: %d reviewed, %d now", c.Was, c.Now)
}

// Began is when the review of a valid digest began.
func Began(digest string) time.Time {
	n, _ := strconv.ParseInt(strings.Split(digest, ".")[1], 10, 64)
	return time.Unix(n, 0)
}

// Changes lists the sections that differ from those of a valid digest.
func (r *Review) Changes(since string) (changes []Change) {
	was, now := strings.Split(since, "."), strings.Split(r.Digest(), ".")
	for i, s := range sections {
		at := 2 + 2*i
		if was[at] != now[at] || was[at+1] != now[at+1] {
			before, _ := strconv.Atoi(was[at])
			after, _ := strconv.Atoi(now[at])
			changes = append(changes, Change{s, before, after})
		}
	}
	return changes
}
