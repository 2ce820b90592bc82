package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompleted(t *testing.T) {
	const whole = `{"a":[{"b":"c\\","d":[1.5,true,null]},{}],"e":{"f":"},{"}}`
	for text, want := range map[string]string{
		``: ``, `{`: `{}`, `[`: `[]`, `{"a"`: `{}`, `{"a":"b`: `{}`, `{"a":"b"`: `{}`, `{"a":"b",`: `{"a":"b"}`,
		`[{"a":[1,2`: `[{"a":[1]}]`, `{"a":{"b":1}`: `{"a":{"b":1}}`, `{"a":{"b":[]},"c`: `{"a":{"b":[]}}`,
		`{"a":",{\"[",2`: `{"a":",{\"["}`, `{"a":1}`: `{"a":1}`, ` {"a":1} `: ` {"a":1}`, `}]`: ``, `text`: ``, whole: whole,
	} {
		require.Equal(t, want, string(Completed([]byte(text))), text)
	}
	for i := strings.Index(whole, "{") + 1; i <= len(whole); i++ {
		require.True(t, json.Valid(Completed([]byte(whole[:i]))), whole[:i])
		require.True(t, Begins([]byte(whole[:i])), whole[:i])
	}
}

func TestBegins(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, `{"a`: true, `{"a":tr`: true, `[1.`: true, "up": false, "[er": false, "{{": false, `{"a":1]`: false, `{"a"}`: false, `{"a":1} text`: false,
	} {
		require.Equal(t, want, Begins([]byte(text)), text)
	}
}
