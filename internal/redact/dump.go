package redact

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode"
)

const mostDumped = 16 << 10 // bytes of a URL, of a header, and of a body

// Dump writes requests and responses for debugging, without their secrets. It serializes what several calls write. Each dump is one Write.
// A writer that fails or panics loses its dump, and nothing else.
type Dump struct {
	mu sync.Mutex
	to io.Writer
}

// NewDump returns a Dump to a writer.
func NewDump(to io.Writer) *Dump { return &Dump{to: to} }

// Request dumps a request whose body is the text.
func (w *Dump) Request(title string, s Secrets, r *http.Request, body []byte) {
	line := fmt.Sprintf("%s %s HTTP/1.1\nHost: %s\n", r.Method, r.URL.RequestURI(), r.URL.Host)
	w.write("--- Request: "+title+"\n"+head(s, line, r.Header), s, body)
}

// Response dumps a response, or why there is none. The body may be incomplete.
func (w *Dump) Response(title string, s Secrets, r *http.Response, body []byte, err error) {
	dump := "--- Response: " + title + "\n"
	if r != nil {
		dump += head(s, fmt.Sprintf("%s %d %s\n", r.Proto, r.StatusCode, http.StatusText(r.StatusCode)), r.Header)
	}
	if err != nil {
		dump += "(" + err.Error() + ")\n"
	}
	w.write(dump, s, body)
}

func head(s Secrets, line string, h http.Header) string {
	var b strings.Builder
	b.WriteString(s.Clean(line, mostDumped))
	_ = s.Header(h).Write(&b) // a builder takes everything
	return Shorten(strings.ReplaceAll(b.String(), "\r\n", "\n"), mostDumped) + "\n"
}

// write adds a body, and writes all without control characters, which a terminal would obey.
func (w *Dump) write(dump string, s Secrets, body []byte) {
	text, cut := s.Body(body, mostDumped)
	if dump += text + "\n"; cut {
		dump += fmt.Sprintf("(the first of %d bytes)\n", len(body))
	}
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
