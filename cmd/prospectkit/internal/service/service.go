// Package service is how the subcommands that ask the service reach it, what they show meanwhile, and how they explain its errors.
package service

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/internal/redact"
)

// The variables that [prospectkit.FromEnv] reads.
const (
	EnvBaseURL = "PROSPECTKIT_BASE_URL"
	EnvToken   = "PROSPECTKIT_TOKEN"
)

// Variables is the part of a help text about what a person sets before.
const Variables = `Before you start, set two variables:

  export PROSPECTKIT_BASE_URL=https://.../api/v1   the address of the service
  export PROSPECTKIT_TOKEN=...                     an API key, or name a file with -token-file
`

const longest = 2 * time.Minute // wait for a rate limit

// Access is how to reach the service, for how long, and what was sent.
type Access struct {
	timeout   time.Duration
	tokenFile string
	requests  atomic.Int64
	waits     atomic.Int64 // until then, in Unix seconds
}

// Flags adds the flags. A key is never a flag: other users of the machine could read it.
func (a *Access) Flags(flags *flag.FlagSet) {
	flags.StringVar(&a.tokenFile, "token-file", "", "read the API key from this `file`, and not from "+EnvToken)
	flags.DurationVar(&a.timeout, "timeout", 10*time.Minute, "stop after this time, and use what was found so far; most of it is waiting for rate limits")
}

// Credentials are the base URL and the key. Ask once: the file of the key may be a pipe.
func (a *Access) Credentials(std cli.Std) (baseURL, token string, err error) {
	baseURL, token = strings.TrimSpace(std.Getenv(EnvBaseURL)), std.Getenv(EnvToken)
	from := "the variable " + EnvToken + " is not set"
	if a.tokenFile != "" {
		if token, err = read(a.tokenFile); err != nil {
			return "", "", err
		}
		from = "the file " + a.tokenFile + " is empty"
	}
	token = strings.TrimSpace(token)
	switch {
	case a.timeout <= 0:
		return "", "", cli.Usage("-timeout must be positive")
	case baseURL == "":
		return "", "", fmt.Errorf("the variable %s is not set: it is the address of the service, which ends in /api/v1", EnvBaseURL)
	case token == "":
		return "", "", fmt.Errorf("%s: it is an API key, from the key management of the app", from)
	}
	return baseURL, token, nil
}

func read(path string) (string, error) {
	const most = 1 << 12       // bytes
	file, err := os.Open(path) //nolint:gosec // G304: the user names it
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("the file %s is too long: it has to hold nothing but an API key", path)
	}
	return string(text), err
}

// Client returns a client that only reads, and spends nothing.
func (a *Access) Client(baseURL, token string, opts ...prospectkit.ClientOption) (*prospectkit.Client, error) {
	client, err := prospectkit.New(baseURL, token, append([]prospectkit.ClientOption{
		prospectkit.ReadOnly(), prospectkit.NoSpend(), prospectkit.NoSend(), prospectkit.WithMaxWait(longest),
		prospectkit.WithUserAgent("prospectkit-command"), prospectkit.WithObserver(a.Observe),
	}, opts...)...)
	return client, Explain(err)
}

// Bounded returns a context that ends with -timeout.
func (a *Access) Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, a.timeout)
}

// Observe is the observer of a client.
func (a *Access) Observe(_ context.Context, e prospectkit.Event) context.Context {
	if e.Kind == prospectkit.EventAttempt {
		a.requests.Add(1)
	}
	if e.Kind == prospectkit.EventWait {
		a.waits.Store(time.Now().Add(e.Wait).Unix())
	}
	return nil
}

// Requests says how many requests were sent.
func (a *Access) Requests() string { return redact.Plural(int(a.requests.Load()), "request") }

// Waiting says for how long the client still waits, for the rate limit or for what a call did to show; it is empty unless it does.
func (a *Access) Waiting() string {
	if left := a.waits.Load() - time.Now().Unix(); left > 0 {
		return fmt.Sprintf(", waiting %ds", left)
	}
	return ""
}
