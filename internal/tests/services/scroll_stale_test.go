package services_test

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// reel serves pages by tokens. Each is some profiles, with one letter each.
func reel(sent *int, parts []string) tests.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		*sent++
		number := 0
		_, _ = fmt.Sscan(searchRequest(r).ScrollToken, &number) // the first has none
		profiles := []fields{}
		for _, name := range parts[number] {
			profiles = append(profiles, fields{"firstName": string(name)})
		}
		body := fields{"profiles": profiles}
		if number+1 < len(parts) {
			body["scrollToken"] = strconv.Itoa(number + 1)
		}
		return tests.Respond(200, tests.JSONText(body)), nil
	}
}

type fields = prospectkit.Fields

func TestScroll_EndsWhereNothingNewComes(t *testing.T) {
	for parts, want := range map[string]struct{ sent, stale int }{
		"xy x y z":                {3, 2},
		"ab ba bc  c da d a z":    {8, 2},
		"x  xx  x z":              {5, 4},
		"a                  ":     {11, 10},
		"a          b           ": {21, 10},
		"a          b          c": {0, 0},
		"ab ba bc cb  cd da e":    {0, 0},
	} {
		sent := 0
		client := tests.NewClient(t, reel(&sent, strings.Split(parts, " ")))
		_, err := names(client.Search.Prospects(t.Context(), tests.Everything, prospectkit.MaxPaidPages(math.MaxInt)))
		if want.sent == 0 {
			require.NoError(t, err, parts)
			continue
		}
		require.ErrorContains(t, err, fmt.Sprintf("the last %d pages brought nothing new, and another one is offered", want.stale), parts)
		require.Equal(t, want.sent, sent, parts)
	}
}
