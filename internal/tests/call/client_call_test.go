package call_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
)

func TestCall_SendsWhatTheOperationSays(t *testing.T) {
	wire := &recorder{respond: func() (*http.Response, error) { return tests.Respond(200, `{"stopped":true,"at":{"n":3}}`), nil }}
	client := tests.NewClient(t, wire)
	stop := tests.UnnamedOperation(op.Unsafe)

	var raw prospectkit.Object
	require.NoError(t, client.Call(t.Context(), stop, prospectkit.Fields{"why": "test"}, &raw, prospectkit.WithQuery("dry", "1")))
	require.Equal(t, []string{"/api/v1" + stop.Path, "dry=1", `{"why":"test"}`}, []string{wire.path, wire.query, wire.body})
	require.True(t, raw.Bool("stopped"))
	require.Equal(t, 3, raw.Int("at.n"))

	var typed struct{ Stopped bool }
	var info prospectkit.Info
	require.NoError(t, client.Call(t.Context(), stop, struct{ A int }{1}, &typed, prospectkit.WithInfo(&info)))
	require.True(t, typed.Stopped)
	require.JSONEq(t, `{"A":1}`, wire.body)
	require.Equal(t, []any{"campaigns.stop", "campaigns"}, []any{info.Op, info.Surface})

	require.NoError(t, client.Call(t.Context(), stop, nil, nil))
	require.Empty(t, wire.body)
	require.NotContains(t, wire.header, "Content-Type")
	var ids []string
	err := client.Call(t.Context(), stop, nil, &ids)
	require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err), "it happened, though the response has another type: %v", err)
}

func TestCall_EmptyResponse(t *testing.T) {
	client := tests.NewClient(t, tests.Always(204, ""))
	typed := struct{ N int }{7}
	require.NoError(t, client.Call(t.Context(), tests.UnnamedOperation(op.Unsafe), nil, &typed))
	require.Equal(t, 7, typed.N, "there was nothing to decode")
	var object prospectkit.Object
	require.NoError(t, json.Unmarshal([]byte(`{"n":7}`), &object))
	require.NoError(t, client.Call(t.Context(), tests.UnnamedOperation(op.Unsafe), nil, &object))
	require.True(t, object.IsZero(), "an Object is the response, here none, and never an earlier one")
}

// What is repeated is decided by what the caller says of the operation.
func TestCall_RespectsTheClass(t *testing.T) {
	for class, want := range map[op.Class]struct {
		after500, after502 int // requests
		unknown            bool
	}{
		op.Read:           {3, 3, false},
		op.PaidRead:       {3, 1, true},
		op.Idempotent:     {1, 1, true},
		op.GuardedByName:  {1, 1, true},
		op.GuardedByState: {1, 1, true},
		op.Unsafe:         {1, 1, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			requests := func(status int, body string) (int, error) {
				wire := &recorder{respond: func() (*http.Response, error) { return tests.Respond(status, body), nil }}
				err := tests.NewClient(t, wire).Call(t.Context(), tests.UnnamedOperation(class), nil, nil)
				return wire.requests, err
			}
			n, err := requests(500, tests.Envelope("UNEXPECTED_ERROR"))
			require.Equal(t, want.after500, n, class)
			require.ErrorIs(t, err, prospectkit.CodeUnexpectedError)
			n, err = requests(502, "<html>")
			require.Equal(t, want.after502, n, class)
			require.Equal(t, want.unknown, prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown, class)
		})
	}
}

func TestCall_Refuses(t *testing.T) {
	wire := new(recorder)
	client := tests.NewClient(t, wire)
	type object = prospectkit.Object
	for name, c := range map[string]struct {
		change func(*prospectkit.Operation)
		in     any
		out    any
		params []string
	}{
		"nothing given":     {func(o *prospectkit.Operation) { *o = prospectkit.Operation{} }, nil, nil, []string{"Operation.Name", "Operation.Method", "Operation.Path", "Operation.Surface"}},
		"a read by PUT":     {func(o *prospectkit.Operation) { o.Reads, o.Method = true, http.MethodPut }, nil, nil, []string{"Operation.Reads"}},
		"unknown method":    {func(o *prospectkit.Operation) { o.Method = "post" }, nil, nil, []string{"Operation.Method"}},
		"unknown surface":   {func(o *prospectkit.Operation) { o.Surface = "moon" }, nil, nil, []string{"Operation.Surface"}},
		"path with braces":  {func(o *prospectkit.Operation) { o.Path = "/lists/{id}" }, nil, nil, []string{"Operation.Path"}},
		"path with query":   {func(o *prospectkit.Operation) { o.Path = "/lists?a=b" }, nil, nil, []string{"Operation.Path"}},
		"path that climbs":  {func(o *prospectkit.Operation) { o.Path = "/lists/../me" }, nil, nil, []string{"Operation.Path"}},
		"foreign address":   {func(o *prospectkit.Operation) { o.Path = "//evil.example/x" }, nil, nil, []string{"Operation.Path"}},
		"negative timeout":  {func(o *prospectkit.Operation) { o.AttemptTimeout = -1 }, nil, nil, []string{"Operation.AttemptTimeout"}},
		"body unmarshalled": {func(*prospectkit.Operation) {}, func() {}, nil, []string{"body"}},
		"body of a GET":     {func(o *prospectkit.Operation) { o.Method = http.MethodGet }, prospectkit.Fields{}, nil, []string{"body"}},
		"out no pointer":    {func(*prospectkit.Operation) {}, nil, object{}, []string{"out"}},
		"out a nil pointer": {func(*prospectkit.Operation) {}, nil, (*object)(nil), []string{"out"}},
		"out a map":         {func(*prospectkit.Operation) {}, nil, map[string]any{}, []string{"out"}},
	} {
		o := tests.UnnamedOperation(op.Unsafe)
		c.change(&o)
		refused := tests.AsRefused(t, client.Call(t.Context(), o, c.in, c.out))
		var params []string
		for _, v := range refused.Violations {
			params = append(params, v.Param)
		}
		require.Equal(t, c.params, params, name)
	}
	require.Zero(t, wire.requests, "a mistake is found before anything is sent")
}

// A response that is not the service's leaves nothing in the caller's value, neither after a retry nor with the error.
func TestCall_DecodesOnlyTheServicesResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foreign := []func() *http.Response{
			func() *http.Response {
				return tests.Respond(200, `{"balance":9,"plan":"another","cached":true}`, tests.Bare...)
			},
			func() *http.Response {
				return tests.Respond(200, `{"plan":"another","error":{"code":"X","message":"no"}}`)
			},
		}
		for _, wrong := range foreign {
			for _, always := range []bool{false, true} {
				n := 0
				client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
					if n++; n > 1 && (always || n == 2) {
						return wrong(), nil
					}
					return tests.Respond(200, `{"balance":70}`), nil
				}))
				read := tests.UnnamedOperation(op.Read)
				read.Method = http.MethodGet
				require.NoError(t, client.Call(t.Context(), read, nil, nil))
				got, want := map[string]any{"before": true}, map[string]any{"before": true, "balance": 70.0}
				err := client.Call(t.Context(), read, nil, &got)
				if always {
					require.Error(t, err)
					delete(want, "balance")
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, want, got)
				n = 1
				var object prospectkit.Object
				err = client.Call(t.Context(), read, nil, &object)
				require.Equal(t, always, err != nil)
				require.Equal(t, always, object.IsZero())
			}
		}
	})
}
