package jsonscan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The id of a row that does not fit is known wherever it stands in the row.
func TestMisfitKnowsTheID(t *testing.T) {
	type own struct {
		Name string
		N    int
		Any  map[string]any
	}
	type page struct {
		Data []Exact[own] `json:"data"`
	}
	for _, text := range []string{`{"id":"x","n":"one"}`, `{"n":"one","id":"x"}`, `{"name":1,"n":2,"any":{"id":"y"},"id":"x"}`, `{"any":{"id":"y"},"name":[],"id":"x","n":1}`} {
		_, err := decodeText[page]("{\"data\":[" + text + "]}")
		var misfit *MisfitError
		require.ErrorAs(t, err, &misfit, text)
		require.Equal(t, "x", misfit.ID, text)
	}
}
