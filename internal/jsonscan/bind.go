package jsonscan

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Reflection happens once for a decoder, not for each value: it finds the addresses of the fields, and the closures made here
// write to them.

// bind binds the fields of the struct that p points to. It reports false for what only encoding/json knows how to fill.
func (o *object) bind(p reflect.Value) bool {
	if p.Type().Elem().Kind() != reflect.Struct || unmarshals(p) {
		return false
	}
	var fields []field
	for f, v := range p.Elem().Fields() {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous, options != "" && options != "omitempty" && options != "omitzero":
			return false // Go 1.27 knows more options than Go 1.26
		case !f.IsExported(), tag == "-":
			continue
		case f.Type.Name() == "" && f.Type.Kind() == reflect.Struct && unmarshals(v.Addr()):
			return false // its methods are those of an embedded type: Go 1.26 ignores them, Go 1.27 does not
		case name == "":
			name = f.Name
		}
		if strings.Trim(name, nameBytes) != "" || slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return false
		}
		fields = append(fields, field{name, address(v.Addr()), o.setter(v.Addr())})
	}
	o.fields = fields
	return true
}

// nameBytes are what names of fields are made of here; encoding/json knows a few more, and ignores names with others.
const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// unmarshals reports whether the value that p points to reads itself, or is a json.Number.
func unmarshals(p reflect.Value) bool {
	switch p.Interface().(type) {
	case json.Unmarshaler, encoding.TextUnmarshaler, *json.Number:
		return true
	}
	return false
}

// setter makes the setter of the value that p points to, a part of the object.
func (o *object) setter(p reflect.Value) setter {
	t := p.Type().Elem()
	switch target := p.Interface().(type) {
	case *json.RawMessage:
		return func(c *Cursor) bool {
			*target = c.Value()
			return true
		}
	case json.Unmarshaler:
		return func(c *Cursor) bool {
			span := c.Span()
			return span != nil && target.UnmarshalJSON(span) == nil
		}
	case **string:
		return setPointer(o, target)
	case **int:
		return setPointer(o, target)
	case **float64:
		return setPointer(o, target)
	case **bool:
		return setPointer(o, target)
	case *map[string]string:
		return setMap(target)
	}
	if unmarshals(p) {
		return setAny(p)
	}
	switch t.Kind() {
	case reflect.String:
		return setString(as[string](p))
	case reflect.Bool:
		return setBool(as[bool](p))
	case reflect.Int:
		return setInt(as[int](p))
	case reflect.Int32:
		return setInt(as[int32](p))
	case reflect.Int64:
		return setInt(as[int64](p))
	case reflect.Float32:
		return setFloat(as[float32](p), 32)
	case reflect.Float64:
		return setFloat(as[float64](p), 64)
	case reflect.Struct:
		if inner := (&object{keys: newKeys()}); inner.bind(p) {
			o.inner = append(o.inner, inner)
			return func(c *Cursor) bool { return c.Null() || inner.read(c) }
		}
	default:
	}
	return setAny(p)
}

// address is the address of a value that put can fill, or nil.
func address(p reflect.Value) any {
	if unmarshals(p) {
		return nil
	}
	switch p.Type().Elem().Kind() {
	case reflect.String:
		return as[string](p)
	case reflect.Bool:
		return as[bool](p)
	case reflect.Int:
		return as[int](p)
	case reflect.Float64:
		return as[float64](p)
	default:
		return nil
	}
}

// as is the address of a value whose type may have a name of its own.
func as[E any](p reflect.Value) *E {
	address, _ := reflect.TypeAssert[*E](p.Convert(reflect.TypeFor[*E]()))
	return address
}

// setAny leaves a value to encoding/json.
func setAny(p reflect.Value) setter {
	target, grows := p.Interface(), growthOf(p.Type().Elem())
	return func(c *Cursor) bool {
		start := c.Mark()
		grows.weigh(c)
		span := c.Since(start)
		return span != nil && json.Unmarshal(span, target) == nil
	}
}

func setString(target *string) setter {
	return func(c *Cursor) bool {
		if !c.Is('"') {
			return skipNull(c)
		}
		*target = c.String()
		return true
	}
}

func setBool(target *bool) setter {
	return func(c *Cursor) bool {
		if !c.Is('t') && !c.Is('f') {
			return skipNull(c)
		}
		*target = c.Bool()
		return true
	}
}

func setInt[I int | int32 | int64](target *I) setter {
	return func(c *Cursor) bool {
		span := c.Span()
		n, err := strconv.ParseInt(string(span), 10, 64)
		if err != nil || int64(I(n)) != n {
			return string(span) == "null"
		}
		*target = I(n)
		return true
	}
}

func setFloat[F float32 | float64](target *F, bits int) setter {
	return func(c *Cursor) bool {
		span := c.Span()
		n, err := strconv.ParseFloat(string(span), bits)
		if err != nil {
			return string(span) == "null"
		}
		*target = F(n)
		return true
	}
}

// skipNull reads over a value of another type than wanted. Null leaves everything as it is, which is fine with encoding/json.
func skipNull(c *Cursor) bool {
	if c.Null() {
		return true
	}
	c.Skip()
	return false
}

func setPointer[E any](o *object, target **E) setter {
	value := new(E)
	set := o.setter(reflect.ValueOf(value))
	return func(c *Cursor) bool {
		if c.Null() {
			*target = nil
			return true
		}
		var zero E
		fits := set(c)
		fresh := *value
		*target, *value = &fresh, zero
		return fits
	}
}

func setMap(target *map[string]string) setter {
	var value string
	set := setString(&value)
	return func(c *Cursor) bool {
		if c.Null() {
			*target = nil
			return true
		}
		if !c.Object() {
			return false
		}
		if *target == nil {
			*target = make(map[string]string)
		}
		fits := true
		for name, ok := c.Member(); ok; name, ok = c.Member() {
			key := c.keep(name)
			fits = set(c) && fits
			(*target)[key], value = value, ""
		}
		return fits
	}
}
