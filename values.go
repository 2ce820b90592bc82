package prospectkit

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/jsonscan"
)

// Fields is a request body, or a part of one, whose field names the service's document does not show: you supply them.
type Fields map[string]any

// Object is a JSON value of the service that its document does not show, or shows in part. It keeps the text as it came.
// A path of keys finds a value inside; what is missing, null or of another type reads as zero.
type Object struct {
	raw   json.RawMessage
	index jsonscan.Index // nil: it is looked through
}

// Raw returns the JSON text. It is empty if the service sent none. Do not change it.
func (o Object) Raw() json.RawMessage { return o.raw }

// String returns the JSON text, for fmt. It may hold personal data: keep it out of logs.
func (o Object) String() string { return string(o.raw) }

// textOf is the JSON text of a value that was decoded from an object, or of one that somebody made.
func textOf(from Object, v any) string {
	if !from.IsZero() {
		return from.String()
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// IsZero reports whether there is nothing.
func (o Object) IsZero() bool { return len(o.raw) == 0 }

// Decode unmarshals the whole value into v, as encoding/json does. It fails where v would take far more memory than the text: see
// [WithMaxResponseBytes].
func (o Object) Decode(v any) error {
	if len(o.raw) == 0 {
		return errors.New("prospectkit: nothing to decode")
	}
	return jsonscan.Unmarshal(o.raw, v)
}

// Get returns the value at a path, such as "address.city", and whether it is there. A key with a dot in it cannot be reached
// this way: use Decode.
func (o Object) Get(path string) (Object, bool) {
	key, path, more := strings.Cut(path, ".")
	raw, ok := o.index.Lookup(o.raw, key)
	for more && ok {
		key, path, more = strings.Cut(path, ".")
		raw, ok = jsonscan.Lookup(raw, key)
	}
	return Object{raw: raw}, ok
}

// Text returns the string at a path; see [Object.Get].
func (o Object) Text(path string) string {
	c := jsonscan.New(o.at(path))
	return string(c.Text())
}

// Int returns the whole number at a path; see [Object.Get].
func (o Object) Int(path string) int {
	c := jsonscan.New(o.at(path))
	return c.Int()
}

// Float returns the number at a path; see [Object.Get].
func (o Object) Float(path string) float64 {
	c := jsonscan.New(o.at(path))
	return c.Float()
}

// Bool returns the boolean at a path; see [Object.Get].
func (o Object) Bool(path string) bool {
	c := jsonscan.New(o.at(path))
	return c.Bool()
}

// Time returns the timestamp at a path; see [Object.Get].
func (o Object) Time(path string) time.Time { return parseTime(o.Text(path)) }

// MarshalJSON returns the text as it came, or null.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o.raw) == 0 {
		return []byte("null"), nil
	}
	return o.raw, nil
}

// UnmarshalJSON keeps a copy of the text.
func (o *Object) UnmarshalJSON(data []byte) error {
	*o = Object{raw: append(json.RawMessage(nil), data...)}
	return nil
}

// at is the text of the value at a path. If there is none, there is nothing to read, which reads as zero.
func (o Object) at(path string) json.RawMessage {
	v, _ := o.Get(path)
	return v.raw
}

func readObject(c *jsonscan.Cursor, out *Object) error {
	out.raw = c.Value()
	return c.Err()
}

// readTime reads a timestamp as parseTime does.
func readTime(c *jsonscan.Cursor) time.Time { return parseTime(string(c.Text())) }

// parseTime reads an ISO 8601 UTC timestamp; anything else reads as the zero time.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
