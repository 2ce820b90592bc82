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
	fromFile  string // the key in that file, once it was read
	requests  atomic.Int64
	waits     atomic.Int64 // until then, in Unix seconds
}

// Flags adds the flags. A key is never a flag: other users of the machine could read it.
func (a *Access) Flags(flags *flag.FlagSet) {
	flags.StringVar(&a.tokenFile, "token-file", "", "read the API key from this `file`, and not from "+EnvToken)
	flags.DurationVar(&a.timeout, "timeout", 10*time.Minute, "stop after this time, and use what was found so far; most of it is waiting for rate limits")
}

// Credentials are the base URL and the key.
func (a *Access) Credentials(std cli.Std) (baseURL, token string, err error) {
	baseURL, token = strings.TrimSpace(std.Getenv(EnvBaseURL)), std.Getenv(EnvToken)
	from := "the variable " + EnvToken + " is not set"
	if a.tokenFile != "" {
		if err := a.read(); err != nil {
			return "", "", err
		}
		token, from = a.fromFile, "the file "+a.tokenFile+" is empty"
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

// read reads the file of the key, once: it may be a pipe.
func (a *Access) read() error {
	if a.fromFile != "" {
		return nil
	}
	const most = 1 << 12 // bytes
	file, err := os.Open(a.tokenFile)
	if err != nil {
		return err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	switch {
	case err != nil:
		return err
	case len(text) > most:
		return fmt.Errorf("the file %s is too long: it has to hold nothing but an API key", a.tokenFile)
	}
	a.fromFile = string(text)
	return nil
}

// Client returns a client that only reads, and spends nothing.
func (a *Access) Client(std cli.Std, opts ...prospectkit.ClientOption) (*prospectkit.Client, error) {
	baseURL, token, err := a.Credentials(std)
	if err != nil {
		return nil, err
	}
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
