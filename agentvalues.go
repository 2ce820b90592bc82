package prospectkit

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

// ValueCheck says which values of a filter to look up.
type ValueCheck struct {
	Field  AutocompleteField
	Values []string
	// TextParam is the query parameter that carries the text to complete. The service's document does not show its name. With it,
	// there is one request for each value; without, a single one for all, whose answer may hold only a few values.
	TextParam string
}

func (v ValueCheck) check(bad *checks) {
	if v.Field == "" {
		bad.add("field", "is required")
	}
	if len(v.Values) == 0 || slices.ContainsFunc(v.Values, func(s string) bool { return strings.TrimSpace(s) == "" }) {
		bad.add("values", "must be given, and none may be blank")
	}
	if v.TextParam == "field" {
		bad.add("TextParam", "must not be field")
	}
}

// CheckedValue is what autocomplete shows of a value.
type CheckedValue struct {
	Value string
	Known bool     // autocomplete offers exactly this text
	Near  []string // what it offers that differs in case or surrounding space only
	// Widens is set for an industry that is not known: it is replaced by the closest one or dropped, and the agent then delivers,
	// and spends, more.
	Widens bool
}

// CheckValues looks values of a filter up before money is spent: the service accepts one that it does not know. A region or title is then
// matched by nobody. An industry is mapped to the closest one or, if none is close, dropped: the agent delivers people of every industry
// and spends more, which Widens in the result warns of. The shape of the answer is not shown by the service's document, so a value is known if it stands anywhere in
// it as a text. Known is proof; not known is a hint to look again, all the more without TextParam.
//
// GET /business/agents/autocomplete, scope agents.
func (s *AgentsService) CheckValues(ctx context.Context, in ValueCheck, opts ...CallOption) ([]CheckedValue, error) {
	var bad checks
	if in.check(&bad); len(bad) > 0 {
		o := op.AgentsAutocomplete
		return nil, refusal(o, bad...)
	}
	checked := make([]CheckedValue, 0, len(in.Values))
	offers := make(map[string][]string) // by the text that was looked up
	for _, value := range in.Values {
		var more url.Values
		if in.TextParam != "" {
			more = url.Values{in.TextParam: {value}}
		}
		key := more.Encode()
		if _, asked := offers[key]; !asked {
			answer, err := s.Autocomplete(ctx, in.Field, more, opts...)
			if err != nil {
				return checked, err
			}
			if offers[key], err = stringsIn(answer.raw); err != nil {
				return checked, err
			}
		}
		found := compareValue(value, offers[key])
		found.Widens = in.Field == AutocompleteIndustry && !found.Known
		checked = append(checked, found)
	}
	return checked, nil
}

func compareValue(value string, offers []string) CheckedValue {
	found := CheckedValue{Value: value}
	for _, offer := range offers {
		switch {
		case offer == value:
			found.Known = true
		case strings.EqualFold(strings.TrimSpace(offer), strings.TrimSpace(value)) && !slices.Contains(found.Near, offer):
			found.Near = append(found.Near, offer)
		}
	}
	return found
}

// stringsIn lists the strings in a JSON text, keys left out.
func stringsIn(raw []byte) (all []string, err error) {
	const header = 16 // bytes of a string beside its text
	c := jsonscan.New(raw)
	leaves(&c, func(c *jsonscan.Cursor) {
		if c.Is('"') && c.Spend(header) {
			all = append(all, c.String())
		} else {
			c.Skip()
		}
	})
	if err = c.Err(); errors.Is(err, jsonscan.ErrTooMuch) {
		return nil, err
	}
	return all, nil
}
