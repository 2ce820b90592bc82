package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit/internal/check"
)

// Server is a sandbox on a port. Make one with [Sandbox.Listen].
type Server struct {
	http   *http.Server
	addr   net.Addr
	unbind func() bool  // from the context
	serve  func() error // once; a later call returns when the first one does
}

// Listen serves the sandbox on a port of this machine until the context ends or the server is closed: "127.0.0.1:0" takes
// any free port. An address that other machines can reach needs [AllowRemote].
func (sb *Sandbox) Listen(ctx context.Context, addr string) (*Server, error) {
	addr, err := sb.checkAddress(addr)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("sandbox: listen: %w", err)
	}
	s := &Server{http: &http.Server{Handler: sb.Handler(), ReadHeaderTimeout: 10 * time.Second}, addr: listener.Addr()}
	s.serve = sync.OnceValue(func() error { return s.http.Serve(listener) })
	s.unbind = context.AfterFunc(ctx, func() { _ = s.http.Close() }) // Wait tells
	go func() { _ = s.serve() }()
	return s, nil
}

// checkAddress returns the address to listen on. Not every machine can look localhost up.
func (sb *Sandbox) checkAddress(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return "", fmt.Errorf("sandbox: listen: %w", err)
	case strings.EqualFold(host, "localhost"):
		return net.JoinHostPort("127.0.0.1", port), nil
	case sb.remote || check.IsLoopback(host):
		return addr, nil
	}
	return "", fmt.Errorf("sandbox: listen: other machines can reach %q: AllowRemote allows that", addr)
}

// BaseURL is the base URL for a client.
func (s *Server) BaseURL() string { return "http://" + s.addr.String() + basePath }

// Addr is the address of the server.
func (s *Server) Addr() net.Addr { return s.addr }

// Close ends the server and its connections.
func (s *Server) Close() error {
	s.unbind()
	err := s.http.Close()
	return errors.Join(err, s.Wait())
}

// Shutdown ends the server when the requests in flight have their responses, or when the context ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.unbind()
	if err := s.http.Shutdown(ctx); err != nil {
		return err
	}
	return s.Wait()
}

// Wait returns when the server has ended, with nil if it was closed or shut down.
func (s *Server) Wait() error {
	if err := s.serve(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
