package sandbox

import (
	"fmt"
	"strconv"
	"strings"
)

// isID reports whether s has the form of every id: 24 hexadecimal digits.
func isID(s string) bool { return len(s) == 24 && strings.Trim(s, "0123456789abcdefABCDEF") == "" }

func sameID(a, b string) bool { return strings.EqualFold(a, b) }

// newID makes an id that no earlier one equals, the same in every run.
func (ws *workspace) newID() string {
	ws.ids++
	return fmt.Sprintf("%s%06x%016x", idPrefix, ws.number, ws.ids)
}

// seen keeps newID from returning an id of a seed, which may come from an earlier run.
func (ws *workspace) seen(id string) {
	if len(id) != 24 || !strings.HasPrefix(id, idPrefix) {
		return
	}
	if n, err := strconv.ParseUint(id[8:], 16, 64); err == nil && n < 1<<62 {
		ws.ids = max(ws.ids, n)
	}
}

func (ws *workspace) fill(id *string) {
	if *id == "" {
		*id = ws.newID()
	}
}
