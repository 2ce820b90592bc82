package call_test

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// lists responds like the service: the account, one list, and failures by the last part of the id or name.
func lists(w http.ResponseWriter, r *http.Request) {
	status, body := 200, tests.OneUser
	switch {
	case r.Method == http.MethodPost:
		status, body = 500, tests.Envelope("UNEXPECTED_ERROR")
	case strings.Contains(r.URL.Path, "/lists/"):
		status, body = 404, tests.Envelope("LIST_NOT_FOUND")
	}
	tests.Write(w, status, body, tests.Room...)
}

func TestClient_CallersHTTPClientIsLeftAlone(t *testing.T) {
	server, _ := tests.Counted(t, lists)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	transport := &http.Transport{MaxIdleConns: 3}
	defer transport.CloseIdleConnections()
	own := &http.Client{
		Transport: transport, Jar: jar, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return nil },
	}
	before := *own
	client := tests.ClientAt(t, server.URL, prospectkit.WithHTTPClient(own))
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	require.NoError(t, tests.Discard(client.With(prospectkit.WithUserAgent("app/1"))))

	for i := range reflect.TypeFor[http.Client]().NumField() {
		was, is := reflect.ValueOf(before).Field(i), reflect.ValueOf(*own).Field(i)
		if was.Kind() == reflect.Func {
			require.Equal(t, was.Pointer(), is.Pointer())
			continue
		}
		require.Equal(t, was.Interface(), is.Interface(), reflect.TypeFor[http.Client]().Field(i).Name)
	}
	require.Same(t, transport, own.Transport)
	require.Equal(t, 3, transport.MaxIdleConns)
}

func TestClient_JarAndTimeoutOfTheCallersClientCount(t *testing.T) {
	release := make(chan struct{})
	server, _ := tests.Counted(t, func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie("affinity"); err == nil && cookie.Value == "b" {
			<-release
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "affinity", Value: "b", Path: "/"})
		lists(w, r)
	})
	defer close(release)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := tests.ClientAt(t, server.URL,
		prospectkit.WithHTTPClient(&http.Client{Jar: jar, Timeout: 50 * time.Millisecond}), tests.OneAttempt)
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	_, err = client.Account.Me(t.Context())
	failed := tests.AsError(t, err)
	require.Zero(t, failed.Status)
	require.Equal(t, "unknown", failed.Attempts[0].Delivery)
}

// Each attempt sends the cookies of its own jar, once and beside the key, and no client sends those of another one.
func TestClient_CookiesStayInTheirJar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			key, _, _ := r.BasicAuth()
			require.Equal(t, tests.Token, key)
			var cookies []string
			for _, c := range r.Cookies() {
				cookies = append(cookies, c.Value)
			}
			return tests.Respond(map[bool]int{true: 503, false: 200}[len(cookies) == 0], tests.OneUser, "Set-Cookie", strings.Fields(r.UserAgent())[0]+"=b",
				"X-Seen", strings.Join(cookies, " ")), nil
		})
		for _, name := range []string{"one", "two"} {
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			client := tests.Through(t, &http.Client{Jar: jar, Transport: rt}, prospectkit.WithUserAgent(name))
			for range 2 {
				var info prospectkit.Info
				require.NoError(t, tests.Discard(client.Account.Me(t.Context(), prospectkit.WithInfo(&info))))
				require.Equal(t, "b", info.Header.Get("X-Seen"))
			}
		}
	})
}

func TestClient_DerivedClientsShareConnections(t *testing.T) {
	server, connections := tests.Counted(t, lists)
	parent := tests.ClientAt(t, server.URL)
	for range 3 {
		child := tests.Derived(t, parent, prospectkit.WithUserAgent("app/1"))
		for _, c := range []*prospectkit.Client{parent, child} {
			require.NoError(t, tests.Discard(c.Account.Me(t.Context())))
		}
	}
	require.EqualValues(t, 1, connections.Load())
}

func TestClient_CredentialIsBasic(t *testing.T) {
	var header http.Header
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		header = r.Header
		return tests.Respond(200, tests.OneUser), nil
	}))
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	require.Equal(t, []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(tests.Token+":"))}, header["Authorization"])
	require.Equal(t, "application/json", header.Get("Accept"))
	require.Regexp(t, `^prospectkit/`+regexp.QuoteMeta(prospectkit.Version)+` \(go[0-9].*; [a-z0-9]+/[a-z0-9]+\)$`, header.Get("User-Agent"))
	require.Len(t, header, 3, "and nothing else: %v", header)
}

// Redirects are never followed, wherever they lead: the credential must not travel.
func TestClient_RedirectsAreNotFollowed(t *testing.T) {
	elsewhere, hits := tests.Counted(t, lists)
	_, port, err := net.SplitHostPort(elsewhere.Listener.Addr().String())
	require.NoError(t, err)
	targets := map[string]string{
		"another port":   elsewhere.URL + "/api/v1/business/secret-path?q=secret-query",
		"another host":   "http://ada:secret-password@localhost:" + port + "/api/v1/secret-path",
		"another scheme": "https://127.0.0.1:" + port + "/secret-path",
		"the same host":  "/api/v1/business/secret-path",
	}
	for name, target := range targets {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(name+" "+strconv.Itoa(status), func(t *testing.T) {
				server, _ := tests.Counted(t, func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.Path, "secret") {
						hits.Add(1)
						return
					}
					w.Header().Set("Location", target)
					w.WriteHeader(status)
				})
				here, err := url.Parse(server.URL)
				require.NoError(t, err)
				to, err := here.Parse(target)
				require.NoError(t, err)
				follow := func(*http.Request, []*http.Request) error { return nil }
				client := tests.ClientAt(t, server.URL, prospectkit.WithHTTPClient(&http.Client{CheckRedirect: follow}))

				_, err = client.Account.Me(t.Context())
				read := tests.AsError(t, err)
				require.Equal(t, status, read.Status)
				require.ErrorContains(t, err, "a redirect, which is not followed; it points to host "+to.Host)
				require.NotContains(t, err.Error(), "secret")
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))

				_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
				require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown, "something responded in the service's place")
				require.ErrorContains(t, err, "it points to host "+to.Host)
				require.NotContains(t, err.Error(), "secret")
			})
		}
	}
	require.Zero(t, hits.Load())
}

func TestClient_OneClientServesManyGoroutines(t *testing.T) {
	server, _ := tests.Counted(t, lists)
	var attempts atomic.Int32
	client := tests.ClientAt(t, server.URL, tests.Watch(func(e prospectkit.Event) {
		if e.Kind == prospectkit.EventAttempt {
			attempts.Add(1)
		}
	}))
	const goroutines, rounds = 64, 6
	problems := make(chan error, goroutines*rounds)
	var group sync.WaitGroup
	for range goroutines {
		group.Go(func() {
			for round := range rounds {
				problems <- mixed(t, client, round)
			}
		})
	}
	group.Wait()
	close(problems)
	for err := range problems {
		require.NoError(t, err)
	}
	require.EqualValues(t, goroutines*rounds, attempts.Load())
	tests.NothingInFlight(t, client)
}

// mixed makes one call of three and reports a response that belongs to another one.
func mixed(t *testing.T, client *prospectkit.Client, round int) error {
	t.Helper()
	var info prospectkit.Info
	var err error
	want, op := 200, "account.me"
	switch round % 3 {
	case 0:
		_, err = client.Account.Me(t.Context(), prospectkit.WithInfo(&info))
	case 1:
		want, op = 404, "lists.get"
		_, err = client.Lists.Get(t.Context(), tests.ListID, prospectkit.WithInfo(&info))
	case 2:
		want, op = 500, "lists.create"
		_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"}, prospectkit.WithInfo(&info))
	}
	if info.Status != want || info.Op != op || (err == nil) != (want == 200) {
		return fmt.Errorf("%s: got %d by %s, want %d: %w", op, info.Status, info.Op, want, err)
	}
	return nil
}
