package call_test

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

// One mistake is enough for a refusal, in every way to make a client.
func TestClient_OneMistakeIsRefused(t *testing.T) {
	parent := tests.NewClient(t, tests.Always(200, tests.OneUser))
	t.Setenv("PROSPECTKIT_BASE_URL", tests.BaseURL)
	t.Setenv("PROSPECTKIT_TOKEN", tests.Token)
	for name, mistake := range map[string]prospectkit.ClientOption{
		"nil": nil, "no transport": prospectkit.WithTransport(nil), "no HTTP client": prospectkit.WithHTTPClient(nil), "a wait below zero": prospectkit.WithMaxWait(-1),
	} {
		for op, client := range map[string]func(...prospectkit.ClientOption) (*prospectkit.Client, error){
			"client.with": parent.With, "client.from-env": prospectkit.FromEnv,
			"client.new": func(o ...prospectkit.ClientOption) (*prospectkit.Client, error) {
				return prospectkit.New(tests.BaseURL, tests.Token, o...)
			},
		} {
			made, err := client(mistake)
			require.Nil(t, made, "%s, %s", op, name)
			var refused *prospectkit.RefusedError
			require.ErrorAs(t, err, &refused, "%s, %s", op, name)
			require.Len(t, refused.Violations, 1)
			_, err = client(prospectkit.WithTransport(tests.Always(http.StatusOK, tests.OneUser)))
			require.NoError(t, err)
		}
	}
}

// A derived client shares the source of keys: a key that one of them got is the key of both.
func TestClient_DerivedClientsShareTheSource(t *testing.T) {
	l, s := &lock{valid: "key-1"}, &tests.Source{Tokens: []string{"key-2"}}
	client := l.client(t, "key-1", s)
	derived, err := client.With(prospectkit.WithUserAgent("derived"))
	require.NoError(t, err)
	l.valid = "key-2"
	require.NoError(t, tests.Move(t.Context(), derived))
	require.NoError(t, tests.Move(t.Context(), client))
	require.Equal(t, []string{"key-1", "key-2", "key-2"}, l.got)
	require.Equal(t, 1, s.Asked)
}

// uncomparable is a journal that Go cannot compare.
type uncomparable struct {
	journal.Journal

	_ []string
}

// A journal remembers which reviews were approved and what is in doubt: a derived client may add one, never leave one behind.
func TestClient_WithNoOtherJournal(t *testing.T) {
	bare := tests.NewClient(t, tests.Untouched(t))
	for name, j := range map[string]journal.Journal{"in memory": new(journal.MemoryJournal), "uncomparable": uncomparable{Journal: new(journal.MemoryJournal)}} {
		client, err := bare.With(prospectkit.WithJournal(j))
		require.NoError(t, err, name)
		derived, err := client.With(prospectkit.WithMaxWait(0))
		require.NoError(t, err, name)
		_, err = derived.With(prospectkit.WithJournal(new(journal.MemoryJournal)))
		require.ErrorAs(t, err, new(*prospectkit.RefusedError), name)
		require.ErrorContains(t, err, "WithJournal must not replace another journal", name)
	}
	_, err := prospectkit.New("https://service.test/api/v1", "key",
		prospectkit.WithJournal(new(journal.MemoryJournal)), prospectkit.WithJournal(new(journal.MemoryJournal)))
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	require.ErrorContains(t, err, "WithJournal must not replace another journal")
	same := prospectkit.WithJournal(new(journal.MemoryJournal))
	_, err = prospectkit.New("https://service.test/api/v1", "key", same, same)
	require.NoError(t, err)
	client, err := bare.With(same)
	require.NoError(t, err)
	_, err = client.With(same)
	require.NoError(t, err)
}

// A client in a log is its host, also as JSON.
func TestClient_InALog(t *testing.T) {
	var text strings.Builder
	slog.New(slog.NewJSONHandler(&text, nil)).Info("made", "client", tests.NewClient(t, tests.Untouched(t)))
	require.Contains(t, text.String(), `"client":"prospectkit.Client(api.example.com)"`)
}

// Close lets go of the connections that nobody uses.
func TestClient_CloseEndsIdleConnections(t *testing.T) {
	server, closed := httptest.NewUnstartedServer(tests.Serves(200, tests.OneUser)), make(chan struct{})
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			close(closed)
		}
	}
	server.Start()
	client := tests.ClientAt(t, server.URL)
	_, err := client.Account.Me(t.Context())
	require.NoError(t, err)
	require.NoError(t, client.Close())
	<-closed
	server.Close()
}
