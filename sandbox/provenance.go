package sandbox

import (
	"fmt"
	"slices"
)

// Rule is an assumption of the sandbox: the service's document does not say what happens, and the sandbox has to do something.
// The rules that the document states are listed in docs/sandbox.md, beside these.
type Rule struct {
	ID string
	// Ambient marks an assumption that never decides the outcome of a request: what the clock brings and when, in which order
	// things are listed, which of several offenders is named. Responses do not list it, and Strict does not refuse because of it.
	Ambient bool
	Text    string
}

var rulebook []*Rule

// Assumptions lists the rules on which the service may turn out to differ.
func Assumptions() []Rule {
	rules := make([]Rule, len(rulebook))
	for i, r := range rulebook {
		rules[i] = *r
	}
	return rules
}

func rule(ambient bool, id, text string) *Rule {
	if slices.ContainsFunc(rulebook, func(r *Rule) bool { return r.ID == id }) {
		panic(fmt.Sprintf("sandbox: two rules are called %s", id))
	}
	r := &Rule{id, ambient, text}
	rulebook = append(rulebook, r)
	return r
}

// kind makes rules of one kind.
func kind(ambient bool) func(id, text string) *Rule {
	return func(id, text string) *Rule { return rule(ambient, id, text) }
}

var (
	assumed = kind(false)
	ambient = kind(true)
)
