// Package wiredump writes requests and responses for debugging, without secrets.
package wiredump

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode"

	"example.com/prospectkit/internal/redact"
)

const (
	maxBody = 16 << 10 // bytes of a body
	maxHead = 16 << 10 // bytes of a URL, and of a header
)

// Writer serializes what several calls write. Each dump is one Write. A writer that fails or panics loses its dump, and
// nothing else.
type Writer struct {
	mu sync.Mutex
	to io.Writer
}

// New returns a Writer.
func New(to io.Writer) *Writer { return &Writer{to: to} }

// Request dumps a request whose body is the text.
func (w *Writer) Request(title string, s redact.Secrets, r *http.Request, body []byte) {
	line := fmt.Sprintf("%s %s HTTP/1.1\nHost: %s\n", r.Method, r.URL.RequestURI(), r.URL.Host)
	w.write("--- Request: "+title+"\n", head(s, line, r.Header, body), text(s, body))
}

// Response dumps a response, or why there is none. The body may be incomplete.
func (w *Writer) Response(title string, s redact.Secrets, r *http.Response, body []byte, err error) {
	var first string
	if r != nil {
		first = head(s, fmt.Sprintf("%s %d %s\n", r.Proto, r.StatusCode, http.StatusText(r.StatusCode)), r.Header, body)
	}
	if err != nil {
		first += "(" + shown(err.Error()) + ")\n"
	}
	w.write("--- Response: "+title+"\n", first, text(s, body))
}

func (w *Writer) write(parts ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { _ = recover() }()
	_, _ = io.WriteString(w.to, strings.Join(parts, "")+"\n")
}

func head(s redact.Secrets, line string, h http.Header, body []byte) string {
	var b strings.Builder
	b.WriteString(s.Clean(line, maxHead))
	_ = s.Header(h, body).Write(&b) // a builder takes everything
	return shown(redact.Shorten(strings.ReplaceAll(b.String(), "\r\n", "\n"), maxHead)) + "\n"
}

func text(s redact.Secrets, body []byte) string {
	if len(body) == 0 {
		return ""
	}
	clean, cut := s.Body(body, maxBody)
	out := shown(clean) + "\n"
	if cut {
		out += fmt.Sprintf("(the first of %d bytes)\n", len(body))
	}
	return out
}

// shown replaces control characters, which a terminal would obey.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, text)
}
