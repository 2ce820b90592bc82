package call_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
)

// The frames and errors of HTTP/2 (RFC 9113) that these tests need.
const (
	frameHeaders, frameReset, frameSettings, frameGoAway = 0x1, 0x3, 0x4, 0x7

	endStream, endHeaders, ack = 0x1, 0x4, 0x1

	noError, protocolError, internalError, refusedStream, cancelled = 0x0, 0x1, 0x2, 0x7, 0x8
)

// http2Server responds to each request with one frame of the test's choice, which no server of net/http would send. The headers
// of the requests stay packed: it counts them.
type http2Server struct {
	address  string
	requests atomic.Int32
}

// serveHTTP2 starts a server in clear text; respond gets the number of the request, from 1, and its stream.
func serveHTTP2(t *testing.T, respond func(c net.Conn, n int32, stream uint32)) *http2Server {
	t.Helper()
	s := &http2Server{}
	s.address = listen(t, func(c net.Conn) { go s.serve(c, respond) })
	return s
}

func (s *http2Server) serve(c net.Conn, respond func(net.Conn, int32, uint32)) {
	defer c.Close()
	if _, err := io.CopyN(io.Discard, c, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	sendFrame(c, frameSettings, 0, 0, nil)
	var head [9]byte
	for {
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, c, length); err != nil {
			return
		}
		switch kind, flags := head[3], head[4]; {
		case kind == frameSettings && flags&ack == 0:
			sendFrame(c, frameSettings, ack, 0, nil)
		case kind == frameHeaders:
			respond(c, s.requests.Add(1), binary.BigEndian.Uint32(head[5:]))
		}
	}
}

func sendFrame(c net.Conn, kind, flags byte, stream uint32, payload []byte) {
	frame := []byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	frame = binary.BigEndian.AppendUint32(frame, stream)
	_, _ = c.Write(append(frame, payload...))
}

// reset ends a stream with an error code.
func reset(code uint32) func(net.Conn, uint32) {
	return func(c net.Conn, stream uint32) {
		sendFrame(c, frameReset, 0, stream, binary.BigEndian.AppendUint32(nil, code))
	}
}

// goAway ends the connection; streams above last have not been processed.
func goAway(last func(stream uint32) uint32) func(net.Conn, uint32) {
	return func(c net.Conn, stream uint32) {
		payload := binary.BigEndian.AppendUint32(nil, last(stream))
		sendFrame(c, frameGoAway, 0, 0, binary.BigEndian.AppendUint32(payload, noError))
		_ = c.Close()
	}
}

// noContent responds with status 204, number 9 in the static table of header compression, and a rate header.
func noContent(c net.Conn, stream uint32) {
	const name = "ratelimit-remaining"
	sendFrame(c, frameHeaders, endStream|endHeaders, stream, append([]byte{0x80 | 9, 0, byte(len(name))}, name+"\x019"...))
}

// A peer that ends a stream: what net/http makes of it, pinned for the Go release, and what we make of that. It resends any
// request without a body, unless it is kept from it, even after PROTOCOL_ERROR, which promises nothing.
func TestDelivery_HTTP2Resets(t *testing.T) {
	withBody, bodyless := any(map[string]int{"n": 1}), any(nil)
	cases := []struct {
		name     string
		respond  func(net.Conn, uint32) // to the first request; the others succeed
		in       any
		received int32
		outcome  prospectkit.Outcome
		delivery string // of the first attempt
	}{
		{"refused, with a body", reset(refusedStream), withBody, 1, prospectkit.OutcomeUnknown, "unknown"},
		{"refused, without", reset(refusedStream), bodyless, 1, prospectkit.OutcomeUnknown, "unknown"},
		{"protocol error, with a body", reset(protocolError), withBody, 1, prospectkit.OutcomeUnknown, "unknown"},
		{"protocol error, without", reset(protocolError), bodyless, 1, prospectkit.OutcomeUnknown, "unknown"},
		{"internal error, with a body", reset(internalError), withBody, 1, prospectkit.OutcomeUnknown, "unknown"},
		{"internal error, without", reset(internalError), bodyless, 1, prospectkit.OutcomeUnknown, "unknown"},
		{"cancelled, with a body", reset(cancelled), withBody, 1, prospectkit.OutcomeUnknown, "unknown"},
		{"going away before it, with a body", goAway(func(uint32) uint32 { return 0 }), withBody, 2, prospectkit.OutcomeApplied, "unprocessed"},
		{"going away before it, without", goAway(func(uint32) uint32 { return 0 }), bodyless, 1, prospectkit.OutcomeUnknown, "unknown"},
		{"going away after it", goAway(func(s uint32) uint32 { return s }), withBody, 1, prospectkit.OutcomeUnknown, "unknown"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			server := serveHTTP2(t, func(c net.Conn, n int32, stream uint32) {
				if n == 1 {
					test.respond(c, stream)
				} else {
					noContent(c, stream)
				}
			})
			client := tests.ClientAt(t, "http://"+server.address, prospectkit.WithTransport(clearHTTP2(t)))
			var info prospectkit.Info
			err := client.Call(t.Context(), tests.Described(http.MethodPost, op.GuardedByState), test.in, nil, prospectkit.WithInfo(&info))
			require.Equal(t, test.outcome, prospectkit.OutcomeOf(err), "%v", err)
			require.Equal(t, test.received, server.requests.Load())
			require.Equal(t, test.delivery, info.Attempts[0].Delivery, "%v", info.Attempts[0].Err)
		})
	}
}

// Going away forever is a clean failure, after the attempts that the policy allows.
func TestDelivery_HTTP2GoesAwayRepeatedly(t *testing.T) {
	server := serveHTTP2(t, func(c net.Conn, _ int32, stream uint32) { goAway(func(uint32) uint32 { return 0 })(c, stream) })
	client := tests.ClientAt(t, "http://"+server.address, prospectkit.WithTransport(clearHTTP2(t)))
	_, err := tests.Call(context.Background(), client, true)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.EqualValues(t, 3, server.requests.Load())
}

// clearHTTP2 speaks HTTP/2 without TLS.
func clearHTTP2(t *testing.T) *http.Transport {
	t.Helper()
	rt := &http.Transport{Protocols: new(http.Protocols)}
	rt.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(rt.CloseIdleConnections)
	return rt
}
