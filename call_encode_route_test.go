package prospectkit

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

// ask sends one raw operation of the table, with or without a method of its own, down the road.
func ask(t *testing.T, o *op.Op, rt func(*http.Request) *http.Response, ids []string, opts ...CallOption) error {
	t.Helper()
	client, err := New("https://api.example.com/api/v1", "token", WithTransport(transportFunc(rt)))
	require.NoError(t, err)
	_, err = do[Object](context.Background(), client.conf, o, args{ids: ids}, opts)
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
		if o.Provenance == op.CallerSupplied {
			continue
		}
		ids := make([]string, strings.Count(o.Path, "{"))
		for i := range ids {
			ids[i] = id
		}
		err := ask(t, o, missing, ids)
		require.ErrorIs(t, err, CodeEndpointNotFound, o.Name)
		require.Equal(t, o.Provenance == op.AssumedPath, strings.Contains(err.Error(), "set it with WithRoute"), "%s: %v", o.Name, err)
		if o.Provenance == op.AssumedPath {
			err = ask(t, o, missing, ids, WithRoute(o.Method+" /business/elsewhere/{id}"))
			require.NotContains(t, err.Error(), "WithRoute", "the caller did that already")
		}
	}
}

func TestEncode_UndocumentedPathHasToBeGiven(t *testing.T) {
	for _, o := range op.All() {
		if o.Provenance != op.CallerSupplied {
			continue
		}
		err := ask(t, o, missing, []string{"65f0c0ffee65f0c0ffee65f0"})
		require.ErrorIs(t, err, ErrRefusedLocally, o.Name)
		require.ErrorContains(t, err, "set it with WithRoute")
	}
}

func TestEncode_IDsOfACallersPathAreChecked(t *testing.T) {
	for _, id := range []string{"..", "a/b", "65f0c0ffee65f0c0ffee65f", "65f0c0ffee65f0c0ffee65f0?x"} {
		sent := false
		err := ask(t, op.ContactsTimeline, func(r *http.Request) *http.Response { sent = true; return missing(r) },
			[]string{id}, WithRoute("GET /business/contacts/{contactId}/timeline"))
		require.ErrorIs(t, err, ErrRefusedLocally, id)
		require.ErrorContains(t, err, "contactId must be 24 hexadecimal digits")
		require.False(t, sent, id)
	}
}
