// Package credential keeps the key of a client, which is the user name of HTTP Basic, and asks a source for another one: before the first
// use, and after the service has rejected the current one. All who wait for a source get its one result. It keeps the last ten keys, so that
// they are hidden in texts of peers. It does not ask ahead of time, knows no end of a key, and does not repeat what a source refuses.
package credential

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/redact"
)

// Source returns the key to use now. It may ignore its context, and panic.
type Source func(ctx context.Context) (string, error)

// Key is one key. Two of them with the same token are the same pointer, as long as no other key was
// current between them.
type Key struct {
	token  string
	header []string
	mark   string
}

func newKey(token string) *Key {
	sum := sha256.Sum256([]byte("prospectkit ticket " + token))
	return &Key{token, []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(token+":"))}, hex.EncodeToString(sum[:4])}
}

// Mark tells keys apart, without telling what they are: 32 bits of a hash, which fit one in four billion tokens.
func (k *Key) Mark() string {
	if k == nil {
		return ""
	}
	return k.mark
}

// Header returns the values of the Authorization header: the token is the user name of HTTP Basic.
func (k *Key) Header() []string {
	if k == nil {
		return nil
	}
	return k.header
}

// Keys are the current key of a client, and the earlier ones, which are still hidden.
type Keys struct {
	source Source // nil: the key never changes
	used   *used

	mu       sync.Mutex
	current  *Key    // nil until the source has given one
	rejected bool    // the current one was: the next use asks the source
	asking   *flight // nil: nobody asks
}

// used hides the last keys that were current, also in clients that have a source of their own.
type used struct {
	mu     sync.Mutex
	tokens []string
	hide   redact.Secrets
}

const mostUsed = 10

func (u *used) add(token string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tokens = append(u.tokens, token)
	u.tokens = u.tokens[max(0, len(u.tokens)-mostUsed):]
	u.hide = nil
	for _, token := range u.tokens {
		u.hide = u.hide.Key(token)
	}
}

// flight is one use of the source. Its results are set before done is closed.
type flight struct {
	done chan struct{}
	key  *Key
	err  error
	gone bool // the one who asked gave up: that says nothing about the source
}

// New returns the keys of a client that begins with a token, or without one if there is a source.
func New(token string, source Source) *Keys {
	k := &Keys{source: source, used: new(used)}
	if token != "" {
		k.used.add(token)
		k.current = newKey(token)
	}
	return k
}

// With returns keys that begin with the current one and have another source.
func (k *Keys) With(source Source) *Keys {
	return &Keys{source: source, used: k.used, current: k.Current()}
}

// Changes reports whether there is a source.
func (k *Keys) Changes() bool { return k.source != nil }

// Secrets hides the current key, and the last ones that were used.
func (k *Keys) Secrets() redact.Secrets {
	current := k.Current()
	k.used.mu.Lock()
	defer k.used.mu.Unlock()
	if current != nil && !slices.Contains(k.used.tokens, current.token) { // other clients have used many since
		return k.used.hide.Key(current.token)
	}
	return k.used.hide
}

// Current returns the key to send with, or nil.
func (k *Keys) Current() *Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current
}

// Reject makes the next Get ask the source, unless another key is current by now.
func (k *Keys) Reject(key *Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == key {
		k.rejected = true
	}
}

var (
	errPanicked  error = redact.OwnError("the token source panicked")
	errSilent    error = redact.OwnError("the token source did not return in time")
	errReentrant error = redact.OwnError("the token source makes a call with the client that asks it")
)

type askingKey struct{}

// Get returns the current key. If there is none, or it was rejected, it asks the source, for at
// most the limit. Whoever comes meanwhile waits for the same result, for at most the limit, too. A source
// that hangs is not asked again until it has returned.
func (k *Keys) Get(ctx context.Context, limit time.Duration) (*Key, error) {
	for {
		k.mu.Lock()
		if k.current != nil && (!k.rejected || k.source == nil) {
			key := k.current
			k.mu.Unlock()
			return key, nil
		}
		f := k.asking
		if f == nil {
			f = &flight{done: make(chan struct{}), gone: true, err: errPanicked}
			k.asking = f
			k.mu.Unlock()
			return k.ask(ctx, limit, f)
		}
		k.mu.Unlock()
		if ctx.Value(askingKey{}) == any(k) {
			return nil, errReentrant // it would wait for itself
		}
		if err := f.wait(ctx, limit); err != nil {
			return nil, err
		}
		if !f.gone {
			return f.key, f.err
		}
	}
}

func (f *flight) wait(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-f.done:
		return nil
	}
}

// ask uses the source once.
func (k *Keys) ask(ctx context.Context, limit time.Duration, f *flight) (*Key, error) {
	within, cancel := context.WithTimeoutCause(context.WithValue(ctx, askingKey{}, k), limit, errSilent)
	defer cancel()
	if !exchange.Run(within, func() { k.fly(ctx, within, f) }) {
		return nil, context.Cause(within) // the flight ends when the source returns
	}
	return f.key, f.err
}

// fly calls the source, and ends the flight.
func (k *Keys) fly(ctx, within context.Context, f *flight) {
	var token string
	defer func() { // also if the source ends its goroutine
		k.mu.Lock()
		if f.err == nil {
			if k.current == nil || k.current.token != token {
				k.used.add(token)
				k.current = newKey(token)
			}
			f.key, k.rejected = k.current, false
		}
		k.asking = nil
		k.mu.Unlock()
		close(f.done)
	}()
	token, f.err = k.fetch(within)
	if f.err != nil && within.Err() != nil && ctx.Err() == nil {
		f.err = errSilent
	}
	f.gone = f.err != nil && ctx.Err() != nil
}

// fetch calls the source, and checks what it returns. Space around a token, such as the end of a line in a file, is no part of it.
func (k *Keys) fetch(ctx context.Context) (token string, err error) {
	defer func() {
		if recover() != nil {
			err = errPanicked // the value may hold a key
		}
	}()
	if token, err = k.source(ctx); err != nil {
		return "", fmt.Errorf("the token source failed: %w", err)
	}
	token = strings.TrimSpace(token)
	var bad check.Violations
	check.Token(&bad, token)
	if len(bad) > 0 {
		return "", redact.OwnError("the token of the source " + bad[0].Problem)
	}
	return token, nil
}
