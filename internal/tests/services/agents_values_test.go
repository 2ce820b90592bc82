package services_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func TestCheckValues(t *testing.T) {
	offers := `{"field":"region","Paris":1,"found":[{"text":"Berlin"},["Hamburg",{"deep":{"er":"berlin ","and":"berlin "}}],7,null,true]}`
	want := []prospectkit.CheckedValue{
		{Value: "Berlin", Known: true, Near: []string{"berlin "}},
		{Value: "HAMBURG", Near: []string{"Hamburg"}},
		{Value: "Paris"}, // a key is no value
		{Value: "7"},     // nor is a number
		{Value: "Berlin", Known: true, Near: []string{"berlin "}},
	}
	values := []string{"Berlin", "HAMBURG", "Paris", "7", "Berlin"}

	s := tests.Stage(t, tests.Always(200, offers))
	got, err := tests.NewClient(t, s).Agents.CheckValues(t.Context(), prospectkit.ValueCheck{Field: prospectkit.AutocompleteRegion, Values: values})
	require.NoError(t, err)
	tests.SameFields(t, want, got)
	require.Equal(t, []string{"GET /agents/autocomplete?field=region"}, s.Sent, "one request for all")
	require.Equal(t, offers, got[3].Raw().String())

	s = tests.Stage(t, tests.Times(4, tests.Always(200, offers))...)
	got, err = tests.NewClient(t, s).Agents.CheckValues(t.Context(), prospectkit.ValueCheck{
		Field: prospectkit.AutocompleteRegion, Values: values, TextParam: "yours",
	})
	require.NoError(t, err)
	tests.SameFields(t, want, got)
	require.Equal(t, []string{
		"GET /agents/autocomplete?field=region&yours=Berlin", "GET /agents/autocomplete?field=region&yours=HAMBURG",
		"GET /agents/autocomplete?field=region&yours=Paris", "GET /agents/autocomplete?field=region&yours=7",
	}, s.Sent, "one request for each value, repeats left out")
	s.Done()
}

// An industry that is not known is the one mistake that spends more: it widens the filter.
func TestCheckValues_OfIndustries(t *testing.T) {
	for field, widens := range map[prospectkit.AutocompleteField]bool{"industry": true, "title": false, "region": false} {
		got, err := tests.NewClient(t, tests.Always(200, `["Software","software "]`)).Agents.CheckValues(t.Context(), prospectkit.ValueCheck{
			Field: field, Values: []string{"Software", "SOFTWARE", "Qwxyz"},
		})
		require.NoError(t, err)
		tests.SameFields(t, []prospectkit.CheckedValue{
			{Value: "Software", Known: true, Near: []string{"software "}},
			{Value: "SOFTWARE", Near: []string{"Software", "software "}, Widens: widens},
			{Value: "Qwxyz", Widens: widens},
		}, got)
	}
}

// A response may repeat the question. What it offers is in an array.
func TestCheckValues_AnEchoIsNoOffer(t *testing.T) {
	for body, known := range map[string]bool{
		`{"field":"industry","query":"Surgery","values":[]}`:            false,
		`{"asked":{"query":"Surgery"},"values":["Brain Surgery"]}`:      false,
		`{"query":"Surgery","values":[{"of":{"name":"Surgery"}}]}`:      true,
		`{"query":"Surgery","groups":{"health":["Nursing","Surgery"]}}`: true,
	} {
		got, err := tests.NewClient(t, tests.Always(200, body)).Agents.CheckValues(t.Context(), prospectkit.ValueCheck{
			Field: prospectkit.AutocompleteIndustry, Values: []string{"Surgery"}, TextParam: "query",
		})
		require.NoError(t, err)
		tests.SameFields(t, []prospectkit.CheckedValue{{Value: "Surgery", Known: known, Widens: !known}}, got, body)
	}
}

func TestCheckValues_WhenAResponseFails(t *testing.T) {
	s := tests.Stage(t, tests.Always(200, `["A"]`), tests.Always(403, tests.Envelope("INSUFFICIENT_SCOPE")))
	got, err := tests.NewClient(t, s).Agents.CheckValues(t.Context(), prospectkit.ValueCheck{
		Field: prospectkit.AutocompleteTitle, Values: []string{"A", "B", "C"}, TextParam: "yours",
	})
	require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)
	tests.SameFields(t, []prospectkit.CheckedValue{{Value: "A", Known: true}}, got, "what came before the error")
	s.Done()
	for _, body := range []string{``, `{}`, `7`, `null`} {
		got, err := tests.NewClient(t, tests.Always(200, body)).Agents.CheckValues(t.Context(), prospectkit.ValueCheck{Field: "title", Values: []string{"A"}})
		require.NoError(t, err, body)
		tests.SameFields(t, []prospectkit.CheckedValue{{Value: "A"}}, got, body)
	}
}

func TestCheckValues_RefusesWhatCannotBeChecked(t *testing.T) {
	agents := tests.NewClient(t, tests.Untouched(t)).Agents
	for _, test := range []struct {
		in   prospectkit.ValueCheck
		want []string
	}{
		{prospectkit.ValueCheck{Field: "title"}, []string{"values must be given, and none may be blank"}},
		{prospectkit.ValueCheck{Field: "title", Values: []string{"A", " "}}, []string{"values must be given, and none may be blank"}},
		{prospectkit.ValueCheck{Values: []string{"A"}}, []string{"field is required"}},
		{prospectkit.ValueCheck{Field: "title", Values: []string{"A"}, TextParam: "field"}, []string{"TextParam must not be field"}},
		{prospectkit.ValueCheck{}, []string{"field is required", "values must be given, and none may be blank"}},
	} {
		_, err := agents.CheckValues(t.Context(), test.in)
		require.Equal(t, test.want, tests.Refusals(t, err))
	}
}
