package prospectkit

import (
	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/ratelimit"
)

func operationOf(o *op.Op) catalogue.Operation {
	return catalogue.Operation{
		Name: o.Name, Method: o.Method, Path: o.Path, Scope: catalogue.Scope(o.Scope), Surface: ratelimit.Surface(o.Surface),
		Class: catalogue.Class(o.Class), Spends: catalogue.Effect(o.Spends), Sends: catalogue.Effect(o.Sends), WritesOutside: catalogue.Effect(o.WritesOutside),
		Provenance: catalogue.Provenance(o.Provenance), AttemptTimeout: o.Timeout,
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
