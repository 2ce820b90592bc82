package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/shapes"
)

const largestPage = 1000

// query turns what a client asks of the service that was seen into what the sandbox understands.
func (d *disguise) query(o *op.Op, query url.Values) url.Values {
	if d == nil || d.file.Operations[o.Name] == nil {
		return query
	}
	seen := d.file.Operations[o.Name]
	for _, name := range seen.Ignored {
		if o != op.FoldersList { // which needs its parameter
			query.Del(name)
		}
	}
	p := seen.Paging
	if p == nil {
		return query
	}
	if n, err := strconv.ParseInt(query.Get("pageNum"), 10, 64); err == nil && p.FromZero {
		query.Set("pageNum", strconv.FormatInt(n+1, 10))
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	switch {
	case !query.Has("limit") && p.Default > 0:
		limit = p.Default
	case err != nil:
		return query
	case p.Largest > 0 && limit > p.Largest && p.Refused:
		limit = largestPage + 1
	case p.Largest > 0 && limit > p.Largest && limit <= largestPage:
		limit = p.Largest
	case limit > largestPage && p.AnyLimit:
		limit = largestPage
	}
	query.Set("limit", strconv.Itoa(limit))
	return query
}

// failure is the response of a read that was seen to fail, always or sometimes, in place of another one. What depends on
// the key or on the limits stays as it is.
func (d *disguise) failure(o *op.Op, a *response) *shapes.Response {
	if o.Class != op.Read || o.Method != http.MethodGet || a.status == http.StatusUnauthorized || a.status == http.StatusTooManyRequests {
		return nil
	}
	if r := d.file.Operations[o.Name]; r != nil && r.Unsuccessful != nil && r.Unsuccessful.Status != 0 &&
		(r.Unsuccessful.Status != http.StatusForbidden || o.Scope == op.ScopeAny) {
		return r.Unsuccessful
	}
	f := d.file.Failures
	if f == nil || f.Failed < 1 || f.Status < http.StatusInternalServerError {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reads++
	if d.reads%max(2, f.Requests/(f.Failed+1)+1) != 0 { // so many of so many
		return nil
	}
	return &shapes.Response{Status: f.Status}
}

// refusal gives an error the envelope that was seen.
func (d *disguise) refusal(a *response) {
	seen := d.file.Errors
	if seen.Type != "" {
		a.header.Set("Content-Type", seen.Type)
	}
	moved, found := seen.Moves["error.code"]
	if !found {
		moved = "error.code"
	}
	switch {
	case seen.Body == nil && seen.Type != "" && !strings.HasSuffix(seen.Type, "json"):
		a.body = []byte("<!DOCTYPE html><title>" + http.StatusText(a.status) + "</title>")
	case seen.Body == nil:
	case seen.Body.At(moved) != nil:
		a.body = d.rewrite(a.body, places{moves: seen.Moves, absent: seen.Absent}, seen.Body)
	default: // the code has no place that the file names
		a.body = imitated(a, seen.Body)
	}
}

// imitated is an error of another shape: what has a name that the documented envelope has keeps its value.
func imitated(a *response, seen *shapes.Shape) []byte {
	return edited(a.body, func(v any) any {
		envelope, _ := v.(object)
		known, documented := envelope["error"].(object)
		if !documented {
			return v
		}
		status := json.Number(strconv.Itoa(a.status))
		values := object{
			"errorcode": a.code, "detail": known["message"], "title": http.StatusText(a.status), "status": status, "statuscode": status,
		}
		for name, v := range known {
			values[folded(name)] = v
		}
		return filled("", seen, values)
	})
}

func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// filled makes a value of a shape, with known values by the names of their fields. Without any, it says nothing.
func filled(name string, seen *shapes.Shape, known object) any {
	v, ok := known[folded(name)]
	switch {
	case ok && seen.Has(kindOf(v)):
		return v
	case seen.Has(shapes.Null) && known == nil:
		return nil
	case seen.Has(shapes.Object):
		fields := object{}
		for name, field := range seen.Fields {
			if !field.Optional {
				fields[name] = filled(name, field, known)
			}
		}
		return fields
	case seen.Has(shapes.Array) && seen.Items != nil && known != nil:
		return []any{filled(name, seen.Items, known)}
	case seen.Has(shapes.Null):
		return nil
	case seen.Has(shapes.Array):
		return []any{}
	case seen.Has(shapes.Integer), seen.Has(shapes.Number):
		return 0
	case seen.Has(shapes.Boolean):
		return false
	}
	return map[string]string{
		shapes.FormatID: strings.Repeat("0", 24), shapes.FormatTimestamp: "2026-01-01T00:00:00.000Z", shapes.FormatDate: "2026-01-01",
	}[seen.Format]
}
