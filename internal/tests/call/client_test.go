package call_test

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// opts is short for the tables.
func opts(o ...prospectkit.ClientOption) []prospectkit.ClientOption { return o }

type noStore struct{ spend.Store }

var badConfigurations = []struct {
	name, base, token string
	opts              []prospectkit.ClientOption
	want              []prospectkit.Violation // all of them
}{
	{"base URL empty", "", tests.Token, nil, violation("base URL", "must not be empty")},
	{"base URL unreadable", "https://api.example.com:x/api/v1", tests.Token, nil, violation("base URL", "is not a URL")},
	{"base URL with control character", "https://api.example.com/api/v1\n", tests.Token, nil, violation("base URL", "is not a URL")},
	{"base URL without scheme", "api.example.com/api/v1", tests.Token, nil, violation("base URL", "must start with https:// (or http:// to this machine)")},
	{"base URL of another scheme", "ftp://api.example.com/api/v1", tests.Token, nil, violation("base URL", "must start with https:// (or http:// to this machine)")},
	{"base URL without host", "https:///api/v1", tests.Token, nil, violation("base URL", "names no host")},
	{"base URL with a letter that looks like another", "https://api.ex\u0430mple.com/api/v1", tests.Token, nil, violation("base URL", "names a host with letters beyond ASCII, which may only look alike: write its xn-- form")},
	{"base URL with such a letter, escaped", "https://api.ex%D0%B0mple.com/api/v1", tests.Token, nil, violation("base URL", "names a host with letters beyond ASCII, which may only look alike: write its xn-- form")},
	{"base URL with nothing but a port", "https://:8443/api/v1", tests.Token, nil, violation("base URL", "names no host")},
	{"base URL with credentials", "https://ada:pw@api.example.com/api/v1", tests.Token, nil, violation("base URL", "must not carry credentials")},
	{"base URL with query", "https://api.example.com/api/v1?a=b", tests.Token, nil, violation("base URL", "must not have a query or fragment")},
	{"base URL with empty query", "https://api.example.com/api/v1?", tests.Token, nil, violation("base URL", "must not have a query or fragment")},
	{"base URL with fragment", "https://api.example.com/api/v1#x", tests.Token, nil, violation("base URL", "must not have a query or fragment")},
	{"base URL without version", "https://api.example.com", tests.Token, nil, violation("base URL", "must end in /api/v1")},
	{"base URL of another version", "https://api.example.com/api/v2", tests.Token, nil, violation("base URL", "must end in /api/v1")},
	{"base URL with a longer path", "https://api.example.com/api/v1/business", tests.Token, nil, violation("base URL", "must end in /api/v1")},
	{"base URL that only looks alike", "https://api.example.com/myapi/v1", tests.Token, nil, violation("base URL", "must end in /api/v1")},
	{"base URL with an encoded slash", "https://api.example.com/api%2Fv1", tests.Token, nil, violation("base URL", "must end in /api/v1")},
	{"base URL in another spelling", "https://api.example.com/api/v%31", tests.Token, nil, violation("base URL", "must end in /api/v1")},
	{"base URL with dot segments", "https://api.example.com/a/../api/v1", tests.Token, nil, violation("base URL", "has a path with empty or dot segments")},
	{"base URL with empty segments", "https://api.example.com/a//api/v1", tests.Token, nil, violation("base URL", "has a path with empty or dot segments")},
	{"plain HTTP", "http://api.example.com/api/v1", tests.Token, nil, violation("base URL", "would send the token unprotected: use https, or AllowPlainHTTP if you mean it")},
	{"plain HTTP to a name that starts like this machine", "http://localhost.example.com/api/v1", tests.Token, nil, violation("base URL", "would send the token unprotected: use https, or AllowPlainHTTP if you mean it")},
	{"plain HTTP to the local network", "http://192.168.0.7/api/v1", tests.Token, nil, violation("base URL", "would send the token unprotected: use https, or AllowPlainHTTP if you mean it")},

	{"token empty", tests.BaseURL, "", nil, violation("token", "must not be empty")},
	{"token with space before", tests.BaseURL, " " + tests.Token, nil, violation("token", "has space around it")},
	{"token with line end", tests.BaseURL, tests.Token + "\n", nil, violation("token", "has space around it")},
	{"token with control character", tests.BaseURL, "tok\x00en", nil, violation("token", "has a character that nobody sees, U+0000, at byte 3: copy the key again")},
	{"token with colon", tests.BaseURL, "user:password", nil, violation("token", "has a colon, which HTTP Basic cannot carry")},
	{"base URL and token swapped", tests.Token, tests.BaseURL, nil, append(
		violation("token", "has a colon, which HTTP Basic cannot carry"),
		violation("base URL", "must start with https:// (or http:// to this machine)")...,
	)},

	{"option nil", tests.BaseURL, tests.Token, opts(prospectkit.AllowPlainHTTP(), nil), violation("option 2", "is nil")},
	{"HTTP client nil", tests.BaseURL, tests.Token, opts(prospectkit.WithHTTPClient(nil)), violation("WithHTTPClient", "got nil")},
	{"transport nil", tests.BaseURL, tests.Token, opts(prospectkit.WithTransport(nil)), violation("WithTransport", "got nil")},
	{"transport nil, of a type", tests.BaseURL, tests.Token, opts(prospectkit.WithTransport((*http.Transport)(nil))), violation("WithTransport", "got nil")},
	{"transport nil, a function", tests.BaseURL, tests.Token, opts(prospectkit.WithTransport(tests.RoundTrip(nil))), violation("WithTransport", "got nil")},
	{"HTTP client without a transport", tests.BaseURL, tests.Token, opts(prospectkit.WithHTTPClient(&http.Client{Transport: (*http.Transport)(nil)})), violation("WithHTTPClient", "has a transport that is nil")},
	{"HTTP client and transport", tests.BaseURL, tests.Token, opts(prospectkit.WithTransport(http.DefaultTransport), prospectkit.WithHTTPClient(&http.Client{})), violation("WithHTTPClient", "contradicts another option: give one of WithHTTPClient and WithTransport")},
	{"transport and HTTP client", tests.BaseURL, tests.Token, opts(prospectkit.WithHTTPClient(&http.Client{}), prospectkit.WithTransport(http.DefaultTransport)), violation("WithTransport", "contradicts another option: give one of WithHTTPClient and WithTransport")},
	{"journal nil", tests.BaseURL, tests.Token, opts(prospectkit.WithJournal(nil)), violation("WithJournal", "got nil")},
	{"journal nil, of a type", tests.BaseURL, tests.Token, opts(prospectkit.WithJournal((*journal.FileJournal)(nil))), violation("WithJournal", "got nil")},
	{"guard with a store that is nil", tests.BaseURL, tests.Token, opts(prospectkit.WithSpendGuard(spend.NewSharedGuard(1, nil, (*noStore)(nil)))), violation("WithSpendGuard", "got a guard that cannot be used: the store is nil")},
	{"user agent blank", tests.BaseURL, tests.Token, opts(prospectkit.WithUserAgent("  ")), violation("WithUserAgent", "must not be empty or hold control characters")},
	{"user agent with line end", tests.BaseURL, tests.Token, opts(prospectkit.WithUserAgent("app\r\nX: y")), violation("WithUserAgent", "must not be empty or hold control characters")},
	{"response bound zero", tests.BaseURL, tests.Token, opts(prospectkit.WithMaxResponseBytes(0)), violation("WithMaxResponseBytes", "is 0, must be positive")},
	{"observer nil", tests.BaseURL, tests.Token, opts(prospectkit.WithObserver(nil)), violation("WithObserver", "got nil")},
	{"logger nil", tests.BaseURL, tests.Token, opts(prospectkit.WithLogger(nil)), violation("WithLogger", "got nil")},
	{"longest wait negative", tests.BaseURL, tests.Token, opts(prospectkit.WithMaxWait(-time.Second)), violation("WithMaxWait", "is -1s, must not be negative")},
	{"attempt timeout zero", tests.BaseURL, tests.Token, opts(prospectkit.WithAttemptTimeout(0)), violation("WithAttemptTimeout", "is 0s, must be positive")},
	{"attempts negative", tests.BaseURL, tests.Token, opts(prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: -1})), violation("RetryPolicy.MaxAttempts", "is -1, must be 1 to 10")},
	{"attempts too many", tests.BaseURL, tests.Token, opts(prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 11})), violation("RetryPolicy.MaxAttempts", "is 11, must be 1 to 10")},
	{"delay negative", tests.BaseURL, tests.Token, opts(prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: -1})), violation("RetryPolicy", "has a negative delay")},

	{
		"everything at once", "http://api.example.com/api/v1", "", opts(nil, prospectkit.WithTransport(nil), prospectkit.WithMaxWait(-1)),
		[]prospectkit.Violation{
			{Param: "token", Problem: "must not be empty"},
			{Param: "option 1", Problem: "is nil"},
			{Param: "WithTransport", Problem: "got nil"},
			{Param: "WithMaxWait", Problem: "is -1ns, must not be negative"},
			{Param: "base URL", Problem: "would send the token unprotected: use https, or AllowPlainHTTP if you mean it"},
		},
	},
}

func violation(param, problem string) []prospectkit.Violation {
	return []prospectkit.Violation{{Param: param, Problem: problem}}
}

func TestClient_NewRefusesBadConfigurations(t *testing.T) {
	for _, c := range badConfigurations {
		t.Run(c.name, func(t *testing.T) {
			client, err := prospectkit.New(c.base, c.token, c.opts...)
			require.Nil(t, client)
			refused := tests.AsRefused(t, err)
			require.Equal(t, c.want, refused.Violations)
			require.Equal(t, "client.new", refused.Op)
			for _, v := range c.want {
				require.ErrorContains(t, err, v.Param+" "+v.Problem)
			}
		})
	}
}

func TestClient_RequestsGoBelowTheBaseURL(t *testing.T) {
	for given, want := range map[string]string{
		"https://api.example.com/api/v1":          "https://api.example.com/api/v1",
		"https://api.example.com/api/v1/":         "https://api.example.com/api/v1",
		"https://api.example.com:8443/eu/api/v1":  "https://api.example.com:8443/eu/api/v1",
		"https://api.example.com/a%2Fb/api/v1/":   "https://api.example.com/a%2Fb/api/v1",
		"https://api.example.com/a(b/api/v1":      "https://api.example.com/a(b/api/v1",
		"https://api.example.com/a%20b/api/v1":    "https://api.example.com/a%20b/api/v1",
		"HTTPS://api.example.com/api/v1":          "https://api.example.com/api/v1",
		"http://localhost:4010/api/v1":            "http://localhost:4010/api/v1",
		"http://127.8.9.1/api/v1":                 "http://127.8.9.1/api/v1",
		"http://[::1]:4010/api/v1":                "http://[::1]:4010/api/v1",
		"http://[::ffff:127.0.0.1]:4010/api/v1":   "http://[::ffff:127.0.0.1]:4010/api/v1",
		"https://api.example.com/gateway/api/v1/": "https://api.example.com/gateway/api/v1",
	} {
		var sent string
		client, err := prospectkit.New(given, tests.Token, prospectkit.WithTransport(tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			sent = r.URL.String()
			return tests.Respond(200, tests.OneUser), nil
		})))
		require.NoError(t, err, given)
		require.Equal(t, want, client.BaseURL())
		require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
		require.Equal(t, want+"/business/me", sent)
	}
}

// A bubble ends clean only if nothing that it started is left behind.
func TestClient_NewStartsNothing(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(net.Conn, http.ConnState) { connections.Add(1) }
	server.Start()
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		client, err := prospectkit.New(server.URL+"/api/v1", tests.Token, prospectkit.WithMaxWait(time.Hour))
		require.NoError(t, err)
		require.NoError(t, tests.Discard(client.With(prospectkit.WithUserAgent("app/1"))))
		synctest.Wait()
		require.LessOrEqual(t, runtime.NumGoroutine(), before)
	})
	server.Close()
	require.Zero(t, connections.Load())
}

func TestFromEnv(t *testing.T) {
	baseURL := violation("PROSPECTKIT_BASE_URL", "is not set (prospectkit sandbox prints one to try, and a token)")
	token := violation("PROSPECTKIT_TOKEN", "is not set")
	for name, c := range map[string]struct {
		base, token string
		want        []prospectkit.Violation
	}{
		"trimmed":       {" " + tests.BaseURL + "\n", "\t" + tests.Token + " ", nil},
		"no base URL":   {"", tests.Token, baseURL},
		"blank token":   {tests.BaseURL, " \n", token},
		"neither":       {"", "", append(baseURL, token...)},
		"a bad address": {"https://api.example.com", tests.Token, violation("base URL", "must end in /api/v1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PROSPECTKIT_BASE_URL", c.base)
			t.Setenv("PROSPECTKIT_TOKEN", c.token)
			var sent string
			client, err := prospectkit.FromEnv(prospectkit.WithTransport(tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				sent, _, _ = r.BasicAuth()
				return tests.Respond(200, tests.OneUser), nil
			})))
			if c.want != nil {
				refused := tests.AsRefused(t, err)
				require.Equal(t, c.want, refused.Violations)
				require.Nil(t, client)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tests.BaseURL, client.BaseURL())
			require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
			require.Equal(t, tests.Token, sent)
		})
	}
}

func TestClient_NewReadsNoEnvironment(t *testing.T) {
	t.Setenv("PROSPECTKIT_BASE_URL", tests.BaseURL)
	t.Setenv("PROSPECTKIT_TOKEN", tests.Token)
	_, err := prospectkit.New("", "")
	require.ErrorContains(t, err, "token must not be empty; base URL must not be empty")
}

func TestClient_WithDerivesAClient(t *testing.T) {
	var agents []string
	parentEvents, childEvents := 0, 0
	count := func(n *int) prospectkit.ClientOption {
		return tests.Watch(func(e prospectkit.Event) {
			if e.Kind == prospectkit.EventEnd {
				*n++
			}
		})
	}
	parent := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		agents = append(agents, r.UserAgent())
		return tests.Respond(404, tests.Envelope("LIST_NOT_FOUND")), nil
	}), count(&parentEvents))
	child := tests.Derived(t, parent, prospectkit.WithUserAgent("app/1"), count(&childEvents))
	sibling := tests.Derived(t, parent, prospectkit.WithUserAgent("app/2"))

	for _, c := range []*prospectkit.Client{parent, child, sibling, parent} {
		require.ErrorIs(t, tests.Discard(c.Lists.Get(t.Context(), tests.ListID)), prospectkit.CodeListNotFound)
		require.Same(t, tests.Limiters(t, parent)["lists"], tests.Limiters(t, c)["lists"])
		require.Equal(t, parent.BaseURL(), c.BaseURL())
	}
	require.Equal(t, agents[0], agents[3], "the parent stayed as it was")
	require.Equal(t, []string{"app/1 " + agents[0], "app/2 " + agents[0]}, agents[1:3])
	require.Equal(t, []int{4, 1}, []int{parentEvents, childEvents})
}

func TestClient_WithChangesTheTransportOfTheChildOnly(t *testing.T) {
	parent := tests.NewClient(t, tests.Always(404, tests.Envelope("LIST_NOT_FOUND")))
	child := tests.Derived(t, parent, prospectkit.WithTransport(tests.Always(200, tests.OneUser)))
	require.NoError(t, tests.Discard(child.Account.Me(t.Context())))
	require.ErrorIs(t, tests.Discard(parent.Account.Me(t.Context())), prospectkit.ErrNotFound)
}

func TestClient_WithKeepsTheLicenceForPlainHTTP(t *testing.T) {
	parent, err := prospectkit.New("http://api.example.com/api/v1", tests.Token, prospectkit.AllowPlainHTTP())
	require.NoError(t, err)
	child := tests.Derived(t, parent, prospectkit.WithUserAgent("app/1"))
	require.Equal(t, parent.BaseURL(), child.BaseURL())
}

// Clients that nothing connects know of each other by the headers only.
func TestClient_LimitersOfTwoClients(t *testing.T) {
	one, other := tests.NewClient(t, tests.Always(200, tests.OneUser)), tests.NewClient(t, tests.Always(200, tests.OneUser))
	for _, c := range []*prospectkit.Client{one, other} {
		require.NoError(t, tests.Discard(c.Account.Me(t.Context())))
	}
	require.NotSame(t, tests.Limiters(t, one)["account"], tests.Limiters(t, other)["account"])
}

// One mistake is enough for a refusal, in every way to make a client, and several come back at once.
func TestClient_MistakesAreRefused(t *testing.T) {
	parent := tests.NewClient(t, tests.Always(200, tests.OneUser))
	t.Setenv("PROSPECTKIT_BASE_URL", tests.BaseURL)
	t.Setenv("PROSPECTKIT_TOKEN", tests.Token)
	noTransport, negative := prospectkit.WithTransport(nil), prospectkit.WithMaxWait(-1)
	for op, client := range map[string]func(...prospectkit.ClientOption) (*prospectkit.Client, error){
		"client.with": parent.With, "client.from-env": prospectkit.FromEnv,
		"client.new": func(o ...prospectkit.ClientOption) (*prospectkit.Client, error) {
			return prospectkit.New(tests.BaseURL, tests.Token, o...)
		},
	} {
		for want, mistakes := range map[string][]prospectkit.ClientOption{
			"option 1 is nil": {nil}, "WithTransport got nil": {noTransport}, "WithHTTPClient got nil": {prospectkit.WithHTTPClient(nil)},
			"WithMaxWait is -1ns, must not be negative":                                         {negative},
			"WithTransport got nil; option 2 is nil; WithMaxWait is -1ns, must not be negative": {noTransport, nil, negative},
		} {
			made, err := client(mistakes...)
			require.Nil(t, made, "%s, %s", op, want)
			require.Equal(t, want, strings.Join(tests.Refusals(t, err), "; "), op)
			require.Equal(t, op == "client.with", tests.AsRefused(t, err).Op == "client.with")
		}
		good, err := client(prospectkit.WithTransport(tests.Always(http.StatusOK, tests.OneUser)))
		require.NoError(t, err)
		require.NoError(t, tests.Discard(good.Account.Me(t.Context())))
	}
	require.NoError(t, tests.Discard(parent.Account.Me(t.Context())))
}

// A derived client shares the source of keys: a key that one of them got is the key of both.
func TestClient_DerivedClientsShareTheSource(t *testing.T) {
	l, s := &lock{valid: "key-1"}, &tests.Source{Tokens: []string{"key-2"}}
	client := l.client(t, "key-1", s)
	derived := tests.Derived(t, client, prospectkit.WithUserAgent("derived"))
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
		client := tests.Derived(t, bare, prospectkit.WithJournal(j))
		derived := tests.Derived(t, client, prospectkit.WithMaxWait(0))
		_, err := derived.With(prospectkit.WithJournal(new(journal.MemoryJournal)))
		require.ErrorAs(t, err, new(*prospectkit.RefusedError), name)
		require.ErrorContains(t, err, "WithJournal must not replace another journal", name)
	}
	_, err := prospectkit.New("https://service.test/api/v1", "key",
		prospectkit.WithJournal(new(journal.MemoryJournal)), prospectkit.WithJournal(new(journal.MemoryJournal)))
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	require.ErrorContains(t, err, "WithJournal must not replace another journal")
	same := prospectkit.WithJournal(new(journal.MemoryJournal))
	require.NoError(t, tests.Discard(prospectkit.New("https://service.test/api/v1", "key", same, same)))
	client := tests.Derived(t, bare, same)
	require.NoError(t, tests.Discard(client.With(same)))
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
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	require.NoError(t, client.Close())
	<-closed
	server.Close()
}
