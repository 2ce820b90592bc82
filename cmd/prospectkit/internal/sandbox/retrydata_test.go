package sandbox

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/tests/retrydata"
)

// The data of testdata/retry.json tells a naive client from a careful one, by nothing but the control plane: a client that retries
// whatever fails adds rows several times.
func TestRetryDataFindsANaiveClient(t *testing.T) {
	const operation = "lists.add-contacts"
	file, err := retrydata.Load("../../../../testdata/retry.json")
	require.NoError(t, err)
	p := start(t, "-limits", "off", "-seed", "../../../../testdata/retry-world.json")
	var failed, twice []string
	for _, failure := range file.Failures {
		want, ok := failure.Always[retrydata.Write]
		if !ok || failure.Needs != "" {
			continue
		}
		p.control(t, "POST", "reset", "")
		fault, err := json.Marshal(map[string]string{"fault": operation + ":always:" + failure.Fault})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, p.control(t, "POST", "faults", string(fault)).StatusCode, "%s", fault)

		got := naive(t, p, operation)
		calls := p.control(t, "GET", "calls", "").body["calls"].(map[string]any)[operation].(map[string]any)
		got.Requests, got.Processed = int(calls["requests"].(float64)), int(calls["processed"].(float64))
		if got != want {
			failed = append(failed, failure.Name)
		}
		if got.Processed > 1 {
			twice = append(twice, failure.Name)
		}
	}
	require.Contains(t, failed, "502 page")
	require.NotContains(t, failed, "rejected with 409")
	require.NotContains(t, failed, "429")
	require.True(t, slices.Contains(twice, "502 page, processed") && slices.Contains(twice, "cut after it is processed"), "%q", twice)
}

// naive sends the request of an operation up to three times, and takes every failure for a failure.
func naive(t *testing.T, p *process, operation string) (got retrydata.Cell) {
	t.Helper()
	text, err := os.ReadFile("../../../../testdata/http/" + operation + "/sandbox.http")
	require.NoError(t, err)
	request, _, _ := strings.Cut(string(text), "\nHTTP/1.1 ")
	head, body, _ := strings.Cut(request, "\n\n")
	method, rest, _ := strings.Cut(head, " ")
	uri, _, _ := strings.Cut(rest, " ")
	got.Result = retrydata.NotApplied
	for got.Attempts < 3 {
		got.Attempts++
		req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(p.BaseURL, "/api/v1")+uri, strings.NewReader(body))
		require.NoError(t, err)
		req.SetBasicAuth(p.Token, "")
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		switch {
		case err != nil:
		case resp.StatusCode < 300:
			got.Result = retrydata.Success
			return got
		case resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests:
			return got
		}
	}
	return got
}
