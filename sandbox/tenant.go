package sandbox

import (
	"encoding/json"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
)

// Tenant is one workspace of a sandbox, with its own keys, state, windows and credits.
type Tenant struct {
	sb *Sandbox
	ws *workspace
}

// Workspace finds a workspace by name, or adds an empty one.
func (sb *Sandbox) Workspace(name string) *Tenant {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	for _, ws := range sb.workspaces {
		if ws.name == name {
			return &Tenant{sb, ws}
		}
	}
	return &Tenant{sb, sb.addWorkspace(Workspace{Name: name, Credits: defaultCredits})}
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
			w.sb.help()
			w.sb.misuse("Key: no scope %q", scope)
			return ""
		}
	}
	w.sb.mu.Lock()
	defer w.sb.mu.Unlock()
	return w.sb.addKey(w.ws, Key{Scopes: scopes}).Token
}

// Lists copies the lists, system lists among them, newest first.
func (w *Tenant) Lists() []List {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	lists := make([]List, 0, len(w.ws.lists))
	for _, l := range slices.Backward(w.ws.lists) {
		lists = append(lists, l.snapshot())
	}
	return lists
}

// Rows copies the rows of a list: none if there is no such list.
func (w *Tenant) Rows(listID string) []json.RawMessage {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	if l := w.ws.byID[listID]; l != nil {
		return slices.Clone(l.rows)
	}
	return nil
}

// Balance returns the credits that are left.
func (w *Tenant) Balance() int64 {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	return w.ws.balance
}

// Ledger copies every movement of credits.
func (w *Tenant) Ledger() []LedgerEntry {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	return slices.Clone(w.ws.ledger)
}

// Consume uses up n requests of a surface, as if somebody had sent them now, or as many as its minute and day have left.
func (w *Tenant) Consume(surface string, n int) {
	if !w.sb.checkSurface("Consume", surface) {
		return
	}
	now := w.sb.enter()
	defer w.sb.mu.Unlock()
	w.quota(surface).drain(now, n)
}

// Teammate lets somebody else draw on a surface, evenly, from the next request on. Zero stops it.
func (w *Tenant) Teammate(surface string, perSecond float64) {
	if !w.sb.checkSurface("Teammate", surface) {
		return
	}
	w.sb.enter()
	defer w.sb.mu.Unlock()
	w.quota(surface).teammate = teammate{perSecond: perSecond}
}

// Windows tells how the windows of a surface stand: minute, then day, as far as it has limits.
func (w *Tenant) Windows(surface string) []WindowState {
	if !w.sb.checkSurface("Windows", surface) {
		return nil
	}
	now := w.sb.enter()
	defer w.sb.mu.Unlock()
	return w.quota(surface).states(now)
}

func (w *Tenant) quota(surface string) *quota { return w.sb.quota(w.ws, op.Surface(surface)) }

func (sb *Sandbox) checkSurface(what, surface string) bool {
	if _, ok := op.Windows[op.Surface(surface)]; ok {
		return true
	}
	sb.help()
	sb.misuse("%s: no surface %q", what, surface)
	return false
}

// Revoke ends a key now.
func (sb *Sandbox) Revoke(token string) {
	sb.withKey("Revoke", token, func(k *key, _ time.Time) { k.Revoked = true })
}

// ExpireAt ends a key at an instant.
func (sb *Sandbox) ExpireAt(token string, at time.Time) {
	sb.withKey("ExpireAt", token, func(k *key, _ time.Time) {
		k.ExpiresAt = at
		sb.scheduleExpiry(k)
	})
}

// WidenAfter adds a scope to a key after a while: until a new scope has been rolled out, the key is refused.
func (sb *Sandbox) WidenAfter(token, scope string, d time.Duration) {
	if !knownScope(scope) {
		sb.help()
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
		sb.help()
		sb.misuse("%s: no key has this token", what)
	}
}

func (sb *Sandbox) scheduleExpiry(k *key) {
	if at := k.ExpiresAt; !at.IsZero() {
		sb.agenda.add(at, "key expired", k.Name, func() bool { return k.ExpiresAt.Equal(at) && !k.Revoked })
	}
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
