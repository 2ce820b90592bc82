package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"example.com/prospectkit/internal/op"
)

// Key seeds an API key. Without scopes it has full access.
type Key struct {
	Name      string               `json:"name,omitempty"` // shown in the journal, where the token never is
	Token     string               `json:"token,omitempty"`
	Scopes    []string             `json:"scopes,omitempty"`
	ExpiresAt time.Time            `json:"expiresAt,omitzero"`
	Revoked   bool                 `json:"revoked,omitempty"`
	Widens    map[string]time.Time `json:"widens,omitempty"` // scopes that the key gains, and when
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
	for _, scope := range slices.Concat(key.Scopes, slices.Sorted(maps.Keys(key.Widens))) {
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
	sb.scheduleExpiry(k)
	for _, scope := range slices.Sorted(maps.Keys(k.Widens)) {
		sb.scheduleWidening(k, scope)
	}
	return k
}

func (ws *workspace) ownerKey() *key {
	return find(ws.keys, func(k *key) bool { return len(k.Scopes) == 0 && !k.Revoked })
}

// findKey finds the key of a request, or none if it is not valid for any reason.
func (sb *Sandbox) findKey(r *http.Request, now time.Time) *key {
	if _, password, _ := r.BasicAuth(); password != "" {
		return nil
	}
	return sb.keyOf(r, now)
}

// keyOf finds the key of a request whatever its password.
func (sb *Sandbox) keyOf(r *http.Request, now time.Time) *key {
	token, _, ok := r.BasicAuth()
	if !ok {
		return nil
	}
	k := sb.keys[token]
	if k == nil || k.Revoked || !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) {
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
	for _, scope := range scopes {
		if !knownScope(scope) {
			w.sb.misuse("Key: no scope %q", scope)
			return ""
		}
	}
	w.sb.mu.Lock()
	defer w.sb.mu.Unlock()
	return w.sb.addKey(w.ws, Key{Scopes: scopes}).Token
}

// Revoke revokes a key now.
func (sb *Sandbox) Revoke(token string) {
	sb.withKey("Revoke", token, func(k *key, _ time.Time) { k.Revoked = true })
}

// ExpireAt makes a key expire at a time.
func (sb *Sandbox) ExpireAt(token string, at time.Time) {
	sb.withKey("ExpireAt", token, func(k *key, _ time.Time) {
		k.ExpiresAt = at
		sb.scheduleExpiry(k)
	})
}

// WidenAfter adds a scope to a key after a while. Until then the key is rejected, as while a new scope is rolled out.
func (sb *Sandbox) WidenAfter(token, scope string, d time.Duration) {
	if !knownScope(scope) {
		sb.misuse("WidenAfter: no scope %q", scope)
		return
	}
	sb.withKey("WidenAfter", token, func(k *key, now time.Time) {
		if k.Widens == nil {
			k.Widens = map[string]time.Time{}
		}
		k.Widens[scope] = now.Add(d)
		sb.scheduleWidening(k, scope)
	})
}

func (sb *Sandbox) withKey(what, token string, f func(*key, time.Time)) {
	now := sb.enter()
	k := sb.keys[token]
	if k != nil {
		f(k, now)
	}
	sb.mu.Unlock()
	if k == nil {
		sb.misuse("%s: no key has this token", what)
	}
}

func (sb *Sandbox) scheduleExpiry(k *key) {
	k.ws.later(&k.ExpiresAt, "key expired", k.Name, func() bool { return !k.Revoked })
}

func (sb *Sandbox) scheduleWidening(k *key, scope string) {
	sb.agenda.add(k.Widens[scope], "key widened", k.Name+" "+scope, func() bool {
		delete(k.Widens, scope)
		if k.allows(scope) {
			return false
		}
		k.Scopes = append(k.Scopes, scope)
		return true
	})
}
