// Package check collects everything that is wrong with the arguments and options of a call, before anything is sent. It refuses only what
// is documented to be refused, and what may mean something else than the caller wrote: empty choices, and texts that encoding would change.
// It does not look for misspelt names, and suggests nothing.
package check

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/prospectkit/internal/outbound"
)

// Violation is one broken bound.
type Violation struct {
	Param   string // the service's name of a parameter, or the name of a Go argument or option
	Problem string
}

// Violations are the broken bounds of one call.
type Violations []Violation

// One returns a single violation.
func One(param, problem string) Violations { return Violations{{Param: param, Problem: problem}} }

// Add adds a violation.
func (v *Violations) Add(param, format string, args ...any) {
	*v = append(*v, Violation{Param: param, Problem: fmt.Sprintf(format, args...)})
}

// Must adds a violation unless ok.
func (v *Violations) Must(ok bool, param, format string, args ...any) {
	if !ok {
		v.Add(param, format, args...)
	}
}

// Given refuses nil, and what IsNil takes for nil: it would panic when it is used.
func (v *Violations) Given(param string, value any) {
	v.Must(!IsNil(value), param, "got nil")
}

// Text refuses text that is not valid UTF-8: encoding would change it, so it would name something
// else.
func (v *Violations) Text(param string, texts ...string) {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			v.Add(strings.ToValidUTF8(param, "\uFFFD"), notUTF8)
			return
		}
	}
}

// InvalidText refuses the texts of a body at some paths.
func (v *Violations) InvalidText(paths []string) {
	for _, path := range paths {
		if path == "" {
			path = "body"
		}
		v.Add(path, notUTF8)
	}
}

const notUTF8 = "is not valid UTF-8"

// NotEmpty refuses null, empty arrays and objects, and blank texts anywhere in a value: the service may treat them as no filter, with a
// longer or more expensive response. If it cannot be encoded, the encoding of the body reports that.
func (v *Violations) NotEmpty(param string, value any) {
	text, _ := json.Marshal(value)
	for _, path := range outbound.Empty(param, text) {
		v.Add(path, "is empty, which could mean everything: leave it out if you mean that")
	}
}

// Chosen refuses a choice that is empty, which would mean all, unless all were asked for, and one beside all.
func (v *Violations) Chosen(param string, chosen, all bool) {
	v.Must(chosen || all, param, "is empty, which could mean everything: set All if you mean that")
	v.Must(!chosen || !all, param, "must be empty if All is set")
}

// Date refuses what no calendar has, and a date that is past even at UTC-12, where the day begins last.
func (v *Violations) Date(param, date string) {
	midnight, err := time.Parse(time.DateOnly, date)
	if err != nil || midnight.Year() < 1 {
		v.Add(param, "is not a date like 2027-03-01")
		return
	}
	v.Must(date >= time.Now().UTC().Add(-12*time.Hour).Format(time.DateOnly), param, "is %s, must be in the future", date)
}

// ID requires 24 hexadecimal digits, of either case.
func (v *Violations) ID(param, value string) {
	if !IsID(value) {
		v.Add(param, "must be 24 hexadecimal digits")
	}
}

// OptionalID is ID, or the zero value.
func (v *Violations) OptionalID(param, value string) {
	if value != "" {
		v.ID(param, value)
	}
}

// IDs is ID for a slice, which may be long: it adds one violation for all.
func (v *Violations) IDs(param string, ids []string) {
	if i := slices.IndexFunc(ids, func(id string) bool { return !IsID(id) }); i >= 0 {
		v.Add(param, "must all be 24 hexadecimal digits; index %d is not", i)
	}
}

// IsNil reports whether v is nil, or a nil pointer or function.
func IsNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || (r.Kind() == reflect.Pointer || r.Kind() == reflect.Func) && r.IsNil()
}

// IsID reports whether s is an id: 24 hexadecimal digits.
func IsID(s string) bool { return len(s) == 24 && strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// Distinct returns ids without repeats, whatever their case, in their order.
func Distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		key := strings.ToLower(id)
		repeated := seen[key]
		seen[key] = true
		return repeated
	})
}

var rangeForm = regexp.MustCompile(`^[0-9]+(-[0-9]+|\+)?$`)

// IsRange reports whether s is a number, a range such as 51-200, or a lower bound such as 1000+.
func IsRange(s string) bool { return rangeForm.MatchString(s) }

// Between requires low <= value <= high, or zero, the default.
func (v *Violations) Between(param string, value, low, high int) {
	if value != 0 && (value < low || value > high) {
		v.Add(param, "is %d, must be %d to %d", value, low, high)
	}
}

// AtLeast requires value >= low, or zero, the default.
func (v *Violations) AtLeast(param string, value, low int) {
	if value != 0 && value < low {
		v.Add(param, "is %d, must be at least %d", value, low)
	}
}

// Length requires low to high characters, counted as code points.
func (v *Violations) Length(param, value string, low, high int) {
	if n := utf8.RuneCountInString(value); n < low || n > high {
		v.Add(param, "has %d characters, must have %d to %d", n, low, high)
	}
}

// OptionalLength is Length, or the zero value.
func (v *Violations) OptionalLength(param, value string, low, high int) {
	if value != "" {
		v.Length(param, value, low, high)
	}
}

// OneOf requires one of the documented values, or the zero value, the default.
func OneOf[T ~string](v *Violations, param string, value T, allowed ...T) {
	if value != "" && !slices.Contains(allowed, value) {
		v.Add(param, "is %q, must be one of %q", value, allowed)
	}
}

// Required is OneOf without a default.
func Required[T ~string](v *Violations, param string, value T, allowed ...T) {
	if value == "" {
		v.Add(param, "is required")
	}
	OneOf(v, param, value, allowed...)
}
