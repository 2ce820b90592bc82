package outbound_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/outbound"
)

func TestNear(t *testing.T) {
	documented := []string{"listId", "listIds", "listName", "maxCreditSpend"}
	for name, want := range map[string]string{
		"listID":              "listId",  // of another case
		"listIDS":             "listIds", // case before a letter
		"LISTIDS":             "listIds",
		"listIdd":             "listId",   // one more
		"istName":             "listName", // one less
		"listNam":             "listName",
		"lostName":            "listName", // another
		"lsitName":            "listName", // two that have changed places
		"maxCreditSpendd":     "maxCreditSpend",
		"MaxCreditsSpend":     "maxCreditSpend", // case, and one more
		"max\u017Fpend":       "",
		"maxCredit\u017Fpend": "maxCreditSpend", // case, by Unicode
		"listId":              "",
		"listIds":             "",
		"tslitName":           "", // too far
		"name":                "",
		"listIdXY":            "",
		"ilstNmae":            "",
		"":                    "",
	} {
		near, ok := outbound.Near(name, documented)
		require.Equal(t, want, near, name)
		require.Equal(t, want != "", ok, name)
	}
	near, ok := outbound.Near("i", []string{"id"})
	require.True(t, ok)
	require.Equal(t, "id", near)
}

func TestNames(t *testing.T) {
	type other struct {
		Name string `json:"name"`
		More string `json:"more,omitzero"`
		Out  string `json:"-"`
	}
	require.Equal(t, []string{"name", "left", "Plain", "Empty", "more"}, outbound.Names(shape{}, other{}))
}
