package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// mostShown is how many elements of a section the text shows in full.
const mostShown = 20

// String is the review as a text for a person: the campaign, steps, scheduled sends and lists with
// their fields, up to 20 of each, the number of contacts, and what was not reviewed.
func (r *Review) String() string {
	var b strings.Builder
	b.WriteString("Campaign\n")
	show(&b, r.Campaign)
	for _, s := range []struct {
		title string
		texts []json.RawMessage
	}{{"Step", r.Steps}, {"List", r.Lists}, {"Scheduled send", r.Sends}} {
		for i, text := range s.texts {
			if i == mostShown {
				fmt.Fprintf(&b, "... and %d more of %d\n", len(s.texts)-i, len(s.texts))
				break
			}
			fmt.Fprintf(&b, "%s %d of %d\n", s.title, i+1, len(s.texts))
			show(&b, text)
		}
	}
	if len(r.Unread) > 0 {
		fmt.Fprintf(&b, "Not reviewed, because the API does not show them: %s\n", strings.Trim(fmt.Sprint(r.Unread), "[]"))
	}
	if !slices.Contains(r.Unread, Contacts) {
		fmt.Fprintf(&b, "Contacts in the lists: %d\n", r.Contacts)
	}
	if r.Approvals > 0 {
		fmt.Fprintf(&b, "Approved before: %d\n", r.Approvals)
	}
	return b.String()
}

// show writes the fields of an object, one a line.
func show(b *strings.Builder, text json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		fmt.Fprintf(b, "  %s\n", plain(string(text)))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		var value string
		if json.Unmarshal(fields[key], &value) != nil || string(fields[key]) == "null" {
			value = string(fields[key])
		}
		fmt.Fprintf(b, "  %s: %s\n", plain(key), plain(value))
	}
}

// plain keeps a text from looking like other lines, or changing a terminal.
func plain(text string) string {
	clean := strings.Map(func(c rune) rune {
		if c != '\n' && !unicode.IsPrint(c) {
			return unicode.ReplacementChar
		}
		return c
	}, text)
	return strings.ReplaceAll(clean, "\n", "\n    | ")
}
