package outcome_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"io"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
)

// zeroErrors are the exported error types, as a fake makes them.
var zeroErrors = map[string]error{
	"Code":                prospectkit.Code(""),
	"Error":               &prospectkit.Error{},
	"ErrorClass":          prospectkit.ErrNotFound, // a class is always one of the constants
	"OutcomeUnknownError": &prospectkit.OutcomeUnknownError{},
	"RefusedError":        &prospectkit.RefusedError{},
	"SafetyRule":          prospectkit.RuleReadOnly, // a rule is always one of the constants
}

// exportedErrors finds in the source what has a method Error.
func exportedErrors(t *testing.T) []string {
	t.Helper()
	found := make(map[string]bool)
	_, files := tests.ParseDir(t, "")
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Error" {
				continue
			}
			of := f.Recv.List[0].Type
			if pointer, ok := of.(*ast.StarExpr); ok {
				of = pointer.X
			}
			if name, ok := of.(*ast.Ident); ok && name.IsExported() {
				found[name.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Whoever fakes a service makes errors by hand, and whoever stores them reads them back: they print, and read well.
func TestErrors_ZeroValues(t *testing.T) {
	require.Equal(t, exportedErrors(t), slices.Sorted(maps.Keys(zeroErrors)))
	for name, err := range zeroErrors {
		text, fault := json.Marshal(err)
		require.NoError(t, fault, name)
		decoded := reflect.New(reflect.TypeOf(err))
		require.NoError(t, json.Unmarshal(text, decoded.Interface()), name)
		read, ok := reflect.TypeAssert[error](decoded.Elem())
		require.True(t, ok, name)
		for _, err := range []error{err, read} {
			requireReadable(t, name, err)
		}
	}
}

func requireReadable(t *testing.T, name string, err error) {
	t.Helper()
	var out tests.Shows
	out.Show(err, errors.Join(err, io.EOF), prospectkit.CodeOf(err))
	slog.New(slog.NewTextHandler(&out, nil)).Error("x", "err", err)
	require.NotContains(t, out.String(), "PANIC", name)
	require.NotContains(t, out.String(), "%!v", name)
	require.NotErrorIs(t, err, io.EOF, name)
	require.NotEmpty(t, prospectkit.OutcomeOf(err), name)
	if name == "Code" || name == "SafetyRule" {
		return // they are nothing but their text
	}
	text := err.Error()
	require.Regexp(t, `^prospectkit: [a-z]`, text, name)
	require.NotRegexp(t, `: :|:$|: $|  |\(\)|0001|<nil>|no cause| 0 `, text, name)
}

func TestErrors_MadeByHand(t *testing.T) {
	for want, err := range map[string]error{
		"prospectkit: no details are known": &prospectkit.Error{},
		"prospectkit: LIST_NOT_FOUND":       &prospectkit.Error{Code: prospectkit.CodeListNotFound},
		"prospectkit: lists.get: 404 LIST_NOT_FOUND: gone. (request r)": &prospectkit.Error{
			Op: "lists.get", Status: 404, Code: prospectkit.CodeListNotFound, Message: "gone.", RequestID: "r",
		},
		"prospectkit: too late":                              &prospectkit.Error{Message: "too late"},
		"prospectkit: outcome unknown, it may have happened": &prospectkit.OutcomeUnknownError{},
		"prospectkit: the response was lost":                 prospectkit.ErrResponseLost,
		"prospectkit: refused locally":                       &prospectkit.RefusedError{},
		"prospectkit: refused locally: limit is odd; sort is even": &prospectkit.RefusedError{Violations: []prospectkit.Violation{
			{Param: "limit", Problem: "is odd"}, {Param: "sort", Problem: "is even"},
		}},
		"prospectkit: refused locally: no room in time": &prospectkit.RefusedError{Rule: prospectkit.RuleRateLimit},
	} {
		require.EqualError(t, err, want)
	}
}

func TestErrors_CodesMatchTheirClass(t *testing.T) {
	for _, row := range op.Codes {
		code := prospectkit.Code(row.Name)
		requireClass(t, code, classStatus(row))
		want := prospectkit.OutcomeNotApplied
		if code == prospectkit.CodeUnexpectedError {
			want = prospectkit.OutcomeUnknown
		}
		require.Equal(t, want, prospectkit.OutcomeOf(code), code)
		require.Equal(t, want, prospectkit.OutcomeOf(&prospectkit.Error{Code: code}), code)
	}
	requireClass(t, prospectkit.Code("NEW_ONE"), 0)
	require.NotErrorIs(t, prospectkit.CodeListNotFound, prospectkit.CodeRateLimited)
	require.NotErrorIs(t, prospectkit.CodeListNotFound, io.EOF)
}

// A fake can state the outcome of a call.
func TestErrors_ResolutionOfAFake(t *testing.T) {
	var fake error = &prospectkit.OutcomeUnknownError{Resolution: &prospectkit.Resolution{Outcome: prospectkit.OutcomeApplied, Object: new(prospectkit.List)}}
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](fake)
	require.True(t, ok)
	r := resolved(t, unknown.Resolve)
	require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
	require.IsType(t, new(prospectkit.List), r.Object)
	require.ErrorIs(t, fake, prospectkit.ErrOutcomeUnknown)

	r = resolved(t, new(prospectkit.OutcomeUnknownError).Resolve)
	require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
}

// Records print as JSON, whether they were read or made.
func TestErrors_RecordsPrint(t *testing.T) {
	for want, v := range map[string]any{
		`{"id":"1","email":"a@b.example","name":"A"}`:           &prospectkit.User{ID: "1", Email: "a@b.example", Name: "A"},
		`{"id":"1","name":"A","type":"agents"}`:                 prospectkit.Folder{ID: "1", Name: "A", Kind: "agents"},
		`{"id":"1","claim":"A","category":"faq"}`:               &prospectkit.Fact{ID: "1", Claim: "A", Category: prospectkit.FactFAQ},
		`{"campaignId":"1","status":"active"}`:                  &prospectkit.Approval{CampaignID: "1", Status: prospectkit.CampaignActive},
		`{"crm":"c","listIds":["1"]}`:                           &prospectkit.CRMPushed{CRM: "c", ListIDs: []string{"1"}},
		`{"stepId":"1","preview":null}`:                         prospectkit.StepPreview{StepID: "1"},
		`{"Value":"A","Known":true,"Near":null,"Widens":false}`: prospectkit.CheckedValue{Value: "A", Known: true},
	} {
		require.Equal(t, want, fmt.Sprint(v))
	}
}
