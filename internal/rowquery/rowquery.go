// Package rowquery checks the filter and the sort key of rows, and encodes the filter.
package rowquery

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/outbound"
)

const companyList = "companyList"

// sortKeys are the documented ones of each kind of list.
var sortKeys = map[string][]string{
	"contactList": strings.Fields(`firstName lastName jobTitle createdAt address.city address.country updatedAt
		company.name company.domain company.industry company.country company.type company.revenue
		company.socialHeadCount company.address.city company.address.state company.address.country`),
	companyList: strings.Fields(`name domain industry revenue socialHeadCount`),
}

// SortKind returns the kind of list that a key belongs to; empty for any kind.
func SortKind(key string) string {
	for kind, keys := range sortKeys {
		if slices.Contains(keys, key) {
			return kind
		}
	}
	return ""
}

// CheckSort refuses a key that is undocumented, or that the service would ignore.
func CheckSort(bad *check.Violations, key string) {
	const longest = 100
	contacts, companies := sortKeys["contactList"], sortKeys[companyList]
	column, ofColumn := strings.CutPrefix(key, "customColumns_")
	switch n := utf8.RuneCountInString(key); {
	case n < 1 || n > longest:
		bad.Length("sortBy", key, 1, longest)
	case ofColumn && !check.IsID(column):
		bad.Add("sortBy", "must name a column by 24 hexadecimal digits")
	case ofColumn || SortKind(key) != "":
	case strings.HasPrefix(key, "company."): // "exactly" these (documented)
		i := slices.Index(contacts, "company.name")
		bad.Add("sortBy", "is %q, must be one of %s; the service would ignore it", key, strings.Join(contacts[i:], " "))
	default:
		bad.Add("sortBy", "is %q, must be one of %s of contact lists, or of %s of company lists; other fields of contacts sort, too, "+
			"but have undocumented names: use WithQuery", key, strings.Join(contacts, " "), strings.Join(companies, " "))
	}
}

// CheckFilter refuses a filter that the service would refuse, whatever its kind, and one that is
// empty but not the zero value.
func CheckFilter(bad *check.Violations, filter any) {
	const longest = 8000 // as JSON
	text, err := outbound.Text(filter)
	if err != nil {
		bad.Add("filters", "cannot be encoded: %v", err)
		return
	}
	if n := utf8.RuneCountInString(text); n > longest {
		bad.Add("filters", "has %d characters, must have at most %d", n, longest)
	}
	bad.InvalidText(outbound.Invalid("filters", []byte(text), filter))
	if !isZero(filter) {
		bad.NotEmpty("filters", filter)
	}
}

// FilterText returns a filter as it is sent; empty for none, and for one that cannot be encoded.
func FilterText(filter any) string {
	if check.IsNil(filter) || isZero(filter) {
		return ""
	}
	text, _ := outbound.Text(filter)
	return text
}

// isZero reports whether a filter is the zero value, which does not filter.
func isZero(filter any) bool { return reflect.Indirect(reflect.ValueOf(filter)).IsZero() }

// Ignored names the filter keys and the sort key that a kind of list ignores: a response shows that it has not refused them.
func Ignored(kind, sortKey, filters string) (all []string) {
	if kind == companyList {
		var keys map[string]json.RawMessage
		_ = json.Unmarshal([]byte(filters), &keys) // of what is none, the service judges
		known := outbound.Names(filter.Company{})
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if !slices.Contains(known, key) && slices.Contains(outbound.Names(filter.Contact{}), key) {
				all = append(all, "the filter "+key)
			}
		}
	}
	if other := SortKind(sortKey); other != "" && kind != "" && other != kind {
		all = append(all, "the sort key "+sortKey)
	}
	return all
}
