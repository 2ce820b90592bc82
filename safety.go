package prospectkit

import "example.com/prospectkit/internal/op"

// SafetyRule names a rule that refused a call before anything was sent.
type SafetyRule string

// The safety rules.
const (
	RuleReadOnly SafetyRule = "read-only: the operation may change something"
	RuleNoSpend  SafetyRule = "no-spend: the operation may spend credits"
	RuleNoSend   SafetyRule = "no-send: the operation may send messages or write into a CRM"
	RuleClosed   SafetyRule = "the client is closed"
	RuleRepeat   SafetyRule = "an operation that may spend, send or add twice is never repeated by itself"

	// RulePaidPages comes when an iterator has read as many pages as MaxPaidPages allows.
	RulePaidPages SafetyRule = "the range has read as many paid pages as it may"
)

// ReadOnly refuses every operation that may change something, before the network. For notebooks, dashboards and automated agents.
// A client derived by [Client.With], or a call, can add such a rule, but never lift one.
func ReadOnly() SharedOption {
	return sharedOption(func(s *settings, _ *checks) { s.readOnly = true })
}

// NoSpend refuses every operation that spends credits, or of which the service's document does not say that it spends none.
func NoSpend() SharedOption {
	return sharedOption(func(s *settings, _ *checks) { s.noSpend = true })
}

// NoSend refuses every operation that sends messages to prospects, which is approving a campaign, or writes into a CRM.
func NoSend() SharedOption {
	return sharedOption(func(s *settings, _ *checks) { s.noSend = true })
}

// RepeatAfterDoubt allows this one call to be sent again after it may have been delivered, as a read is. It is meant for
// operations that leave the same state when repeated, such as moving a list or editing a fact, and for those that a unique name
// guards; for operations that may spend, send or add twice it is refused. Once an attempt is in doubt, the call ends as
// applied or as unknown: a later refusal, such as [CodeListNameTaken], proves nothing.
func RepeatAfterDoubt() CallOption {
	return callOption(func(c *callConfig, _ *checks) { c.repeatDoubt = true })
}

// forbids returns the rule that refuses the call, if there is one.
func (c *callConfig) forbids(o *op.Op, r request) (SafetyRule, bool) {
	spends := o.Spends.Possible() && !r.free
	outside := o.Sends.Possible() || o.Writes.Possible()
	switch {
	case c.readOnly && o.Write():
		return RuleReadOnly, true
	case c.noSpend && spends:
		return RuleNoSpend, true
	case c.noSend && outside:
		return RuleNoSend, true
	case c.repeatDoubt && o.Class != op.Read && (spends || outside || o.Class != op.Idempotent && o.Class != op.GuardedByName):
		return RuleRepeat, true
	}
	return "", false
}
