package sandbox

import (
	"net/http"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
)

// findKey finds the key of a request: none if it may not be used, for whatever reason.
func (sb *Sandbox) findKey(r *http.Request, now time.Time) *key {
	token, password, ok := r.BasicAuth()
	if !ok || password != "" {
		return nil
	}
	k := sb.keys[token]
	if k == nil || k.Revoked || !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) {
		return nil
	}
	return k
}

// allows reports whether a key reaches a scope.
func (k *key) allows(scope string) bool {
	return len(k.Scopes) == 0 || scope == string(op.ScopeAny) || slices.Contains(k.Scopes, scope)
}
