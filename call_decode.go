package prospectkit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/novelty"
	"example.com/prospectkit/internal/op"
)

// validator is implemented by responses with required fields. All other fields are read leniently:
// one that is missing or of another type is zero.
type validator interface{ validate() error }

// decodeResponse decodes the value under the operation's entity key, or the whole body if no key is
// documented. Unknown fields are ignored, except that emitUndocumented reports them to observers,
// and that an Object keeps the whole text. The result shares no memory with the body, whose buffer
// is reused.
func decodeResponse[T any](o *op.Op, shape op.Shape, body []byte, maxItems int, out *T) error {
	if len(bytes.TrimSpace(body)) == 0 {
		if shape == op.Typed || o.Class == op.MeteredRead || shape == op.Partial && o.FreeRead() {
			return errors.New("the response is empty")
		}
		return nil
	}
	value, err := unwrapEntity(o.Entity, shape != op.Typed, body)
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
			return novelty.NewMisfit("a row", misfit.Type, misfit.ID, misfit.Err)
		}
		return err
	}
	if r, ok := any(out).(validator); ok {
		return r.validate()
	}
	return nil
}

var errNoObject = errors.New("the response is not an object")

// decodeObject decodes a record from an Object, or returns the zero record of no value.
func decodeObject[T any](from Object) (*T, error) {
	out := new(T)
	if from.IsZero() {
		return out, nil
	}
	return out, jsonscan.DecodeRecord(from.raw, 0, out)
}

// sameID reports whether ids are equal, whatever their case.
func sameID(a, b string) bool { return strings.EqualFold(a, b) }

// errorIf returns an error if something is missing from a response.
func errorIf(missing bool, text string) error {
	if missing {
		return errors.New(text)
	}
	return nil
}

// validateAll returns the error of the first incomplete element.
func validateAll[T any](items []T) error {
	for i := range items {
		r, ok := any(&items[i]).(validator)
		if !ok {
			return nil
		}
		if err := r.validate(); err != nil {
			return err
		}
	}
	return nil
}
