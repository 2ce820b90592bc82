package pagewalk

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Near names are those that a server may have made of one name: in another case, without repeated spaces, or composed.
func TestNear(t *testing.T) {
	for _, near := range [][2]string{
		{"Berlin", "BERLIN"},
		{"Berlin  Q1", " Berlin\tQ1 "},
		{"Berlin\u00a0Q1", "Berlin Q1"},
		{"Berl\u200bin", "Berlin"},
		{"Caf\u00e9", "Cafe\u0301"},
		{"CAF\u00c9", "cafe\u0301"},
		{"Vi\u1ec7t", "Vie\u0323\u0302t"},
		{"Vi\u1eb9\u0302t", "Vi\u1ec7t"},
		{"\u0439", "\u0438\u0306"},
		{"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
		{"5 \u212b", "5 A\u030a"},
		{"5 \u212b", "5 \u00e5"},
		{"", " "},
	} {
		require.True(t, Near(near[0], near[1]), "%q", near)
		require.True(t, Near(near[1], near[0]), "%q", near)
	}
	for _, other := range [][2]string{
		{"Berlin", "Bern"},
		{"Berlin", "Berlin 2"},
		{"Q1", "Q 1"},
		{"Cafe", "Caf\u00e9"},
		{"Caf\u00e9", "Caf\u00e8"},
		{"\u0411\u0435\u0440\u043b\u0438\u043d", "\u041c\u043e\u0441\u043a\u0432\u0430"},
		{"", "x"},
	} {
		require.False(t, Near(other[0], other[1]), "%q", other)
	}
	long := strings.Repeat("long name ", 5)
	require.True(t, Near(long[:32], long), "cut off")
	require.False(t, Near(long[:31], long))
	require.False(t, Near(long, long[:32]), "no server adds to a name")
	require.False(t, Near("x"+long[:40], long))
}

// A search by the part of a name finds every form of it.
func TestSearchFor(t *testing.T) {
	for name, want := range map[string]string{
		"Q1 Berlin": "Q1 Berlin", " Q1 ": "Q1", "Q1  Berlin": "Berlin", "Q1\tBerlin": "Berlin", "Q1\u00a0Berlin 2": "Berlin 2",
		"Caf\u00e9 Q1": "Ca", "Cafe\u0301 Q": "Caf", "\u041c\u043e": "", "": "", "\u00e9\u00e9": "",
		strings.Repeat("x", 31) + "yz": strings.Repeat("x", 31) + "y", strings.Repeat("x", 31) + "e\u0301": strings.Repeat("x", 31),
	} {
		require.Equal(t, want, SearchFor(name), "%q", name)
	}
}
