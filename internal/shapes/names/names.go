// Package names reads of a file of shapes what a client needs: the routes that were found, and the names that were seen. Package
// shapes above it makes such files.
package names

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/prospectkit/internal/op"
)

// Format is the format of the file.
const Format = "prospectkit-shapes/1"

// File is the names in a file. Nil is a file without any.
type File struct {
	Routes map[string]string // method and path template by operation; empty: none was found

	bodies  []*place
	codes   map[string]bool
	headers []string
}

// place is what was seen at one place of a response.
type place struct {
	Kinds        []string          `json:"kinds"`
	Values       map[string]int    `json:"values"`
	Fields       map[string]*place `json:"fields"`
	Items        *place            `json:"items"`
	Undocumented bool              `json:"undocumented"`
	Moved        bool              `json:"moved"`
}

// Parse reads a file. It refuses one that has other parts than the format, whatever is inside of them.
func Parse(data []byte) (*File, error) {
	var parts struct{ Format, Operations, Errors, OtherHeaders, Headers, Windows, Failures, Behavior json.RawMessage }
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	type found struct {
		Route string
		Body  *place
		Codes map[string]*struct{ Code string } // of errors
	}
	var in struct {
		Format       string
		Operations   map[string]*found
		Errors       found
		OtherHeaders []string
	}
	if err := cmp.Or(d.Decode(&parts), json.Unmarshal(data, &in)); err != nil {
		return nil, fmt.Errorf("no file of shapes: %w", err)
	}
	if in.Format != Format {
		return nil, fmt.Errorf("the format is %q, must be %q", in.Format, Format)
	}
	f := &File{Routes: map[string]string{}, bodies: []*place{in.Errors.Body}, codes: map[string]bool{}, headers: in.OtherHeaders}
	for name, o := range in.Operations {
		if o == nil {
			return nil, fmt.Errorf("the operation %q is null", name)
		}
		f.Routes[name] = o.Route
		f.bodies = append(f.bodies, o.Body)
	}
	for _, r := range in.Errors.Codes {
		if r != nil && r.Code != "" {
			f.codes[r.Code] = true
		}
	}
	f.bodies = slices.DeleteFunc(f.bodies, func(body *place) bool { return body == nil })
	return f, nil
}

// Knows reports whether something that is undocumented was seen: a field or a value of an enumeration, by its path
// with a name for each object and none for an array, a code, or a header. Operations share their objects, so it may
// have been seen in another one.
func (f *File) Knows(kind, name, value string) bool {
	if f == nil {
		return false
	}
	switch kind {
	case "field":
		return f.anywhere(name, func(p *place) bool { return p.Undocumented || p.Moved })
	case "value":
		return value != "" && f.anywhere(name, func(p *place) bool { return p.Values[value] > 0 })
	case "code":
		return f.codes[name]
	case "header":
		return slices.ContainsFunc(f.headers, func(other string) bool { return strings.EqualFold(other, name) })
	}
	return false
}

func (f *File) anywhere(path string, accept func(*place) bool) bool {
	return slices.ContainsFunc(f.bodies, func(p *place) bool {
		for name := range strings.SplitSeq(path, ".") {
			for p.isArray() {
				p = p.Items
			}
			if p = p.Fields[name]; p == nil {
				return false
			}
		}
		for p.isArray() && !accept(p) {
			p = p.Items
		}
		return accept(p)
	})
}

func (p *place) isArray() bool { return p.Items != nil && slices.Contains(p.Kinds, "array") }

// PathOf returns the path of a route that was found for an operation, and whether it is another than that of the table. It
// reports false if the table has no such read, or if the path does not fit.
func PathOf(row *op.Op, route string) (path string, moved, ok bool) {
	method, path, _ := strings.Cut(route, " ")
	switch {
	case row == nil || row.Class != op.Read || row.Method != http.MethodGet:
		return "", false, false
	case route == "" || path == row.Path:
		return row.Path, false, method == row.Method || route == ""
	case method != row.Method || !op.ValidRoute(path):
		return "", false, false
	}
	return path, true, slices.Equal(op.Parameters(path), op.Parameters(row.Path)) || row.Path == "" && len(op.Parameters(path)) == 1
}
