// Package wiredump writes requests and responses for debugging, without the secrets that redact finds. It looks for them before it cuts.
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

const most = 16 << 10 // bytes of a URL, of a header, and of a body

// Writer serializes what several calls write. Each dump is one Write. A writer that fails or panics loses its dump, and nothing else.
type Writer struct {
	mu sync.Mutex
	to io.Writer
}

// New returns a Writer.
func New(to io.Writer) *Writer { return &Writer{to: to} }

// Request dumps a request whose body is the text.
func (w *Writer) Request(title string, s redact.Secrets, r *http.Request, body []byte) {
	line := fmt.Sprintf("%s %s HTTP/1.1\nHost: %s\n", r.Method, r.URL.RequestURI(), r.URL.Host)
	w.write("--- Request: " + title + "\n" + head(s, line, r.Header, body) + text(s, body))
}

// Response dumps a response, or why there is none. The body may be incomplete.
func (w *Writer) Response(title string, s redact.Secrets, r *http.Response, body []byte, err error) {
	dump := "--- Response: " + title + "\n"
	if r != nil {
		dump += head(s, fmt.Sprintf("%s %d %s\n", r.Proto, r.StatusCode, http.StatusText(r.StatusCode)), r.Header, body)
	}
	if err != nil {
		dump += "(" + err.Error() + ")\n"
	}
	w.write(dump + text(s, body))
}

// write writes a dump, without control characters, which a terminal would obey.
func (w *Writer) write(dump string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { _ = recover() }()
	_, _ = io.WriteString(w.to, strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, dump)+"\n")
}

func head(s redact.Secrets, line string, h http.Header, body []byte) string {
	var b strings.Builder
	b.WriteString(s.Clean(line, most))
	_ = s.Header(h, body).Write(&b) // a builder takes everything
	return redact.Shorten(strings.ReplaceAll(b.String(), "\r\n", "\n"), most) + "\n"
}

func text(s redact.Secrets, body []byte) string {
	clean, cut := s.Body(body, most)
	switch {
	case cut:
		clean += fmt.Sprintf("\n(the first of %d bytes)\n", len(body))
	case clean != "":
		clean += "\n"
	}
	return clean
}
