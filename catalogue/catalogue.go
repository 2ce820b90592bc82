// Package catalogue lists the operations of the service: what each may do, spend and send, which scope it needs, and how far it is
// documented. It is for tools, for rules such as a gate of [example.com/prospectkit.WithGate], and for operations of your own that
// [example.com/prospectkit.Client.Call] calls.
package catalogue

import (
	"fmt"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/ratelimit"
)

// Operation is one operation of the service: a row of the catalogue, or your own for [example.com/prospectkit.Client.Call].
type Operation struct {
	Name           string // in events, errors and logs
	Method         string
	Path           string // below the base URL
	Scope          Scope
	Surface        ratelimit.Surface // whose rate limits count
	Class          Class             // what repeating it may do
	Spends         Effect            // credits
	Sends          Effect            // messages to prospects
	WritesOutside  Effect            // into a CRM
	Provenance     Provenance
	AttemptTimeout time.Duration // default 30 s
	Codes          []string      // of errors, documented for it, beside the five that [example.com/prospectkit.Client.Call] names
	Likely         []string      // plausible codes that are not documented for it
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

// ByName returns the operation of a name, such as "lists.create".
func ByName(name string) (Operation, bool) {
	o, ok := op.ByName(name)
	if !ok {
		return Operation{}, false
	}
	return operationOf(o), true
}

func operationOf(o *op.Op) Operation {
	return Operation{
		Name: o.Name, Method: o.Method, Path: o.Path, Scope: Scope(o.Scope), Surface: ratelimit.Surface(o.Surface),
		Class: Class(o.Class), Spends: Effect(o.Spends), Sends: Effect(o.Sends), WritesOutside: Effect(o.WritesOutside),
		Provenance: Provenance(o.Provenance), AttemptTimeout: o.Timeout,
		Codes: append([]string{}, o.Codes...), Likely: append([]string{}, o.Likely...), Summary: o.Summary,
	}
}

// ScopesFor returns the scopes that a key needs for some operations, each once. An unknown name is
// an error.
func ScopesFor(names ...string) ([]Scope, error) {
	var scopes []Scope
	for _, name := range names {
		o, ok := op.ByName(name)
		if !ok {
			return nil, fmt.Errorf("catalogue: no operation is called %q", name)
		}
		if scope := Scope(o.Scope); scope != ScopeAny && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}

// Scope is a permission that a key needs for an operation. A key without any scope has them all.
type Scope string

// The scopes. ScopeAny is for operations that every valid key may call.
const (
	ScopeAny       Scope = "any"
	ScopeLists     Scope = "lists"
	ScopeCampaigns Scope = "campaigns"
	ScopeSearch    Scope = "search"
	ScopeContacts  Scope = "contacts"
	ScopeAgents    Scope = "agents"
	ScopeCompanies Scope = "companies"
)

// Class says what repeating an operation may do. After a request may have been processed, reads are
// retried where that can help, paid reads only after the service's own error 500, and writes only with
// [example.com/prospectkit.AllowRetryUnknown]. That option excludes [ClassPaidRead], [ClassGuardedByState], [ClassUnsafe], and
// every write that may spend credits, send messages or write into a CRM: an effect left out counts as a yes.
type Class string

// The classes, the safest first.
const (
	ClassRead           Class = "read"             // changes nothing, costs nothing
	ClassPaidRead       Class = "paid-read"        // changes nothing, may cost credits
	ClassIdempotent     Class = "idempotent"       // repeating it leaves the same state
	ClassGuardedByName  Class = "guarded-by-name"  // a second call is refused because the name is taken
	ClassGuardedByState Class = "guarded-by-state" // a second call is refused because the state has changed
	ClassUnsafe         Class = "unsafe"           // repeating it may repeat the effect
)

// Effect says whether an operation has an effect beyond its resource.
type Effect string

// The effects. An assumed one is undocumented, and counts as a yes. EffectNo also stands where the API
// description does not hint at the effect; docs/operations.md quotes it where it says that a write is free.
const (
	EffectNo      Effect = "no"
	EffectYes     Effect = "yes"
	EffectAssumed Effect = "assumed"
)

// Provenance says how far an operation is documented.
type Provenance string

// The provenances. [example.com/prospectkit.WithRoutes] sets a path.
const (
	ProvenanceDocumented     Provenance = "documented"      // method and path are documented
	ProvenanceAssumed        Provenance = "assumed"         // the path is assumed by analogy; WithRoutes changes it
	ProvenanceCallerSupplied Provenance = "caller-supplied" // no path is documented: WithRoutes sets one
)
