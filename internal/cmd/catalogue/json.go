package main

import (
	"bytes"
	"encoding/json"

	"example.com/prospectkit/internal/op"
)

// operation is one object of operations.json: every column of the table, and the limits of its surface. Every object has every key;
// null means undocumented. The file is the second writing of the table: a change of a row has to be confirmed in it.
type operation struct {
	Name                  string        `json:"name"`
	Method                *string       `json:"method"`
	Path                  *string       `json:"path"`
	Scope                 op.Scope      `json:"scope"`
	Surface               op.Surface    `json:"surface"`
	PerMinute             *int          `json:"perMinute"`
	PerDay                *int          `json:"perDay"`
	Class                 op.Class      `json:"class"`
	Spends                op.Effect     `json:"spends"`
	Sends                 op.Effect     `json:"sends"`
	WritesOutside         op.Effect     `json:"writesOutside"`
	Free                  *string       `json:"free"` // the words by which it spends nothing
	NoBody                bool          `json:"noBody"`
	Provenance            op.Provenance `json:"provenance"`
	Shape                 op.Shape      `json:"shape"`
	RawResponse           bool          `json:"rawResponse"`
	Entity                *string       `json:"entity"` // the key that wraps the response
	AttemptTimeoutSeconds float64       `json:"attemptTimeoutSeconds"`
	VisibleAfterSeconds   float64       `json:"visibleAfterSeconds"` // a change may take this long to show
	Background            bool          `json:"background"`
	Confirms              bool          `json:"confirms"` // its success says all
	Codes                 []string      `json:"codes"`    // documented
	Likely                []string      `json:"likely"`   // fit, but not documented for this operation
	Resolves              bool          `json:"resolves"`
	Verify                *string       `json:"verify"` // how an unknown outcome is resolved, or why it cannot be
	Summary               string        `json:"summary"`
}

func operationsJSON(string) ([]byte, error) {
	rows := make([]operation, 0, len(op.All()))
	for _, o := range op.All() {
		window := op.DocumentedLimits[o.Surface]
		rows = append(rows, operation{
			Name: o.Name, Method: orNull(o.Method), Path: orNull(o.Path),
			Scope: o.Scope, Surface: o.Surface, PerMinute: orNull(window.PerMinute), PerDay: orNull(window.PerDay),
			Class: o.Class, Spends: o.Spends, Sends: o.Sends, WritesOutside: o.WritesOutside, Free: orNull(o.Free), NoBody: o.NoBody,
			Provenance: o.Provenance, Shape: o.Shape, RawResponse: o.RawResponse, Entity: orNull(o.Entity), AttemptTimeoutSeconds: o.Timeout.Seconds(),
			VisibleAfterSeconds: o.VisibleAfter.Seconds(), Background: o.Background, Confirms: o.Confirms == op.Yes,
			Codes: append([]string{}, o.Codes...), Likely: append([]string{}, o.Likely...),
			Resolves: o.Resolves, Verify: orNull(o.Verify), Summary: o.Summary,
		})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(rows)
	return b.Bytes(), err
}

// orNull turns the zero value into null.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
