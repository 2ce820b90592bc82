package service_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/service"
)

// The file of the key is not read to an end that may never come.
func TestCredentials_TokenFile(t *testing.T) {
	std := cli.Std{Getenv: func(string) string { return "https://service.test/api/v1" }}
	path := filepath.Join(t.TempDir(), "key")
	access := func(text string) *service.Access {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		var a service.Access
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		a.Flags(flags)
		require.NoError(t, flags.Parse([]string{"-token-file", path}))
		return &a
	}
	_, token, err := access(" key\n").Credentials(std)
	require.NoError(t, err)
	require.Equal(t, "key", token)
	_, _, err = access(strings.Repeat("k", 1<<16)).Credentials(std)
	require.ErrorContains(t, err, "is too long")
}

// The command says that it waits, and claims no reason: it also waits to see whether a call shows, which is no matter of the rate limit.
func TestWaiting_ClaimsNoReason(t *testing.T) {
	var a service.Access
	require.Empty(t, a.Waiting())
	a.Observe(t.Context(), prospectkit.Event{Kind: prospectkit.EventWait, Wait: time.Hour, Reason: "polling: its effect does not show yet"})
	require.Regexp(t, `^, waiting \d+s$`, a.Waiting())
}

// What the service wrote does not change the terminal.
func TestExplain_PrintsText(t *testing.T) {
	text := service.Explain(&prospectkit.Error{Status: 404, Code: "GONE\x1b[2J", RequestID: "r\x1b]0;\nall is well"}).Error()
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\n")
	require.Contains(t, text, "GONE")
	require.Contains(t, text, "request r")
}
