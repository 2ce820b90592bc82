//go:build go1.27

package outbound_test

import (
	"encoding/json/jsontext"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/outbound"
)

// streamed encodes itself by the method of encoding/json/v2, which encoding/json calls, too.
type streamed struct {
	At time.Time

	text string
}

func (s streamed) MarshalJSONTo(e *jsontext.Encoder) error {
	return e.WriteToken(jsontext.String(s.At.Format(time.RFC3339) + s.text))
}

// Its text is searched, and the instants that it writes are its own.
func TestInspect_ATypeThatEncodesItselfToAStream(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.January, 31, 10, 30, 0, 0, time.FixedZone("", 3600))
	body, err := outbound.Encode(map[string]any{"own": streamed{At: at}, "list": []*streamed{{text: "caf\xe9"}}, "fine": streamed{text: "caf\uFFFD"}}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"list.0"}, body.Invalid)
	require.Contains(t, string(body.Text), `"own":"2026-01-31T10:30:00+01:00"`)
}
