package tests

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	webtext "html"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/redact"
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

// inCase changes the case of the letters of ASCII.
func inCase(s string, to func(rune) rune) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return to(r)
		}
		return r
	}, s)
}

// escapes are the forms in which a peer may repeat a text.
func escapes(s string) map[string]string {
	return map[string]string{
		"plain": s, "upper case": inCase(s, unicode.ToUpper), "lower case": inCase(s, unicode.ToLower),
		"query": url.QueryEscape(s), "query, lower case": inCase(url.QueryEscape(s), unicode.ToLower), "path": url.PathEscape(s),
		"HTML": webtext.EscapeString(s), "HTML, named": strings.ReplaceAll(webtext.EscapeString(s), "&#34;", "&quot;"),
		"JSON": jsonEscaped(s, true), "JSON, plain": jsonEscaped(s, false), "JSON, slashes": strings.ReplaceAll(jsonEscaped(s, true), "/", `\/`), "of Go": goEscaped(s),
	}
}

// repetitions are a secret and its forms in base64, with any escapes.
func repetitions(secret string) map[string]string {
	all := make(map[string]string)
	for name, text := range map[string]string{"": secret, "with colon ": secret + ":"} {
		for kind, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64 of URLs": base64.RawURLEncoding} {
			for how, form := range escapes(encoding.EncodeToString([]byte(text))) {
				all[name+kind+", "+how] = form
			}
		}
	}
	maps.Copy(all, escapes(secret))
	return all
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

// Whatever escapes it once: nothing of the secret is left, and nothing else is taken.
func TestRedaction_EveryEscapeIsHidden(t *testing.T) {
	for _, secret := range []string{
		"tok-Zx81-qWv7-secret", `k/9+Zx81=<"&'>\é%41 ??>>~~_`, "sandbox_01_001", "c3VyZQ+/cm9sbA==", "0af%3D&amp;", "Q?=",
	} {
		for how, form := range repetitions(secret) {
			hidden := hide(secret, `key "`+form+`" or `+form+`, `+form)
			require.Equal(t, `key "[hidden]" or [hidden], [hidden]`, hidden, "%q: %s: %s", secret, how, form)
		}
	}
}

func TestRedaction_WhatIsNoSecretStays(t *testing.T) {
	const key = "tok-Zx81-qWv7-secret"
	for _, text := range []string{"", "%", "&;", `\`, "&#;", "&#x;", "%zz", `\u12`, "tok-Zx81", key[1:], key[:19], "100 %25 &amp; more", strings.Repeat(`\`, 50)} {
		require.Equal(t, text, hide(key, text))
	}
	for short, text := range map[string]string{"id": "The id is invalid: [hidden]", "to": "to be [hidden]"} {
		text = strings.Replace(text, short+" ", "", 1)
		require.Equal(t, text, hide(short, strings.Replace(text, "[hidden]", short, 1)), "a short one only where it stands alone")
	}
	long := strings.Repeat("abcdefgh", 1000)
	require.Equal(t, "x [hidden] y", hide(long, "x "+long+" y"))
}

// Where this library cuts a text, the beginning of a secret is hidden, too.
func TestRedaction_NoCutLetsABeginningThrough(t *testing.T) {
	const key = "<tok-Zx81&qWv7-secret>"
	all := jsonEscaped(key, true)
	require.Equal(t, "a <tok-Zx81", cleanBody(key, "a <tok-Zx81"), "a peer has cut it")
	for most := 8; most < 80; most++ { // wherever the text is cut
		cleaned := clean(key, strings.Repeat(all+" ", 9), most)
		require.True(t, strings.HasPrefix(cleaned, "[hidden]"), cleaned)
		require.NotContains(t, cleaned, "tok")
		require.LessOrEqual(t, len(cleaned), most)
	}
	require.Equal(t, "[hidden]", hide("12345678", "12345678"))
	require.Equal(t, "x[hidden]x", hide("12345678", "x12345678x"), "eight characters need not stand alone")
	require.Equal(t, "x1234567x", hide("1234567", "x1234567x"))
	require.Equal(t, "é", clean(key, "éé", 3), "no half characters")
}

// Of a text of which little is kept, little is looked at.
func TestRedaction_LongTextsTakeNoMemory(t *testing.T) {
	const key = "tok-Zx81-qWv7-secret"
	text := strings.Repeat("%41&amp;", 1<<19)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.LessOrEqual(t, len(clean(key, text, 64)), 64)
	require.LessOrEqual(t, len(cleanBody(key, text)), 2<<10)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(12<<20), "the text takes 4 MiB, and one copy of it another")
}

func FuzzHide(f *testing.F) {
	f.Add("tok-Zx81-qWv7", `{"a": "%25&amp;\u0041`, `" }`)
	odd := func(r rune) bool { return unicode.IsControl(r) || r > unicode.MaxLatin1 } // surrogates are not put together
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < 12 || len(secret) > 200 || strings.ContainsAny(secret[:1]+secret[len(secret)-1:], `=\%&`) || !utf8.ValidString(secret) || strings.ContainsFunc(secret, odd) {
			return // an escape may begin or end there
		}
		for _, form := range escapes(secret) {
			require.NotContains(t, hide(secret, before+" "+form+" "+after), form)
		}
	})
}

// hide is what a text of a peer's becomes for a client with this key.
func hide(key, text string) string { return redact.Secrets(nil).Key(key).Hide(text) }

// clean is the same for a text of which so many bytes are kept, and cleanBody for a body.
func clean(key, text string, most int) string { return redact.Secrets(nil).Key(key).Clean(text, most) }

func cleanBody(key, text string) string {
	clean, _ := redact.Secrets(nil).Key(key).Body([]byte(text), redact.MaxText)
	return clean
}

// oneTime responds to each request on a connection of its own.
func oneTime(m *MemoryServer) *http.Transport {
	m.Transport.DisableKeepAlives = true
	return m.Transport
}

// usual are the forms in which keys and tokens are mostly repeated.
func usual(secret string) map[string]string {
	all := repetitions(secret)
	some := make(map[string]string)
	for _, how := range []string{"plain", "query", "HTML", "with colon base64, plain", "base64, plain", "with colon base64, query"} {
		some[how] = all[how]
	}
	return some
}

func TestRedaction_NoEchoShowsTheKey(t *testing.T) {
	for _, key := range []string{Token, `k/9+Zx81=<"&'>é%41 ??>>~~_`} {
		var response string
		InMemory(t, func(w http.ResponseWriter, _ *http.Request) { Hijack(w, response) }, func(t *testing.T, m *MemoryServer) {
			t.Helper()
			for how, form := range usual(key) {
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
					require.Error(t, err, "%s: %s", place, how)
					out.Failure(err, info)
					requireNoneOf(t, out.String(), form, key, place+", "+how)
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
			for how, form := range usual(secret) {
				var out Shows
				client := NewClient(t, oneTime(m), out.Options()...)
				for place, echo := range echoes {
					response = echo(form)
					page, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{})
					require.NoError(t, err)
					info := prospectkit.Info{MaxBody: 4 << 10}
					_, err = page.Next(t.Context(), prospectkit.WithInfo(&info))
					require.Error(t, err, "%s: %s", place, how)
					out.Show(page, *page)
					out.Failure(err, info)
					requireNoneOf(t, out.String(), form, secret, place+", "+how)
					out.Reset()
				}
			}
		})
	}
}
