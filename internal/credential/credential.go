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
	source Source        // nil: the key never changes
	turn   chan struct{} // held by the one who asks the source

	mu       sync.Mutex
	current  *Key     // nil until the source has given one
	rejected bool     // the current one was: the next use asks the source
	asked    int      // how often the source has told a key or an error
	err      error    // what it told last
	tokens   []string // that were current, the last ones
	hide     redact.Secrets
}

const mostUsed = 10 // keys that are hidden

// New returns the keys of a client that begins with a token, or without one if there is a source.
func New(token string, source Source) *Keys {
	k := &Keys{source: source, turn: make(chan struct{}, 1)}
	if token != "" {
		k.use(token)
	}
	return k
}

// With returns keys that begin with the current one and have another source.
func (k *Keys) With(source Source) *Keys {
	k.mu.Lock()
	defer k.mu.Unlock()
	return &Keys{source: source, turn: make(chan struct{}, 1), current: k.current, tokens: slices.Clone(k.tokens), hide: k.hide}
}

func (k *Keys) use(token string) {
	k.current, k.tokens, k.hide = newKey(token), append(k.tokens, token), redact.Secrets{}
	k.tokens = k.tokens[max(0, len(k.tokens)-mostUsed):]
	for _, token := range k.tokens {
		k.hide = k.hide.Key(token)
	}
}

// Changes reports whether there is a source.
func (k *Keys) Changes() bool { return k.source != nil }

// Secrets hides the current key, and the last ones that were used.
func (k *Keys) Secrets() redact.Secrets {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hide
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

// Get returns the current key. If there is none, or it was rejected, it asks the source, for at most the limit. Whoever comes meanwhile waits
// for the same result, for at most the limit, too. A source that hangs is not asked again until it has returned.
func (k *Keys) Get(ctx context.Context, limit time.Duration) (*Key, error) {
	key, before, _ := k.state()
	switch {
	case key != nil:
		return key, nil
	case ctx.Value(askingKey{}) == any(k):
		return nil, errReentrant // it would wait for itself
	}
	within, cancel := context.WithTimeoutCause(context.WithValue(ctx, askingKey{}, k), limit, errSilent)
	defer cancel()
	select {
	case k.turn <- struct{}{}:
	case <-within.Done():
		return nil, context.Cause(within)
	}
	key, asked, err := k.state()
	if key != nil || err != nil && asked > before {
		<-k.turn
		return key, err
	}
	if !exchange.Run(within, func() { key, err = k.ask(ctx, within) }) {
		return nil, context.Cause(within) // the turn ends when the source returns
	}
	return key, err
}

// state returns the key, unless the source has to be asked for one, and what the source has told last.
func (k *Keys) state() (key *Key, asked int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current != nil && (!k.rejected || k.source == nil) {
		return k.current, k.asked, nil
	}
	return nil, k.asked, k.err
}

// ask asks the source, and gives up the turn. If the one who asks has given up, that says nothing about the source.
func (k *Keys) ask(ctx, within context.Context) (key *Key, err error) {
	token := ""
	err = errPanicked
	defer func() { // also if the source ends its goroutine
		k.mu.Lock()
		if err == nil {
			if k.current == nil || k.current.token != token {
				k.use(token)
			}
			key, k.rejected = k.current, false
		}
		if err == nil || ctx.Err() == nil {
			k.asked, k.err = k.asked+1, err
		}
		k.mu.Unlock()
		<-k.turn
	}()
	if token, err = k.fetch(within); err != nil && within.Err() != nil && ctx.Err() == nil {
		err = errSilent
	}
	return nil, err
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
