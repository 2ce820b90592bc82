package main

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

	"github.com/jackc/pgx/v5"
)

var errNoPostgres = errors.New("initdb and postgres are needed, in the path or where Debian has them: apt-get install postgresql")

// programs is the directory of PostgreSQL's programs, which Debian keeps off the path.
func programs() (string, error) {
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

// database is a PostgreSQL of this program's own, on a socket in its own directory.
type database struct {
	dir, programs string
	account       *syscall.Credential // it refuses to run as root
	cmd           *exec.Cmd
	exited        chan struct{}
}

// startDatabase makes an empty cluster and runs it.
func startDatabase(ctx context.Context) (*database, error) {
	found, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg") // a short path, for the socket
	if err != nil {
		return nil, err
	}
	d := &database{dir: dir, programs: found}
	if os.Getuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		uid, _ := strconv.ParseUint(owner.Uid, 10, 32)
		gid, _ := strconv.ParseUint(owner.Gid, 10, 32)
		d.account = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	cmd := d.command(ctx, "initdb", "-U", "fleet", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", err, out), os.RemoveAll(dir))
	}
	if err := d.start(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return d, nil
}

func (d *database) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	args = append([]string{"-D", filepath.Join(d.dir, "data")}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(d.programs, program), args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: d.account, Setpgid: true}, d.dir
	return cmd
}

// start runs the server until it is killed. Processes of one that was killed may still be ending.
func (d *database) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if err := d.launch(); err != nil {
			return err
		}
		if d.accepts(ctx) {
			return nil
		}
		if ctx.Err() != nil {
			text, _ := os.ReadFile(d.log())
			return fmt.Errorf("postgres does not start: %w: %s", ctx.Err(), text)
		}
		pause(ctx, 50*time.Millisecond)
	}
}

func (d *database) log() string { return filepath.Join(d.dir, "log") }

func (d *database) launch() error {
	// Fsync is off: what is killed here is the server, not the machine.
	cmd := d.command(context.Background(), "postgres", "-k", d.dir, "-F", "-c", "listen_addresses=", "-c", "max_connections=300")
	log, err := os.OpenFile(d.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	d.cmd, d.exited = cmd, exited
	go func() { _ = cmd.Wait(); close(exited) }()
	return nil
}

// accepts waits until the server takes connections, or has ended.
func (d *database) accepts(ctx context.Context) bool {
	for ctx.Err() == nil {
		if conn, err := pgx.Connect(ctx, d.dsn()); err == nil {
			return conn.Close(ctx) == nil
		}
		select {
		case <-d.exited:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

// kill ends the server and its children at once, as a crash does.
func (d *database) kill() {
	pid := d.cmd.Process.Pid
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // elsewhere they see that the server is gone
	_ = d.cmd.Process.Kill()
	for child := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-d.exited
}

func (d *database) remove() error {
	d.kill()
	return os.RemoveAll(d.dir)
}

func (d *database) dsn() string {
	return "postgres://fleet@/postgres?host=" + url.QueryEscape(d.dir)
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
