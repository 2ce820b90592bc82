package sandbox

// Tenant is one workspace of a sandbox, with its own keys, state, windows and credits.
type Tenant struct {
	sb *Sandbox
	ws *workspace
}

// Workspace finds a workspace by name, or adds an empty one.
func (sb *Sandbox) Workspace(name string) *Tenant {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	ws := find(sb.workspaces, func(ws *workspace) bool { return ws.name == name })
	if ws == nil {
		ws = sb.addWorkspace(Workspace{Name: name, Credits: defaultCredits})
	}
	return &Tenant{sb, ws}
}
