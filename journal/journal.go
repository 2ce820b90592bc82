// Package journal keeps a durable record of writes and paid reads. Before such a call is sent, its
// [Ticket] is stored. When its outcome is known, the outcome is noted. After a crash, the tickets
// without a known outcome tell which calls may have happened.
//
// [File] is a journal for one process on one machine:
//
//	j, err := journal.File("writes.journal")
//	if err != nil {
//		return err
//	}
//	defer j.Close()
//	client, err := prospectkit.New(baseURL, token, prospectkit.WithJournal(j), prospectkit.WithWorkspace("acme"))
//
// After a restart, InDoubt yields the calls to look for. [Read] reads the file for an audit: who made
// which call, when, and what its outcome is. The module postgres has a journal for the processes of
// a fleet. Another store implements [Journal]: the package journaltest tests it.
package journal

import (
	"context"
	"iter"
	"time"
)

// A Journal stores tickets. Its methods are called from many goroutines at once.
//
// A client uses only these methods. Implement them with a database to share a journal between
// processes.
type Journal interface {
	// Sending stores a ticket before its request is sent. The ticket must survive the process and the
	// machine when Sending returns: after an error, the request is not sent. Before a call is
	// retried, Sending is called again with the same ID and a later LastSent, and once more at the end of a
	// call whose ticket is Open.
	Sending(ctx context.Context, t Ticket) error

	// Ended notes the outcome of a call. After [Unknown], InDoubt yields the ticket. A later call of
	// Ended with [Applied] or [NotApplied] settles it. Ended with the same outcome again changes nothing.
	// It need not be durable: a call whose outcome is lost is one whose outcome is unknown.
	//
	// The context ends half a second after that of the call at the latest, and a call does not wait longer for
	// Ended, so that what is not noted by then stays in doubt.
	Ended(ctx context.Context, id string, o Outcome) error

	// InDoubt yields the tickets whose outcome is unknown, oldest first: those of calls that ended
	// with Unknown, and those of earlier processes that did not end. It leaves out calls that are
	// still in progress.
	InDoubt(ctx context.Context) iter.Seq2[Ticket, error]
}

// A History is a journal that also tells how calls have ended. [FileJournal] and [MemoryJournal] do, and the store of the module
// postgres. With it, a push that is resumed believes a verdict that was given with Ended, and a review approves once, in
// whichever process. Without it, a client knows only what it did itself.
type History interface {
	// Calls yields the tickets of an operation, such as "lists.crm-push", with their outcomes, in the order of their first
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

// Entry is a ticket with its outcome, for an audit.
type Entry struct {
	Ticket  Ticket
	Outcome Outcome   // Unknown for a call that did not end
	Ended   time.Time // zero for a call that did not end
	By      string    // who settled it, see [Settler]; empty if a response or a read did
	Because string    // why

	// InProgress is true for a call that InDoubt leaves out, because it is in progress, as a History knows. [Read] knows of none.
	InProgress bool
}
