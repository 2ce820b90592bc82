// Package budget decides when a request may be sent, so that a workspace uses its whole quota and causes no 429 itself.
//
// A surface has two windows, a minute and a day. After each response the service tells how many requests are left in the tighter
// one. That number is old when it arrives, and other requests are in flight, so it cannot be used directly. There are three
// permissions to send. If no figures are known to come, it is the window count, otherwise the cap, and without one the
// probe:
//
// The cap. Requests are counted twice, when dispatched and when completed, and a request remembers how many were complete when it
// was sent. If its response says that r are left, that figure certainly includes those that were complete before, and the request
// itself. All others may not be counted yet. Hence a total of r + completed then + 1 dispatches is safe, however many goroutines
// there are and in whatever order responses arrive. It does not matter which window the figure describes. A window that gives
// requests back makes the cap too low, never too high. Responses that overlapped are merged: the lower figure counts, and each of
// them is known to be included.
//
// The probe. Without a cap, exactly one request may be in flight: on the first call, after a 429, and once the window has reset.
// Its response sets the cap again. So a refilled window costs one round trip, and a wrong guess costs one 429, not one for each
// waiting goroutine. A probe that takes long was hardly refused, so another one may be sent if a limit is known.
//
// The window count. If the service sends no figures, the documented limits are kept by counting our own requests over the length of
// each window, each from the moment it was completed. That is later than the moment at which the service counted it. So any period
// of one window length has at most the limit, which satisfies fixed windows, sliding logs and token buckets alike. A surface with
// neither figures nor documented limits starts with one request at a time and doubles.
//
// Services that weigh their last window give back a little all the time, and so do buckets. They show in figures that fit our own count
// by that rule, or that grow before the window ends. Until the opposite is certain, and always without figures, our requests fit by both
// counts. See [State.Weighs].
//
// Others share the windows. Their use is estimated from figures that fall faster than our own use explains. A part of the minute is
// left to them, which shrinks to nothing as the minute ends. A 429 pauses the whole surface.
//
// How long a wait is expected to take is found by playing these decisions forward, see foresight.
//
// Read State.take first, which chooses between the permissions, and then State.report, which learns from a response.
//
// [State] is the decision alone: a small value without clock, lock or goroutine. [Queue] adds the waiting calls, and [Limiter] adds
// waiting.
package budget
