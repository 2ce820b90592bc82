package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ContentType declares the answer as something else.
func ContentType(value string) FaultOption {
	return edit("Content-Type: "+value, func(a *answer) { a.header.Set("Content-Type", value) })
}

// EmptyBody leaves the body out.
func EmptyBody() FaultOption {
	return edit("empty body", func(a *answer) { a.body = []byte{} })
}

// ExtraFields puts fields that the document does not know into every object of the answer.
func ExtraFields() FaultOption {
	return edit("extra fields", func(a *answer) {
		editJSON(a, func(v any) any {
			walk(v, func(o object) {
				o["sandboxExtra"] = object{"nested": []any{1, "two", nil}}
				o["sandboxExtraNull"] = nil
			})
			return v
		})
	})
}

// NullField sets a field to null. The path is dotted; numbers and * stand for elements of arrays: "data.*.folderId".
func NullField(path string) FaultOption { return setField(path, nil, "null") }

// EnumValue sets a field to a value that the document does not know. The path is that of [NullField].
func EnumValue(path, value string) FaultOption { return setField(path, value, strconv.Quote(value)) }

func setField(path string, value any, words string) FaultOption {
	if path == "" {
		return func(*Fault) error { return errors.New("a field needs a path") }
	}
	return edit(path+" = "+words, func(a *answer) {
		editJSON(a, func(v any) any { return assign(v, strings.Split(path, "."), value) })
	})
}

func edit(words string, change func(*answer)) FaultOption {
	return func(f *Fault) error {
		f.edits = append(f.edits, change)
		f.say("%s", words)
		return nil
	}
}

// editJSON decodes, changes and encodes a body. What is not JSON stays.
func editJSON(a *answer, change func(any) any) {
	dec := json.NewDecoder(bytes.NewReader(a.body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return
	}
	if body, err := json.Marshal(change(v)); err == nil {
		a.body = body
	}
}

func walk(v any, visit func(object)) {
	switch v := v.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walk(v[key], visit)
		}
		visit(v)
	case []any:
		for _, e := range v {
			walk(e, visit)
		}
	}
}

// assign sets what a path names, as far as there is something to set it in.
func assign(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch v := v.(type) {
	case object:
		if _, there := v[path[0]]; there || len(path) == 1 {
			v[path[0]] = assign(v[path[0]], path[1:], value)
		}
	case []any:
		for i := range v {
			if path[0] == "*" || path[0] == strconv.Itoa(i) {
				v[i] = assign(v[i], path[1:], value)
			}
		}
	}
	return v
}

// Chaos makes a share of all requests, from 0 to 1, go wrong in changing ways. The same seed does the same to the same
// requests in the same order; the journal names it. Meant for long runs: a test of one behaviour is better off with Fail.
func (sb *Sandbox) Chaos(seed uint64, rate float64) *Fault {
	f := &Fault{op: "*", truncate: -1, chaos: true}
	if !(rate >= 0 && rate <= 1) {
		sb.help()
		sb.misuse("Chaos: the rate %v is not between 0 and 1", rate)
		return f
	}
	f.say("chaos of seed %d, rate %v", seed, rate)
	random := rand.New(rand.NewPCG(seed, seed))
	mishaps := mishaps()
	f.draw = func() *Fault {
		if random.Float64() >= rate {
			return nil
		}
		drawn := mishaps[random.IntN(len(mishaps))]
		return drawn.as(f.number, seed)
	}
	sb.addFault(f)
	return f
}

// as gives a drawn fault the number of the chaos it comes from.
func (f *Fault) as(number int, seed uint64) *Fault {
	drawn := *f
	drawn.number, drawn.op = number, fmt.Sprintf("chaos of seed %d", seed)
	return &drawn
}

// mishaps are what chaos chooses from.
func mishaps() []*Fault {
	kinds := [][]FaultOption{
		{Status(500, "UNEXPECTED_ERROR")},
		{Status(500, "")},
		{Status(429, "RATE_LIMITED"), RetryAfter(1)},
		{HTML(502)},
		{Status(503, "")},
		{DropBefore()},
		{DropAfter()},
		{Reset()},
		{Refuse()},
		{Truncate(20)},
		{EmptyBody()},
		{ExtraFields()},
		{Latency(2 * time.Second)},
	}
	faults := make([]*Fault, len(kinds))
	for i, opts := range kinds {
		f := &Fault{truncate: -1}
		for _, opt := range opts {
			if err := opt(f); err != nil {
				panic(err) // the table is wrong
			}
		}
		if err := f.check(); err != nil {
			panic(err)
		}
		faults[i] = f
	}
	return faults
}
