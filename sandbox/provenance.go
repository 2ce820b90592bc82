package sandbox

// Rule is an assumption of the sandbox: what happens is undocumented, and the sandbox has to do something. The tests of what is
// documented stand in testdata/conformance.md at the root of the module.
type Rule struct {
	ID string `json:"id"`
	// Ambient marks an assumption that never decides the outcome of a request: when events happen, in which order
	// things are listed, which of several violations is named. Responses do not list it, and Strict does not reject because of it.
	Ambient bool   `json:"ambient"`
	Text    string `json:"text"`
}

var rulebook []*Rule

// Assumptions lists the rules in which the real service may differ.
func Assumptions() []Rule { return appendEach(nil, rulebook, func(r *Rule) Rule { return *r }) }

func rule(ambient bool, id, text string) *Rule {
	r := &Rule{id, ambient, text}
	rulebook = append(rulebook, r)
	return r
}

func assumed(id, text string) *Rule { return rule(false, id, text) }
func ambient(id, text string) *Rule { return rule(true, id, text) } //nolint:unparam // a variable needs a value
