package rowtype

import (
	"encoding/json"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestGoName(t *testing.T) {
	for text, want := range map[string]string{
		"firstName": "FirstName", "id": "ID", "contactId": "ContactID", "socialUrl": "SocialURL", "Lead score (2024)": "LeadScore2024", "lead_score-b": "LeadScoreB",
		"": "Field", "🎯": "Field", "🎯 goal": "Goal", "2024 revenue": "Field2024Revenue", "func": "Func", "it's": "Its", "größe": "Größe", "名前": "Field名前",
		"имя": "Имя", "e\u0301te\u0301": "Ete", "👩\u200d💻 title": "Title", "ǆ": "Ǆ", "ßx": "Fieldßx", "ALL CAPS": "ALLCAPS", "a.b,c": "ABC", "_x": "X", "-": "Field",
		strings.Repeat("long ", 30): strings.Repeat("Long", 12), strings.Repeat("名", 90): "Field" + strings.Repeat("名", 48),
	} {
		require.Equal(t, want, goName(text, "Field"), text)
	}
}

func TestNames(t *testing.T) {
	n := names{"Taken": true}
	for _, want := range []string{"A", "A2", "A3"} {
		require.Equal(t, want, n.take("A"))
	}
	require.Equal(t, "A22", n.take("A2"))
	require.Equal(t, "Taken2", n.take("Taken"))
}

// Whatever a key is, its field has a name that Go takes and exports, and a tag is only trusted if encoding/json reads the key from it.
func FuzzGoName(f *testing.F) {
	for _, key := range oddKeys {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		name := goName(key, "Field")
		require.True(t, token.IsExported(name) && token.IsIdentifier(name), "%q: %q", key, name)
		require.LessOrEqual(t, utf8.RuneCountInString(name), longestName+len("Field"))
		require.NotContains(t, quoted(key), "\n")
		if !taggable(key) {
			return
		}
		tag := field{Key: key}.Tag()
		content, err := strconv.Unquote(tag)
		require.NoError(t, err)
		of := reflect.StructOf([]reflect.StructField{{Name: "X", Type: reflect.TypeFor[int](), Tag: reflect.StructTag(content)}})
		text, err := json.Marshal(map[string]int{key: 7})
		require.NoError(t, err)
		value := reflect.New(of)
		require.NoError(t, json.Unmarshal(text, value.Interface()))
		require.EqualValues(t, 7, value.Elem().Field(0).Int())
		again, err := json.Marshal(value.Interface())
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
	})
}

func TestTaggable(t *testing.T) {
	for _, key := range []string{"a", "a b", "a.b", "größe", "名前", "2024", "$x", "%s", "x/y", "(a)"} {
		require.True(t, taggable(key), key)
	}
	for _, key := range []string{"", "-", "a,b", `a"b`, "a`b", `a\b`, "it's", "🎯", "e\u0301", "a\tb", "a\u00a0b", "\xff"} {
		require.False(t, taggable(key), key)
	}
}

func TestLooksLikeData(t *testing.T) {
	for _, key := range []string{
		"jane@mail.example", "https://social.example/in/jane", "65f0c0ffee65f0c0ffee65f0", "65F0C0FFEE65F0C0FFEE65F0",
		"123e4567-e89b-12d3-a456-426614174000", "2026-01-02", "2026-01-02T03:04:05Z", "+49 30 123-4567", "123456", "order 1234567", strings.Repeat("x", 1001),
	} {
		require.True(t, looksLikeData(key), key)
	}
	for _, key := range []string{"", "id", "firstName", "2024 revenue", "2024", "Q1 2024 (EUR)", "a@ b", "address.city", "🎯", "deadbeef", "customColumns_"} {
		require.False(t, looksLikeData(key), key)
	}
}

func TestNames_Initialisms(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"api", "crm", "html", "http", "id", "ip", "json", "uri", "url", "uuid"} {
		require.Equal(t, strings.ToUpper(word), goName(word, "Field"))
		require.Equal(t, "Old"+strings.ToUpper(word), goName("old_"+word, "Field"))
	}
	require.Equal(t, "Idea", goName("idea", "Field"))
}

// A path is that of documented fields only as far as plain keys lead.
func TestJoin(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a", join("", "a"))
	require.Equal(t, "a.b", join("a", "b"))
	for _, other := range [][2]string{{"", ""}, {"a", ""}, {"", "a.b"}, {"a", "b.c"}, {elsewhere, "a"}} {
		require.Equal(t, elsewhere, join(other[0], other[1]), other)
	}
}

// A column whose id is the key of another field has no field of its own: encoding/json drops both of two fields with one key.
func TestNames_ColumnsLikeFields(t *testing.T) {
	r := &Rows{Type: "Contact", Documented: []string{"company.name"}, Columns: []Column{{ID: "a", Name: "A"}, {ID: "company", Name: "Firm"}, {ID: "A", Name: "Other A"}}}
	require.NoError(t, r.Add([]byte(`{"id":"1","a":2,"A":3}`)))
	var keys []string
	for _, f := range r.plan().structs[0].Fields {
		keys = append(keys, f.Key)
	}
	require.ElementsMatch(t, []string{"id", "company", "a", "A"}, keys)
}
