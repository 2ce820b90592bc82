// Package rowtype is the command that writes a Go type for the rows of one list, ready for prospectkit.RowsOf, and later says whether
// the rows still fit.
//
// A row that the type was made from is decoded and encoded again without loss. Nothing that is written or said holds a value of a row:
// only names, types and numbers of rows. Only the command, in command.go, knows a client.
package rowtype

import (
	"encoding/json"
	"errors"
	"go/doc"
	"go/token"
	"slices"
	"strings"
	"unicode"
)

// Column is a custom column of a list.
type Column struct{ ID, Name, Type string }

// Rows describes the rows of a list. Add shows it a row, Source writes the type.
type Rows struct {
	Package    string   // of the file
	Type       string   // the name of the type
	ListID     string   // written into the file
	ListKind   string   // of the list, as the service names it
	Documented []string // paths of documented fields, such as "company.name"
	Columns    []Column

	root shape
}

// CheckNames returns an error if the package or the type cannot have its name.
func CheckNames(pkg, typ string) error {
	switch {
	case !token.IsIdentifier(pkg) || pkg == "_":
		return errors.New("the package needs a name of letters and digits that begins with a letter, and that Go does not reserve")
	case !token.IsIdentifier(typ) || doc.IsPredeclared(typ) || slices.Contains(taken, typ) || !unicode.IsLetter([]rune(typ)[0]):
		return errors.New("the type needs a name of letters and digits that begins with a letter, and that Go does not use itself, such as Contact")
	}
	return nil
}

// taken are names that the written file uses for something else, or that Go keeps for functions.
var taken = strings.Fields("json time fmt data key value into members field err out init main")

// Add looks at a row. It is an error if the row is no JSON object.
func (r *Rows) Add(row []byte) error {
	v, err := parse(row)
	if err != nil {
		return err
	}
	r.root.add(v, 0)
	return nil
}

// Count returns how many rows were added.
func (r *Rows) Count() int { return r.root.seen }

var errNoRow = errors.New("a row is not a JSON object")

func parse(row []byte) (map[string]any, error) {
	d := json.NewDecoder(strings.NewReader(string(row)))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil || v == nil {
		return nil, errNoRow // the error of encoding/json may quote the row
	}
	return v, nil
}
