package tests

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// dumps keeps each Write apart, and finds two at the same time.
type dumps struct {
	mu  sync.Mutex
	all []string
	t   *testing.T
}

func (w *dumps) Write(p []byte) (int, error) {
	require.True(w.t, w.mu.TryLock(), "two writes at the same time")
	defer w.mu.Unlock()
	w.all = append(w.all, string(p))
	return len(p), nil
}

func TestDebugWriter_ShowsBothSides(t *testing.T) {
	w := &dumps{t: t}
	client := NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		return Respond(http.StatusCreated, `{"list":{"id":"`+ListID+`","name":"Q1"}}`), nil
	}), prospectkit.WithDebugWriter(w))
	_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"}, prospectkit.WithQuery("x", "a b"))
	require.NoError(t, err)
	require.Len(t, w.all, 2)
	require.True(t, strings.HasPrefix(w.all[0], "--- Request: lists.create, attempt 1\nPOST /api/v1/business/lists?x=a+b HTTP/1.1\nHost: "), w.all[0])
	require.Contains(t, w.all[0], "Content-Type: application/json\n")
	require.True(t, strings.HasSuffix(w.all[0], "\n\n{\"name\":\"Q1\"}\n\n"), w.all[0])
	require.True(t, strings.HasPrefix(w.all[1], "--- Response: lists.create, attempt 1\nHTTP/1.1 201 Created\n"), w.all[1])
	require.True(t, strings.HasSuffix(w.all[1], `{"list":{"id":"`+ListID+"\",\"name\":\"Q1\"}}\n\n"), w.all[1])
}

// Whatever a peer echoes, the dump holds no credential, no token and no signature.
func TestDebugWriter_HidesSecrets(t *testing.T) {
	const signature = "c2lnbmF0dXJl"
	echo := `{"scrollToken":"page-two-token","uploadUrl":"https://files.example/up?X-Signature=` + signature + `&e=1","again":"https:\/\/files.example\/up?sig=` + signature +
		`","deep":"see https://files.example/up\u003fsig=` + signature + `","X-Amz-Signature":"` + signature + `","echo":"` + Token + `","profiles":[{}],"escape":"` + "\x1b[31m" + `"}`
	w := &dumps{t: t}
	client := NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) {
		resp := Respond(http.StatusOK, echo)
		resp.Header.Set("Set-Cookie", "session="+signature)
		resp.Header.Set("Location", "https://files.example/up?sig="+signature)
		resp.Header.Set("X-Echo", r.Header.Get("Authorization"))
		return resp, nil
	}), prospectkit.WithDebugWriter(w))
	_, _ = client.Imports.Presign(t.Context(), prospectkit.Fields{"name": Token}, prospectkit.WithQuery("q", Token))
	page, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{})
	if err == nil {
		_, _ = page.Next(t.Context())
	}
	all := strings.Join(w.all, "")
	require.GreaterOrEqual(t, strings.Count(all, "--- Request: "), 2)
	require.Contains(t, all, "https://files.example/up?")
	require.Contains(t, all, "Authorization: ")
	for _, secret := range []string{Token, signature, "page-two-token", "\x1b"} {
		require.NotContains(t, all, secret)
	}
}

// A dump is bounded, and a failing attempt has one as well.
func TestDebugWriter_BoundsAndErrors(t *testing.T) {
	w := &dumps{t: t}
	client := NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/me") {
			return nil, errors.New("no route for " + Token)
		}
		resp := Respond(http.StatusOK, `{"x":"`+strings.Repeat("y", 1<<20)+`"}`)
		resp.Header.Set("X-Long", strings.Repeat("z", 1<<20))
		return resp, nil
	}), prospectkit.WithDebugWriter(w), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
	_, err := client.Account.Credits(t.Context())
	require.NoError(t, err)
	require.Len(t, w.all, 2)
	require.Less(t, len(w.all[1]), 40<<10)
	require.Contains(t, w.all[1], "(the first of ")
	_, err = client.Account.Me(t.Context())
	require.Error(t, err)
	require.Contains(t, w.all[3], "--- Response: account.me, attempt 1\n(no route for ")
	require.NotContains(t, w.all[3], Token)
}

type failing struct{ panics bool }

func (f failing) Write([]byte) (int, error) {
	if f.panics {
		panic("broken")
	}
	return 0, io.ErrClosedPipe
}

// Calls at the same time share a writer, and a broken one breaks no call.
func TestDebugWriter_ManyCallsAndBrokenWriters(t *testing.T) {
	w := &dumps{t: t}
	for _, to := range []io.Writer{w, failing{}, failing{panics: true}} {
		client := NewClient(t, Always(http.StatusOK, OneUser), prospectkit.WithDebugWriter(to))
		derived, err := client.With()
		require.NoError(t, err)
		var group sync.WaitGroup
		errs := make([]error, 20)
		for i := range errs {
			group.Go(func() {
				c := client
				if i%2 == 0 {
					c = derived
				}
				_, errs[i] = c.Account.Me(t.Context())
			})
		}
		group.Wait()
		require.NoError(t, errors.Join(errs...))
	}
	require.Len(t, w.all, 40)
	_, err := prospectkit.New(BaseURL, Token, prospectkit.WithDebugWriter(nil))
	require.ErrorContains(t, err, "WithDebugWriter got nil")
}

// The dump leaves out a file.
func TestDebugWriter_Upload(t *testing.T) {
	w := &dumps{t: t}
	client := NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		return Respond(http.StatusOK, `{}`), nil
	}), prospectkit.WithDebugWriter(w))
	const file = "email\nada@people.example\n"
	_, err := client.Imports.Upload(t.Context(), prospectkit.UploadFrom("a.csv", int64(len(file)), bytes.NewReader([]byte(file))))
	require.NoError(t, err)
	require.NotContains(t, strings.Join(w.all, ""), "ada@people.example")
}

// What the debug writer hides, Info and Error.Body hide, too: also in headers, in URLs without a host, and where the URL is cut.
func TestShownResponses_HideTheSameSecrets(t *testing.T) {
	const secret = "c2lnbmF0dXJlT2ZVcGxvYWQ"
	headers := []string{
		"Location", "https://login.example/?token=" + secret, "Content-Location", "/x?sig=" + secret,
		"Refresh", "0; url=?sig=" + secret, "Link", "</x?a=b&sig=" + secret + ">; rel=next", "Set-Cookie", "s=" + secret, "X-Token", secret,
		"Cache-Control", "max-age=7", "Content-Type", "application/json",
	}
	body := `{"scrollToken":"` + secret + `","url":"https://bucket.example/x?X-Amz-Signature=` + secret + `&b=1","bare":"bucket.example/x?sig=` + secret +
		`","far":"\/\/bucket.example\/x\u003Fsig=` + secret + `\u0026b=1","quoted":"see \"/x?sig=` + secret + `\"","kept":"is it? a=b"}`
	for _, status := range []int{http.StatusOK, http.StatusFound, http.StatusConflict} {
		w, info := &dumps{t: t}, prospectkit.Info{MaxBody: 4 << 10}
		client := NewClient(t, Always(status, body, headers...), prospectkit.WithDebugWriter(w), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
		_, err := client.Account.Credits(t.Context(), prospectkit.WithInfo(&info))
		shown := map[string]string{"dump": strings.Join(w.all, ""), "header": fmt.Sprint(info.Header), "body": string(info.Body)}
		if status != http.StatusOK {
			shown["error"] = AsError(t, err).Body
		}
		for where, text := range shown {
			require.NotContains(t, text, secret, where)
		}
		require.True(t, json.Valid(info.Body), string(info.Body))
		require.Contains(t, string(info.Body), `"kept":"is it? a=b"`)
		require.Contains(t, string(info.Body), `"url":"https://bucket.example/x?X-Amz-Signature=[hidden]"`)
		require.Equal(t, "/x?sig=[hidden]", info.Header.Get("Content-Location"))
		require.Equal(t, "max-age=7", info.Header.Get("Cache-Control"))
	}
}

// A token or cursor that the caller sends, in whatever call, is hidden in all that is shown of it, also if the service repeats it.
func TestSentTokens_AreHidden(t *testing.T) {
	const scroll = "scroll-token-of-page-two"
	operation := prospectkit.Operation{Name: "my.scroll", Method: http.MethodPost, Path: "/business/companies/scroll", Surface: "search", Reads: true}
	for name, call := range map[string]func(*prospectkit.Client, ...prospectkit.CallOption) error{
		"a company search": func(c *prospectkit.Client, opts ...prospectkit.CallOption) error {
			in := prospectkit.CompanySearch{Filters: fields{"headquartersCity": []string{"Berlin"}}, Extra: fields{"scrollToken": scroll}}
			return Discard(c.Search.Companies(t.Context(), in, opts...))
		},
		"Call": func(c *prospectkit.Client, opts ...prospectkit.CallOption) error {
			return c.Call(t.Context(), operation, prospectkit.Fields{"after": prospectkit.Fields{"scrollToken": scroll}}, nil, opts...)
		},
		"WithField": func(c *prospectkit.Client, opts ...prospectkit.CallOption) error {
			return Discard(c.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"}, append(opts, prospectkit.WithField("fromToken", scroll))...))
		},
		"WithQuery": func(c *prospectkit.Client, opts ...prospectkit.CallOption) error {
			return Discard(c.Campaigns.Page(t.Context(), append(opts, prospectkit.WithQuery("cursor", scroll))...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, info := &dumps{t: t}, prospectkit.Info{MaxBody: 4 << 10}
			client := NewClient(t, Always(422, strings.Replace(Envelope("SEARCH_FILTERS_INVALID"), "prose", "the scroll "+scroll+" has expired", 1), "X-Scroll", scroll), prospectkit.WithDebugWriter(w))
			err := call(client, prospectkit.WithInfo(&info))
			e := AsError(t, err)
			require.Contains(t, e.Message, "the scroll [hidden] has expired")
			all := fmt.Sprint(w.all, err, e.Message, e.Body, info.Header, string(info.Body))
			require.Contains(t, all, "--- Request: ")
			require.NotContains(t, all, scroll)
		})
	}
}

// A response that repeats the request, as a proxy does that logs its CONNECT, shows the key in no form: also where it comes in two chunks,
// and where the dump ends within it.
func TestDebugWriter_RepeatedRequests(t *testing.T) {
	sent := base64.StdEncoding.EncodeToString([]byte(Token + ":"))
	for name, said := range map[string]string{
		"a CONNECT":        "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com\r\nProxy-Authorization: Basic " + sent + "\r\n\r\n",
		"a request":        "GET /api/v1/me HTTP/1.1\nAuthorization: Basic " + sent + "\n\n",
		"the end of one":   strings.Repeat("x", 16<<10-len("Basic ")-len(sent)/2) + "Basic " + sent + strings.Repeat("y", 1000),
		"the end of a key": strings.Repeat("x", 16<<10-len(Token)/2) + Token,
	} {
		InMemory(t, func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h.Set("X-Said", strings.Repeat("z", 16<<10-200)+sent)
			h.Set("Proxy-Authorization", "Basic "+sent)
			w.WriteHeader(http.StatusBadGateway)
			at := strings.Index(said, sent[:8]) + len(sent)/2 // within it
			_, _ = io.WriteString(w, said[:max(at, 0)])
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, said[max(at, 0):])
		}, func(t *testing.T, m *MemoryServer) {
			t.Helper()
			w := &dumps{t: t}
			client := NewClient(t, m.Transport, prospectkit.WithDebugWriter(w), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
			_, err := client.Account.Me(t.Context())
			require.Error(t, err)
			require.Len(t, w.all, 2, name)
			all := strings.Join(w.all, "")
			require.Contains(t, all, "502 Bad Gateway")
			for _, form := range []string{Token, sent} {
				require.NotContains(t, all, form[:8], name)
			}
		})
	}
}
