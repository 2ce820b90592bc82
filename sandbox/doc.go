// Package sandbox is a stateful double of the Prospecting and Outreach Business API, for tests, demonstrations and
// development without an account. Nothing is billed, and nothing leaves the machine.
//
//	sb := sandbox.New(t)
//	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
//
// It keeps lists, agents, campaigns, knowledge, searches, imports, keys, credits and rate windows, and behaves as the service's public
// API description says, with the same bounds, codes and headers. An operation with an undocumented path is served at the path
// that [WithRoute] sets.
//
// # Two ways in
//
// [Sandbox.Transport] responds in the process, without a socket. It is fast, works inside testing/synctest, and reaches no other
// host. Pass it to [example.com/prospectkit.WithTransport]. [Sandbox.Handler] works with any HTTP server.
//
// # Time
//
// A sandbox has its own [Clock]: that of the machine, which a synctest bubble controls, or one from [NewManualClock] or
// [NewScaledClock]. Nothing runs in the background. Events that are due happen before each request and each inspection, oldest
// first. A sandbox may be made outside a bubble, and is then used inside it only.
//
// # Faults
//
// [Sandbox.Fail] sets a fault: which requests it affects, and what happens to them. A fault that never fires fails the test, and so
// does a mistake in its rule.
//
//	sb.Fail("lists.rows", sandbox.Nth(3), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(90))
//	sb.Fail("lists.create", sandbox.DropAfter()) // applied, but the response is lost
//
// A fault that responds in place of the service changes nothing, not even the rate windows. A fault that only alters or loses the
// response lets the service apply the request first. [Sandbox.Between] lets a teammate change things between two pages.
//
// [EveryFailure] tries every kind of failure at every request of a program, and stops the program there and runs it again.
//
// # Inspection
//
// [Sandbox.Journal] lists the requests and their results, and [Sandbox.Calls] counts them. [Tenant.Ledger] has every movement of credits,
// [Tenant.Outbox] what would have reached people or a CRM, and [Sandbox.Events] what happened by the clock. [Tenant.Rows],
// [Tenant.Agents] and similar methods copy parts of the state, and [Sandbox.Snapshot] copies all of it.
//
// # Assumptions
//
// Much of the service is undocumented. [Assumptions] lists what the sandbox assumes.
package sandbox

import (
	_ "embed"
)

// Assumptions lists, a line each, what the sandbox had to choose because it is undocumented: the real service may differ. The
// tests of what is documented stand in testdata/conformance.md at the root of the module.
func Assumptions() string { return assumptions }

//go:embed assumptions.txt
var assumptions string
