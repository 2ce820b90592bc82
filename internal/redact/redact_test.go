package redact_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/redact"
)

const key = `sk_live-A1+b2/C3=d4&<"é`

// escapes are the forms in which a peer may echo a secret.
func escapes(text string) map[string]string {
	return map[string]string{
		"as it is": text, "a query": url.QueryEscape(text), "a query, lower case": inLowerCase(url.QueryEscape(text)), "a path": url.PathEscape(text),
		"HTML": html.EscapeString(text), "HTML, named": strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(text),
		"JSON": encoded(text), "JSON in ASCII": strings.ReplaceAll(strings.ReplaceAll(text, `"`, `\"`), "é", `\u00e9`), "JSON, upper case": strings.NewReplacer("u003c", "u003C", "u003e", "u003E").Replace(encoded(text)), "JSON, plain": strings.ReplaceAll(text, `"`, `\"`), "JSON, slashes": strings.ReplaceAll(encoded(text), "/", `\/`),
	}
}

// inLowerCase writes the escapes of a query as other languages do.
func inLowerCase(query string) string {
	return regexp.MustCompile("%..").ReplaceAllStringFunc(query, strings.ToLower)
}

func encoded(text string) string {
	all, _ := json.Marshal(text)
	return string(all[1 : len(all)-1])
}

// A secret is hidden in whatever form it comes, and what is around it stays.
func TestHide(t *testing.T) {
	secrets := redact.Secrets{}.Key(key)
	forms := []string{key}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		forms = append(forms, encoding.EncodeToString([]byte(key)), encoding.EncodeToString([]byte(key+":")))
	}
	for _, plain := range forms {
		for name, text := range escapes(plain) {
			for _, around := range [][2]string{{"", ""}, {"at 100% ", " \\ & more;"}, {"%41 &amp; x", "y &lt; \\u0041"}, {"&", "%"}} {
				got := secrets.Hide(around[0] + text + around[1])
				require.Equal(t, around[0]+redact.Hidden+around[1], got, "%s: %s", name, text)
			}
		}
	}
	require.Equal(t, redact.Hidden+"x"+redact.Hidden+redact.Hidden, secrets.Hide(key+"x"+key+key))
	for _, other := range []string{
		"", key[1:], key[:len(key)-1], strings.Replace(key, "A1", "A2", 1), "&unknown; %zz \\q \\u12 %4 &#xFFFFFFFFF; &#; \\", "&" + strings.Repeat("x", 20) + ";",
		url.QueryEscape(url.QueryEscape(key)), // nested escapes
	} {
		require.Equal(t, other, secrets.Hide(other))
	}
	require.Equal(t, "text og", redact.Secrets{}.Key("").Hide("text og"))
	require.Equal(t, key, redact.Secrets{}.Hide(key))
	require.Equal(t, "Basic "+redact.Hidden, secrets.Hide("Basic "+base64.StdEncoding.EncodeToString([]byte(key+":"))), "with what fills it up")
	const odd = "a%41b&lt;c\\u0041 d"
	for name, text := range escapes(odd) {
		require.Equal(t, redact.Hidden, redact.Secrets{}.Key(odd).Hide(text), "one that looks like escapes: %s", name)
	}
	both := redact.Secrets{}.Plain("token-one", "token-one-and-two")
	require.Equal(t, redact.Hidden+".", both.Hide("token-one-and-two."), "the longest counts")
}

// What is hidden is not searched again, and of secrets that overlap nothing is left.
func TestHide_InOnePass(t *testing.T) {
	require.Equal(t, "a [hidden] b", redact.Secrets{}.Plain("hidden").Hide("a hidden b"))
	require.Equal(t, "a [hidden] b", redact.Secrets{}.Plain("one-two-", "-two-three").Hide("a one-two-three b"))
	require.Equal(t, redact.Hidden, redact.Secrets{}.Plain("abab").Hide("abababa"+"b"))
}

// Adding secrets does not change the list that they are added to.
func TestPlain_LeavesTheListAsItWas(t *testing.T) {
	base := redact.Secrets{}.Plain("secret-one", "secret-two", "secret-three")
	first, second := base.Plain("secret-four"), base.Plain("secret-five")
	require.Equal(t, redact.Hidden+" secret-five", first.Hide("secret-four secret-five"))
	require.Equal(t, "secret-four "+redact.Hidden, second.Hide("secret-four secret-five"))
}

// A text is cut after secrets are hidden, so that no cut lets the rest of one through.
func TestClean(t *testing.T) {
	secrets := redact.Secrets{}.Plain(key)
	require.Equal(t, "short", secrets.Clean("short", 100))
	require.Equal(t, "0123456789", secrets.Clean("0123456789abc", 10))
	require.Equal(t, redact.Hidden+" tail", secrets.Clean(url.QueryEscape(key)+" tail", len(url.QueryEscape(key))+5))
	for before := 60; before < 82; before++ { // wherever the bound of what is read cuts it
		for name, form := range escapes(key) {
			text := strings.Repeat("x", before) + form + strings.Repeat("y", 1000)
			got := secrets.Clean(text, 10)
			require.LessOrEqual(t, len(got), 10)
			require.NotContains(t, strings.ToLower(got), "live", name)
			whole := secrets.Clean(text, 80)
			for n := 8; n < len(form); n++ {
				require.NotContains(t, whole, form[:n], "%s after %d", name, before)
			}
		}
	}
	exact := strings.Repeat("x", 80-8) + key[:8]
	require.Equal(t, exact, secrets.Clean(exact, 80), "a text that was not cut ends as it is")
}

// However long a body is, what is searched for secrets is not: that takes time for each byte and each secret.
func TestBody_IsBounded(t *testing.T) {
	long := bytes.Repeat([]byte("t"), 1<<20)
	for _, most := range []int{64 << 10, 64<<10 + 1, 1 << 20, math.MaxInt} {
		got, cut := redact.Secrets{}.Key("secret-key").Body(long, most)
		require.Len(t, got, 64<<10)
		require.True(t, cut)
	}
}

// Hiding shortens a text. That brings nothing into view of which only the beginning was searched.
func TestBody_FullOfSecrets(t *testing.T) {
	const secret = "a-secret-of-some-length-abcdefghijklmnopqrstuvwxyz"
	got, cut := redact.Secrets{}.Key(secret).Body([]byte(strings.Repeat(secret, 10000)), math.MaxInt)
	require.Equal(t, strings.Repeat(redact.Hidden, 64<<10/len(redact.Hidden)), got)
	require.True(t, cut)
}

// A body has neither the secrets nor the tokens that it brings, wherever it is cut.
func TestBody(t *testing.T) {
	const token, cursor = "dG9rZW4+MQ==", `c\"urs\u006fr-2`
	text := `{"profiles":[{"key":"` + key + `"}],"scrollToken" : "` + token + `","deep":[{"nextCursor":"` + cursor + `"}],"total":7,"cursor":null}`
	want := `{"profiles":[{"key":"[hidden]"}],"scrollToken" : "[hidden]","deep":[{"nextCursor":"[hidden]"}],"total":7,"cursor":null}`
	secrets := redact.Secrets{}.Key(key)
	got, cut := secrets.Body([]byte(text), len(text))
	require.Equal(t, want, got)
	require.False(t, cut)
	for most := range len(text) {
		got, cut := secrets.Body([]byte(text), most)
		require.LessOrEqual(t, len(got), most)
		require.True(t, cut)
		for _, secret := range []string{key, token, cursor} {
			require.NotContains(t, got, secret[:min(8, len(secret))], most)
		}
	}
	got, cut = redact.Secrets{}.Plain("abcd").Body([]byte("abcd-abcd"), 9)
	require.Equal(t, "[hidden]-", got)
	require.True(t, cut)
}

func TestShorten(t *testing.T) {
	for most, want := range map[int]string{0: "", 1: "a", 2: "a", 3: "aé", 4: "aé", 5: "aé", 6: "aé€", 7: "aé€", 10: "aé€😀", 11: "aé€😀"} {
		require.Equal(t, want, redact.Shorten("aé€😀", most), most)
	}
	require.Equal(t, "abc", redact.Shorten("abc€", 5))
	for most := range 4 {
		require.Empty(t, redact.Shorten("😀", most), "a half character is none")
	}
}

func TestOneLine(t *testing.T) {
	require.Equal(t, "a b c d é", redact.OneLine("a\nb\tc\u200bd é"))
	require.Equal(t, strings.Repeat("x", 300), redact.OneLine(strings.Repeat("x", 300)))
	require.Equal(t, strings.Repeat("x", 300)+"...", redact.OneLine(strings.Repeat("x", 301)))
	long := redact.OneLine(strings.Repeat("é", 200) + "x")
	require.True(t, utf8.ValidString(long))
}

func TestHeader(t *testing.T) {
	secrets := redact.Secrets{}.Plain(key)
	before := http.Header{"X-Echo": {"a " + key, "b"}, "X-" + strings.ToUpper(key): {"c"}, "Empty": {}, "X-" + key[:9]: {key[:9]}}
	require.Equal(t, http.Header{"X-Echo": {"a " + redact.Hidden, "b"}, redact.Hidden: {"c"}, "X-" + key[:9]: {key[:9]}}, secrets.Header(before), "no header is cut")
	require.Equal(t, "a "+key, before.Get("X-Echo"))
	require.Empty(t, secrets.Header(nil))
	before = http.Header{"Ratelimit-Limit": {"120"}, "X-Auth-Token": {"d"}, "Location": {"x?y=z", "/x?"}}
	want := http.Header{"Ratelimit-Limit": {"120"}, "X-Auth-Token": {redact.Hidden}, "Location": {"x?y=" + redact.Hidden, "/x?"}}
	require.Equal(t, want, secrets.Header(before))
}

func TestWithoutIDs(t *testing.T) {
	const id = "64f0c0ffee64f0c0ffee64f0"
	require.Equal(t, "list "+redact.Hidden+" of ("+redact.Hidden+")", redact.WithoutIDs("list "+id+" of ("+strings.ToUpper(id)+")"))
	for _, text := range []string{"none", id + "0", id[1:], "x" + id} {
		require.Equal(t, text, redact.WithoutIDs(text))
	}
}

func TestWithoutURL(t *testing.T) {
	inner := &url.Error{Op: "Get", URL: "https://host/?q=name", Err: io.EOF}
	outer := &url.Error{Op: "Get", URL: "https://host/", Err: inner}
	require.Equal(t, io.EOF, redact.WithoutURL(outer))
	require.Equal(t, io.EOF, redact.WithoutURL(io.EOF))
	require.NoError(t, redact.WithoutURL(nil))
	empty := &url.Error{Op: "Get"}
	require.Equal(t, empty, redact.WithoutURL(empty))
}

// An opaque error is the original for errors.Is and errors.As, but shows neither its text nor its URL.
func TestOpaque(t *testing.T) {
	original := fmt.Errorf("%w: %w", &url.Error{Op: "Get", URL: "https://host/?q=name", Err: context.Canceled}, &strconv.NumError{Num: "name", Err: strconv.ErrRange})
	shown := "shown"
	err := redact.Opaque(original, func() string { return shown }, func() string { return "logged" })
	shown = "shown when it is asked for"
	require.EqualError(t, err, "shown when it is asked for")
	require.Equal(t, "logged", err.Words())
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, io.EOF)
	number, isNumber := errors.AsType[*strconv.NumError](err)
	require.True(t, isNumber)
	require.Equal(t, "name", number.Num)
	_, isURL := errors.AsType[*url.Error](err)
	require.False(t, isURL)
	require.NotContains(t, fmt.Sprintf("%+v %#v", err, err), "name")
}

// A URL is hidden in the forms in which a text may quote it, and a query by its values. The secrets added before stay hidden.
func TestURLAndQuery(t *testing.T) {
	u, err := url.Parse("https://host.test/api/v1/lists?search=a+name&limit=100")
	require.NoError(t, err)
	secrets := redact.Secrets{}.Key(key).URL(u)
	for _, text := range []string{u.String(), u.RequestURI(), u.RawQuery, key} {
		require.Equal(t, "is "+redact.Hidden+".", secrets.Hide("is "+text+"."))
	}
	secrets = redact.Secrets{}.Key(key).Query(url.Values{"search": {"a long name", "1234567"}, "limit": {"100"}, "n": {"7"}})
	for text, want := range map[string]string{"a long name": redact.Hidden, "a+long+name": redact.Hidden, "1234567": "1234567", "100": "100", "7": "7", key: redact.Hidden} {
		require.Equal(t, "is "+want+".", secrets.Hide("is "+text+"."), text)
	}
}

// Wherever a body is cut, nothing of a secret is left that goes on behind it. What is whole stays as it is.
func TestBody_CutsNoSecret(t *testing.T) {
	secrets := redact.Secrets{}.Plain("longsecret<tail")
	for _, escape := range []string{"<", "%3C", "&lt;", `\u003c`, `\u003C`} {
		text := "is longsecret" + escape + "tail."
		for n := len("is l"); n < len(text)-1; n++ {
			before := strings.Repeat(".", 64<<10-n)
			got, cut := secrets.Body([]byte(before+text), math.MaxInt)
			require.Equal(t, (before + "is [hidden].")[:len(got)], got, text[:n])
			require.True(t, cut)
			got, _ = secrets.Body([]byte(text), n)
			require.Equal(t, "is [hidden]."[:min(n, len("is [hidden]."))], got)
		}
	}
	for _, whole := range []string{`{"a":"50%"}`, `{"a":"b & c"}`, `{"a":"\n"}`} {
		got, cut := secrets.Body([]byte(whole), len(whole))
		require.Equal(t, whole, got)
		require.False(t, cut)
	}
}

// Of a body, what has the name of a secret is hidden, and the query of each URL. It stays the JSON that it was.
func TestBody_Named(t *testing.T) {
	const secret = "SECRETsecret0123456789"
	for shape, want := range map[string]string{
		`{"headers":{"Authorization":["AWS4 §"],"Accept":["a"]}}`:      `{"headers":{"Authorization":["[hidden]"],"Accept":["a"]}}`,
		`{"an API token":"§","apiKeys" : [ "§" ],"cookie":"","x":"a"}`: `{"an API token":"[hidden]","apiKeys" : [ "[hidden]" ],"cookie":"[hidden]","x":"a"}`,
		`{"X-Amz-Signature":"§\"§","b":"token","c":"\"d"}`:             `{"X-Amz-Signature":"[hidden]","b":"token","c":"\"d"}`,
		`{"url":"https://b.example/x?a=1&sig=§","b":"c"}`:              `{"url":"https://b.example/x?a=[hidden]","b":"c"}`,
		`{"url":"https:\/\/b.example\/x\u003fa=§"}`:                    `{"url":"https:\/\/b.example\/x\u003fa=[hidden]"}`,
		`it had "uploadToken": "§" in it, and ?sig=§`:                  `it had "uploadToken": "[hidden]" in it, and ?sig=[hidden]`,
		`{"a":"it is 5 & \"b\" # c? d@e.example","b":"C#","n":[1,2]}`:  `{"a":"it is 5 & \"b\" # c? d@e.example","b":"C#","n":[1,2]}`,
	} {
		shape = strings.ReplaceAll(shape, "§", secret)
		got, _ := redact.Secrets{}.Body([]byte(shape), 1000)
		require.Equal(t, want, got, shape)
		require.Equal(t, json.Valid([]byte(shape)), json.Valid([]byte(got)), shape)
		for most := range len(shape) {
			got, _ = redact.Secrets{}.Body([]byte(shape), most)
			require.NotContains(t, got, secret[:8], "%s, cut at %d", shape, most)
		}
	}
}

// What a request has sent under the name of a secret is hidden, unless it may be a number.
func TestSent(t *testing.T) {
	const scroll, cursor, csrf = `page"two-token`, "cursor-of-page-two", "csrf-token-of-a-proxy"
	to := &url.URL{RawQuery: url.Values{"cursor": {cursor, "120"}, "csrfToken": {csrf}, "search": {"not-a-secret"}}.Encode()}
	secrets := redact.Secrets{}.Sent(to, []byte(`{"filters":{"x":"not-a-secret"},"scrollToken":"page\"two-token","token":"7"}`))
	for _, secret := range []string{scroll, cursor, csrf} {
		for form, text := range escapes(secret) {
			require.Equal(t, "is "+redact.Hidden+".", secrets.Hide("is "+text+"."), form)
		}
	}
	require.Equal(t, "120 not-a-secret 7", secrets.Hide("120 not-a-secret 7"))
	require.Empty(t, redact.Secrets{}.Sent(new(url.URL), nil))
}

func FuzzHide(f *testing.F) {
	f.Add("tok-Zx81-qWv7", `{"a": "%25&amp;\u0041`, `" }`)
	odd := func(r rune) bool { return unicode.IsControl(r) || r > unicode.MaxLatin1 } // surrogates are not put together
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < 12 || len(secret) > 200 || strings.ContainsAny(secret[:1]+secret[len(secret)-1:], `=\%&`) || !utf8.ValidString(secret) || strings.ContainsFunc(secret, odd) {
			return // an escape may begin or end there
		}
		for name, form := range map[string]string{"plain": secret, "query": url.QueryEscape(secret), "HTML": html.EscapeString(secret), "JSON": encoded(secret)} {
			require.NotContains(t, redact.Secrets{}.Key(secret).Hide(before+" "+form+" "+after), form, name)
		}
	})
}

// Whatever a text is, hiding ends, and keeps what is valid JSON valid.
func FuzzBody(f *testing.F) {
	f.Add(`{"a":["b",{"value":"c","token":"d"}],"e":"{\"f\":1}"}`)
	f.Add(`{"u":"https://u:p@h/p?q#f","n":-1.5e3,"x":"\u0054\`)
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := redact.Secrets{}.Body([]byte(text), 8*len(text))
		if json.Valid([]byte(text)) && len(text) < 32<<10 {
			require.True(t, json.Valid([]byte(got)), "%s: %s", text, got)
		}
	})
}

// Nothing of what a text quotes is left, wherever the text ends.
func TestUnquoted(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, `plain \ text`: `plain \ text`, `a "b" c`: `a "..." c`, `a "b`: `a "..."`, `a "b\`: `a "..."`, `"`: `"..."`, `"\`: `"..."`, `a "b\"c" d "e\\" f`: `a "..." d "..." f`,
		`x: malformed MIME header: missing colon: key`: `x: malformed MIME header`, `"q" malformed MIME header "r"`: `"..." malformed MIME header`,
	} {
		require.Equal(t, want, redact.Unquoted(text), text)
	}
	const whole = `a "secret \" secret \\" b "secret\\\""`
	for end := range len(whole) {
		require.NotContains(t, strings.ReplaceAll(redact.Unquoted(whole[:end]), `"..."`, ""), "s")
	}
}
