package redact_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/redact"
)

const key = "sk_live-A1+b2/C3=d4"

// escapes are the forms in which a peer may echo a secret.
func escapes(text string) map[string]string {
	each := func(format string) string {
		var b strings.Builder
		for _, c := range []byte(text) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
	return map[string]string{
		"as it is": text, "upper case": strings.ToUpper(text), "lower case": strings.ToLower(text), "a query": url.QueryEscape(text), "a path": url.PathEscape(text),
		"twice": url.QueryEscape(url.QueryEscape(text)), "percent": each("%%%02X"), "percent, lower case": each("%%%02x"), "JSON": each(`\u%04x`), "JSON, upper case": each(`\U%04X`),
		"C": each(`\x%02x`), "HTML": html.EscapeString(text), "HTML, decimal": each("&#%d;"), "HTML, hexadecimal": each("&#x%X;"), "HTML, padded": each("&#x%08x;"),
		"HTML, named":     strings.NewReplacer("+", "&plus;", "/", "&sol;", "=", "&equals;", "_", "&LowBar;").Replace(text),
		"escaped slashes": strings.ReplaceAll(text, "/", `\/`), "escaped dashes": strings.ReplaceAll(text, "-", `\-`),
		"base64 for URLs": strings.NewReplacer("+", "-", "/", "_").Replace(text), "a space for a plus": strings.ReplaceAll(text, "+", " "),
	}
}

// A secret is hidden in whatever form it comes, and what is around it stays.
func TestHide(t *testing.T) {
	secrets := redact.Secrets{}.Key(key)
	basic := base64.StdEncoding.EncodeToString([]byte(key + ":"))
	for _, plain := range []string{key, base64.StdEncoding.EncodeToString([]byte(key)), basic, strings.TrimRight(basic, "=")} {
		for name, text := range escapes(plain) {
			for _, around := range [][2]string{{"", ""}, {"at 100% ", " \\ & more;"}, {"%41 &amp; x", "y &lt; \\u0041"}, {"&", "%"}} {
				got := secrets.Hide(around[0]+text+around[1], false)
				require.Equal(t, around[0]+redact.Hidden+around[1], got, "%s: %s", name, text)
			}
		}
	}
	nested := strconv.Quote(strconv.Quote("x" + escapes(key)["JSON"]))
	require.Equal(t, `"\"x[hidden]\""`, secrets.Hide(nested, false))
	require.Equal(t, redact.Hidden+"x"+redact.Hidden+redact.Hidden, secrets.Hide(key+"x"+key+key, false))
	for _, other := range []string{key[1:], key[:len(key)-1], strings.Replace(key, "A1", "A2", 1), "&unknown; %zz \\q \\u12 %4 &#xFFFFFFFFF; &#; \\", "&" + strings.Repeat("x", 20) + ";"} {
		require.Equal(t, other, secrets.Hide(other, false))
	}
	require.Equal(t, "text og", redact.Secrets{}.Key("").Hide("text og", true))
	require.Equal(t, "==a = b=", secrets.Hide("==a = b=", false))
	require.Equal(t, "="+redact.Hidden, secrets.Hide("="+key+"==", false), "with what fills it up, and nothing before it")
}

// A key is also hidden in other encodings.
func TestKey_Encodings(t *testing.T) {
	secrets, sum := redact.Secrets{}.Key(key), sha256.Sum256([]byte(key))
	reversed := []byte(key)
	slices.Reverse(reversed)
	require.LessOrEqual(t, len(secrets), redact.KeyForms)
	for name, text := range map[string]string{
		"reversed": string(reversed), "hexadecimal": hex.EncodeToString([]byte(key)), "base32": base32.StdEncoding.EncodeToString([]byte(key)),
		"SHA-256": hex.EncodeToString(sum[:]), "base32 without padding": base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(key)),
	} {
		for form, escaped := range escapes(text) {
			require.Equal(t, "is "+redact.Hidden+".", secrets.Hide("is "+escaped+".", false), "%s: %s", name, form)
		}
	}
	for _, around := range [][2]string{{"", "x"}, {"{", "}"}, {"k=", "&"}, {"GET", ""}, {"token", "and more"}} {
		larger := base64.StdEncoding.EncodeToString([]byte(around[0] + key + around[1]))
		got := secrets.Hide(larger, false)
		require.Contains(t, got, redact.Hidden, around)
		require.LessOrEqual(t, len(got)-len(redact.Hidden), len(larger)-len(key)*8/6+1, "%s: one character at each end may remain", got)
	}
	short := redact.Secrets{}.Key("abc1234")
	for _, text := range []string{"4321cba", hex.EncodeToString([]byte("abc1234")), "MFRGGMJSGM2A"} {
		require.Equal(t, text, short.Hide(text, false), "of a short key it might be a mere word")
	}
}

// A short secret is hidden only as a word of its own.
func TestHide_Short(t *testing.T) {
	secrets := redact.Secrets{}.Plain("abc1234", "abcd1234")
	for text, want := range map[string]string{
		"abc1234": redact.Hidden, "(ABC1234)": "(" + redact.Hidden + ")", "abc1234, abc1234": redact.Hidden + ", " + redact.Hidden,
		"xabc1234": "xabc1234", "abc1234z": "abc1234z", "0abc1234": "0abc1234", "abc12349": "abc12349", "éabc1234": "éabc1234", "abc1234é": "abc1234é",
		"{abc1234}": "{" + redact.Hidden + "}", "~abc1234|": "~" + redact.Hidden + "|", "aabc1234": "aabc1234", "abc1234a": "abc1234a", "Àabc1234": "Àabc1234",
		"xabcd12349": "x" + redact.Hidden + "9", // eight are enough
	} {
		require.Equal(t, want, secrets.Hide(text, false), text)
	}
	require.Equal(t, redact.Hidden+", xyz", redact.Secrets{}.Plain("x").Hide("x, xyz", false))
	require.Equal(t, "abc123", secrets.Hide("abc123", true), "too short to be taken for the beginning of one")
	both := redact.Secrets{}.Plain("token-one", "token-one-and-two")
	require.Equal(t, redact.Hidden+".", both.Hide("token-one-and-two.", false), "the longest counts")
	require.Equal(t, redact.Hidden+".", both.Hide("token-one==.", false), "with what fills it up")
}

// At the end of a text that was cut, the beginning of a secret is hidden from eight bytes on.
func TestHide_Cut(t *testing.T) {
	secrets := redact.Secrets{}.Plain(key)
	for n := range len(key) {
		cut, whole := "is "+key[:n], "is "+redact.Hidden
		if n < 8 {
			whole = cut
		}
		require.Equal(t, whole, secrets.Hide(cut, true), n)
		require.Equal(t, cut, secrets.Hide(cut, false), n)
	}
}

// Of a long secret, the beginning tells: all after it is hidden.
func TestHide_Long(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 100)
	secrets := redact.Secrets{}.Plain(long, long[:1<<10]+"x")
	require.Equal(t, "is "+redact.Hidden, secrets.Hide("is "+long+" and more", false))
	require.Equal(t, "is "+redact.Hidden, secrets.Hide("is "+long[:1<<10]+" and more", false))
	require.Equal(t, "is "+long[:1<<10-1], secrets.Hide("is "+long[:1<<10-1], false))
	exact := redact.Secrets{}.Plain(long[:1<<10])
	require.Equal(t, redact.Hidden+" and more", exact.Hide(long[:1<<10]+" and more", false))
}

// Adding secrets does not change the list that they are added to.
func TestPlain_LeavesTheListAsItWas(t *testing.T) {
	base := redact.Secrets{}.Plain("secret-one", "secret-two", "secret-three")
	first, second := base.Plain("secret-four"), base.Plain("secret-five")
	require.Equal(t, redact.Hidden+" secret-five", first.Hide("secret-four secret-five", false))
	require.Equal(t, "secret-four "+redact.Hidden, second.Hide("secret-four secret-five", false))
}

// A text is cut after secrets are hidden, so that no cut lets the rest of one through.
func TestClean(t *testing.T) {
	secrets := redact.Secrets{}.Plain(key)
	require.Equal(t, "short", secrets.Clean("short", 100))
	require.Equal(t, "0123456789", secrets.Clean("0123456789abc", 10))
	require.Equal(t, redact.Hidden+" tail", secrets.Clean(url.QueryEscape(url.QueryEscape(key))+" tail", 13))
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
	require.Equal(t, strings.Repeat("x", 8), redact.Secrets{}.Clean(strings.Repeat("x", 100)+"%", 8))
}

func TestClean_HalfAnEscape(t *testing.T) {
	secrets := redact.Secrets{}.Plain("secret-token")
	const most = 4 // 32 bytes are read
	for _, escape := range []string{"%2D", "&#45;", `\u002d`} {
		for n := range escape {
			text := strings.Repeat("x", 32-len("secret")-n) + "secret" + escape + "token and more"
			require.Equal(t, "xxxx", secrets.Clean(text, most))
			text = "secret" + escape + strings.Repeat("x", 40)
			require.Equal(t, "secr", secrets.Clean(text, most))
		}
	}
	require.Equal(t, "ab", secrets.Clean("ab"+strings.Repeat("%41%41", 10), 2))
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

// first is what an error keeps of a body.
func first(secrets redact.Secrets, body []byte) string {
	clean, _ := secrets.Body(body, redact.MaxText)
	return clean
}

func TestBody_OfAnError(t *testing.T) {
	secrets := redact.Secrets{}.Plain(key)
	require.Equal(t, "a "+redact.Hidden, first(secrets, []byte("a "+key[:10])), "the body may have been cut")
	large := []byte(strings.Repeat("x", 100<<10))
	require.Len(t, first(secrets, large), redact.MaxText)
	for _, n := range []int{8*redact.MaxText - 1, 8 * redact.MaxText, 8*redact.MaxText + 1} {
		require.Len(t, first(secrets, large[:n]), redact.MaxText)
	}
	copy(large[redact.MaxText-4:], key)
	require.Equal(t, redact.Hidden[:4], first(secrets, large)[redact.MaxText-4:])
}

// A body has neither the secrets nor the tokens that it brings, wherever it is cut.
func TestBody(t *testing.T) {
	const token, cursor = "dG9rZW4+MQ==", `c\"urs\u006fr`
	text := `{"a":"` + token + `","profiles":[{"key":"` + key + `","x":"c\"ursor"}],"scrollToken" : "` + token + `","deep":[{"nextCursor":"` + cursor + `"}],"total":7,"cursor":null}`
	want := `{"a":"[hidden]","profiles":[{"key":"[hidden]","x":"[hidden]"}],"scrollToken" : "[hidden]","deep":[{"nextCursor":"[hidden]"}],"total":7,"cursor":null}`
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
	many := strings.Repeat(`{"token":"`+token+`"}`, 1000)
	got, cut = redact.Secrets{}.Body([]byte(many), len(many))
	require.Equal(t, strings.Repeat(`{"token":"[hidden]"}`, 1000), got)
	require.False(t, cut)
	got, cut = redact.Secrets{}.Plain("ab").Body([]byte("ab-ab"), 5)
	require.Equal(t, "[hidd", got)
	require.True(t, cut)
}

func TestShorten(t *testing.T) {
	for most, want := range map[int]string{0: "", 1: "a", 2: "a", 3: "aé", 4: "aé", 5: "aé", 6: "aé€", 7: "aé€", 10: "aé€😀", 11: "aé€😀"} {
		require.Equal(t, want, redact.Shorten("aé€😀", most), most)
	}
	require.Equal(t, "\x80\x80\x80", redact.Shorten("\x80\x80\x80\x80\x80\x80", 3))
	require.Equal(t, "ab\x80\x80\x80\x80", redact.Shorten("ab\x80\x80\x80\x80\x80\x80", 6), "what is no text is cut anywhere")
	require.Equal(t, "abc", redact.Shorten("abc€", 5))
	for most := range 4 {
		require.Equal(t, "\x80\x80\x80"[:most], redact.Shorten("\x80\x80\x80\x80\x80\x80", most))
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
	before := http.Header{"X-Echo": {"a " + key, "b"}, "X-" + key: {"c"}, "Empty": {}, "X-" + key[:9]: {key[:9]}}
	require.Equal(t, http.Header{"X-Echo": {"a " + redact.Hidden, "b"}, "X-" + redact.Hidden: {"c"}, "X-" + key[:9]: {key[:9]}}, secrets.Header(before, nil), "no header is cut")
	require.Equal(t, "a "+key, before.Get("X-Echo"))
	require.Nil(t, secrets.Header(nil, nil))

	body := []byte(`{"scrollToken":"page-two-token","nextCursor":"120"}`)
	before = http.Header{"X-Next": {"page%2Dtwo-token"}, "Ratelimit-Limit": {"120"}, "X-Auth-Token": {"d"}, "Location": {"x?y=z", "/x?"}}
	want := http.Header{"X-Next": {redact.Hidden}, "Ratelimit-Limit": {"120"}, "X-Auth-Token": {redact.Hidden}, "Location": {"x?y=" + redact.Hidden, "/x?"}}
	require.Equal(t, want, secrets.Header(before, body), "the tokens of the body are hidden, but no number is")
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
	err := redact.Opaque("shown", "logged", original)
	require.EqualError(t, err, "shown")
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
		require.Equal(t, "is "+redact.Hidden+".", secrets.Hide("is "+text+".", false))
	}
	secrets = redact.Secrets{}.Key(key).Query(url.Values{"search": {"a name", "1234"}, "limit": {"100"}, "n": {"7"}})
	for text, want := range map[string]string{"a name": redact.Hidden, "a+name": redact.Hidden, "1234": redact.Hidden, "100": "100", "7": "7", key: redact.Hidden} {
		require.Equal(t, "is "+want+".", secrets.Hide("is "+text+".", false), text)
	}
}

// Wherever a body is cut, half an escape at the cut does not keep the beginning of a secret from being hidden. What is whole
// stays as it is.
func TestBody_HalfAnEscape(t *testing.T) {
	secrets := redact.Secrets{}.Plain("longsecret-tail")
	for _, escape := range []string{"%2D", "&#45;", `\u002d`, "&#x000002d;"} {
		text := "is longsecret" + escape + "tail."
		for n := len("is longsecr"); n < len(text)-1; n++ {
			before := strings.Repeat(".", 64<<10-n) // what follows is not searched
			got, cut := secrets.Body([]byte(before+text), math.MaxInt/8)
			require.Equal(t, before+"is "+redact.Hidden[:min(n-len("is "), len(redact.Hidden))], got, text[:n])
			require.True(t, cut)
			got, _ = secrets.Body([]byte(text), n)
			require.Equal(t, ("is " + redact.Hidden + ".")[:min(n, len("is "+redact.Hidden+"."))], got, "what follows is searched, too")
		}
	}
	for _, whole := range []string{`{"a":"50%"}`, `{"a":"b & c"}`, `{"a":"\n"}`} {
		got, cut := secrets.Body([]byte(whole), len(whole))
		require.Equal(t, whole, got)
		require.False(t, cut)
	}
}
