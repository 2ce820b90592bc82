// Package wiredump writes requests and responses for debugging, without secrets.
package wiredump

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
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
	w.write("--- Request: "+title+"\n", head(s, line, r.Header), text(s, body))
}

// Response dumps a response, or why there is none. The body may be incomplete.
func (w *Writer) Response(title string, s redact.Secrets, r *http.Response, body []byte, err error) {
	var first string
	if r != nil {
		first = head(s, fmt.Sprintf("%s %d %s\n", r.Proto, r.StatusCode, http.StatusText(r.StatusCode)), r.Header)
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

// hiddenNames matches the names of headers and fields whose values are hidden.
const hiddenNames = `[\w$.-]*(?:authorization|authenticat|cookie|token|cursor|secret|signature|credential|policy|password|api-?key)[\w$.-]*`

var (
	secretHeader = regexp.MustCompile(`(?i)^` + hiddenNames + `$`)
	secretField  = regexp.MustCompile(`(?i)("` + hiddenNames + `"\s*:\s*")(?:[^"\\]|\\.)*`)

	// The query of a URL in a text may be a signature that permits an upload.
	signedURL = regexp.MustCompile(`(?i)(https?:(?:\\?/){2}[^\s"'<>?]*?(?:\?|\\u003f))[^\s"'<>]*`)
)

func head(s redact.Secrets, line string, h http.Header) string {
	clean := s.Header(h)
	for name := range clean {
		if secretHeader.MatchString(name) {
			clean[name] = []string{redact.Hidden}
		}
	}
	var b strings.Builder
	b.WriteString(s.Clean(line, maxHead))
	_ = clean.Write(&b) // a builder takes everything
	return shown(redact.Shorten(hide(strings.ReplaceAll(b.String(), "\r\n", "\n")), maxHead)) + "\n"
}

func text(s redact.Secrets, body []byte) string {
	if len(body) == 0 {
		return ""
	}
	clean, cut := s.Body(body, maxBody)
	out := shown(hide(string(clean))) + "\n"
	if cut {
		out += fmt.Sprintf("(the first of %d bytes)\n", len(body))
	}
	return out
}

func hide(text string) string {
	text = secretField.ReplaceAllString(text, "${1}"+redact.Hidden)
	return signedURL.ReplaceAllString(text, "${1}"+redact.Hidden)
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
