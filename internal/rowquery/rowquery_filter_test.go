package rowquery_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/rowquery"
)

type names struct {
	Names []string `json:"names,omitempty"`
}

type odd struct{ C chan int }

func TestCheckFilter(t *testing.T) {
	for want, filter := range map[string]any{
		"":                                   names{Names: []string{"a"}},
		"cannot be encoded":                  odd{make(chan int)},
		"characters, must have at most 8000": names{Names: []string{strings.Repeat("x", 8000)}},
		"is not valid UTF-8":                 names{Names: []string{"caf\xe9"}},
		"is empty, which could mean":         map[string]any{"names": []string{}},
	} {
		var bad check.Violations
		rowquery.CheckFilter(&bad, filter)
		if want == "" {
			require.Empty(t, bad)
			continue
		}
		require.Len(t, bad, 1)
		require.Contains(t, bad[0].Problem, want)
	}
	var bad check.Violations
	rowquery.CheckFilter(&bad, names{})
	require.Empty(t, bad, "the zero value does not filter")
	full := names{Names: []string{strings.Repeat("x", 8000-len(`{"names":[""]}`))}}
	rowquery.CheckFilter(&bad, full)
	require.Empty(t, bad, "exactly as long as it may be")
	full.Names[0] += "x"
	rowquery.CheckFilter(&bad, full)
	require.Equal(t, check.One("filters", "has 8001 characters, must have at most 8000"), bad)
}

func TestFilterText(t *testing.T) {
	require.Empty(t, rowquery.FilterText(nil))
	require.Empty(t, rowquery.FilterText((*names)(nil)))
	require.Empty(t, rowquery.FilterText(names{}))
	require.Empty(t, rowquery.FilterText(&names{}))
	require.Empty(t, rowquery.FilterText(odd{make(chan int)}))
	require.JSONEq(t, `{"names":["a"]}`, rowquery.FilterText(&names{Names: []string{"a"}}))
}

// Both kinds of list know the filters of companies, and contact lists all others.
func TestContactFiltersAreThoseThatCompaniesLack(t *testing.T) {
	keys := func(filter any) (all []string) {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(filter)) {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			all = append(all, key)
		}
		return all
	}
	both := keys(filter.Company{})
	for _, key := range keys(filter.Contact{}) {
		want := []string{"the filter " + key}
		if slices.Contains(both, key) {
			want = nil
		}
		require.Equal(t, want, rowquery.Ignored("companyList", "", `{"`+key+`":1}`), key)
		require.Empty(t, rowquery.Ignored("contactList", "", `{"`+key+`":1}`), key)
	}
}
