package filter

import (
	"cmp"
	"encoding/json"
)

// Search narrows a search: entries by the name of a filter, such as job_title_levels. The filters and
// their values are those of Search.FilterOptions. Nil matches everybody (assumed).
type Search map[string][]Entry

// Entry is one value of a search filter; see [Including].
type Entry struct {
	Status string `json:"status"` // default: include, the only documented one
	Value  string `json:"value"`
}

// MarshalJSON fills in the default status.
func (e Entry) MarshalJSON() ([]byte, error) {
	type plain Entry
	e.Status = cmp.Or(e.Status, "include")
	return json.Marshal(plain(e))
}

// Including makes the entries of a filter that matches any of the values. It needs at least one.
func Including(values ...string) []Entry {
	entries := make([]Entry, len(values))
	for i, v := range values {
		entries[i] = Entry{Status: "include", Value: v}
	}
	return entries
}
