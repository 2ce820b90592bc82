package otelprospectkit_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// Spans and metrics do not contain what a peer repeats of the request.
func TestNothingThatIsRepeatedGetsOut(t *testing.T) {
	const id = "65f0c0ffee65f0c0ffee65f0"
	for _, answer := range []string{
		"HTTP/1.1 404 Not Found\r\n%s\r\n\r\n",
		"HTTP/1.1 %s\r\n\r\n",
		"HTTP/1.1 404 %s\r\nRateLimit-%s: 1\r\nX: %s\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 409 Conflict\r\nConnection: close\r\n\r\n{\"error\": {\"code\": \"%s\", \"message\": \"%s\", \"request_id\": \"%s\"}}",
		"",
	} {
		var echo string
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer func() { _ = far.Close() }()
				buffer := make([]byte, 64<<10)
				if _, err := far.Read(buffer); err == nil {
					_, _ = fmt.Fprint(far, echo)
				}
			}()
			return near, nil
		}}
		r := newRig(t, prospectkit.WithTransport(transport), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}), prospectkit.AllowPlainHTTP())
		said := r.sb.Token() + "/" + id + "?search=Zebra"
		echo = strings.ReplaceAll(answer, "%s", said)
		_, err := r.Lists.Page(t.Context(), prospectkit.ListsParams{Search: "Zebra"})
		require.Error(t, err)
		_, err = r.Lists.MoveToRoot(t.Context(), id)
		require.Error(t, err)
		err = r.Call(t.Context(), prospectkit.Operation{
			Name: "lists.mine", Method: http.MethodPost, Path: "/business/lists/" + id + "/mine", Surface: "lists",
		}, nil, nil)
		require.Error(t, err)
		text := fmt.Sprintf("%+v %+v", r.spans.GetSpans(), r.metrics(t))
		require.Contains(t, text, "/business/lists/{id}/mine")
		for _, private := range []string{r.sb.Token(), id, "Zebra"} {
			require.NotContains(t, text, private)
		}
	}
}
