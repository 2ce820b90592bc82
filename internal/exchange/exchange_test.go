package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond is a transport with one response.
func respond(status int, body string, header ...string) (http.RoundTripper, *file) {
	f := text(body)
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: h, Body: f, ContentLength: -1, Request: r}, nil
	}), f
}

// of is an exchange with a transport, within a minute.
func of(t *testing.T, base http.RoundTripper) *Exchange {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() {})
	t.Cleanup(func() { timer.Stop() })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://host/", http.NoBody)
	require.NoError(t, err)
	return &Exchange{Base: base, Request: req, MaxBody: 1 << 20, Timer: timer, Silence: time.Minute, Began: time.Now()}
}

func TestDo(t *testing.T) {
	const large = 256<<10 + 10
	page := strings.Repeat("x", large)
	packed := string(zipped(t, []byte(page)))
	for name, c := range map[string]struct {
		status int
		body   string
		gzip   bool
		limit  int64
		want   string
		err    error
	}{
		"a page":                          {200, page, false, 1 << 20, page, nil},
		"as long as it may be":            {200, page, false, large, page, nil},
		"too long":                        {201, page, false, large - 1, page[:large-1], &TooLargeError{large - 1}},
		"unsuccessful":                    {404, "{}", false, 1 << 20, "{}", nil},
		"unsuccessful, and long":          {500, page, false, 1 << 20, page[:256<<10], nil},
		"unsuccessful, and too long":      {400, page, false, 100, page[:100], nil},
		"the first that is successful":    {200, page, false, 1, "x", &TooLargeError{1}},
		"the last that is successful":     {299, page, false, 1, "x", &TooLargeError{1}},
		"the first that is not":           {300, page, false, 1, "x", nil},
		"compressed":                      {200, packed, true, 1 << 20, page, nil},
		"compressed, and too long":        {200, packed, true, 1 << 12, page[:1<<12], &TooLargeError{1 << 12}},
		"compressed, not said":            {200, packed, false, 1 << 20, packed, nil},
		"said to be compressed":           {200, "{}", true, 1 << 20, "{}", nil},
		"compressed, cut":                 {200, packed[:len(packed)-9], true, 1 << 20, page[:256<<10], io.ErrUnexpectedEOF},
		"compressed, cut, unsuccessful":   {503, packed[:len(packed)-9], true, 1 << 20, page[:256<<10], nil},
		"compressed, long, unsuccessful":  {503, packed, true, 1 << 20, page[:256<<10], nil},
		"another protocol, not a body":    {101, "frames", false, 1 << 20, "", nil},
		"nothing":                         {204, "", false, 1 << 20, "", nil},
		"said to be compressed, but none": {204, "", true, 1 << 20, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			header := []string{"Content-Type", "text/plain", "Content-Length", "7"}
			if c.gzip {
				header = append(header, "Content-Encoding", "GZip")
			}
			base, body := respond(c.status, c.body, header...)
			x := of(t, base)
			x.MaxBody = c.limit
			r := x.Do()
			defer Release(r.Body)
			require.NoError(t, r.Err)
			if c.err == io.ErrUnexpectedEOF { //nolint:errorlint // it is the table's
				require.ErrorIs(t, r.BodyErr, c.err)
				require.True(t, strings.HasPrefix(page, string(*r.Body)))
			} else {
				require.Equal(t, c.err, r.BodyErr)
				require.Len(t, *r.Body, len(c.want))
				require.True(t, c.want == string(*r.Body)) //nolint:testifylint // a difference would fill the screen
			}
			require.Equal(t, c.status, r.Response.StatusCode)
			require.EqualValues(t, 1, body.closed.Load())
			require.Equal(t, "text/plain", r.Response.Header.Get("Content-Type"))
			require.Equal(t, c.gzip, r.Response.Header.Get("Content-Length") == "", "it is not that of the text")
			require.Empty(t, r.Response.Header.Get("Content-Encoding"))
		})
	}
}

// A recording may be used again: what its response holds is not changed.
func TestDo_LeavesTheHeaderAsItWas(t *testing.T) {
	base, _ := respond(200, string(zipped(t, []byte("text"))), "Content-Encoding", "gzip", "Content-Length", "9")
	first, err := base.RoundTrip(nil) //nolint:bodyclose // it has none that matters
	require.NoError(t, err)
	r := of(t, base).Do()
	require.Equal(t, "text", string(*r.Body))
	require.Equal(t, "gzip", first.Header.Get("Content-Encoding"))
	require.Equal(t, "9", first.Header.Get("Content-Length"))
}

// What only a transport outside of net/http returns is corrected.
func TestDo_OddTransports(t *testing.T) {
	r := of(t, roundTrip(func(*http.Request) (*http.Response, error) { return nil, nil })).Do() //nolint:nilnil // it is the case
	require.EqualError(t, r.Err, "the transport returned neither a response nor an error")
	r = of(t, roundTrip(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: http.StatusOK}, nil })).Do()
	require.NoError(t, r.Err)
	require.NoError(t, r.BodyErr)
	require.Empty(t, *r.Body)
	r = of(t, roundTrip(func(*http.Request) (*http.Response, error) { return &http.Response{}, io.ErrClosedPipe })).Do()
	require.Equal(t, io.ErrClosedPipe, r.Err)
	require.Nil(t, r.Response)
	require.Nil(t, r.Body)
}

// closeOf closes a body that may hang the first time, if nobody has read it.
func closeOf(body *file, hangs bool, released <-chan struct{}) error {
	if body.closed.Add(1) == 1 && hangs {
		<-released
	}
	return nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// A transport that heeds neither the context nor Close is abandoned. Of its response, what has arrived is known.
func TestDoOrAbandon(t *testing.T) {
	why := errors.New("the time is over")
	header := http.Header{"X-Request-Id": {"r-1"}}
	for name, c := range map[string]struct {
		status int // 0: no response
		err    error
		body   error
		closes int32
	}{
		"no response": {0, why, nil, 0}, "successful": {201, nil, why, 1}, "unsuccessful": {409, nil, nil, 1},
		"another protocol": {101, nil, nil, 2}, // as its first Close hangs
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				released := make(chan struct{})
				var reads, closes atomic.Int32
				body := &file{Reader: readFunc(func([]byte) (int, error) {
					if reads.Add(1) == 1 {
						<-released
					}
					return 1, nil
				})}
				source := text("content")
				x := of(t, roundTrip(func(*http.Request) (*http.Response, error) {
					if c.status == 0 {
						<-released
						return nil, io.EOF
					}
					stubborn := closer(func() error { return closeOf(body, c.status < 200, released) })
					return &http.Response{StatusCode: c.status, Header: header, Body: readCloser{body, stubborn}, ContentLength: -1}, nil
				}))
				x.Upload, _ = upload(closingOf(source, &closes), 7)
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(why) })
				began := time.Now()
				r, abandoned := x.DoOrAbandon(ctx)
				require.True(t, abandoned)
				require.Equal(t, time.Second+2*grace, time.Since(began))
				require.EqualValues(t, 1, closes.Load(), "of the upload")
				require.Equal(t, c.err, r.Err)
				require.Equal(t, c.body, r.BodyErr)
				if c.status > 0 {
					require.Equal(t, c.status, r.Response.StatusCode)
					require.Equal(t, header, r.Response.Header)
					require.Nil(t, r.Response.Request)
					require.Nil(t, r.Response.Body)
					require.Empty(t, *r.Body)
					require.Equal(t, c.closes, body.closed.Load())
				}
				close(released)
				synctest.Wait()
				require.LessOrEqual(t, reads.Load(), int32(1), "an abandoned exchange reads no more")
			})
		})
	}
}

func closingOf(f *file, closes *atomic.Int32) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{f, closer(func() error { closes.Add(1); return nil })}
}
