package sandbox

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// delivery is a response while it is sent, and what a fault does to it.
type delivery struct {
	response  response
	fault     *Fault
	processed bool // the rules accepted the request
}

// lost reports whether no response is sent.
func (d *delivery) lost() bool { return d.fault.drop != dropNever }

// length is what Content-Length says.
func (d *delivery) length() int64 { return max(int64(len(d.response.body)), d.fault.oversize) }

// body delivers the response as the fault wants it.
func (d *delivery) body(ctx context.Context, clock Clock) *body {
	f := d.fault
	b := &body{ctx: ctx, clock: clock, rest: d.response.body, stall: f.stall, end: io.EOF}
	b.padding = d.length() - int64(len(b.rest))
	if f.truncate != nil {
		if n := f.truncate(d.length()); n < d.length() {
			b.padding = max(0, min(b.padding, n-int64(len(b.rest))))
			b.rest, b.end = b.rest[:min(n, int64(len(b.rest)))], io.ErrUnexpectedEOF
		}
	}
	return b
}

// body is a response body that may be late, long or cut short.
type body struct {
	ctx     context.Context //nolint:containedctx // Read takes none
	clock   Clock
	rest    []byte
	padding int64 // spaces behind the rest
	stall   time.Duration
	end     error
	closed  atomic.Bool // a body may be closed while it is read
}

// Read waits on the clock if the body is late. A client that has given up gets the error of its context.
func (b *body) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.stall > 0 {
		stall := b.stall
		b.stall = 0
		if err := b.clock.Sleep(b.ctx, stall); err != nil {
			return 0, err
		}
	}
	if len(b.rest) == 0 && b.padding == 0 {
		return 0, b.end
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	for ; n < len(p) && b.padding > 0; n++ {
		p[n] = ' '
		b.padding--
	}
	return n, nil
}

// Close ends the body.
func (b *body) Close() error {
	b.closed.Store(true)
	return nil
}

func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// write delivers over a connection.
func (d *delivery) write(w http.ResponseWriter, r *http.Request, clock Clock) {
	if clock.Sleep(r.Context(), d.fault.latency) != nil {
		panic(http.ErrAbortHandler)
	}
	if d.lost() {
		cut(w, d.fault.reset || d.fault.drop == dropRefuse)
		return
	}
	maps.Copy(w.Header(), d.response.header)
	if !bodyAllowed(d.response.status) || r.Method == http.MethodHead {
		w.WriteHeader(d.response.status)
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(d.length(), 10))
	w.WriteHeader(d.response.status)
	flush := func() {
		if d.fault != noFault {
			_ = http.NewResponseController(w).Flush() // a recorder cannot
		}
	}
	flush()
	_, err := io.Copy(w, d.body(r.Context(), clock))
	if flush(); err != nil {
		panic(http.ErrAbortHandler) // cut short, on purpose or because the client went away
	}
}

// cut ends a connection without a response.
func cut(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2, or a recorder
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0) // without it, the cut is a plain end
	}
	_ = conn.Close() // there is nobody to tell
}
