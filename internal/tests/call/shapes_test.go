package call_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

func TestShapes_Refusals(t *testing.T) {
	for _, data := range []string{
		``, `null`, `{}`, `{"format":"prospectkit-shapes/2"}`, `{"format":"prospectkit-shapes/1"} {}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.list":null}}`,
		`{"format":"prospectkit-shapes/1","unknown":1}`,
		`{"format":"prospectkit-shapes/1","operations":{"agents.pause":{"route":"POST /business/x/{agentId}"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.create":{"route":"GET /business/x"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.get":{"route":"GET /business/x"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.get":{"route":"GET /business/{listId}/../x"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.list":{"route":"DELETE /business/lists"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"lists.list":{"route":"GET https://elsewhere.example/"}}}`,
		`{"format":"prospectkit-shapes/1","operations":{"nobody":{"route":"GET /x"}}}`,
	} {
		_, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithShapes([]byte(data)))
		require.ErrorIs(t, err, prospectkit.ErrRefusedLocally, data)
		require.ErrorContains(t, err, "WithShapes", data)
		sb := recordedMisuse{TB: t}
		sandbox.New(&sb, sandbox.WithShapes([]byte(data)))
		require.Contains(t, sb.text, "WithShapes", data)
	}
}

// recordedMisuse is a test that keeps what a sandbox reports.
type recordedMisuse struct {
	testing.TB
	text string
}

func (r *recordedMisuse) Errorf(format string, args ...any) {
	r.text = format + " " + fmt.Sprint(args...)
}
