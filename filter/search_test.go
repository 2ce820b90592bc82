package filter_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/filter"
)

func TestEntry_DefaultStatus(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(filter.Search{"a": {{Value: "1"}, {Status: "exclude", Value: "2"}}, "b": filter.Including("3")})
	require.NoError(t, err)
	require.JSONEq(t, `{"a":[{"status":"include","value":"1"},{"status":"exclude","value":"2"}],"b":[{"status":"include","value":"3"}]}`, string(text))
}
