package call_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// traces are the forms in which the token can show.
func traces() []string {
	basic := base64.StdEncoding.EncodeToString([]byte(tests.Token + ":"))
	forms := []string{tests.Token, basic, base64.StdEncoding.EncodeToString([]byte(tests.Token))}
	for _, form := range forms[:2] {
		forms = append(forms, hex.EncodeToString([]byte(form)), strings.ToUpper(hex.EncodeToString([]byte(form))))
	}
	return forms
}

// requireNoToken demands that no face of a value shows the token.
func requireNoToken(t *testing.T, name string, v any) {
	t.Helper()
	for face, text := range tests.Faces(v) {
		for _, trace := range traces() {
			require.NotContains(t, text, trace, "%s as %s", name, face)
		}
	}
}

func TestRedaction_ScanFindsTokens(t *testing.T) {
	for _, leak := range []any{
		tests.Token, errors.New(tests.Token), struct{ Header http.Header }{http.Header{"Authorization": {"Basic " + traces()[1]}}},
	} {
		found := 0
		for _, text := range tests.Faces(leak) {
			for _, trace := range traces() {
				found += strings.Count(text, trace)
			}
		}
		require.GreaterOrEqual(t, found, 6)
	}
}

func TestRedaction_NothingPrintsTheToken(t *testing.T) {
	var seen []prospectkit.Event
	client := tests.NewClient(t, tests.Always(200, tests.OneUser), tests.Events(&seen))
	child := tests.Derived(t, client, prospectkit.WithUserAgent("app/1"))
	info := prospectkit.Info{MaxBody: 4 << 10}
	require.NoError(t, tests.Discard(child.Account.Me(t.Context(), prospectkit.WithInfo(&info))))
	for name, v := range map[string]any{
		"client": client, "derived client": child, "account": client.Account, "lists": client.Lists,
		"search by value": *client.Search, "in a struct": struct{ C *prospectkit.Client }{client},
		"options": []any{prospectkit.WithUserAgent("x"), prospectkit.WithMaxWait(0), prospectkit.WithQuery("a", "b")},
		"info":    info, "attempt": info.Attempts[0], "events": seen,
	} {
		requireNoToken(t, name, v)
	}
	require.Equal(t, "prospectkit.Client(api.example.com)", fmt.Sprintf("%v", client))
	require.Equal(t, fmt.Sprintf("%v", client), fmt.Sprintf("%#v", client))
}

func TestRedaction_ErrorsDoNotPrintTheToken(t *testing.T) {
	for name, err := range tests.Family(t) {
		requireNoToken(t, name, err)
	}
	for _, args := range [][2]string{
		{tests.Token, tests.BaseURL},
		{"https://" + tests.Token + "@api.example.com/api/v1", tests.Token},
		{tests.BaseURL + "?t=" + tests.Token, tests.Token},
		{tests.BaseURL, tests.Token + ":"},
		{tests.BaseURL, tests.Token + "\x00"},
		{"https://" + tests.Token + "\x7f/api/v1", " " + tests.Token},
	} {
		_, err := prospectkit.New(args[0], args[1])
		require.Error(t, err)
		requireNoToken(t, args[0], err)
	}
}
