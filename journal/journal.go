// Package journal keeps a durable record of writes and paid reads. Before such a call is sent, its [Ticket] is stored. When its outcome is
// known, the outcome is noted. After a crash, the tickets without a known outcome tell which calls may have happened.
//
// [Open] is a journal for one process on one machine:
//
//	j, err := journal.Open("writes.journal", "acme")
//	if err != nil {
//		return err
//	}
//	defer j.Close()
//	client, err := prospectkit.New(baseURL, token, prospectkit.WithJournal(j))
//
// A journal belongs to one workspace, whose name you choose once. [Read] reads the file for an audit. The module postgres has a journal
// for the processes of a fleet. Another store implements [Journal]: package journaltest tests it.
package journal

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Journal stores the tickets of one workspace. Its methods are called from many goroutines at once.
//
// A client uses only these methods. Implement them with a database to share a journal between
// processes.
type Journal interface {
	// Workspace names the workspace to which the calls belong. It never changes: what is stored under another name is not seen.
	Workspace() string

	// Sending stores a ticket before its request is sent. The ticket must survive the process and the
	// machine when Sending returns: after an error, the request is not sent. Before a call is
	// retried, Sending is called again with the same ID and a later LastSent, and once more at the end of a
	// call whose ticket is Open.
	Sending(ctx context.Context, t Ticket) error

	// Ended notes how a call has ended. After [Unknown], InDoubt yields the ticket. A later call of
	// Ended with [Applied] or [NotApplied] settles it. The first of these two stays, with its ResultID. Ended with the same outcome again
	// changes nothing. It need not be durable: a call whose outcome is lost is one whose outcome is unknown.
	//
	// The context ends half a second after that of the call at the latest, and a call does not wait longer for
	// Ended, so that what is not noted by then stays in doubt.
	Ended(ctx context.Context, id string, e End) error

	// Settle notes, durably, what a person found out about a call that is in doubt. It fails with [ErrNotInDoubt] for any other. After
	// another error, the settlement may be noted or not. The entries then have its name and reason.
	Settle(ctx context.Context, id string, s Settlement) error

	// InDoubt yields the tickets whose outcome is unknown, oldest first: those of calls that ended
	// with Unknown, and those of earlier processes that did not end. It leaves out calls that are
	// still in progress.
	InDoubt(ctx context.Context) iter.Seq2[Ticket, error]

	// Calls yields the tickets of an operation, such as "lists.crm-push", with how they ended, in the order of their first
	// attempts. Those of calls in progress are Unknown, and InProgress. What the journal was told to drop is absent: let it keep the
	// "campaigns.approve" that were applied, by which a review is used up.
	Calls(ctx context.Context, op string) iter.Seq2[Entry, error]
}

// Outcome says whether a call had its effect.
type Outcome string

// The outcomes.
const (
	Applied    Outcome = "applied"     // the service confirmed it
	NotApplied Outcome = "not applied" // nothing was sent, or the call was rejected
	Unknown    Outcome = "unknown"     // it may have happened
)

// End is how a call has ended.
type End struct {
	Outcome  Outcome
	ResultID string // of what the call made, as the response or a read showed it; empty: none, or it is unknown
}

// A Settlement is what a person found out about a call.
type Settlement struct {
	Outcome Outcome // Applied or NotApplied
	By      string  // who says so
	Because string  // why
}

// Entry is a ticket with its end, for an audit.
type Entry struct {
	Ticket   Ticket
	Outcome  Outcome   // Unknown for a call that did not end
	ResultID string    // see End
	Ended    time.Time // zero for a call that did not end
	By       string    // who settled it; empty if a response or a read did
	Because  string    // why

	// InProgress is true for a call that InDoubt leaves out, because it is in progress. [Read] knows of none.
	InProgress bool
}

// CheckWorkspace returns an error for what is no name of a workspace: nothing, more than 255 bytes, or text that is not UTF-8 or
// has a control character.
func CheckWorkspace(name string) error {
	if name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return errors.New("the workspace needs a name of at most 255 bytes, in UTF-8 and without control characters")
	}
	return nil
}
