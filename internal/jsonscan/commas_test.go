package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/jsonscan"
)

// A text is valid or not whatever was learnt from the rows before: commas and brackets count in each.
func TestCommasCountInEachRow(t *testing.T) {
	type row struct {
		A int
		B string
		C []int
	}
	const good = `{"a":1,"b":"x","c":[1]}`
	for _, last := range []string{
		good, `{}`, `{"a":1}`, ` { "a" : 1 , "b":"y" } `, `{"b":"x","a":1}`,
		`{,"a":1}`, `{,"a":1,"b":"x","c":[1]}`, `{"a":1,}`, `{"a":1,,"b":"x"}`, `{"a":1 "b":"x"}`, `{"a":1;"b":"x"}`, `{,}`, `{"a"1}`, `{"a":,"b":"x"}`, `{"a":1,"b":"x","c":[1],}`,
		`{"a":1,"b":"x","c":[,1]}`, `{"a":1,"b":"x","c":[1,]}`, `{"a":1,"b":"x","c":[1 2]}`, `{"a":1]`, `["a":1}`, `{"a":1,"b":"x","c":[1}]`,
	} {
		text := "[" + strings.Repeat(good+",", 3) + last + "]"
		var want, got []row
		wantErr, gotErr := json.Unmarshal([]byte(text), &want), jsonscan.Unmarshal([]byte(text), &got)
		require.Equal(t, wantErr == nil, gotErr == nil, last)
		if wantErr == nil {
			require.Equal(t, want, got, last)
		}
		c, d := jsonscan.New([]byte(text)), jsonscan.NewRecordDecoder[[]row]()
		var records []row
		err := d.Decode(&c, &records)
		if err == nil {
			err = c.End()
		}
		require.Equal(t, wantErr == nil, err == nil, "as records: %s", last)
	}
}
