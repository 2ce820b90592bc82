package shapes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/shapes"
)

// see is the shape of some JSON texts.
func see(t *testing.T, want *shapes.Shape, texts ...string) *shapes.Shape {
	t.Helper()
	var o shapes.Observer
	s := &shapes.Shape{}
	for _, text := range texts {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		require.NoError(t, d.Decode(&v))
		o.See(s, v)
	}
	o.Finish(s, want)
	return s
}

func describe(t *testing.T, text string) *shapes.Shape {
	t.Helper()
	return shapes.Describe(text, nil)
}

func TestFormatOf(t *testing.T) {
	for text, want := range map[string]string{
		"": shapes.FormatEmpty, "64f0a1b2c3d4e5f607182930": shapes.FormatID, "64F0A1B2C3D4E5F607182930": shapes.FormatID,
		"0190b3f2-7c1a-7def-8a00-0123456789ab": shapes.FormatUUID, "2026-01-02": shapes.FormatDate,
		"2026-01-02T03:04:05.678Z": shapes.FormatTimestamp, "2026-01-02T03:04:05Z": shapes.FormatSeconds,
		"2026-01-02T03:04:05.678901Z": shapes.FormatFraction, "2026-01-02T03:04:05+02:00": shapes.FormatOffset,
		"2026-01-02 03:04:05": shapes.FormatLocal, "12345": shapes.FormatDigits, "deadbeefdeadbeef": shapes.FormatHex, "Ada": shapes.FormatText,
	} {
		require.Equal(t, want, shapes.FormatOf(text), text)
	}
}

func TestIsName(t *testing.T) {
	for _, name := range []string{"id", "_id", "firstName", "first_name", "@type", "oauth2Token", "x-rate", "$ref"} {
		require.True(t, shapes.IsName(name), name)
	}
	for _, data := range []string{
		"", "Ada Lovelace", "ada@mail.example", "64f0a1b2c3d4e5f607182930", "customColumns_64f0a1b2c3d4e5f607182930", "2026-01-02", "+4930123456",
		"0190b3f2-7c1a-7def-8a00-0123456789ab", "Åsa", "a.b", "1st", strings.Repeat("a", 60), "n12345",
	} {
		require.False(t, shapes.IsName(data), data)
	}
}

// Keys that are data are put together, and none of them is kept.
func TestObserver_KeysThatAreData(t *testing.T) {
	for name, text := range map[string]string{
		"ids":    `{"64f0a1b2c3d4e5f607182930": 1, "64f0a1b2c3d4e5f607182931": 2}`,
		"emails": `{"ada@mail.example": 1}`,
	} {
		s := see(t, nil, text)
		require.NotNil(t, s.Rest, name)
		require.Empty(t, s.Fields, name)
	}
	s := see(t, nil, `{"byName": {"Ada": 1, "Grace": 2}, "people": [{"name": "Ada"}, {"name": "Grace"}]}`)
	require.NotNil(t, s.Fields["byName"].Rest)
	require.Empty(t, s.Fields["byName"].Fields)
}

func TestComparison(t *testing.T) {
	want := describe(t, `{"list": {"id": "id", "note?": "string", "kind": "a|b", "folder": "id null"}}`)
	const good = `{"list": {"id": "64f0a1b2c3d4e5f607182930", "kind": "a", "folder": null}}`
	for text, differences := range map[string][]string{
		good:             nil,
		`{}`:             {"list is missing (object)"},
		`{"a":1}`:        {"list is missing (object)", "a is undocumented (integer)"},
		`[]`:             {"list is missing (object)", "the whole response is undocumented (array)"},
		`null`:           {"list is missing (object)", "the whole response is undocumented (null)"},
		`{"list": null}`: {"list is null instead of object"},
		`{"list": {"id": "x", "kind": "a", "folder": null}}`:                                        {`list.id has the form "text" instead of "id"`},
		`{"list": {"id": "64f0a1b2c3d4e5f607182930", "kind": "c", "folder": null}}`:                 {"list.kind has the undocumented value c"},
		`{"list": {"id": "64f0a1b2c3d4e5f607182930", "kind": "Ada Lovelace", "folder": null}}`:      {"list.kind has the undocumented value (one that is no plain name)"},
		`{"list": {"ID": "64f0a1b2c3d4e5f607182930", "kind": "a", "folder": null, "note": "text"}}`: {"list.id is now list.ID"},
		`{"list": {"id": {"$oid": "64f0a1b2c3d4e5f607182930"}, "kind": "a", "folder": null}}`:       {"list.id is object instead of string (id)"},
		`{"list": {"id": "64f0a1b2c3d4e5f607182930", "kind": "a"}, "folder": null}`:                 {"list.folder is now folder"},
	} {
		var c shapes.Comparison
		c.Compare(want, see(t, want, text))
		require.Equal(t, differences, c.Differences, text)
	}
	var c shapes.Comparison
	c.Compare(want, see(t, want, good, `{"list": {"id": "64f0a1b2c3d4e5f607182930", "kind": "b"}}`))
	require.Equal(t, []string{"list.folder is missing from some of the objects"}, c.Differences)
}

// A number is an instant only where one is expected, or where a name says so.
func TestObserver_InstantsByName(t *testing.T) {
	s := see(t, describe(t, `{"id": "id", "dueAt": "timestamp"}`), `{"id": 1760000000000, "dueAt": 1760000000, "ownerId": 1760000000000, "created": 1760000000000, "revenue": 1760000000}`)
	for name, want := range map[string]string{"id": "", "ownerId": "", "revenue": "", "dueAt": shapes.FormatEpoch, "created": shapes.FormatEpochMS} {
		require.Equal(t, want, s.Fields[name].Format, name)
	}
}
