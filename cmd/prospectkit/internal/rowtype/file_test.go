package rowtype

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// withoutComments is the types of a plan as a file tells them.
func withoutComments(t *goType, seen map[*object]bool) {
	for ; t != nil; t = t.elem {
		if t.object != nil && !seen[t.object] {
			seen[t.object] = true
			for i := range t.Fields {
				t.Fields[i].Comment = ""
				withoutComments(t.Fields[i].Typ, seen)
			}
		}
	}
}

// A file says all that was planned, odd keys included.
func TestReadFile(t *testing.T) {
	for name, rows := range lists {
		r := newRows(t, "Contact", testColumns, rows...)
		text, err := r.Source()
		require.NoError(t, err)
		planned := &goType{kind: structure, object: r.plan().structs[0]}
		withoutComments(planned, map[*object]bool{})
		for _, typ := range []string{"", "Contact"} {
			f, err := ReadFile(text, typ)
			require.NoError(t, err)
			require.Equal(t, "Contact", f.Type)
			require.Equal(t, "65f0c0ffee65f0c0ffee65f1", f.ListID)
			require.Equal(t, planned, f.root, name)
		}
	}
}

func TestReadFile_Unusable(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "the file is not a Go file",
		"package p":                         "the file has no type ",
		"package p; type A int":             "it has a type that this command does not write",
		"package p; type A = string":        "it has a type that this command does not write",
		"package p; type A struct{ X int }": "A.X: it has a type that this command does not write",
		"package p; type A struct{ X [2]string }":                "A.X: it has a type that this command does not write",
		"package p; type A struct{ X map[int]string }":           "A.X: it has a type that this command does not write",
		"package p; type A struct{ X B }":                        "A.X: it has a type that this command does not write",
		"package p; type A struct{ X B[string] }":                "A.X: it has a type that this command does not write",
		"package p; type A struct{ X json.Decoder }":             "A.X: it has a type that this command does not write",
		"package p; type A struct{ B }; type B struct{}":         "A: it has a type that this command does not write",
		"package p; import \"time\"; type A struct{ time.Time }": "A is not a struct of fields",
	} {
		_, err := ReadFile([]byte(text), "")
		require.EqualError(t, err, want, text)
	}
	_, err := ReadFile([]byte("package p; type A struct{}"), "B")
	require.EqualError(t, err, "the file has no type B")
}

// A person may change a file, as long as the types stay those that are written.
func TestReadFile_WrittenByHand(t *testing.T) {
	f, err := ReadFile([]byte("package p; type A struct { ID string; Next, Last *A `json:\",omitempty\"`; skipped int `json:\"-\"` }"), "")
	require.NoError(t, err)
	require.Empty(t, f.ListID)
	fits := NewFits(f, nil)
	require.NoError(t, fits.Add([]byte(`{"ID":"1","Next":{"ID":"2"}}`)))
	require.Error(t, fits.Add([]byte(`[]`)))
	require.Empty(t, fits.Mismatches())
	require.Equal(t, 1, fits.Count())
}

func TestIsWritten(t *testing.T) {
	require.True(t, IsWritten([]byte("// "+Header+"\npackage p")))
	require.True(t, IsWritten([]byte("// "+Header+"\r\npackage p")))
	require.False(t, IsWritten([]byte("package p // "+Header+"\n")))
	require.False(t, IsWritten(nil))
}
