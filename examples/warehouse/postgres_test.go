//go:build unix

package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKilledOnPostgreSQL(t *testing.T) {
	dsn := startPostgres(t)
	k := newKilling(t, "-dsn", dsn)
	s, err := open(t.Context(), "", dsn)
	require.NoError(t, err)
	defer s.Close()
	k.survives(t, s)
}

func TestUnstorableTextsOnPostgreSQL(t *testing.T) {
	s, err := open(t.Context(), "", startPostgres(t))
	require.NoError(t, err)
	defer s.Close()
	syncsUnstorable(t, s)
	var name string
	require.NoError(t, s.db.QueryRowContext(t.Context(), `SELECT body::json ->> 'firstName' FROM list_rows`).Scan(&name))
	require.Equal(t, "A\uFFFDda", name, "the database can read it, too")
}

func TestViewOnPostgreSQL(t *testing.T) {
	s, err := open(t.Context(), "", startPostgres(t))
	require.NoError(t, err)
	defer s.Close()
	viewed(t, s)
}

// startPostgres starts its own server, on a socket in its own directory. It refuses to run as root.
func startPostgres(t *testing.T) (dsn string) {
	t.Helper()
	bin := postgresPrograms()
	if bin == "" {
		t.Skip("PostgreSQL is not tested: initdb and pg_ctl are not installed (Debian: apt-get install postgresql)")
	}
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // a short path for the socket, which another user can reach
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	var credential *syscall.Credential
	if os.Getuid() == 0 {
		owner, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		require.NoError(t, os.Chown(dir, uid, gid))
		credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	run := func(program string, args ...string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, program), args...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
		log, err := os.Create(filepath.Join(t.TempDir(), "log")) // a file, since the server would keep a pipe open
		require.NoError(t, err)
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Run(); err != nil {
			text, _ := os.ReadFile(log.Name())
			require.NoError(t, err, "%s: %s", program, text)
		}
	}
	data := filepath.Join(dir, "data")
	run("initdb", "-D", data, "-U", "warehouse", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync")
	run("pg_ctl", "start", "-w", "-D", data, "-o", fmt.Sprintf("-F -k %s -c listen_addresses=''", dir))
	t.Cleanup(func() { run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", data) })
	return "postgres://warehouse@/postgres?host=" + url.QueryEscape(dir)
}

// postgresPrograms finds the directory of initdb and pg_ctl, which Debian keeps off the path.
func postgresPrograms() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	dirs = append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
	i := slices.IndexFunc(dirs, func(dir string) bool {
		_, noServer := os.Stat(filepath.Join(dir, "pg_ctl"))
		_, noInit := os.Stat(filepath.Join(dir, "initdb"))
		return noServer == nil && noInit == nil
	})
	if i < 0 {
		return ""
	}
	return dirs[i]
}
