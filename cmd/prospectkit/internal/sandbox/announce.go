package sandbox

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// announcement is what -json prints, for programs that start the command.
type announcement struct {
	BaseURL    string `json:"baseURL"`
	Token      string `json:"token"`
	ControlURL string `json:"controlURL"`
	inventory
}

// inventory lists what there is to call.
type inventory struct {
	Credits    int64           `json:"credits"`
	Keys       []keyItem       `json:"keys"`
	Lists      []listItem      `json:"lists"`
	Folders    []folderItem    `json:"folders"`
	Agents     []agentItem     `json:"agents"`
	Campaigns  []campaignItem  `json:"campaigns"`
	Facts      []factItem      `json:"facts"`
	Hubs       []hubItem       `json:"hubs"`
	Searches   []searchItem    `json:"savedSearches"`
	CRM        crmItem         `json:"crm"`
	Routes     []routeItem     `json:"routes"` // of -route
	Workspaces []workspaceItem `json:"otherWorkspaces"`
}

type factItem struct {
	ID       string `json:"id"`
	Category string `json:"category"`
	Hidden   bool   `json:"hidden"` // retired, or another team's: it responds like a missing one
}

type hubItem struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

type searchItem struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Companies bool   `json:"companies"`
}

type crmItem struct {
	Supported []string `json:"supported"`
	Connected []string `json:"connected"`
}

type routeItem struct {
	Operation string `json:"operation"`
	Route     string `json:"route"`
}

type keyItem struct {
	Name      string    `json:"name"`
	Token     string    `json:"token"`
	Scopes    []string  `json:"scopes"` // none is full access
	Revoked   bool      `json:"revoked"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

type listItem struct {
	ID         string       `json:"id"`
	Name       string       `json:"name"`
	EntityType string       `json:"entityType"`
	Rows       int          `json:"rows"`
	FolderID   string       `json:"folderId,omitempty"`
	Columns    []columnItem `json:"columns"`
}

type columnItem struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

type folderItem struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

type workspaceItem struct {
	Name    string     `json:"name"`
	Token   string     `json:"token"`
	Credits int64      `json:"credits"`
	Lists   []listItem `json:"lists"`
}

// inventory describes the first workspace in full, and of the others what a foreign id needs.
func (h *host) inventory() inventory {
	box := h.current.Load()
	inv := inventory{
		Keys: []keyItem{}, Folders: []folderItem{}, Workspaces: []workspaceItem{}, Facts: []factItem{}, Hubs: []hubItem{}, Searches: []searchItem{},
		Routes: append([]routeItem{}, h.cfg.routes...),
	}
	for i, ws := range box.Snapshot().Workspaces {
		if i > 0 {
			inv.Workspaces = append(inv.Workspaces, workspaceItem{ws.Name, box.Workspace(ws.Name).Token(), ws.Credits, listItems(ws)})
			continue
		}
		inv.Credits, inv.Lists = ws.Credits, listItems(ws)
		for _, k := range ws.Keys {
			inv.Keys = append(inv.Keys, keyItem{k.Name, k.Token, append([]string{}, k.Scopes...), k.Revoked, k.ExpiresAt})
		}
		for _, f := range ws.Folders {
			inv.Folders = append(inv.Folders, folderItem(f))
		}
		inv.Agents, inv.Campaigns = agentItems(box.Tenant), campaignItems(box.Tenant)
		inv.knowledge(ws)
	}
	return inv
}

// knowledge adds what else of a workspace has an id or a name.
func (inv *inventory) knowledge(ws sandbox.Workspace) {
	for _, f := range ws.Facts {
		inv.Facts = append(inv.Facts, factItem{f.ID, f.Category, f.Retired || f.OtherTeam})
	}
	for _, b := range ws.Hubs {
		inv.Hubs = append(inv.Hubs, hubItem{b.ID, b.Name, b.Status})
	}
	for _, s := range ws.SavedSearches {
		inv.Searches = append(inv.Searches, searchItem{s.ID, s.Name, s.Companies})
	}
	inv.CRM = crmItem{append([]string{}, ws.CRM.Supported...), append([]string{}, ws.CRM.Connected...)}
}

// listItems omits what a listing never shows.
func listItems(ws sandbox.Workspace) []listItem {
	items := []listItem{}
	for _, l := range ws.Lists {
		if l.System {
			continue
		}
		columns := make([]columnItem, len(l.Columns))
		for i, c := range l.Columns {
			columns[i] = columnItem(c)
		}
		items = append(items, listItem{l.ID, l.Name, l.EntityType, len(l.Rows), l.FolderID, columns})
	}
	return items
}

// announce prints how to reach the sandbox at root.
func (h *host) announce(stdout io.Writer, root string) error {
	a := announcement{
		BaseURL:    root + "/api/v1",
		Token:      h.current.Load().Token(),
		ControlURL: root + controlPath,
		inventory:  h.inventory(),
	}
	if h.cfg.json {
		return encode(stdout, a)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "The sandbox is running (seed %s, clock %s). Ctrl-C stops it.\n\n", cli.Printable(h.source), h.cfg.clock)
	fmt.Fprintf(&text, "export PROSPECTKIT_BASE_URL=%s\nexport PROSPECTKIT_TOKEN=%s\n\n", cli.Quoted(a.BaseURL), cli.Quoted(a.Token))
	for _, l := range a.Lists {
		fmt.Fprintf(&text, "list %s  %-11s %7d rows  %s\n", l.ID, l.EntityType, l.Rows, cli.Printable(l.Name))
	}
	fmt.Fprintf(&text, "\nTry it:\n  curl -u %s '%s'\n  curl %sjournal\n\nDashboard: %[3]s\n",
		cli.Quoted(a.Token+":"), a.BaseURL+op.ListsList.Path, a.ControlURL)
	if h.cfg.clock == "real" {
		text.WriteString("\nAgents and campaigns take time: the first run of an agent ends after five minutes. With -clock x60 a minute takes a second.\n")
	}
	_, err := io.WriteString(stdout, text.String())
	return err
}
