package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever was on its own for a while has spent what the store knows nothing of: one request finds out what is left.
func TestAReturnIsFollowedByALook(t *testing.T) {
	config := Config{PerMinute: 120}
	stored, first := Decide(nil, second, 1, &Ask{Config: config, Wanted: []Priority{Interactive}})
	stored, _ = Decide(stored, 2*second, 1, &Ask{Config: config, Reports: []Report{{first.Grants[0].Permit, told(120, 100, time.Minute)}}})
	_, reply := Decide(stored, 3*second, 1, &Ask{Config: config, Wanted: make([]Priority, 16)})
	require.Len(t, reply.Grants, 16)
	_, reply = Decide(stored, 3*second, 1, &Ask{Config: config, Returned: true, Elsewhere: 7, Wanted: make([]Priority, 16)})
	require.Len(t, reply.Grants, 1)
	require.True(t, reply.Grants[0].Permit.Probe)
	require.True(t, reply.Denied.News)
	require.EqualValues(t, 8, reply.State.Counts[Minute].Sum)
}
