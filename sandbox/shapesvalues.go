package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.com/prospectkit/internal/shapes"
)

// scalar gives a value the type and the form that were seen.
func (d *disguise) scalar(v any, seen *shapes.Shape) any {
	switch {
	case v == nil && seen.Differs && seen.Has(shapes.String) && !seen.Has(shapes.Null):
		return ""
	case v == nil || len(seen.Kinds) == 0:
		return v
	case slices.Equal(seen.Kinds, []string{shapes.Null}):
		if seen.Differs { // where something is documented
			return nil
		}
		return v // it may have been null by chance
	}
	text, isText := v.(string)
	if isText && len(seen.Values) > 0 {
		return seen.Written(text)
	}
	if isText && isID(text) && seen.Differs {
		return d.show(text, seen)
	}
	if at, err := time.Parse(timeFormat, text); isText && err == nil {
		return instant(at, text, seen)
	}
	if seen.Has(kindOf(v)) || kindOf(v) == shapes.Integer && seen.Has(shapes.Number) && !seen.Differs {
		return v
	}
	return converted(v, seen)
}

func kindOf(v any) string {
	var s shapes.Shape
	new(shapes.Observer).See(&s, v)
	return s.Kinds[0]
}

// instant writes a time as it was seen.
func instant(at time.Time, text string, seen *shapes.Shape) any {
	if seen.Has(shapes.Integer) && !seen.Has(shapes.String) {
		if seen.Format == shapes.FormatEpochMS {
			return at.UnixMilli()
		}
		return at.Unix()
	}
	layout, known := map[string]string{
		shapes.FormatSeconds:  "2006-01-02T15:04:05Z",
		shapes.FormatFraction: "2006-01-02T15:04:05.000000Z",
		shapes.FormatOffset:   "2006-01-02T15:04:05.000+00:00",
		shapes.FormatLocal:    "2006-01-02T15:04:05.000",
		shapes.FormatDate:     time.DateOnly,
	}[seen.Format]
	switch {
	case known:
		return at.Format(layout)
	case seen.Differs && seen.Has(shapes.String):
		return at.Format(time.RFC1123)
	case seen.Differs:
		return converted(text, seen)
	}
	return text
}

// converted makes a value of another type, which says as much as possible.
func converted(v any, seen *shapes.Shape) any {
	switch {
	case seen.Has(shapes.String):
		switch v := v.(type) {
		case json.Number:
			return string(v)
		case bool:
			return strconv.FormatBool(v)
		}
		return ""
	case seen.Has(shapes.Integer), seen.Has(shapes.Number):
		n := json.Number("0")
		if number, ok := v.(json.Number); ok {
			n = number
		}
		if text, ok := v.(string); ok {
			if i, err := strconv.ParseInt(text, 10, 64); err == nil {
				n = json.Number(strconv.FormatInt(i, 10))
			}
		}
		if !seen.Has(shapes.Integer) && kindOf(n) == shapes.Integer {
			n += ".0"
		}
		return n
	case seen.Has(shapes.Boolean):
		return v != false && v != "" && v != json.Number("0")
	case seen.Has(shapes.Array):
		if seen.Items.Has(kindOf(v)) {
			return []any{v}
		}
		return []any{}
	}
	return filled("", seen, nil)
}

// show gives an id another form, and remembers it.
func (d *disguise) show(id string, seen *shapes.Shape) any {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok := d.shown[id]
	if !ok {
		switch {
		case seen.Format == shapes.FormatUUID:
			text = fmt.Sprintf("%s-%s-4%s-8%s-%s000000", id[:8], id[8:12], id[12:15], id[15:18], id[18:])
		case !seen.Has(shapes.String):
			text = strconv.Itoa(len(d.shown) + 1)
		default:
			text = "x_" + id
		}
		d.shown[id], d.real[text] = text, id
	}
	if !seen.Has(shapes.String) {
		return json.Number(text)
	}
	return text
}
