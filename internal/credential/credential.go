// Package credential keeps the key of a client, and asks a source for another one. A key is
// the user name of HTTP Basic.
package credential

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
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
}

func newKey(token string) *Key {
	return &Key{token, []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(token+":"))}}
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

// used hides every key that was current, also in clients that have a source of their own.
type used struct {
	mu   sync.Mutex
	hide redact.Secrets
}

// maxForms keeps the last 100 keys hidden. The earliest of more forms are forgotten.
const maxForms = 100 * redact.KeyForms

func (u *used) add(token string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.hide = u.hide.Key(token)
	u.hide = u.hide[max(0, len(u.hide)-maxForms):]
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

// Secrets hides all keys that were used.
func (k *Keys) Secrets() redact.Secrets {
	k.used.mu.Lock()
	defer k.used.mu.Unlock()
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
	errPanicked  = errors.New("the token source panicked")
	errSilent    = errors.New("the token source did not return in time")
	errReentrant = errors.New("the token source makes a call with the client that asks it")
)

type askingKey struct{}

// Get returns the current key. If there is none, or it was rejected, it asks the source, for at
// most the limit. Whoever comes meanwhile waits for the same result.
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
			k.ask(ctx, limit, f)
			return f.key, f.err
		}
		k.mu.Unlock()
		if ctx.Value(askingKey{}) == any(k) {
			return nil, errReentrant // it would wait for itself
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-f.done:
		}
		if !f.gone {
			return f.key, f.err
		}
	}
}

// ask uses the source once.
func (k *Keys) ask(ctx context.Context, limit time.Duration, f *flight) {
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
	token, f.err = k.fetch(ctx, limit)
	f.gone = f.err != nil && ctx.Err() != nil
}

// fetch calls the source, and checks what it returns.
func (k *Keys) fetch(ctx context.Context, limit time.Duration) (string, error) {
	within, cancel := context.WithTimeoutCause(context.WithValue(ctx, askingKey{}, k), limit, errSilent)
	defer cancel()
	got := new(struct { // an abandoned source may still write to it
		token string
		err   error
	})
	if !exchange.Run(within, func() {
		defer func() {
			if recover() != nil {
				got.err = errPanicked // the value may hold a key
			}
		}()
		got.token, got.err = k.source(within)
	}) {
		return "", context.Cause(within)
	}
	switch {
	case errors.Is(got.err, errPanicked):
		return "", errPanicked
	case got.err != nil && within.Err() != nil && ctx.Err() == nil:
		return "", errSilent
	case got.err != nil:
		return "", fmt.Errorf("the token source failed: %w", got.err)
	}
	var bad check.Violations
	check.Token(&bad, got.token)
	if len(bad) > 0 {
		return "", errors.New("the token of the source " + bad[0].Problem)
	}
	return got.token, nil
}
