package jsonscan_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/jsonscan"
)

// level reads itself of a text.
type level struct{ n int }

func (l *level) UnmarshalText(text []byte) error {
	if len(text) > 3 {
		return errors.New("no level")
	}
	l.n = len(text)
	return nil
}

// A type that reads itself of a text is given it, wherever it stands, as encoding/json gives it.
func TestTextsOfTypesThatReadThemselves(t *testing.T) {
	type record struct {
		One  level            `json:"one"`
		Two  *level           `json:"two"`
		All  []level          `json:"all"`
		Map  map[string]level `json:"map"`
		Keys map[level]int    `json:"keys"`
		Name string           `json:"name"`
	}
	for _, text := range []string{
		`{"one":"a","two":"ab","all":["abc","","\u0061b"],"map":{"x":"ab"},"keys":{"ab":1},"name":"n"}`,
		`{"one":null,"two":null,"all":[null],"map":null}`,
		`{"one":""}`, `{"one":"\\\""}`,
		`{"one":"long"}`, `{"two":"long"}`, `{"all":["a","long"]}`, `{"map":{"x":"long"}}`, `{"keys":{"long":1}}`,
		`{"one":1}`, `{"one":true}`, `{"one":{}}`, `{"one":["a"]}`, `{"one":"a`, `{"one":"\x"}`, `{"one":"a","one":"ab"}`,
	} {
		var want, got record
		wantErr, gotErr := json.Unmarshal([]byte(text), &want), jsonscan.Unmarshal([]byte(text), &got)
		require.Equal(t, wantErr == nil, gotErr == nil, "%s: %v", text, gotErr)
		if wantErr == nil {
			require.Equal(t, want, got, text)
		}
	}
}
