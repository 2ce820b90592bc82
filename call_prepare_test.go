package prospectkit

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
)

// located asks where a call with one id would go.
func located(tb testing.TB, o *op.Op, id, template string) (*url.URL, error) {
	tb.Helper()
	var opts []ClientOption
	if template != "" {
		opts = append(opts, WithRoutes(map[string]string{o.Name: o.Method + " " + template}))
	}
	client, err := New("https://api.example.com/base/api/v1", "tok", opts...)
	if err != nil {
		return nil, err
	}
	c := new(call)
	if err := c.prepare(tb.Context(), client.conf, o, args{ids: []string{id}}, nil); err != nil {
		return nil, err
	}
	return &c.url, nil
}

// stays demands that a request line keeps to the base path, also after somebody in between has resolved dots and escapes.
func stays(t *testing.T, u *url.URL, elements int) {
	t.Helper()
	require.Equal(t, "https://api.example.com", u.Scheme+"://"+u.Host)
	escaped := u.EscapedPath()
	require.True(t, strings.HasPrefix(escaped, "/base/api/v1/"), escaped)
	require.Len(t, strings.Split(strings.TrimPrefix(escaped, "/base/api/v1/"), "/"), elements, escaped)
	again, err := url.Parse(u.String())
	require.NoError(t, err)
	require.Equal(t, escaped, again.EscapedPath())
	require.True(t, strings.HasPrefix(again.JoinPath().Path, "/base/api/v1/"), escaped)
	for element := range strings.SplitSeq(again.Path, "/") {
		require.NotContains(t, []string{".", ".."}, element)
	}
}

// Whatever an id holds, it stays one element of the path or is refused before the network.
func FuzzPath(f *testing.F) {
	for _, id := range []string{"65f0c0ffee65f0c0ffee65f0", "..", ".", "", "a/b", "%2e%2e", "%2F..", "a?b#c", "é\x00", "..;x", "\\..\\", "{x}"} {
		f.Add(id, "/business/things/{thingId}/state")
		f.Add("65f0c0ffee65f0c0ffee65f0", "/business/"+id)
	}
	f.Add("65f0c0ffee65f0c0ffee65f0", "/business/%2e%2E/%2e./secret/{id}")
	f.Add("65f0c0ffee65f0c0ffee65f0", "/0{")
	f.Add("65f0c0ffee65f0c0ffee65f0", "/}0{")
	f.Fuzz(func(t *testing.T, id, template string) {
		u, err := located(t, op.ContactsTimeline, id, template)
		if err != nil {
			var refused *RefusedError
			require.ErrorAs(t, err, &refused)
			return
		}
		stays(t, u, strings.Count(template, "/"))
		require.True(t, check.IsID(id))

		u, err = located(t, op.ListsGet, id, "")
		require.NoError(t, err)
		require.Equal(t, "/base/api/v1/business/lists/"+id, u.EscapedPath())
	})
}

// The document's ids are 24 hexadecimal digits, wherever the path comes from.
func TestEncode_PathRefusesOtherIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"..", ".", "", "a/b", "%2e%2e", "x", "65f0c0ffee65f0c0ffee65f0 ", "65f0c0ffee65f0c0ffee65f", "65f0c0ffee65f0c0ffee65f0?x"} {
		for _, template := range []string{"", "/business/other/{otherId}"} {
			_, err := located(t, op.HubsPages, id, template)
			require.ErrorContains(t, err, "hubId must be 24 hexadecimal digits", "id %q", id)
		}
		_, err := located(t, op.ContactsTimeline, id, "/business/people/{personId}/log")
		require.ErrorContains(t, err, "personId must be 24 hexadecimal digits", "id %q", id)
	}
}

// Each mistake of a path is told once, in words that help: what an id has said already is not said again as a wrong number.
func TestEncode_PathThatCannotBeBuilt(t *testing.T) {
	t.Parallel()
	const id, wrong = "65f0c0ffee65f0c0ffee65f0", "id must be 24 hexadecimal digits"
	for _, c := range []struct{ id, template, want string }{
		{id, "/a/{id}/{x}", "path has 2 parameters, the call has 1 ids"},
		{id, "/a", "path has 0 parameters, the call has 1 ids"},
		{"x", "/a/{id}/{x}", wrong + "; path has 2 parameters, the call has 1 ids"},
		{"", "/a/{id}", wrong},
	} {
		_, err := located(t, op.ContactsTimeline, c.id, c.template)
		require.EqualError(t, err, "prospectkit: contacts.timeline: refused locally: "+c.want, "id %q, %s", c.id, c.template)
	}
	_, err := located(t, op.ContactsTimeline, id, "")
	require.EqualError(t, err, "prospectkit: contacts.timeline: refused locally: route is undocumented: set it with WithRoutes")
}

// Parameters of which none is set are no query, whatever their fields would say of a zero.
func TestEncode_ZeroParametersAreNoQuery(t *testing.T) {
	type params struct {
		Page int `url:"page"`
	}
	c := new(call)
	require.Empty(t, c.queryString(params{}))
	require.Equal(t, "page=1", c.queryString(params{1}))
	c.opts.query = [][2]string{{"x", "y"}}
	require.Equal(t, "x=y", c.queryString(params{}))
}

// ask sends one raw operation of the table, with or without a method of its own, down the road.
func ask(t *testing.T, o *op.Op, rt func(*http.Request) *http.Response, ids []string, opts ...ClientOption) error {
	t.Helper()
	client, err := New("https://api.example.com/api/v1", "token", append(opts, WithTransport(transportFunc(rt)))...)
	require.NoError(t, err)
	_, err = do[Object](context.Background(), client.conf, o, args{ids: ids}, nil)
	return err
}

type transportFunc func(*http.Request) *http.Response

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func missing(*http.Request) *http.Response {
	body := `{"error":{"code":"ENDPOINT_NOT_FOUND","message":"no such endpoint"}}`
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func TestEncode_WrongAssumedPathSaysSo(t *testing.T) {
	const id = "65f0c0ffee65f0c0ffee65f0"
	for _, o := range op.All() {
		ids := slices.Repeat([]string{id}, strings.Count(o.Path, "{"))
		err := ask(t, o, missing, ids)
		if o.Provenance == op.CallerSupplied { // one that is undocumented has to be given
			require.ErrorAs(t, ask(t, o, missing, []string{id}), new(*RefusedError), o.Name)
			require.ErrorContains(t, ask(t, o, missing, []string{id}), "set it with WithRoutes")
			continue
		}
		require.ErrorIs(t, err, CodeEndpointNotFound, o.Name)
		require.Equal(t, o.Provenance == op.AssumedPath, strings.Contains(err.Error(), "set it with WithRoutes"), "%s: %v", o.Name, err)
		if o.Provenance == op.AssumedPath {
			err = ask(t, o, missing, ids, WithRoutes(map[string]string{o.Name: o.Method + " /business/elsewhere/{id}"}))
			require.ErrorIs(t, err, CodeEndpointNotFound, o.Name)
			require.NotContains(t, err.Error(), "WithRoutes", "the caller did that already")
		}
	}
}
