// Package rowquery checks the filter and the sort key of rows, and encodes the filter.
package rowquery

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/prospectkit/internal/check"
)

var (
	contactKeys = strings.Fields(`firstName lastName jobTitle createdAt address.city address.country updatedAt
		company.name company.domain company.industry company.country company.type company.revenue
		company.socialHeadCount company.address.city company.address.state company.address.country`)
	companyKeys = strings.Fields(`name domain industry revenue socialHeadCount`)

	contactFilters = strings.Fields(`name title dept level industryName country state personalLocation companyLocation otherLists
		revenue keywords socialUrl enrichedEmail enrichedPhone emailValidity icpMatch`)  // that company lists do not honour
)

// SortKeys returns the documented keys of a kind of list. They are also the documented fields of its rows.
func SortKeys(kind string) []string {
	switch kind {
	case "contactList":
		return slices.Clone(contactKeys)
	case "companyList":
		return slices.Clone(companyKeys)
	}
	return nil
}

// SortKind returns the kind of list that a key belongs to; empty for any kind.
func SortKind(key string) string {
	switch {
	case slices.Contains(contactKeys, key):
		return "contactList"
	case slices.Contains(companyKeys, key):
		return "companyList"
	}
	return ""
}

// CheckSort refuses a key that is undocumented, or that the service would ignore. An unchecked one only has to be
// of 1 to 100 characters.
func CheckSort(bad *check.Violations, key string, unchecked bool) {
	const longest = 100
	column, ofColumn := strings.CutPrefix(key, "customColumns_")
	switch n := utf8.RuneCountInString(key); {
	case unchecked || n < 1 || n > longest:
		bad.Length("sortBy", key, 1, longest)
	case ofColumn && !check.IsID(column):
		bad.Add("sortBy", "must name a column by 24 hexadecimal digits")
	case ofColumn || SortKind(key) != "":
	case strings.HasPrefix(key, "company."): // "exactly" these (documented)
		i := slices.Index(contactKeys, "company.name")
		bad.Add("sortBy", "is %q, must be one of %s; the service would ignore it", key, strings.Join(contactKeys[i:], " "))
	default:
		bad.Add("sortBy", "is %q, must be one of %s of contact lists, or of %s of company lists; other fields of contacts sort, too, "+
			"but have undocumented names: use Unchecked", key, strings.Join(contactKeys, " "), strings.Join(companyKeys, " "))
	}
}

// Ignored names the filter keys and the sort key that a kind of list ignores (documented).
func Ignored(kind, sortKey, filter string) (all []string) {
	if kind == "companyList" && filter != "" {
		all = ignoredFilters(filter)
	}
	if other := SortKind(sortKey); other != "" && kind != "" && other != kind {
		all = append(all, "the sort key "+sortKey)
	}
	return all
}

func ignoredFilters(filter string) (all []string) {
	var keys map[string]json.RawMessage
	if json.Unmarshal([]byte(filter), &keys) != nil {
		return nil // the service judges it
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.Contains(contactFilters, key) {
			all = append(all, "the filter "+key)
		}
	}
	return all
}
