package jsonscan

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

type (
	nameless = struct{ Nameless int }
	early    struct {
		Early string `json:"ab"`
	}
	// Promoting is embedded by its pointer.
	Promoting struct {
		N    int
		Wide [64]int64
		Text string
	}
)

// Which field a key goes to is for encoding/json to say: the first of those that differ in case only, whatever the order of the text.
func TestFieldsThatDifferInCase(t *testing.T) {
	type cases struct {
		early
		Second string `json:"AB"`
		Third  string `json:"ab"`
		nameless
		Kept
	}
	type signs struct {
		Odd   string `json:"it's"` //nolint:staticcheck // encoding/json takes the name of the field
		Price string `json:"p$"`
		Kept
	}
	for _, text := range []string{
		`{"aB":"x"}`, `{"ab":"x"}`, `{"AB":"x"}`, `{"Ab":"x","ab":"y"}`, `{"AB":"x","Ab":"y"}`, `{"early":"x"}`, `{"Nameless":1,"nameless":2}`, `{"it's":"x"}`, `{"Odd":"x"}`, `{"p$":"x"}`, `{"Price":"x"}`,
	} {
		same[cases](t, []byte(text))
		same[signs](t, []byte(text))
	}
	type inner struct {
		Name string `json:"name"`
	}
	type deeper struct {
		*inner
		*Kept
		Other float64 `json:"NAME"`
	}
	type Inner = inner
	type shallow struct {
		Inner
		Other string `json:"NAME"`
	}
	for _, text := range []string{`{"Name":"x"}`, `{"name":"x","NAME":1}`, `{"nAme":1}`} {
		same[deeper](t, []byte(text))
		same[shallow](t, []byte(text))
	}
	require.True(t, planOf(reflect.TypeFor[shallow](), false).root.left)
	same[indexedRow](t, []byte(`{"id":"a","text":"b"}`))
	same[Exact[flat]](t, []byte(`{"id":"a","value":{"id":"b","int":1},"int":2}`))
}

// In records a key goes to the field of exactly that name.
func TestKeysOfRecordsMatchExactly(t *testing.T) {
	got := read[record](t, `{"id":"a","ID":"b","count":1,"Count":2,"NAMES":["x"],"Inner":{"n":1},"inner":{"N":2}}`)
	require.Equal(t, record{ID: "a", Count: 1, hidden: got.hidden}, got)
}

// What versions of encoding/json differ in is left to it as a whole, also if more of the type follows.
func TestWhatIsLeftToEncodingJSON(t *testing.T) {
	type (
		option struct {
			A int `json:"a,odd"` //nolint:staticcheck // it leaves the type to encoding/json
			*Promoting
			B int `json:"b"`
		}
		quoted struct {
			A int `json:"a,string"`
		}
		text struct {
			A int `json:"a,omitempty"`
			*Promoting
			B int `json:"b b.c:d,omitzero"`
		}
		sign struct {
			A int `json:"a!"`
			*Promoting
			*Kept
			B int `json:"b"`
		}
		hidden struct {
			early `json:"early"`
			B     int `json:"b"`
		}
		pointer struct {
			*early `json:"early"`
			B      int `json:"b"`
		}
		unset struct {
			*early
			*Promoting
		}
	)
	for of, whole := range map[reflect.Type]bool{
		reflect.TypeFor[option](): true, reflect.TypeFor[quoted](): false, reflect.TypeFor[text](): false, reflect.TypeFor[sign](): true, reflect.TypeFor[hidden](): true, reflect.TypeFor[pointer](): true, reflect.TypeFor[unset](): false,
		reflect.TypeFor[struct{ shouting }](): true, reflect.TypeFor[struct{ upper }](): true, reflect.TypeFor[struct{ flat }](): false,
	} {
		require.Equal(t, whole, planOf(of, false).root.left, of.String())
	}
	for _, text := range []string{`{"b":1}`, `{"a":1,"b":2}`, `{"a!":1}`, `{"early":{"ab":"x"},"b":2}`, `{"ab":"x","N":1}`} {
		for _, of := range []reflect.Type{reflect.TypeFor[option](), reflect.TypeFor[sign](), reflect.TypeFor[hidden](), reflect.TypeFor[pointer](), reflect.TypeFor[unset]()} {
			want, wantErr := tried(json.Unmarshal, text, of)
			got, err := tried(Unmarshal, text, of)
			require.Equal(t, wantErr, err, "%s %s", text, of)
			require.Equal(t, want, got, "%s %s", text, of)
		}
	}
}

// tried reads a text into a new value of a type, which may make encoding/json panic.
func tried(unmarshal func([]byte, any) error, text string, of reflect.Type) (value any, err error) {
	p := reflect.New(of)
	defer func() {
		if recover() != nil {
			err = errors.New("it panics")
		}
	}()
	err = unmarshal([]byte(text), p.Interface())
	return p.Interface(), err
}
