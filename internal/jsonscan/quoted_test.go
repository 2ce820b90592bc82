package jsonscan

import (
	"strconv"
	"testing"
)

// A quoted value is taken only if all of its text is one: no number with something after it, and nothing that does not fit.
func TestQuotedValuesAreWhole(t *testing.T) {
	type quoted struct {
		Int   int     `json:"int,string"`
		Small int8    `json:"small,string"`
		Float float64 `json:"float,string"`
		Bool  bool    `json:"bool,string"`
		Text  string  `json:"text,string"`
		Name  string  `json:"name"`
	}
	for _, text := range []string{
		"12", "12x", "12 ", " 12", "1 2", "1.5", "1.5.5", "300", "-", "-0", "01", "true", "truex", "true ", "tru", "false,", `"a"`, `"a"b`, `"a" `, `"a`, "null", "nullx", "1e2", "1e999", "",
	} {
		for _, field := range []string{"int", "small", "float", "bool", "text"} {
			same[quoted](t, []byte(`{"`+field+`":`+strconv.Quote(text)+`}`))
		}
	}
}
