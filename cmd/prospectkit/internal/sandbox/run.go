// Package sandbox is the command that serves the sandbox to programs in any language.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/internal/filesystem"
	"example.com/prospectkit/sandbox"
)

const (
	saveEvery    = 3 * time.Second
	shutdownTime = 5 * time.Second
)

// New returns the command.
func New() cli.Command {
	var cfg config
	return cli.Command{
		Name: "sandbox", Summary: "serve a double of the service on a port of this machine", Help: help, HelpEnd: helpEnd, Flags: cfg.flags,
		Run: func(ctx context.Context, std cli.Std, _ []string) (int, error) { return cli.OK, cfg.run(ctx, std) },
	}
}

// run returns when the context ends.
func (cfg *config) run(ctx context.Context, std cli.Std) error {
	if err := cfg.check(); err != nil {
		return cli.Usage("%w", err)
	}
	if cfg.rules {
		_, err := io.WriteString(std.Out, sandbox.Assumptions())
		return err
	}
	h, err := cfg.prepare(ctx, std.Err)
	if err != nil {
		return err
	}
	return h.serve(ctx, std.Out)
}

// prepare makes the data, which may take minutes, unless the context ends before.
func (cfg *config) prepare(ctx context.Context, stderr io.Writer) (*host, error) {
	stop := cli.Progress(stderr, func() string { return "making the data" })
	defer stop()
	ready := make(chan struct{})
	var made *host
	var err error
	go func() {
		defer close(ready)
		made, err = newHost(*cfg, stderr)
	}()
	select {
	case <-ready:
		return made, err
	case <-ctx.Done():
		return nil, errors.New("stopped")
	}
}

// serve listens until the context ends, then waits for calls in flight and saves the state.
func (h *host) serve(ctx context.Context, stdout io.Writer) error {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", h.cfg.addr)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           h.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		ErrorLog:          log.New(h.stderr, "prospectkit sandbox: ", 0),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()

	if err := h.announce(stdout, "http://"+reachable(listener.Addr())); err != nil {
		return errors.Join(err, server.Close())
	}
	err = h.keepSaving(ctx, failed)
	return errors.Join(err, shutdown(server), h.finish())
}

func shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		return server.Close() // a call hangs, perhaps on a fault: not an error
	}
	return nil
}

// keepSaving writes the state whenever it has changed, until the end. It reports errors and tries again.
func (h *host) keepSaving(ctx context.Context, failed <-chan error) error {
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	saved := h.age()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case <-ticker.C:
		}
		if age := h.age(); h.cfg.stateFile != "" && age != saved {
			if err := h.save(); err != nil {
				h.current.Load().report.Errorf("prospectkit sandbox: %v", err)
				continue
			}
			saved = age
		}
	}
}

// age changes whenever the state may have changed.
type age struct {
	box             *instance
	touched, events int64
}

func (h *host) age() age {
	box := h.current.Load()
	return age{box, box.touched.Load(), int64(len(box.Events()))}
}

func (h *host) save() error {
	return wrap("save the state", writeState(h.cfg.stateFile, h.current.Load().Snapshot()))
}

// writeState replaces a file atomically: readers, and a machine after a power cut, find the old state or the new one. A link stays.
func writeState(path string, state sandbox.State) (err error) {
	if path, err = filesystem.Target(path); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = state.WriteTo(file)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// finish saves once more, and reports faults that never fired.
func (h *host) finish() error {
	h.current.Load().report.last()
	if h.cfg.stateFile == "" {
		return nil
	}
	return h.save()
}

// reachable is the address for clients on this machine, because 0.0.0.0 is not one.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
}
