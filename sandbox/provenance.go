package sandbox

import (
	"fmt"
	"slices"
)

// Provenance says how sure a rule of the sandbox is.
type Provenance string

// The provenances.
const (
	Documented Provenance = "documented" // the document says so
	Inferred   Provenance = "inferred"   // it follows from what the document says elsewhere
	Assumed    Provenance = "assumed"    // the document is silent, and the sandbox has to do something
)

// Rule is one thing that the sandbox does the way the service does, or the way it is supposed to.
type Rule struct {
	ID         string
	Provenance Provenance
	// Ambient marks an assumption that never decides what becomes of a request: what the clock brings and when, in which order
	// things are listed, which of several offenders is named. Answers do not list it, and Strict does not refuse because of it.
	Ambient bool
	Text    string
}

var rulebook []*Rule

// Rules lists every rule of the sandbox with its provenance.
func Rules() []Rule {
	rules := make([]Rule, len(rulebook))
	for i, r := range rulebook {
		rules[i] = *r
	}
	return rules
}

// Assumptions lists the rules that are assumed: where the service may turn out to differ.
func (sb *Sandbox) Assumptions() []Rule {
	return slices.DeleteFunc(Rules(), func(r Rule) bool { return r.Provenance != Assumed })
}

func rule(p Provenance, ambient bool, id, text string) *Rule {
	if slices.ContainsFunc(rulebook, func(r *Rule) bool { return r.ID == id }) {
		panic(fmt.Sprintf("sandbox: two rules are called %s", id))
	}
	r := &Rule{id, p, ambient, text}
	rulebook = append(rulebook, r)
	return r
}

// kind makes rules of one kind.
func kind(p Provenance, ambient bool) func(id, text string) *Rule {
	return func(id, text string) *Rule { return rule(p, ambient, id, text) }
}

var (
	documented = kind(Documented, false)
	inferred   = kind(Inferred, false)
	assumed    = kind(Assumed, false)
	ambient    = kind(Assumed, true)
)
