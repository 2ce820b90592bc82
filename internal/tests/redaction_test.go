package tests

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	webtext "html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// jsonEscaped is a text as an encoder writes it that escapes HTML, or does not.
func jsonEscaped(s string, escapeHTML bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	if err := encoder.Encode(s); err != nil {
		panic(err)
	}
	text := strings.TrimSpace(out.String())
	return text[1 : len(text)-1]
}

func goEscaped(s string) string {
	text := strconv.Quote(s)
	return text[1 : len(text)-1]
}

// usual are the forms in which keys and tokens are mostly repeated, each once. internal/redact tests the others.
func usual(secret string) []string {
	basic := base64.RawStdEncoding.EncodeToString([]byte(secret + ":"))
	all := []string{secret, url.QueryEscape(secret), webtext.EscapeString(secret), basic, url.QueryEscape(basic), base64.RawStdEncoding.EncodeToString([]byte(secret))}
	slices.Sort(all)
	return slices.Compact(all)
}

// echoes are raw responses that repeat a text.
var echoes = map[string]func(form string) string{
	"code":       func(form string) string { return rawEnvelope("code", form) },
	"message":    func(form string) string { return rawEnvelope("message", form) },
	"param":      func(form string) string { return rawEnvelope("param", form) },
	"doc_url":    func(form string) string { return rawEnvelope("doc_url", form) },
	"request_id": func(form string) string { return rawEnvelope("request_id", form) },
	"body": func(form string) string {
		return rawResponse("404 Not Found", "Content-Type: text/html", "<p>"+form+"</p>")
	},
	"2xx":          func(form string) string { return rawResponse("200 OK", "Content-Type: text/html", form) },
	"cut body":     func(form string) string { return "HTTP/1.1 404 Not Found\r\nContent-Length: 5000\r\n\r\nkey " + form },
	"content type": func(form string) string { return rawResponse("404 Not Found", "Content-Type: text/"+form, "") },
	"status text":  func(form string) string { return rawResponse("404 "+form, "X: y", "") },
	"location": func(form string) string {
		return rawResponse("302 Found", "Location: https://"+url.PathEscape(form)+".example/x", "")
	},
	"a path": func(form string) string { return rawResponse("302 Found", "Location: https://x.example/"+form, "") },
	"header": func(form string) string {
		return rawResponse("404 Not Found", "X-Echo: "+form+"\r\nX-Echo: again "+form, "")
	},
	"header name": func(form string) string { return rawResponse("404 Not Found", "X-"+form+": y", "") },
	"rate header": func(form string) string { return rawResponse("404 Not Found", "RateLimit-"+form+": 1", "") },
	"retry after": func(form string) string { return rawResponse("429 Slow", "Retry-After: "+form, "") },
	"no colon":    func(form string) string { return rawResponse("404 Not Found", "X "+form, "") },
	"first line":  func(form string) string { return "HTTP/1.1 200 OK\r\n " + form + "\r\n\r\n" },
	"protocol":    func(form string) string { return form + " 200 OK\r\n\r\n" },
	"no protocol": func(form string) string { return "HTTP/" + form + " 200 OK\r\n\r\n" },
	"status":      func(form string) string { return "HTTP/1.1 " + form + " OK\r\n\r\n" },
	"length":      func(form string) string { return "HTTP/1.1 200 OK\r\nContent-Length: " + form + "\r\n\r\n" },
	"lengths": func(form string) string {
		return "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: " + form + "\r\n\r\n"
	},
	"encoding":    func(form string) string { return "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + form + "\r\n\r\n" },
	"trailer key": func(form string) string { return inChunks("Trailer: "+form+"\r\n", "") },
	"trailer":     func(form string) string { return inChunks("", "X "+form+"\r\n") },
	"chunk": func(form string) string {
		return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + form + "\r\n"
	},
	"nothing": func(string) string { return "" },
}

func rawResponse(status, header, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\n%s\r\nContent-Length: %d\r\n\r\n%s", status, header, len(body), body)
}

func rawEnvelope(field, text string) string {
	fields := map[string]any{"code": "INVALID_REQUEST", "message": "prose", "request_id": "req-1"}
	fields[field] = "so: " + text + "."
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // each form is escaped once
	if err := encoder.Encode(map[string]any{"error": fields}); err != nil {
		panic(err)
	}
	return rawResponse("400 Bad Request", "Content-Type: application/json", body.String())
}

func inChunks(header, trailer string) string {
	return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + header + "\r\n2\r\n{}\r\n0\r\n" + trailer + "\r\n"
}

// requireNoneOf demands that a text repeats no form of a secret, as it came or as %q and JSON write it.
func requireNoneOf(t *testing.T, text, form, secret, where string) {
	t.Helper()
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, trace := range []string{
		form, jsonEscaped(form, true), jsonEscaped(form, false), goEscaped(form),
		secret, encoded[:len(encoded)-len(encoded)%4-4],
	} {
		if at := strings.Index(text, trace); at >= 0 {
			require.Fail(t, "a secret shows", "%s: %q in ...%s", where, trace, text[max(0, at-200):min(len(text), at+len(trace)+50)])
		}
	}
}

// oneTime responds to each request on a connection of its own.
func oneTime(m *MemoryServer) *http.Transport {
	m.Transport.DisableKeepAlives = true
	return m.Transport
}

func TestRedaction_NoEchoShowsTheKey(t *testing.T) {
	for _, key := range []string{Token, `k/9+Zx81=<"&'>é%41 ??>>~~_`} {
		var response string
		InMemory(t, func(w http.ResponseWriter, _ *http.Request) { Hijack(w, response) }, func(t *testing.T, m *MemoryServer) {
			t.Helper()
			for _, form := range usual(key) {
				var out Shows
				client, err := prospectkit.New(BaseURL, key, append(out.Options(), prospectkit.WithTransport(oneTime(m)))...)
				require.NoError(t, err)
				for place, echo := range echoes {
					response = echo(form)
					info := prospectkit.Info{MaxBody: 4 << 10}
					_, err = client.Account.Me(t.Context(), prospectkit.WithInfo(&info))
					require.Error(t, err)
					out.Failure(err, info)
					_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"}, prospectkit.WithInfo(&info))
					require.Error(t, err, "%s: %s", place, form)
					out.Failure(err, info)
					requireNoneOf(t, out.String(), form, key, place)
					out.Reset()
				}
			}
		})
	}
}

func TestRedaction_NoEchoShowsTheTokenOfAScroll(t *testing.T) {
	for _, secret := range []string{"c3VyZQ+/cm9sbA==", `{"after":"<Zx81&>",/é+%}=`} {
		var response string
		serve := func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(BodyOf(t, r), "scrollToken") {
				Hijack(w, response)
				return
			}
			Write(w, 200, `{"profiles": [{"firstName": "a"}], "scrollToken": `+JSONText(secret)+`}`)
		}
		InMemory(t, serve, func(t *testing.T, m *MemoryServer) {
			t.Helper()
			for _, form := range usual(secret) {
				var out Shows
				client := NewClient(t, oneTime(m), out.Options()...)
				for place, echo := range echoes {
					response = echo(form)
					page, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{})
					require.NoError(t, err)
					info := prospectkit.Info{MaxBody: 4 << 10}
					_, err = page.Next(t.Context(), prospectkit.WithInfo(&info))
					require.Error(t, err, "%s: %s", place, form)
					out.Show(page, *page)
					out.Failure(err, info)
					requireNoneOf(t, out.String(), form, secret, place)
					out.Reset()
				}
			}
		})
	}
}
