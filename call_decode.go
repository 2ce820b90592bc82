package prospectkit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/novelty"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

// completeness is implemented by responses with required fields. missing returns what is wrong, or
// "". All other fields are read leniently: one that is missing or of another type is zero.
type completeness interface{ missing() string }

// decodeResponse decodes the value under the operation's entity key, or the whole body if no key is
// documented. Unknown fields are ignored, except that emitUndocumented reports them to observers,
// and that an Object keeps the whole text. The result shares no memory with the body, whose buffer
// is reused.
func decodeResponse[T any](c *call, body []byte, maxItems int, out *T) error {
	if len(bytes.TrimSpace(body)) == 0 {
		if c.shape == op.Typed || c.op.Class == op.MeteredRead || c.shape == op.Partial && c.op.Class == op.Read {
			return errors.New("the response is empty")
		}
		return nil
	}
	value, err := unwrapEntity(c.op.Entity, c.shape != op.Typed, body)
	if err != nil {
		return err
	}
	return decodeRecord(value, maxItems, out)
}

// unwrapEntity returns the entity in its envelope, or, if the envelope is optional, a bare object.
func unwrapEntity(name string, optional bool, body []byte) ([]byte, error) {
	if name == "" {
		return body, nil
	}
	entity, err := jsonscan.LookupWhole(body, name)
	switch {
	case err != nil:
		return nil, err
	case len(entity) > 0 && (entity[0] == '{' || entity[0] == '['):
		return entity, nil
	case optional:
		return body, nil
	}
	return nil, fmt.Errorf("the response has no %q", name)
}

func decodeRecord[T any](text []byte, maxItems int, out *T) error {
	c := jsonscan.New(text)
	_, raw := any(out).(*Object)
	isRecord := !raw && reflect.TypeFor[T]().Kind() == reflect.Struct
	if isRecord && c.Err() == nil && !c.Is('{') {
		return cmp.Or(jsonscan.Valid(text), errNoObject)
	}
	if err := jsonscan.DecodeRecord(text, maxItems, out); err != nil {
		if misfit, ok := errors.AsType[*jsonscan.MisfitError](err); ok {
			return newMisfit("a row", misfit.Type, misfit.ID, misfit.Err)
		}
		return err
	}
	if r, ok := any(out).(completeness); ok {
		if what := r.missing(); what != "" {
			return errors.New(what)
		}
	}
	return nil
}

var errNoObject = errors.New("the response is not an object")

// recordOf decodes a record from an Object, or returns the zero record of no value.
func recordOf[T any](from Object) (*T, error) {
	out := new(T)
	if from.IsZero() {
		return out, nil
	}
	return out, jsonscan.DecodeRecord(from.raw, 0, out)
}

// missingIf returns a description of what is missing from a response, or "".
func missingIf(missing bool, what string) string {
	if missing {
		return what
	}
	return ""
}

// missingIn returns what is wrong with the first incomplete element.
func missingIn[T any](items []T) string {
	for i := range items {
		r, ok := any(&items[i]).(completeness)
		if !ok {
			return ""
		}
		if what := r.missing(); what != "" {
			return what
		}
	}
	return ""
}

// misfitError is a response that does not fit the user's type. Retrying cannot fix that. Its text
// names only type and field, because errors of encoding/json and of unmarshal methods quote values.
type misfitError struct {
	redact.OpaqueError
	rowID func() string // a closure, so that no dump shows it
}

func newMisfit(what string, t reflect.Type, rowID string, err error) error {
	if errors.Is(err, jsonscan.ErrTooMuch) { // which quotes nothing
		return err
	}
	text := fmt.Sprintf("%s does not fit %s: %s", what, novelty.TypeName(t), novelty.Reason(t, err))
	return &misfitError{*redact.Opaque(text, err), func() string { return rowID }}
}

// isMisfit reports whether any other response would also fail to decode.
func isMisfit(err error) bool {
	_, ok := errors.AsType[*misfitError](err)
	return ok || errors.Is(err, jsonscan.ErrTooMuch)
}
