package redact_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/redact"
)

// of returns the first bytes of a body as they are shown.
func of(text string, most int) string {
	clean, _ := redact.Secrets{}.Body([]byte(text), most)
	return clean
}

// Whatever the shape of a JSON text, and wherever it is cut, it shows no secret. In it, S is one.
func TestBody_ShapesOfSecrets(t *testing.T) {
	const secret = "SECRETsecret0123456789"
	for shape, want := range map[string]string{
		`{"headers":{"Authorization":["AWS4 S"],"Accept":["a"]}}`:                                            `{"headers":{"Authorization":["[hidden]"],"Accept":["a"]}}`,
		`{"credentials":{"id":"S","deep":[{"a":"S"},7,true,null,-1.5e3]},"after":"a"}`:                       `{"credentials":{"id":"[hidden]","deep":[{"a":"[hidden]"},"[hidden]",true,null,"[hidden]"]},"after":"a"}`,
		`{"headers":[{"name":"x-amz-security-token","value":"S"},{"name":"a","value":"b"}]}`:                 `{"headers":[{"name":"x-amz-security-token","value":"[hidden]"},{"name":"a","value":"b"}]}`,
		`[{"Value":"S","x":1,"Key":"X-Signature"},{"value":["S",{"value":"S","name":"n"}],"name":"policy"}]`: `[{"Value":"[hidden]","x":1,"Key":"X-Signature"},{"value":["[hidden]",{"value":"[hidden]","name":"[hidden]"}],"name":"policy"}]`,
		`[{"name":"policy","values":{"a":["S"]}},{"value":"a","name":"of a policy"}]`:                        `[{"name":"policy","values":{"a":["[hidden]"]}},{"value":"a","name":"of a policy"}]`,
		`{"fields":[["policy","S"],["key",{"a":1}],["a","policy","b"]]}`:                                     `{"fields":[["policy","[hidden]"],["key",{"a":1}],["a","policy","b"]]}`,
		`{"upload\u0054oken":"S","a":"b"}`:                                                                   `{"upload\u0054oken":"[hidden]","a":"b"}`,
		`{"an API token":"S"}`:                                                                               `{"an API token":"[hidden]"}`,
		`{"note":"{\"uploadToken\":\"S\",\"n\":1,\"deep\":\"[{\\\"token\\\":\\\"S\\\"}]\"}"}`:                `{"note":"{\"uploadToken\":\"[hidden]\",\"n\":1,\"deep\":\"[{\\\"token\\\":\\\"[hidden]\\\"}]\"}"}`,
		`{"note":"it had \"uploadToken\": \"S\" in it"}`:                                                     `{"note":"it had \"uploadToken\": \"[hidden]\" in it"}`,
		`{"url":"https://b.example/x?a=1'&sig=S","b":"c"}`:                                                   `{"url":"https://b.example/x?[hidden]","b":"c"}`,
		`{"url":"https://b.example/x?a=<b> c&sig=S"}`:                                                        `{"url":"https://b.example/x?[hidden]"}`,
		`{"url":"https:\/\/b.example\/x\u003fa=\"S"}`:                                                        `{"url":"https:\/\/b.example\/x\u003f[hidden]"}`,
		`{"url":"https://b.example/x#sig=S"}`:                                                                `{"url":"https://b.example/x#[hidden]"}`,
		`{"url":"https://user:S@b.example/x"}`:                                                               `{"url":"https://[hidden]@b.example/x"}`,
		`{"url":"ftp://user:S@b.example/x?S"}`:                                                               `{"url":"ftp://[hidden]@b.example/x?[hidden]"}`,
		`{"sas":"sv=2024&sig=S"}`:                                                                            `{"sas":"sv=[hidden]"}`,
		"\uFEFF {\"tokens\":[\"S\",\n\"S\"]}":                                                                "\uFEFF {\"tokens\":[\"[hidden]\",\n\"[hidden]\"]}",
		`{"a":"it is 5 & \"b\" # c? d@e.example","b":"C#","c":"//b.example:80/x@y","n":[1,2]}`:               `{"a":"it is 5 & \"b\" # c? d@e.example","b":"C#","c":"//b.example:80/x@y","n":[1,2]}`,
	} {
		text := strings.ReplaceAll(shape, "S", secret)
		text = strings.NewReplacer("AWS4", "A4", "X-"+secret+"ignature", "X-Signature", "AW"+secret, "AWS").Replace(text)
		want = strings.NewReplacer("AWS4", "A4").Replace(want)
		got := of(text, len(text))
		require.Equal(t, want, got, shape)
		require.Equal(t, json.Valid([]byte(shape)), json.Valid([]byte(got)), shape)
		header := redact.Secrets{}.Header(http.Header{"X-Said": {text}}, nil)
		require.Equal(t, want, header.Get("X-Said"), "in a header, too")
		for most := range len(text) {
			require.NotContains(t, of(text, most), secret[:8], "%s, cut at %d", shape, most)
		}
	}
}

// JSON that is none after all is read as far as it goes.
func TestBody_AlmostJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"an "inner" quote","token":"b"}`: `{"a":"an "inner" quote","token":"[hidden]"}`,
		`{}}]{"token" "b","token":["c"]]}`:     `{}}]{"token" "b","token":["[hidden]"]]}`,
		`{"a":[?],"token":["b"]`:               `{"a":[?],"token":["[hidden]"]`,
		`{"token":`:                            `{"token":`,
		`["\`:                                  `["\`,
	} {
		require.Equal(t, want, of(text, 100))
	}
}

// What a request has sent is hidden in any form, unless it may be a number.
func TestSent(t *testing.T) {
	const scroll, cursor, csrf = `page"two-token`, "cursor-of-page-two", "csrf-token-of-a-proxy"
	to := &url.URL{RawQuery: url.Values{"cursor": {cursor, "120"}, "csrfToken": {csrf}, "search": {"not-a-secret"}}.Encode()}
	secrets := redact.Secrets{}.Sent(to,
		[]byte(`{"filters":{"x":"not-a-secret"},"scroll\u0054oken":"page\"two-token","token":"7"}`))
	for _, secret := range []string{scroll, cursor, csrf} {
		for form, text := range escapes(secret) {
			require.Equal(t, "is "+redact.Hidden+".", secrets.Hide("is "+text+".", false), form)
		}
	}
	require.Equal(t, "120 not-a-secret 7", secrets.Hide("120 not-a-secret 7", false))
	require.Empty(t, redact.Secrets{}.Sent(new(url.URL), nil))
	escaped := redact.Secrets{}.Sent(&url.URL{RawQuery: "%63ursor=" + cursor}, nil)
	require.Equal(t, redact.Hidden, escaped.Hide(cursor, false))
}

// Whatever a text is, hiding ends, keeps what is valid JSON valid, and hides what is said to be a secret.
func FuzzBody(f *testing.F) {
	f.Add(`{"a":["b",{"value":"c","name":"d"}],"e":"{\"f\":1}"}`, true)
	f.Add(`{"u":"https://u:p@h/p?q#f","n":-1.5e3,"x":"\u0054\`, false)
	f.Fuzz(func(t *testing.T, text string, whole bool) {
		const secret = "SECRETsecret0123456789"
		if whole {
			text = `{"uploadToken":["` + secret + `"],"x":` + text + `}`
		}
		got := of(text, 8*len(text))
		if json.Valid([]byte(text)) && len(text) < 32<<10 {
			require.True(t, json.Valid([]byte(got)), "%s: %s", text, got)
		}
		if whole {
			require.NotContains(t, got, secret)
		}
	})
}

// However often a text says that a value is a secret, hiding it takes memory in proportion to the text.
func TestBody_ManyNamesTakeNoMemory(t *testing.T) {
	text := []byte(`{` + strings.Repeat(`"value":1,`, 3200) + strings.Repeat(`"key":"token",`, 2200))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	clean, _ := redact.Secrets{}.Body(text, len(text))
	runtime.ReadMemStats(&after)
	require.Contains(t, clean, `"value":"[hidden]"`)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20), "quadratic: over a thousand")
}
