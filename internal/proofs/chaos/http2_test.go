package chaos

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// frameServer speaks HTTP/2 by hand: it counts the requests that it receives, and responds to each as the script says.
type frameServer struct {
	url      string
	received atomic.Int64
	respond  func(n int64, f *http2.Framer, stream uint32) error
}

func startFrames(t *testing.T, respond func(n int64, f *http2.Framer, stream uint32) error) (*frameServer, *http.Transport) {
	t.Helper()
	model := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	t.Cleanup(model.Close)
	roots := model.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: model.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	s := &frameServer{url: "https://" + listener.Addr().String() + "/api/v1", respond: respond}
	go s.accept(listener)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return s, transport
}

func (s *frameServer) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			_ = s.serve(conn)
		}()
	}
}

// serve responds to a request when it has received it completely.
func (s *frameServer) serve(conn net.Conn) error {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return err
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		return err
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return err
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				err = framer.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				err = s.respond(s.received.Add(1), framer, f.StreamID)
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				err = s.respond(s.received.Add(1), framer, f.StreamID)
			}
		}
		if err != nil {
			return err
		}
	}
}

func reset(code http2.ErrCode) func(int64, *http2.Framer, uint32) error {
	return func(_ int64, f *http2.Framer, stream uint32) error { return f.WriteRSTStream(stream, code) }
}

// goAway ends the connection and says that it has not looked at this request.
func goAway(_ int64, f *http2.Framer, stream uint32) error {
	return f.WriteGoAway(stream-1, http2.ErrCodeNo, nil)
}

// then responds to the first n requests with one thing, and to further ones with an empty object.
func then(n int64, first func(int64, *http2.Framer, uint32) error) func(int64, *http2.Framer, uint32) error {
	return func(i int64, f *http2.Framer, stream uint32) error {
		if i <= n {
			return first(i, f, stream)
		}
		var block bytes.Buffer
		if err := hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"}); err != nil {
			return err
		}
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true}); err != nil {
			return err
		}
		return f.WriteData(stream, true, []byte(`{"user":{"id":"1"}}`))
	}
}

func TestHTTP2(t *testing.T) {
	approve := func(ctx context.Context, c *prospectkit.Client) error {
		return c.Call(ctx, prospectkit.Operation{
			Name: "test.approve", Method: http.MethodPost, Path: "/business/drafts/x/approve",
			Surface: "campaigns",
		}, nil, nil)
	}
	create := func(ctx context.Context, c *prospectkit.Client) error {
		_, err := c.Lists.Create(ctx, prospectkit.NewList{Name: "x"})
		return err
	}
	me := func(ctx context.Context, c *prospectkit.Client) error {
		_, err := c.Account.Me(ctx)
		return err
	}
	const always = 1 << 30
	for _, tc := range []struct {
		name     string
		call     func(context.Context, *prospectkit.Client) error
		respond  func(int64, *http2.Framer, uint32) error
		received int64
		outcome  prospectkit.Outcome
	}{
		{"write without body, PROTOCOL_ERROR", approve, reset(http2.ErrCodeProtocol), 1, prospectkit.OutcomeUnknown},
		{"write without body, REFUSED_STREAM", approve, reset(http2.ErrCodeRefusedStream), 1, prospectkit.OutcomeUnknown},
		{"write without body, INTERNAL_ERROR", approve, reset(http2.ErrCodeInternal), 1, prospectkit.OutcomeUnknown},
		{"write without body, CANCEL", approve, reset(http2.ErrCodeCancel), 1, prospectkit.OutcomeUnknown},
		{"write, PROTOCOL_ERROR", create, reset(http2.ErrCodeProtocol), 1, prospectkit.OutcomeUnknown},
		{"write, INTERNAL_ERROR", create, reset(http2.ErrCodeInternal), 1, prospectkit.OutcomeUnknown},
		{"write, CANCEL", create, reset(http2.ErrCodeCancel), 1, prospectkit.OutcomeUnknown},
		{"write, REFUSED_STREAM", create, reset(http2.ErrCodeRefusedStream), 1, prospectkit.OutcomeUnknown},
		{"write, GOAWAY that excludes it", create, goAway, 3, prospectkit.OutcomeNotApplied},
		{"read, REFUSED_STREAM once", me, then(1, reset(http2.ErrCodeRefusedStream)), 2, prospectkit.OutcomeApplied},
		{"read, INTERNAL_ERROR once", me, then(1, reset(http2.ErrCodeInternal)), 2, prospectkit.OutcomeApplied},
		{"read, INTERNAL_ERROR always", me, then(always, reset(http2.ErrCodeInternal)), 3, prospectkit.OutcomeNotApplied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, transport := startFrames(t, tc.respond)
			client, err := prospectkit.New(server.url, "token", prospectkit.WithTransport(transport),
				prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}))
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			err = tc.call(ctx, client)
			require.Equal(t, tc.outcome, prospectkit.OutcomeOf(err), "%v", err)
			require.Equal(t, tc.received, server.received.Load(), "%v", err)
		})
	}
}

// TestHTTP2NeverReplaysAWrite resets a thousand body-less writes in the way after which net/http would replay them.
func TestHTTP2NeverReplaysAWrite(t *testing.T) {
	server, transport := startFrames(t, reset(http2.ErrCodeProtocol))
	client, err := prospectkit.New(server.url, "token", prospectkit.WithTransport(transport))
	require.NoError(t, err)
	const calls = 1000
	for range calls {
		err := client.Call(t.Context(), prospectkit.Operation{
			Name: "test.approve", Method: http.MethodPost, Path: "/business/drafts/x/approve",
			Surface: "contacts",
		}, nil, nil)
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	}
	require.EqualValues(t, calls, server.received.Load())
}

// TestHTTP2WindowOverflow lets a window of a stream overflow, at which net/http of Go 1.26 hangs: no call through that transport
// returns. Calls of the client return with their context, and a second one, too.
func TestHTTP2WindowOverflow(t *testing.T) {
	server, transport := startFrames(t, func(_ int64, f *http2.Framer, stream uint32) error {
		return errors.Join(f.WriteWindowUpdate(stream, 1<<31-1), f.WriteWindowUpdate(stream, 1<<31-1))
	})
	stopped := transport.Clone() // not to be closed at the end: that hangs as well
	client, err := prospectkit.New(server.url, "token", prospectkit.WithTransport(stopped), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
	require.NoError(t, err)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err = client.Lists.Create(ctx, prospectkit.NewList{Name: "x"})
		cancel()
		require.Error(t, err)
		require.NotEqual(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err))
	}
	tests.NothingInFlight(t, client)
}
