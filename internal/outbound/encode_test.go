package outbound_test

import (
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/outbound"
)

type shape struct {
	Name  string `json:"name"`
	Left  string `json:"left,omitempty"`
	Plain string
	Empty string `json:",omitempty"`
}

func TestEncode(t *testing.T) {
	type fields = []outbound.Field
	for name, c := range map[string]struct {
		value any
		more  fields
		want  string
		err   string
	}{
		"nothing more":                        {shape{Name: "a"}, nil, `{"name":"a","Plain":""}`, ""},
		"not an object, nothing more":         {[]int{1}, nil, `[1]`, ""},
		"a field":                             {shape{Name: "a"}, fields{{"more", 1}}, `{"name":"a","Plain":"","more":1}`, ""},
		"fields, by pointer":                  {&shape{Name: "a"}, fields{{"more", nil}, {"most", []string{"x"}}}, `{"name":"a","Plain":"","more":null,"most":["x"]}`, ""},
		"a field of a map":                    {map[string]any{"a": 1}, fields{{"more", 1}}, `{"a":1,"more":1}`, ""},
		"a field that is there":               {shape{}, fields{{"name", "b"}}, "", `field "name" is set by the call itself`},
		"a field that is left out":            {shape{}, fields{{"left", "b"}}, "", `field "left" is set by the call itself`},
		"a field without a tag":               {&shape{}, fields{{"Plain", "b"}}, "", `field "Plain" is set by the call itself`},
		"a field left out, by pointer":        {&shape{}, fields{{"left", "b"}}, "", `field "left" is set by the call itself`},
		"a field left out, without a name":    {shape{}, fields{{"Empty", "b"}}, "", `field "Empty" is set by the call itself`},
		"a field that a map has":              {map[string]any{"a": 1}, fields{{"a", 1}}, "", `field "a" is set by the call itself`},
		"twice the same":                      {shape{}, fields{{"more", 1}, {"more", 2}}, "", `field "more" is set by the call itself`},
		"of another letter case":              {shape{}, fields{{"NAME", "b"}}, "", `field "NAME" is set by the call itself, as "name"`},
		"one left out, of another case":       {shape{}, fields{{"LEFT", "b"}}, "", `field "LEFT" is set by the call itself, as "left"`},
		"of another case, by Unicode":         {map[string]any{"start": 1}, fields{{"\u017Ftart", 1}}, "", `field "ſtart" is set by the call itself, as "start"`},
		"two of another case":                 {shape{}, fields{{"more", 1}, {"More", 2}}, "", `field "More" is set by the call itself, as "more"`},
		"to what is not an object":            {[]int{1}, fields{{"more", 1}}, "", "WithField needs a body that is an object"},
		"to null":                             {(*shape)(nil), fields{{"more", 1}}, "", "WithField needs a body that is an object"},
		"what cannot be encoded":              {shape{}, fields{{"more", func() {}}}, "", `field "more": json: unsupported type: func()`},
		"a value that cannot be":              {func() {}, nil, "", "json: unsupported type: func()"},
		"a value that cannot be, with fields": {func() {}, fields{{"more", 1}}, "", "json: unsupported type: func()"},
	} {
		t.Run(name, func(t *testing.T) {
			text, invalid, err := outbound.Encode(c.value, c.more)
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(text))
			require.Empty(t, invalid)
		})
	}
}

func TestForm(t *testing.T) {
	form, contentType := outbound.Form([]byte(`{"b":"text \"quoted\"","a":1.50,"c":{"d":[null]},"e":null,"f":true}`))
	kind, params, err := mime.ParseMediaType(contentType)
	require.NoError(t, err)
	require.Equal(t, "multipart/form-data", kind)
	r := multipart.NewReader(strings.NewReader(string(form)), params["boundary"])
	var got []string
	for part, err := r.NextPart(); err != io.EOF; part, err = r.NextPart() {
		require.NoError(t, err)
		text, err := io.ReadAll(part)
		require.NoError(t, err)
		got = append(got, part.FormName()+"="+string(text))
	}
	require.Equal(t, []string{"a=1.50", `b=text "quoted"`, `c={"d":[null]}`, "e=null", "f=true"}, got)
}

func TestEmpty(t *testing.T) {
	for text, want := range map[string][]string{
		`1`:            nil,
		`"{} [] null"`: nil,
		`null`:         {"f"},
		`[]`:           {"f"},
		`{}`:           {"f"},
		`[1,"null"]`:   nil,
		`{"a":[1,{"b":null}],"c":{"d":[],"e":2}}`: {"f.a[1].b", "f.c.d"},
		`[[],{},null,[0],{"a":{}}]`:               {"f[0]", "f[1]", "f[2]", "f[4].a"},
		`{"a":false,"b":"null"}`:                  nil,
		`{"a":0,"b":null,"c":{}}`:                 {"f.b", "f.c"},
		`{"a":["x",""],"b":" \t","c":{"d":""}}`:   {"f.a[1]", "f.b", "f.c.d"},
		`["\u00a0","\u200b","x\u200b",""]`:        {"f[0]", "f[1]", "f[3]"}, // nothing that a reader sees
	} {
		require.Equal(t, want, outbound.Empty("f", []byte(text)), text)
	}
}

func TestListedAreTheStringsWithinArrays(t *testing.T) {
	all, err := outbound.Listed([]byte(`{"key": ["a", {"b": "c"}, 1, null, true], "d": "e", "f": {"g": [[{"h": {"i": "j"}}]]}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c", "j"}, all)
}
