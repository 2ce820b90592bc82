// Package budget decides when a request may be sent, so that a workspace uses its quota to the last request and never earns
// a refusal of its own making.
//
// A surface has two windows, minute and day, and the service tells after each answer how many requests are left in the
// tighter one. That number is old when it arrives, and other requests are under way, so it cannot be spent as it stands.
// There are three permissions to send; the first that applies is used:
//
// The ceiling. Requests are counted twice, when dispatched and when completed, and a request remembers how many were
// complete when it left. If its answer says that r are left, then those that were complete before it left are certainly in
// that figure, the request itself is too, and everything else may still be to come. Hence a total of
// r + completed then + 1 dispatches is safe, however many goroutines there are and in whatever order answers arrive. Nobody has
// to know which window spoke: the figure belongs to the tighter one. A window that gives requests back only makes the ceiling
// too low, never too high. Answers that overlapped are merged: the lower figure counts, and each of them is known to be in it.
//
// The look. Without a ceiling exactly one request may be under way: on the first call, after a refusal, once the window has
// reset. Its answer opens the ceiling again, so a refilled window costs one round trip, and a wrong guess costs one refusal,
// not one for each goroutine that waits. A look that takes long was hardly refused, so that another may go where a limit is known.
//
// The ledger. Where the service sends no figures, the documented limits are kept by counting our own requests over the
// length of each window, each from the moment it was completed. That is later than the moment at which the service
// counted it, so any stretch of one window length holds no more than the limit, which satisfies fixed windows, sliding ones and
// token buckets alike. A surface with neither figures nor documented limits starts with one request at a time and doubles.
//
// Others share the windows. What they take is estimated from figures that fall faster than our own use explains; a part of the
// minute is left to them, shrinking to nothing as it ends. A refusal holds the whole surface.
//
// [State] is the decision alone: a small value without clock, lock or goroutine, which can be stored and run elsewhere. [Line]
// adds the queue, and [Limiter] adds waiting. [SharedLimiter] waits for a state that several processes share: [Decide] is one
// exchange with it, which redisbudget runs as a script that a test holds against this package. Change both.
package budget
