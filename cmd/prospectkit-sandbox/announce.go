package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// announcement is what -json prints, and what a program that starts the command needs to know.
type announcement struct {
	BaseURL    string `json:"baseURL"`
	Token      string `json:"token"`
	ControlURL string `json:"controlURL"`
	inventory
}

// inventory tells what there is to call.
type inventory struct {
	Credits    int64           `json:"credits"`
	Keys       []keyItem       `json:"keys"`
	Lists      []listItem      `json:"lists"`
	Folders    []folderItem    `json:"folders"`
	Workspaces []workspaceItem `json:"otherWorkspaces"`
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
	inv := inventory{Keys: []keyItem{}, Folders: []folderItem{}, Workspaces: []workspaceItem{}}
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
	}
	return inv
}

// listItems leaves out what a listing never shows.
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

// announce tells how to reach the sandbox that listens at root.
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
	fmt.Fprintf(&text, "The sandbox is running (seed %s, clock %s). Ctrl-C stops it.\n\n", h.source, h.cfg.clock)
	fmt.Fprintf(&text, "export PROSPECTKIT_BASE_URL=%s\nexport PROSPECTKIT_TOKEN=%s\n\n", a.BaseURL, a.Token)
	for _, l := range a.Lists {
		fmt.Fprintf(&text, "list %s  %-11s %7d rows  %s\n", l.ID, l.EntityType, l.Rows, l.Name)
	}
	fmt.Fprintf(&text, "\nTry it:\n  curl -u %s: '%s'\n  curl %sjournal\n\nDashboard: %[3]s\n",
		a.Token, a.BaseURL+op.ListsList.Path, a.ControlURL)
	_, err := io.WriteString(stdout, text.String())
	return err
}
