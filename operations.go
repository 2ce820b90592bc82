package prospectkit

import (
	"cmp"

	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

// completed fills in what the caller of [Client.Call] left out: an effect counts as possible.
func completed(o catalogue.Operation) *catalogue.Operation {
	for _, effect := range []*catalogue.Effect{&o.Spends, &o.Sends, &o.WritesOutside} {
		*effect = cmp.Or(*effect, catalogue.EffectAssumed)
	}
	o.Path, o.Provenance = redact.Route(o.Path), catalogue.ProvenanceCallerSupplied
	o.AttemptTimeout = cmp.Or(o.AttemptTimeout, op.UsualTimeout)
	return &o
}

// rowOf makes a row of an operation of the caller, whose path it checks.
func rowOf(o *catalogue.Operation, path string) (row *op.Op, bad check.Violations) {
	row = &op.Op{
		Name: o.Name, Method: o.Method, Path: o.Path, Scope: op.Scope(o.Scope), Surface: op.Surface(o.Surface),
		Class: op.Class(o.Class), Spends: op.Effect(o.Spends), Sends: op.Effect(o.Sends), WritesOutside: op.Effect(o.WritesOutside),
		Provenance: op.Provenance(o.Provenance), Shape: op.Raw, Timeout: o.AttemptTimeout,
	}
	check.Operation(&bad, row, path)
	return row, bad
}
