// Package relay is a network that takes time.
package relay

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Relay passes on bytes, and the ends of connections, later than they came.
type Relay struct {
	Address  string
	Accepted atomic.Int64 // connections

	to   string
	late time.Duration
}

// Start starts a relay to an address, until the end of the test.
func Start(t *testing.T, to string, late time.Duration) *Relay {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	r := &Relay{Address: l.Addr().String(), to: to, late: late}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			r.Accepted.Add(1)
			go r.join(near.(*net.TCPConn))
		}
	}()
	return r
}

func (r *Relay) join(near *net.TCPConn) {
	time.Sleep(r.late)
	conn, err := net.Dial("tcp", r.to) //nolint:noctx // ends with the server
	if err != nil {
		_ = near.Close()
		return
	}
	far := conn.(*net.TCPConn)
	go r.pass(near, far)
	r.pass(far, near)
}

// piece is what came in one read, or the end.
type piece struct {
	due  time.Time
	data []byte
	err  error
}

// pass passes on one direction. Whatever cannot be written any more resets the other one, as the far host would.
func (r *Relay) pass(from, to *net.TCPConn) {
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			pieces <- piece{due: time.Now().Add(r.late), data: buffer[:n], err: err}
			if err != nil {
				return
			}
		}
	}()
	failed := false
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if failed {
			continue
		}
		if _, err := to.Write(p.data); err != nil {
			failed = true
			time.Sleep(r.late)
			reset(from)
			continue
		}
		switch {
		case errors.Is(p.err, io.EOF):
			_ = to.CloseWrite()
		case p.err != nil:
			reset(to)
		}
	}
}

func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
