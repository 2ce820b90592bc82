package sandbox

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type widget struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name"`
	Parts []part `json:"parts,omitempty"`
}

type part struct {
	ID string `json:"id,omitempty"`
}

// widgets have no field in Workspace, as an object of a new operation.
var widgets = keeps(kind[widget]{name: "widgets", fill: func(w *widget) { w.Name += "!" }})

func seedOf(widgets string) State {
	return State{Workspaces: []Workspace{{More: map[string]json.RawMessage{"widgets": json.RawMessage(widgets)}}}}
}

func TestAKindWithoutAFieldIsSeededSavedAndChanged(t *testing.T) {
	sb := New(t, Seed(seedOf(`[{"id":"5a0000010000000000000001","name":"a"},{"name":"b","parts":[{}]}]`)))
	var added string
	sb.Do(func(tx *Tx) {
		added = tx.Put("widgets", Row{"name": "c"})
		require.Equal(t, added, tx.Put("widgets", Row{"id": strings.ToUpper(added), "parts": []Row{{"id": "5a0000010000000000000777"}}}))
	})
	all := widgets.copies(sb.Tenant)
	require.Len(t, all, 3)
	require.Equal(t, []string{"a!", "b!", "c!"}, []string{all[0].Name, all[1].Name, all[2].Name})
	seen := map[string]bool{}
	eachID(&all, func(_ string, id *string) {
		require.False(t, seen[*id])
		seen[*id] = isID(*id)
	})
	require.Len(t, seen, 5)

	again := New(t, Seed(sb.Snapshot()))
	require.Len(t, widgets.copies(again.Tenant), 3)
	require.Equal(t, all[1].Parts, widgets.copies(again.Tenant)[1].Parts)
	require.NotEqual(t, "5a0000010000000000000777", func() (id string) {
		again.Do(func(tx *Tx) { id = tx.Put("widgets", Row{}) })
		return id
	}())
}

func TestASeedOfAKindIsChecked(t *testing.T) {
	for seed, want := range map[string]string{
		`[{"size":1}]`: `widgets: json: unknown field "size"`,
		`{}`:           "widgets: json: cannot unmarshal",
		`[{"id":"1"}]`: "the id is not 24 hexadecimal digits",
		`[{"id":"5a0000010000000000000001"},{"id":"5A0000010000000000000001"}]`: "the id appears twice",
	} {
		require.ErrorContains(t, seedOf(seed).Validate(), want)
	}
	unknown := State{Workspaces: []Workspace{{More: map[string]json.RawMessage{"gadgets": nil}}}}
	require.ErrorContains(t, unknown.Validate(), `no kind of object is called "gadgets"`)
}

func TestAWrongPutIsReported(t *testing.T) {
	w := &witness{}
	sb := New(w)
	sb.Do(func(tx *Tx) {
		require.Empty(t, tx.Put("gadgets", Row{}))
		require.Empty(t, tx.Put("widgets", Row{"name": 1}))
	})
	require.Len(t, w.errors, 2)
}
