package firstcontact_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// echoing puts a text wherever a response can have one: as a name, in a name, as a value that looks like one of an enumeration, and in
// the name and the value of a header.
type echoing struct {
	next http.RoundTripper
	text string
}

func (e echoing) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := e.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if rest, ok := bytes.CutPrefix(bytes.TrimSpace(body), []byte("{")); ok && len(rest) > 1 {
		body = append([]byte(`{"`+e.text+`":{"`+e.text+`":1},"by_`+e.text+`":2,"status":"`+e.text+`",`), rest...)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	resp.Header.Set("RateLimit-"+e.text, e.text)
	return resp, err
}

// The report does not hold the key, wherever the service echoes it: also where the name of a field is expected.
func TestRun_HidesTheKey(t *testing.T) {
	for _, key := range []string{"sk_live_maryhadalittlelamb", "maryhadalittlelamb", "WORKSPACE_SECRET"} {
		for _, echo := range []string{key, base64.RawURLEncoding.EncodeToString([]byte(key + ":"))} {
			synctest.Test(t, func(t *testing.T) {
				state := fixture.Small(1)
				state.Workspaces[0].Keys = []sandbox.Key{{Token: key}}
				sb := sandbox.New(t, sandbox.Seed(state))
				run, err := firstcontact.Start(firstcontact.Config{BaseURL: sb.BaseURL(), Token: key, Transport: echoing{sb.Transport(), echo}})
				require.NoError(t, err)
				require.NoError(t, run.Ask(t.Context()))
				report := run.Report()
				var text strings.Builder
				require.NoError(t, report.WriteText(&text, 1, nil))
				require.Contains(t, text.String(), "is undocumented")
				require.NotContains(t, strings.ToLower(text.String()), strings.ToLower(echo))
			})
		}
	}
}
