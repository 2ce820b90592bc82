// Package sandbox is a stateful double of the Prospecting and Outreach Business API, for tests, demonstrations and
// development without an account: nothing is billed, and nothing leaves the machine.
//
//	sb := sandbox.New(t)
//	client := sb.Client() // an *http.Client; the API is at sb.BaseURL(), the key is sb.Token()
//
// It keeps lists, agents, campaigns, knowledge, searches, imports, keys, credits and rate windows, and answers as the document of
// the service says: the same bounds, codes and headers. An operation whose path the document does not show is served where
// [WithRoute] puts it.
//
// # Three ways in
//
// [Sandbox.Transport] answers in place, without a socket: fast, usable inside testing/synctest, and unable to reach any other
// host. It is what [example.com/prospectkit.WithTransport] takes. [Sandbox.Handler] serves any HTTP server. [Sandbox.Listen] opens a
// port of this machine.
//
// # Time
//
// A sandbox lives by its own [Clock]: that of the machine, which a synctest bubble drives, or one from [NewManualClock] or
// [NewScaledClock]. Nothing runs in the background. What is due happens when somebody looks: before each request and each
// inspection, oldest first. Windows start at their first request, so that a sandbox may be made outside a bubble.
//
// # Going wrong
//
// [Sandbox.Fail] sets a fault: which requests it hits, and what happens to them. A fault that never fires fails the test, so
// does a mistake in its rule.
//
//	sb.Fail("lists.rows", sandbox.Nth(3), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(90))
//	sb.Fail("lists.create", sandbox.DropAfter()) // done, but the answer is lost
//
// A fault that answers in place of the service leaves everything as it was, the rate windows too. One that only alters or
// loses the answer lets the service do its work first. [Sandbox.Between] lets a teammate change things between two pages.
//
// # What a test can look at
//
// [Sandbox.Journal] lists the requests and what came of them, [Sandbox.Calls] counts them. [Tenant.Ledger] has every credit that moved,
// [Tenant.Outbox] what would have reached people or a CRM, [Sandbox.Events] what the clock brought. [Tenant.Rows], [Tenant.Agents] and
// their like copy the state, [Sandbox.Snapshot] all of it.
//
// # Honesty
//
// The document leaves much open. Every rule carries its provenance: see [Rules] and [Sandbox.Assumptions]. An answer that rests
// on assumptions lists them in the header X-Sandbox-Assumed, and [Strict] refuses such requests with 501. Assumptions that are
// marked Ambient never decide what becomes of a request, and are left out of both: what the clock brings and when, and the order of
// what is listed.
package sandbox
