package prospectkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/jsonscan"
)

// misfitError says that the service's answer is fine, but does not fit what the caller wants it in. No repetition cures that, nor a
// response that holds too much. Errors of encoding/json and of the types that it decodes into quote values, so its text tells type and
// field only.
type misfitError struct {
	foreignError
	rowID func() string // a closure, so that no dump shows it
}

// newMisfit describes why a value does not fit a type of the caller's.
func newMisfit(what string, t reflect.Type, rowID string, err error) error {
	if errors.Is(err, jsonscan.ErrTooMuch) { // which quotes nothing
		return err
	}
	text := fmt.Sprintf("%s does not fit %s: %s", what, shorten(t.String(), mostOfName), misfitReason(t, err))
	return &misfitError{foreignError{text, func() error { return err }}, func() string { return rowID }}
}

func misfitReason(t reflect.Type, err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Type != nil {
		kind, _, _ := strings.Cut(e.Value, " ") // what follows is the value
		reason := fmt.Sprintf("got %s, want %s", plainName(kind), shorten(e.Type.String(), mostOfName))
		if field := ownPath(t, e.Field); field != "" {
			reason = "field " + field + ": " + reason
		}
		return reason
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return "a text is no time as time.Time reads it"
	}
	if e, ok := errors.AsType[*strconv.NumError](err); ok {
		return "a text is no number: " + e.Err.Error()
	}
	return fmt.Sprintf("a field refused its value (%T)", err)
}

// ownPath is the part of a path of keys that a type of the caller's has names for: other keys are the service's.
func ownPath(t reflect.Type, path string) string {
	var names []string
	for name := range strings.SplitSeq(path, ".") {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			break
		}
		i := -1
		for n := range t.NumField() {
			if own, _, _ := strings.Cut(t.Field(n).Tag.Get("json"), ","); own == name || t.Field(n).Name == name {
				i = n
			}
		}
		if i < 0 {
			break
		}
		names, t = append(names, name), t.Field(i).Type
	}
	return strings.Join(names, ".")
}

func misfit(err error) bool {
	_, ok := errors.AsType[*misfitError](err)
	return ok || errors.Is(err, jsonscan.ErrTooMuch)
}
