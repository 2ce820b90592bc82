package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"example.com/prospectkit/internal/op"
)

// Key seeds an API key. Without scopes it has full access.
type Key struct {
	Name      string    `json:"name,omitempty"` // shown in the journal, where the token never is
	Token     string    `json:"token,omitempty"`
	Scopes    []string  `json:"scopes,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	Revoked   bool      `json:"revoked,omitempty"`
}

type key struct {
	Key
	ws *workspace
}

// knownScope reports whether an operation has a scope of its own name.
func knownScope(scope string) bool {
	return scope != string(op.ScopeAny) && slices.ContainsFunc(op.All(), func(o *op.Op) bool { return string(o.Scope) == scope })
}

func validateKey(key Key, fail failing) {
	if strings.ContainsFunc(key.Token, func(r rune) bool { return r == ':' || !unicode.IsPrint(r) }) {
		fail("key %q: a token holds no colon and no control character", key.Name)
	}
	for _, scope := range key.Scopes {
		if !knownScope(scope) {
			fail("key %q: unknown scope %q", key.Name, scope)
		}
	}
}

func (sb *Sandbox) addKey(ws *workspace, seed Key) *key {
	k := &key{Key: copied(seed), ws: ws}
	n := len(ws.keys) + 1
	k.Name = cmp.Or(k.Name, fmt.Sprintf("key-%d", n))
	for k.Token == "" || sb.keys[k.Token] != nil {
		k.Token = fmt.Sprintf("sandbox_%02d_%03d", ws.number, n)
		n++
	}
	ws.keys = append(ws.keys, k)
	sb.keys[k.Token] = k
	return k
}

func (ws *workspace) ownerKey() *key {
	return find(ws.keys, func(k *key) bool { return len(k.Scopes) == 0 && !k.Revoked && k.ExpiresAt.IsZero() })
}

// findKey finds the key of a request, or none if it is not valid for any reason. A password makes it malformed.
func (sb *Sandbox) findKey(r *http.Request, now time.Time) *key {
	token, password, ok := r.BasicAuth()
	k := sb.keys[token]
	if !ok || password != "" || k == nil || k.Revoked || !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) {
		return nil
	}
	return k
}

func (k *key) allows(scope string) bool {
	return len(k.Scopes) == 0 || scope == string(op.ScopeAny) || slices.Contains(k.Scopes, scope)
}

// Token returns a key with full access.
func (w *Tenant) Token() string {
	w.sb.mu.Lock()
	defer w.sb.mu.Unlock()
	if k := w.ws.ownerKey(); k != nil {
		return k.Token
	}
	return w.sb.addKey(w.ws, Key{}).Token
}

// Key makes a key with these scopes, or with full access if there are none, and returns its token.
func (w *Tenant) Key(scopes ...string) string {
	if i := slices.IndexFunc(scopes, func(scope string) bool { return !knownScope(scope) }); i >= 0 {
		w.sb.misuse("Key: no scope %q", scopes[i])
		return ""
	}
	w.sb.mu.Lock()
	defer w.sb.mu.Unlock()
	return w.sb.addKey(w.ws, Key{Scopes: scopes}).Token
}

// Revoke revokes a key now.
func (sb *Sandbox) Revoke(token string) {
	sb.withKey("Revoke", token, func(k *key) { k.Revoked = true })
}

// Widen adds a scope to a key now, as the roll-out of a new scope does. A key without scopes has it already.
func (sb *Sandbox) Widen(token, scope string) {
	if !knownScope(scope) {
		sb.misuse("Widen: no scope %q", scope)
		return
	}
	sb.withKey("Widen", token, func(k *key) {
		if len(k.Scopes) > 0 {
			k.Scopes = append(k.Scopes, scope)
		}
	})
}

func (sb *Sandbox) withKey(what, token string, change func(*key)) {
	sb.enter()
	k := sb.keys[token]
	if k != nil {
		change(k)
	}
	sb.mu.Unlock()
	if k == nil {
		sb.misuse("%s: no key has this token", what)
	}
}
