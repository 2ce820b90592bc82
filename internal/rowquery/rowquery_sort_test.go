package rowquery_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/rowquery"
)

func TestSortKind(t *testing.T) {
	for key, want := range map[string]string{
		"lastName": "contactList", "company.domain": "contactList", "revenue": "companyList", "LastName": "", "": "",
		"customColumns_64f0c0ffee64f0c0ffee64f0": "",
	} {
		require.Equal(t, want, rowquery.SortKind(key), key)
	}
}

func TestCheckSort(t *testing.T) {
	for key, want := range map[string]string{
		"lastName": "", "name": "", "customColumns_64f0c0ffee64f0c0ffee64f0": "",
		"customColumns_x": "must name a column by 24 hexadecimal digits", "company.x": `is "company.x", must be one of company.name company.domain`,
		"nickname": "of contact lists, or of name domain industry revenue socialHeadCount of company lists; other fields of contacts sort, too, but have undocumented names: use WithQuery",
		"x":        `is "x", must be one of`, strings.Repeat("x", 100): `xx", must be one of`,
		"": "has 0 characters", strings.Repeat("x", 101): "has 101 characters",
	} {
		var bad check.Violations
		rowquery.CheckSort(&bad, key)
		if want == "" {
			require.Empty(t, bad, key)
			continue
		}
		require.Len(t, bad, 1, key)
		require.Contains(t, bad[0].Problem, want)
	}
}
