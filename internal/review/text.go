package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.com/prospectkit/internal/redact"
)

// mostSends is how many scheduled sends the text shows: there is one for each contact. All else is shown.
const mostSends = 20

// String is the review as a text for a person: first what an approval does and what was not reviewed, then the campaign, steps,
// lists and scheduled sends with their fields, of the sends the first 20.
func (r *Review) String() string {
	var b strings.Builder
	r.summarize(&b)
	b.WriteString("Campaign\n")
	for _, text := range r.texts[Campaign] {
		show(&b, text)
	}
	for _, s := range []struct {
		title string
		of    Section
		most  int
	}{{"Step", Steps, r.Count(Steps)}, {"List", Lists, r.Count(Lists)}, {"Scheduled send", Sends, mostSends}} {
		n := r.Count(s.of)
		for i, text := range r.texts[s.of] {
			if i == s.most {
				fmt.Fprintf(&b, "... and %d more of %d\n", n-i, n)
				break
			}
			fmt.Fprintf(&b, "%s %d of %d\n", s.title, i+1, n)
			show(&b, text)
		}
	}
	return b.String()
}

// summarize writes what an approval does.
func (r *Review) summarize(b *strings.Builder) {
	var shown struct{ Status, Channels any } // as far as the campaign has them
	for _, campaign := range r.texts[Campaign] {
		_ = json.Unmarshal(campaign, &shown)
	}
	to := fmt.Sprintf("the %s in its lists", redact.Plural(r.Count(Contacts), "contact"))
	switch {
	case slices.Contains(r.Unread, Contacts):
		to = "its contacts"
	case r.counted > 0: // those of its other lists, too
		list, rest := "the list counts", r.Count(Contacts)-r.read
		if r.lists > 1 || rest > 0 {
			list = "its lists count"
		}
		to = fmt.Sprintf("its contacts, of whom were read %s of the %s contacts that %s", grouped(r.read+rest), grouped(r.counted+rest), list)
	case r.Count(Contacts) == 0:
		to = "no contacts, as its lists have none"
	}
	fmt.Fprintf(b, "Approving this sends messages: %s, to %s", redact.Plural(r.Count(Steps), "step"), to)
	channels, _ := shown.Channels.([]any)
	for i, channel := range channels {
		b.WriteString([]string{", by ", " and "}[min(i, 1)] + plain(fmt.Sprint(channel)))
	}
	b.WriteString(".\n")
	switch status, _ := shown.Status.(string); {
	case status == "":
		b.WriteString("Its status is unknown: if it was STOPPED, approving resumes it.\n")
	case strings.EqualFold(status, "stopped"):
		b.WriteString("It was STOPPED: approving resumes it where it was.\n")
	case strings.EqualFold(status, "active"):
		b.WriteString("It is active already.\n")
	}
	if known := r.Count(Approvals) - len(r.doubts); known > 0 {
		fmt.Fprintf(b, "Approved before: %d\n", known)
	}
	for _, ticket := range r.doubts {
		fmt.Fprintf(b, "An earlier approval is IN DOUBT, it may have happened: until ticket %s is resolved or settled, nothing is approved; make this review again then.\n", plain(ticket))
	}
	if len(r.Unread) > 0 {
		fmt.Fprintf(b, "Not reviewed, because the API does not show them: %s\n", strings.Trim(fmt.Sprint(r.Unread), "[]"))
	}
	b.WriteString("\n")
}

// grouped writes a number as 1,300.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// show writes the fields of an object, one a line: first the words, then ids and times.
func show(b *strings.Builder, text json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		fmt.Fprintf(b, "  %s\n", plain(string(text)))
		return
	}
	last := func(key string) bool {
		return key == "id" || strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "At")
	}
	keys := slices.Sorted(maps.Keys(fields))
	for _, key := range slices.Concat(slices.DeleteFunc(slices.Clone(keys), last), slices.DeleteFunc(keys, func(key string) bool { return !last(key) })) {
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
