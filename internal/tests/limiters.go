package tests

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/budget"
)

// Limiters returns the rate limiters of a client by surface: no exported name shows them.
func Limiters(tb testing.TB, client *prospectkit.Client) map[string]*budget.Limiter {
	tb.Helper()
	surfaces := reflect.ValueOf(client).Elem().FieldByName("conf").Elem().FieldByName("limits").Elem().FieldByName("surfaces")
	all := map[string]*budget.Limiter{}
	for name, surface := range surfaces.Seq2() {
		all[name.String()] = (*budget.Limiter)(surface.Elem().FieldByName("limiter").UnsafePointer())
	}
	return all
}

// NothingInFlight demands that every permit of a client came back.
func NothingInFlight(tb testing.TB, client *prospectkit.Client) {
	tb.Helper()
	for name, limiter := range Limiters(tb, client) {
		inFlight, _, _ := limiter.Own()
		require.Zero(tb, inFlight, name)
	}
}
