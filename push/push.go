// Package push is about pushes of many contacts into a CRM, in parts: the parts that
// [example.com/prospectkit.ListsService.PushEach] yields, its options, and how a push is resumed.
package push

import (
	"context"
	"maps"
	"slices"
	"strings"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/settings"
	"example.com/prospectkit/journal"
)

// Part is a part of a push: up to 500 contacts, for one call.
type Part struct {
	Number int // from 1
	Of     int // the number of all parts

	// ContactIDs are the contacts of the call, and Excepted what [Except] kept back. Outcome and error say
	// whether the call was made; for a part without ContactIDs, there is none.
	ContactIDs []string
	Excepted   []string

	// MaybeSent are contacts that [Except] keeps back from a part that [RepeatUnknown] sends again. They are not among Excepted:
	// an earlier run may have sent them, and Outcome says nothing of them. Look in the CRM.
	MaybeSent []string

	// Outcome is applied, not applied or unknown. Applied means that the service accepted the part: it
	// works in the background, and only the CRM shows the result.
	Outcome journal.Outcome

	// Tickets are the IDs of its calls in the journal of the client whose outcome is unknown.
	// Settle them with the journal's Ended once you have looked in the CRM. An applied part has those of
	// earlier calls if there are contacts in MaybeSent.
	Tickets []string

	// Earlier says that an earlier run sent the part or was about to, and stopped before it knew the outcome.
	// Nothing was sent now.
	Earlier bool
}

// Option is an option of a push.
type Option func(*settings.Push)

// Except keeps contacts back, such as those who objected. The push sends none of them, in whichever
// case their ids are written. An id that is not one of 24 hexadecimal digits refuses the push before
// anything is sent. Options of this kind add up.
//
// It is no part of the checkpoint, so that a resumed push may keep back more contacts.
func Except(contactIDs []string) Option {
	chosen := make(map[string]bool, len(contactIDs))
	var bad check.Violations
	bad.IDs("Except", contactIDs)
	for _, id := range contactIDs {
		chosen[strings.ToLower(id)] = true
	}
	return func(s *settings.Push) {
		maps.Copy(s.Except, chosen)
		s.Bad = append(s.Bad, bad...)
	}
}

// SaveTo stores the checkpoint of the push, twice for each part: right before the part is sent, after its ticket was stored, so
// that a process that dies then does not send it again, and when its outcome is known. If save fails, the
// push ends; if it fails before a part, that part is not sent. After a part, the context of save ends at most a second
// after that of the push, and the push waits no longer. A checkpoint has one byte for each part, and about 24 more. It
// holds no id of a contact. With a journal, it also has 27 bytes for each part whose outcome
// is unknown, for the ID of its ticket.
//
// Let save replace the checkpoint as a whole, by a rename or in a database: half a one cannot be read, and an empty one says that nothing
// was sent. Two runs of a push at the same time may send its parts twice.
func SaveTo(save func(ctx context.Context, checkpoint string) error) Option {
	return func(s *settings.Push) {
		s.Bad.Given("SaveTo", save)
		s.Save = save
	}
}

// ResumeFrom resumes a push from a checkpoint of [SaveTo]. List, CRM and contact ids have to be the
// same, in the same order. Parts that were applied are left out. Parts whose outcome is unknown
// are yielded with their error, but not sent. All others are sent. An empty checkpoint is that of a
// push that has yet to begin.
//
// The journal of the client knows better: once all tickets of a part are settled there, the part
// counts as applied if one of them was, and is otherwise sent. A ticket that the journal no longer has leaves the part unknown.
// So does a client without a journal: a part that you have found in the CRM is then yielded by each run, and sent by none.
func ResumeFrom(checkpoint string) Option {
	return func(s *settings.Push) { s.From = checkpoint }
}

// RepeatUnknown sends parts again whose outcome was unknown in the checkpoint of [ResumeFrom]: those with these numbers, as in
// [Part], and without a number all of them. Their contacts may reach the CRM twice: a second push overwrites fields that
// were changed there meanwhile. Look in the CRM first. A part of which [Except] keeps everything back stays unknown, and is not
// sent. With a journal, settle the tickets of the part instead, as [Part] says.
func RepeatUnknown(parts ...int) Option {
	parts = slices.Clone(parts)
	return func(s *settings.Push) { s.Repeat, s.Repeats = s.Repeat || len(parts) == 0, append(s.Repeats, parts...) }
}
