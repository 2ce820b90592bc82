package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/jsonscan"
)

type object = map[string]any

func reply(status int, v any) response {
	return response{status: status, body: must(json.Marshal(v))}
}

func envelope(code, message, param, requestID string) []byte {
	e := object{"code": code, "message": message, "param": orNull(param), "doc_url": nil, "request_id": orNull(requestID)}
	if requestID != "" {
		e["doc_url"] = docsURL + strings.ToLower(code)
	}
	return must(json.Marshal(object{"error": e}))
}

// orNull is what is null without a value.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func wireTime(t time.Time) string { return t.UTC().Format(timeFormat) }

// paging is the page that a request asks for.
type paging struct {
	limit   int
	pageNum int64 // also on 32 bits, any page may be asked for
	cap     *int  // see Fault
}

// pages are what a listing in pages takes.
var pages = []taking{optional("limit", integer(1, 1000)), optional("pageNum", integer(1, math.MaxInt64))}

func (c *call) paging(limit int64) paging {
	return paging{int(c.in.number("limit", limit)), c.in.number("pageNum", 1), c.cap}
}

// of is the range of n elements on the page.
func (p paging) of(n int) (from, to int, shown object) {
	fills := func(n int) int { return (n + p.limit - 1) / p.limit }
	counted := n
	if p.cap != nil {
		if *p.cap == 0 {
			*p.cap = int(min(p.pageNum, int64(fills(n)))) * p.limit
		}
		counted = min(n, *p.cap)
	}
	shown = object{"pageNum": p.pageNum, "totalPages": fills(counted), "totalRecords": counted}
	if p.pageNum > int64(fills(n)) {
		return n, n, shown
	}
	from = int(p.pageNum-1) * p.limit
	return from, min(n, from+p.limit), shown
}

// pageOf responds with the elements on a page, in the form that a response shows them in.
func pageOf[T any](p paging, all []T, wire func(T) object) response {
	from, to, shown := p.of(len(all))
	return reply(http.StatusOK, object{"data": appendEach([]object{}, all[from:to], wire), "pagination": shown})
}

// listing responds with all elements, under their name.
func listing[T any](name string, all []T, wire func(T) object) response {
	return reply(http.StatusOK, object{name: appendEach([]object{}, all, wire)})
}

// timeFormat is ISO 8601 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// stamp is a time as the service keeps it: in UTC, to the millisecond.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

var (
	errNotObject = errors.New("not a JSON object")
	errBadRowID  = errors.New("the id is not 24 hexadecimal digits")
)

// rowID reads the id of a row: empty if it has none.
func rowID(row json.RawMessage) (string, error) {
	if !json.Valid(row) || !isObject(row) {
		return "", errNotObject
	}
	raw, ok := lookup(row, "id")
	if !ok {
		return "", nil
	}
	id, ok := asString(raw)
	if !ok || !isID(id) {
		return "", errBadRowID
	}
	return id, nil
}

func isObject(raw []byte) bool {
	c := jsonscan.New(raw)
	return c.Is('{')
}

// lookup finds a value in valid JSON by a dotted path, without decoding what it passes.
func lookup(raw []byte, path string) ([]byte, bool) {
	for {
		name, rest, nested := strings.Cut(path, ".")
		value, ok := jsonscan.Lookup(raw, name)
		if !ok || !nested {
			return value, ok
		}
		raw, path = value, rest
	}
}

func asString(raw []byte) (string, bool) {
	c := jsonscan.New(raw)
	isText := c.Is('"')
	return string(c.Text()), isText && c.End() == nil
}

func fieldString(raw []byte, name string) (string, bool) {
	value, _ := jsonscan.Lookup(raw, name)
	return asString(value)
}

// isID reports whether s has the form of every id: 24 hexadecimal digits.
func isID(s string) bool { return len(s) == 24 && strings.Trim(s, "0123456789abcdefABCDEF") == "" }

func sameID(a, b string) bool { return strings.EqualFold(a, b) }

// newID makes an id that no earlier one equals, the same in every run.
func (ws *workspace) newID() string {
	ws.ids++
	return fmt.Sprintf("%s%06x%016x", idPrefix, ws.number, ws.ids)
}

// seen keeps newID from returning an id of a seed, which may come from an earlier run.
func (ws *workspace) seen(id string) {
	if len(id) != 24 || !strings.HasPrefix(id, idPrefix) {
		return
	}
	if n, err := strconv.ParseUint(id[8:], 16, 64); err == nil && n < 1<<62 {
		ws.ids = max(ws.ids, n)
	}
}

func (ws *workspace) seenRows(rows []json.RawMessage) {
	for _, row := range rows {
		id, _ := fieldString(row, "id")
		ws.seen(id)
	}
}

func (ws *workspace) fill(id *string) {
	if *id == "" {
		*id = ws.newID()
	}
}

// appendEach appends f of every element.
func appendEach[T, U any](to []U, from []T, f func(T) U) []U {
	for _, v := range from {
		to = append(to, f(v))
	}
	return to
}

// newestFirst are elements turned around.
func newestFirst[T any](elements []T) []T {
	turned := slices.Clone(elements)
	slices.Reverse(turned)
	return turned
}

// kept are the elements that fit.
func kept[T any](from []T, fits func(T) bool) (fitting []T) {
	for _, v := range from {
		if fits(v) {
			fitting = append(fitting, v)
		}
	}
	return fitting
}

// findIn is the first element that fits, or nil.
func findIn[T any](among []T, fits func(*T) bool) *T {
	for i := range among {
		if fits(&among[i]) {
			return &among[i]
		}
	}
	return nil
}

// find is the first element that fits, or nil.
func find[T any](among []*T, fits func(*T) bool) *T {
	if i := slices.IndexFunc(among, fits); i >= 0 {
		return among[i]
	}
	return nil
}
