package sandbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

type object = map[string]any

func reply(status int, v any) response {
	return response{status: status, body: must(json.Marshal(v))}
}

func envelope(code, message, param, requestID string) []byte {
	e := object{"code": code, "message": message, "param": optional(param), "doc_url": nil, "request_id": optional(requestID)}
	if requestID != "" {
		e["doc_url"] = docsURL + strings.ToLower(code)
	}
	return must(json.Marshal(object{"error": e}))
}

// optional is what is null without a value.
func optional(s string) any {
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

// paging reads which page is asked for, and how large it is: of up to 1,000, or of as many as the fallback.
func (q *params) paging(fallback int) paging {
	return paging{int(q.number("limit", 1000, fallback)), q.number("pageNum", 0, 1), q.cap}
}

// of is the range of n elements on the page.
func (p paging) of(n int) (from, to int, pages object) {
	fills := func(n int) int { return (n + p.limit - 1) / p.limit }
	counted := n
	if p.cap != nil {
		if *p.cap == 0 {
			*p.cap = int(min(p.pageNum, int64(fills(n)))) * p.limit
		}
		counted = min(n, *p.cap)
	}
	pages = object{"pageNum": p.pageNum, "totalPages": fills(counted), "totalRecords": counted}
	if p.pageNum > int64(fills(n)) {
		return n, n, pages
	}
	from = int(p.pageNum-1) * p.limit
	return from, min(n, from+p.limit), pages
}

// pageOf responds with the elements on a page, in the form that a response shows them in.
func pageOf[T any](p paging, all []T, wire func(T) object) response {
	from, to, pages := p.of(len(all))
	return reply(http.StatusOK, object{"data": appendEach([]object{}, all[from:to], wire), "pagination": pages})
}

// listing responds with all elements, under their name.
func listing[T any](name string, all []T, wire func(T) object) response {
	return reply(http.StatusOK, object{name: appendEach([]object{}, all, wire)})
}

// timeFormat is ISO 8601 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// stamp is a time as the service keeps it: in UTC, to the millisecond.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
