//go:build unix

// Package pgserver runs PostgreSQL for tests: a process that they may kill, on a socket in a directory of its own.
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Server is one PostgreSQL.
type Server struct {
	Dir     string              // short, for the socket
	Account *syscall.Credential // it refuses to run as root

	programs string
	settings []string
	cmd      *exec.Cmd
	exited   chan struct{}
}

var errNoPostgres = errors.New("initdb and postgres are needed, in the path or where Debian has them: apt-get install postgresql")

// Programs is the directory of PostgreSQL's programs, which Debian keeps off the path.
func Programs() (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	dirs = append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
	i := slices.IndexFunc(dirs, func(dir string) bool {
		_, noServer := os.Stat(filepath.Join(dir, "postgres"))
		_, noInit := os.Stat(filepath.Join(dir, "initdb"))
		return noServer == nil && noInit == nil
	})
	if i < 0 {
		return "", errNoPostgres
	}
	return dirs[i], nil
}

// Start makes an empty cluster and runs it, with settings such as max_connections=300.
func Start(ctx context.Context, settings ...string) (*Server, error) {
	s, err := New(settings...)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.Init(), s.Start(ctx)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.Dir))
	}
	return s, nil
}

// New is a server without data. Fsync is off: what tests kill is the server, not the machine.
func New(settings ...string) (*Server, error) {
	programs, err := Programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, programs: programs, settings: append([]string{"listen_addresses=", "fsync=off"}, settings...)}
	if os.Getuid() != 0 {
		return s, nil
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	uid, _ := strconv.ParseUint(owner.Uid, 10, 32)
	gid, _ := strconv.ParseUint(owner.Gid, 10, 32)
	s.Account = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return s, os.Chown(dir, int(uid), int(gid))
}

// Init makes an empty cluster.
func (s *Server) Init() error {
	if err := os.RemoveAll(s.Data()); err != nil {
		return err
	}
	return s.Run("initdb", "-D", s.Data(), "-U", "fleet", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync")
}

// Run runs a program of PostgreSQL to its end.
func (s *Server) Run(program string, args ...string) error {
	if out, err := s.Command(filepath.Join(s.programs, program), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// Command is a program under the account of the server, in its directory. No signal to the group of the test reaches it.
func (s *Server) Command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...) //nolint:gosec,noctx // a program of a test, which ends it
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: s.Account, Setpgid: true}, s.Dir
	return cmd
}

// Start runs the server until it is killed. Processes of one that was killed may still be ending.
func (s *Server) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if err := s.launch(); err != nil {
			return err
		}
		if s.accepts(ctx) {
			return nil
		}
		if ctx.Err() != nil {
			text, _ := os.ReadFile(s.Log())
			return fmt.Errorf("postgres does not start: %w: %s", ctx.Err(), text)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *Server) launch() error {
	cmd := s.Command(filepath.Join(s.programs, "postgres"), "-D", s.Data(), "-k", s.Dir)
	for _, setting := range s.settings {
		cmd.Args = append(cmd.Args, "-c", setting)
	}
	log, err := os.OpenFile(s.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	s.cmd, s.exited = cmd, exited
	go func() { _ = cmd.Wait(); close(exited) }()
	return nil
}

// accepts waits until it takes connections, or has ended.
func (s *Server) accepts(ctx context.Context) bool {
	for ctx.Err() == nil {
		if s.Run("pg_isready", "-q", "-h", s.Dir, "-U", "fleet") == nil {
			return true
		}
		select {
		case <-s.exited:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// Signal sends a signal that ends the server, and waits for the end.
func (s *Server) Signal(sent os.Signal) error {
	err := s.cmd.Process.Signal(sent)
	<-s.exited
	return err
}

// Kill ends all of its processes at once, as a crash does. Each is in a group of its own.
func (s *Server) Kill() {
	pid := s.cmd.Process.Pid
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // elsewhere they see that the server is gone
	_ = s.cmd.Process.Kill()
	for child := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-s.exited
}

// Remove ends the server, if it runs, and removes what it has stored.
func (s *Server) Remove() error {
	if s.cmd != nil {
		s.Kill()
	}
	return os.RemoveAll(s.Dir)
}

// Data is the directory of the cluster.
func (s *Server) Data() string { return filepath.Join(s.Dir, "data") }

// Log is the file of what it says.
func (s *Server) Log() string { return filepath.Join(s.Dir, "log") }

// DSN is a connection string. Options are such as "&pool_max_conns=1".
func (s *Server) DSN(options string) string {
	return "postgres://fleet@/postgres?host=" + url.QueryEscape(s.Dir) + options
}
