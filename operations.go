package prospectkit

import (
	"cmp"
	"fmt"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

// Scope is a permission that a key needs for an operation. A key without any scope has them all.
type Scope string

// The scopes. ScopeAny is for operations that every valid key may call.
const (
	ScopeAny       Scope = Scope(op.ScopeAny)
	ScopeLists     Scope = Scope(op.ScopeLists)
	ScopeCampaigns Scope = Scope(op.ScopeCampaigns)
	ScopeSearch    Scope = Scope(op.ScopeSearch)
	ScopeContacts  Scope = Scope(op.ScopeContacts)
	ScopeAgents    Scope = Scope(op.ScopeAgents)
	ScopeCompanies Scope = Scope(op.ScopeCompanies)
)

// Class says what repeating an operation may do. After a request may have been processed, reads are
// retried where that can help, paid reads only after the service's own error 500, and writes only with
// [AllowRetryUnknown]. That option excludes [ClassPaidRead], [ClassGuardedByState], [ClassUnsafe], and
// every write that may spend credits, send messages or write into a CRM: an effect left out counts as a yes.
type Class string

// The classes, the safest first.
const (
	ClassRead           Class = Class(op.Read)           // changes nothing, costs nothing
	ClassPaidRead       Class = Class(op.PaidRead)       // changes nothing, may cost credits
	ClassIdempotent     Class = Class(op.Idempotent)     // repeating it leaves the same state
	ClassGuardedByName  Class = Class(op.GuardedByName)  // a second call is refused because the name is taken
	ClassGuardedByState Class = Class(op.GuardedByState) // a second call is refused because the state has changed
	ClassUnsafe         Class = Class(op.Unsafe)         // repeating it may repeat the effect
)

// Effect says whether an operation has an effect beyond its resource.
type Effect string

// The effects. An assumed one is undocumented, and counts as a yes. EffectNo also stands where the API
// description does not hint at the effect; docs/operations.md quotes it where it says that a write is free.
const (
	EffectNo      Effect = Effect(op.No)
	EffectYes     Effect = Effect(op.Yes)
	EffectAssumed Effect = Effect(op.Assumed)
)

// Provenance says how far an operation is documented.
type Provenance string

// The provenances.
const (
	ProvenanceDocumented     Provenance = Provenance(op.Documented)     // method and path are documented
	ProvenanceAssumed        Provenance = Provenance(op.AssumedPath)    // the path is assumed by analogy; WithRoute changes it
	ProvenanceCallerSupplied Provenance = Provenance(op.CallerSupplied) // no path is documented: WithRoute sets one
)

// Operation is one operation of the service: a row of the catalogue, or your own for [Client.Call].
type Operation struct {
	Name           string // in events, errors and logs
	Method         string
	Path           string // below the base URL
	Scope          Scope
	Surface        Surface // whose rate limits count
	Class          Class   // what repeating it may do
	Spends         Effect  // credits
	Sends          Effect  // messages to prospects
	WritesOutside  Effect  // into a CRM
	Provenance     Provenance
	AttemptTimeout time.Duration // default 30 s
	Codes          []Code        // documented for it, beside the five that [Client.Call] names
	Likely         []Code        // plausible, but not documented for it
	Summary        string
}

// Operations returns the catalogue of all operations in the API description, as a new slice.
func Operations() []Operation {
	all := make([]Operation, 0, len(op.All()))
	for _, o := range op.All() {
		all = append(all, operationOf(o))
	}
	return all
}

func operationOf(o *op.Op) Operation {
	return Operation{
		Name: o.Name, Method: o.Method, Path: o.Path, Scope: Scope(o.Scope), Surface: Surface(o.Surface),
		Class: Class(o.Class), Spends: Effect(o.Spends), Sends: Effect(o.Sends), WritesOutside: Effect(o.WritesOutside),
		Provenance: Provenance(o.Provenance), AttemptTimeout: o.Timeout,
		Codes: codesOf(o.Codes), Likely: codesOf(o.Likely), Summary: o.Summary,
	}
}

func codesOf(names []string) []Code {
	codes := make([]Code, len(names))
	for i, name := range names {
		codes[i] = Code(name)
	}
	return codes
}

func (o Operation) row() (row *op.Op, bad check.Violations) {
	possible := func(e Effect) op.Effect { return cmp.Or(op.Effect(e), op.Assumed) }
	row = &op.Op{
		Name: o.Name, Method: o.Method, Path: redact.Route(o.Path), Scope: op.Scope(o.Scope), Surface: op.Surface(o.Surface),
		Class: op.Class(o.Class), Spends: possible(o.Spends), Sends: possible(o.Sends), WritesOutside: possible(o.WritesOutside),
		Provenance: op.CallerSupplied, Shape: op.Raw, Timeout: cmp.Or(o.AttemptTimeout, op.UsualTimeout),
	}
	check.Operation(&bad, row, o.Path)
	return row, bad
}

// ScopesFor returns the scopes that a key needs for some operations, each once. An unknown name is
// an error.
func ScopesFor(names ...string) ([]Scope, error) {
	var scopes []Scope
	seen := map[op.Scope]bool{op.ScopeAny: true}
	for _, name := range names {
		o, ok := op.ByName(name)
		if !ok {
			return nil, fmt.Errorf("prospectkit: no operation is called %q", name)
		}
		if !seen[o.Scope] {
			seen[o.Scope] = true
			scopes = append(scopes, Scope(o.Scope))
		}
	}
	return scopes, nil
}
