package sandbox

import (
	"encoding/json"
	"strings"
	"time"
)

type object = map[string]any

func reply(status int, v any) (answer, error) {
	body, err := json.Marshal(v)
	return answer{status: status, body: body}, err
}

type wireError struct {
	Code      string  `json:"code"`
	Message   string  `json:"message"`
	Param     *string `json:"param"`
	DocURL    *string `json:"doc_url"`
	RequestID *string `json:"request_id"`
}

func envelope(code, message, param, requestID string) []byte {
	e := wireError{Code: code, Message: message}
	if param != "" {
		e.Param = &param
	}
	if requestID != "" {
		e.RequestID = &requestID
		link := docsURL + strings.ToLower(code)
		e.DocURL = &link
	}
	body, err := json.Marshal(map[string]wireError{"error": e})
	if err != nil {
		panic(err) // strings always encode
	}
	return body
}

type wirePages struct {
	PageNum      int `json:"pageNum"`
	TotalPages   int `json:"totalPages"`
	TotalRecords int `json:"totalRecords"`
}

// page is the part of n things that a page shows.
func page(n, limit, pageNum int) (from, to int, pages wirePages) {
	pages = wirePages{PageNum: pageNum, TotalPages: (n + limit - 1) / limit, TotalRecords: n}
	if pageNum > pages.TotalPages {
		return n, n, pages
	}
	from = (pageNum - 1) * limit
	return from, min(n, from+limit), pages
}

// timeFormat is ISO 8601 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z"

// stamp is how the service keeps an instant: in UTC, to the millisecond.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
