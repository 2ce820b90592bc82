package vcr_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/proofs/recipes/vcr"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// unreachable is the network of a replay.
type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("the network was used")
}

// tour is the application.
func tour(t *testing.T, client *prospectkit.Client) []string {
	t.Helper()
	lists, err := prospectkit.Collect(client.Lists.All(t.Context(), prospectkit.ListsParams{}), 10)
	require.NoError(t, err)
	var names []string
	for _, list := range lists {
		names = append(names, list.Name)
	}
	_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: names[0]})
	require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
	return names
}

func newClient(t *testing.T, baseURL, token, recording string, next http.RoundTripper) (client *prospectkit.Client, stop func()) {
	t.Helper()
	transport, err := vcr.Recorder(recording, next)
	require.NoError(t, err)
	client, err = prospectkit.New(baseURL, token, prospectkit.WithTransport(transport))
	require.NoError(t, err)
	return client, func() { require.NoError(t, transport.Stop()) }
}

// record makes a recording of the sandbox; yours would be of the service, with a transport that reaches it.
func record(t *testing.T) (recording string, sb *sandbox.Sandbox, names []string) {
	t.Helper()
	recording = filepath.Join(t.TempDir(), "tour")
	sb = sandbox.New(t, sandbox.Seed(fixture.Small(1)))
	client, stop := newClient(t, sb.BaseURL(), sb.Token(), recording, sb.Transport())
	names = tour(t, client)
	stop()
	return recording, sb, names
}

func TestRecordAndReplay(t *testing.T) {
	recording, sb, names := record(t)
	require.NotEmpty(t, names)
	client, stop := newClient(t, sb.BaseURL(), "another-token", recording, unreachable{})
	require.Equal(t, names, tour(t, client))
	stop()
}

func TestTheRecordingHoldsNoToken(t *testing.T) {
	recording, sb, _ := record(t)
	content, err := os.ReadFile(recording + ".yaml")
	require.NoError(t, err)
	require.Contains(t, string(content), "LIST_NAME_TAKEN", "everything was recorded")
	for _, secret := range []string{sb.Token(), base64.StdEncoding.EncodeToString([]byte(sb.Token() + ":")), "Authorization"} {
		require.NotContains(t, string(content), secret)
	}
}

// A replay shows no connection trace, so a failure never counts as "not sent": the outcome of a write stays unknown.
func TestAReplayProvesNothing(t *testing.T) {
	recording, sb, _ := record(t)
	client, stop := newClient(t, sb.BaseURL(), "token", recording, unreachable{})
	defer stop()
	_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "not recorded"})
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	doubt, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	require.True(t, ok)
	require.Equal(t, "unknown", doubt.Attempts[0].Delivery)
}
