package sandbox

import (
	"fmt"
	"io"
	"strings"

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

// inventory lists what there is to call, as a state has it as far as that is short.
type inventory struct {
	Credits    int64                 `json:"credits"`
	Keys       []sandbox.Key         `json:"keys"`
	Lists      []listItem            `json:"lists"`
	Folders    []sandbox.Folder      `json:"folders"`
	Agents     []agentItem           `json:"agents"`
	Campaigns  []campaignItem        `json:"campaigns"`
	Facts      []sandbox.Fact        `json:"facts"`
	Hubs       []sandbox.Hub         `json:"hubs"`
	Searches   []sandbox.SavedSearch `json:"savedSearches"`
	CRM        sandbox.CRM           `json:"crm"`
	Routes     []routeItem           `json:"routes"` // of -route
	Workspaces []workspaceItem       `json:"otherWorkspaces"`
}

type routeItem struct {
	Operation string `json:"operation"`
	Route     string `json:"route"`
}

type listItem struct {
	ID         string           `json:"id"`
	Name       string           `json:"name"`
	EntityType string           `json:"entityType"`
	Rows       int              `json:"rows"`
	FolderID   string           `json:"folderId,omitempty"`
	Columns    []sandbox.Column `json:"columns"`
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
	all := box.Snapshot().Workspaces
	ws := all[0]
	return inventory{
		Credits: ws.Credits, Lists: listItems(ws.Lists), Agents: agentItems(box.Tenant), Campaigns: campaignItems(box.Tenant), CRM: ws.CRM,
		Keys: some(ws.Keys), Folders: some(ws.Folders), Facts: some(ws.Facts), Hubs: some(ws.Hubs), Searches: some(ws.SavedSearches), Routes: some(h.cfg.routes),
		Workspaces: each(all[1:], func(ws sandbox.Workspace) workspaceItem {
			return workspaceItem{ws.Name, box.Workspace(ws.Name).Token(), ws.Credits, listItems(ws.Lists)}
		}),
	}
}

// listItems omits what a listing never shows.
func listItems(lists []sandbox.List) []listItem {
	items := []listItem{}
	for _, l := range lists {
		if !l.System {
			items = append(items, listItem{l.ID, l.Name, l.EntityType, len(l.Rows), l.FolderID, some(l.Columns)})
		}
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
		return cli.WriteJSON(stdout, a)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "The sandbox is running (seed %s, clock %s). Ctrl-C stops it.\n\n", cli.Printable(h.source), h.cfg.clock)
	fmt.Fprintf(&text, "export PROSPECTKIT_BASE_URL=%s\nexport PROSPECTKIT_TOKEN=%s\n\n", cli.Quoted(a.BaseURL), cli.Quoted(a.Token))
	for _, l := range a.Lists {
		fmt.Fprintf(&text, "list %s  %-11s %7d rows  %s\n", l.ID, l.EntityType, l.Rows, cli.Printable(l.Name))
	}
	fmt.Fprintf(&text, "\nTry it:\n  curl -u %s '%s'\n  curl %sjournal\n",
		cli.Quoted(a.Token+":"), a.BaseURL+op.ListsList.Path, a.ControlURL)
	if h.cfg.clock == "real" {
		text.WriteString("\nAgents and campaigns take time: the first run of an agent ends after five minutes. With -clock x60 a minute takes a second.\n")
	}
	_, err := io.WriteString(stdout, text.String())
	return err
}
