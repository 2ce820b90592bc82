package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/journal"
)

// The test binary is also the command, and two programs of users.
const (
	asCommand = "PROSPECTKIT_TEST_AS_COMMAND"
	asProgram = "PROSPECTKIT_TEST_AS_PROGRAM"
	asWriter  = "PROSPECTKIT_TEST_AS_WRITER"
)

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	if orders := os.Getenv(asProgram); orders != "" {
		fmt.Println(program(context.Background(), orders))
		os.Exit(1)
	}
	if orders := os.Getenv(asWriter); orders != "" {
		fmt.Fprintln(os.Stderr, write(orders))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// program creates a list, whose response is lost, and pushes another one, whose response does not come.
func program(ctx context.Context, orders string) error {
	var o struct{ Path, List, CRM string }
	if err := json.Unmarshal([]byte(orders), &o); err != nil {
		return err
	}
	j, err := journal.Open(o.Path, "acme")
	if err != nil {
		return err
	}
	client, err := prospectkit.FromEnv(prospectkit.WithJournal(j))
	if err != nil {
		return err
	}
	if _, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Berlin"}); !errors.Is(err, prospectkit.ErrOutcomeUnknown) {
		return fmt.Errorf("wanted an unknown outcome, got %w", err)
	}
	_, err = client.Lists.PushToCRM(ctx, o.List, prospectkit.CRMPush{CRM: o.CRM, All: true})
	return err
}

// child is a process of the test binary.
func child(t *testing.T, env []string, args ...string) (cmd *exec.Cmd, stdout io.Reader) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), t.Output()
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, stdout
}

// service is the sandbox in a process of its own.
type service struct {
	BaseURL, Token, ControlURL string

	Lists []struct{ ID string }
	CRM   struct{ Connected []string }
}

func startService(t *testing.T, args ...string) (s service, cmd *exec.Cmd) {
	t.Helper()
	cmd, stdout := child(t, []string{asCommand + "=1"}, append([]string{"sandbox", "-json"}, args...)...)
	require.NoError(t, json.NewDecoder(stdout).Decode(&s))
	return s, cmd
}

func (s service) env() []string {
	return []string{"PROSPECTKIT_BASE_URL" + "=" + s.BaseURL, "PROSPECTKIT_TOKEN" + "=" + s.Token}
}

// calls is how often a call arrived, and was processed.
func (s service) calls(t *testing.T, operation string) (c struct{ Requests, Processed int }) {
	t.Helper()
	var all struct {
		Calls map[string]struct{ Requests, Processed int }
	}
	s.control(t, "calls", &all)
	return all.Calls[operation]
}

// control asks the sandbox what happened.
func (s service) control(t *testing.T, what string, into any) {
	t.Helper()
	resp, err := http.Get(s.ControlURL + what)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(into))
}

// command runs the command to its end.
func (s service) command(t *testing.T, args ...string) (status int, output string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(append(os.Environ(), s.env()...), asCommand+"=1"), &out, &out
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		status = exit.ExitCode()
	}
	require.True(t, s.Token == "" || !strings.Contains(out.String(), s.Token), "it shows the key")
	return status, out.String()
}

// The day after a crash, with real processes, files and sockets: a program is killed after a write whose response was lost, and in the
// middle of another one. A person sees both, lets the service tell the outcome of one, and settles the other. Nothing is sent again.
func TestAfterACrash(t *testing.T) {
	dir, err := os.MkdirTemp("", "crash") //nolint:usetesting // Wine cannot remove it, which would fail the test
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "writes.journal")
	s, _ := startService(t, "-fault", "lists.create:nth=1:drop-after", "-fault", "lists.crm-push:stall=1h")
	orders, err := json.Marshal(map[string]string{"Path": path, "List": s.Lists[0].ID, "CRM": s.CRM.Connected[0]})
	require.NoError(t, err)
	running, _ := child(t, append(s.env(), asProgram+"="+string(orders)))
	for s.calls(t, "lists.crm-push").Processed == 0 {
		require.NoError(t, t.Context().Err())
		time.Sleep(10 * time.Millisecond)
	}

	status, output := s.command(t, "in-doubt", "-journal", path, "-json")
	require.Equal(t, cli.InDoubt, status, "beside the running program: %s", output)
	var seen struct {
		InDoubt []struct {
			Ticket journal.Ticket
			Next   string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(output), &seen))
	require.Len(t, seen.InDoubt, 2)
	created, pushed := seen.InDoubt[0].Ticket, seen.InDoubt[1].Ticket
	require.Equal(t, []string{"lists.create", "resolve", "lists.crm-push", "settle"}, []string{created.Op, seen.InDoubt[0].Next, pushed.Op, seen.InDoubt[1].Next})
	require.NoError(t, running.Process.Kill())
	_ = running.Wait()

	status, output = s.command(t, "resolve", created.ID, "-journal", path, "-workspace", "acme")
	require.Equal(t, cli.OK, status, output)
	require.Contains(t, output, "applied: ")
	status, output = s.command(t, "resolve", "-journal", path, "-workspace", "acme")
	require.Equal(t, cli.InDoubt, status, output)
	require.Contains(t, output, pushed.ID)
	require.Contains(t, output, "unknown: no documented read shows it: look in the CRM")
	status, output = s.command(t, "settle", pushed.ID, "applied", "-by", "maria", "-because", "the contacts are in the CRM", "-journal", path, "-workspace", "acme")
	require.Equal(t, cli.OK, status, output)
	status, output = s.command(t, "in-doubt", "-journal", path)
	require.Equal(t, cli.OK, status)
	require.Equal(t, "Nothing is in doubt.\n", output)

	var entries []string
	for e, err := range journal.Read(path) {
		require.NoError(t, err)
		entries = append(entries, strings.TrimSpace(e.Ticket.Op+" "+string(e.Outcome)+" "+e.By))
	}
	require.Equal(t, []string{"lists.create applied", "lists.crm-push applied maria"}, entries)
	for _, operation := range []string{"lists.create", "lists.crm-push"} {
		require.Equal(t, 1, s.calls(t, operation).Requests, operation)
	}
}

func TestUsage(t *testing.T) {
	var s service
	status, output := s.command(t)
	require.Equal(t, cli.Failed, status)
	require.Contains(t, output, "Exit status:")
	status, output = s.command(t, "lists")
	require.Equal(t, cli.Failed, status)
	require.Equal(t, "prospectkit: there is no command \"lists\" (prospectkit help shows them)\n", output)
	for _, help := range []string{"help", "-h", "--help"} {
		status, output = s.command(t, help)
		require.Equal(t, cli.OK, status)
		for _, name := range []string{"check", "sandbox", "in-doubt", "resolve", "settle"} {
			require.Contains(t, output, "\n  "+name+" ")
			status, long := s.command(t, "help", name)
			require.Equal(t, cli.OK, status)
			require.True(t, strings.HasPrefix(long, "Usage: prospectkit "+name+" [flags]"), long)
		}
	}
}
