package firstcontact_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/shapes"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

func documented(surface string, limit int) bool {
	w := op.Windows[op.Surface(surface)]
	return limit == w.PerMinute || limit == w.PerDay
}

// A sandbox with the file of a changed service looks like that service.
func TestRoundTrip(t *testing.T) {
	plants := append([]plant{{name: "nothing"}}, planted...)
	for i := range len(plants) + 1 {
		name, some := "all together", together()
		if i < len(plants) {
			name, some = plants[i].name, plants[i:i+1]
		}
		t.Run(name, func(t *testing.T) {
			sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
			report, file := check(t, sb, changed{sb.Transport(), some}, nil)
			data := file.Encode()
			read, err := shapes.Parse(data)
			require.NoError(t, err)
			require.Equal(t, string(data), string(read.Encode()))

			double := sandbox.New(t, sandbox.Seed(fixture.Small(1)), sandbox.WithShapes(data))
			again, seen := check(t, double, double.Transport(), routesOf(read))
			require.Empty(t, shapes.Compare(read, seen, documented))
			t.Logf("%q", lines(report))
			t.Logf("%q", lines(again))
		})
	}
}

// routesOf are the routes of a file that the documentation does not have.
func routesOf(file *shapes.File) map[string]string {
	routes := map[string]string{}
	for name, o := range file.Operations {
		row, _ := op.ByName(name)
		if _, moved, _ := o.PathOf(row); moved {
			routes[name] = o.Route
		}
	}
	return routes
}
