package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.ListsAddMembers:  {handle: (*call).addMembers, json: true, takes: []taking{required("contactIds", idList(1, maxIDs))}},
	op.ListsAddContacts: {handle: (*call).addContacts, json: true, takes: []taking{required("contacts", newRows)}},
	op.ListsSave: {handle: (*call).saveToList, json: true, takes: append([]taking{
		required("sourceListId", anID), optional("contactIds", idList(1, maxIDs)),
	}, destination...)},
	op.ListsCRMPush: {handle: (*call).pushToCRM, json: true, takes: []taking{
		required("crm", func(c *call, v value) string { return oneOf(c.ws.CRM.supported()...)(c, v) }), optional("contactIds", idList(1, maxIDs)),
	}},
})

// destination is the list that rows are saved to: an existing one, or one given by name, new or not.
var destination = []taking{oneOfTwo("listId", "listName"), optional("listId", anID), optional("listName", aName)}

func (c *call) addMembers() response {
	l := c.list()
	var rows []json.RawMessage
	for _, id := range c.in.texts("contactIds") {
		row, ok := c.ws.findRow(l.EntityType, id)
		if !ok {
			deny("CONTACT_NOT_FOUND", "No contact has the id "+id+".")
		}
		rows = append(rows, row)
	}
	return c.fill(l, rows)
}

func (ws *workspace) findRow(kind, id string) (json.RawMessage, bool) {
	for _, l := range lists.in(ws) {
		if row, ok := ws.row(l, id); ok && l.EntityType == kind {
			return row, true
		}
	}
	return nil, false
}

// fill adds the rows that are not in the list yet, for their price.
func (c *call) fill(l *List, rows []json.RawMessage) response {
	fresh := c.ws.missing(l, rows)
	if len(fresh) > 0 {
		c.addRows(l, fresh)
	}
	return reply(http.StatusOK, object{"list": l.wire(), "addedCount": len(fresh)})
}

// addRows adds rows for their price, and returns their ids.
func (c *call) addRows(l *List, rows []json.RawMessage) (ids []string) {
	c.buy(len(rows), "rows added", func() { ids = c.ws.insert(l, len(l.Rows), rows) }, "rows added to %s: %d", l.ID, len(rows))
	return ids
}

// missing skips rows that the list has, and duplicates. Rows without an id are new.
func (ws *workspace) missing(l *List, rows []json.RawMessage) []json.RawMessage {
	var fresh []json.RawMessage
	seen := map[string]bool{}
	for _, row := range rows {
		id, _ := fieldString(row, "id")
		if id == "" || !ws.has(l, id) && !seen[id] {
			fresh = append(fresh, row)
		}
		seen[id] = true
	}
	return fresh
}

func (c *call) addContacts() response {
	l := c.list()
	var rows []json.RawMessage
	_ = json.Unmarshal(c.body["contacts"], &rows) // it is an array
	ids := c.addRows(l, rows)
	return reply(http.StatusCreated, object{"list": l.wire(), "contactIds": ids})
}

// newRows are an array of 1 to 500 objects that have no id yet.
func newRows(_ *call, v value) string {
	var rows []json.RawMessage
	if json.Unmarshal([]byte(v.raw), &rows) != nil || len(rows) < 1 || len(rows) > maxIDs {
		return fmt.Sprintf("has to be an array of 1 to %d objects", maxIDs)
	}
	for i, row := range rows {
		if _, hasID := jsonscan.Lookup(row, "id"); hasID || !isObject(row) {
			return fmt.Sprintf("has to hold objects without an id: number %d is none", i)
		}
	}
	return ""
}

func (c *call) saveToList() response {
	from, rows := c.source()
	if to := c.destination(from.EntityType); to != nil {
		return c.fill(to, rows)
	}
	return c.saveToNew(from.EntityType, rows)
}

// destination finds the list, which has to be of a kind. It is nil if it has to be created.
func (c *call) destination(kind string) (l *List) {
	if c.in.has("listId") {
		l = must(lists.byID(c, c.in.text("listId")))
	} else {
		l = c.listByName(c.in.trimmed("listName"))
	}
	if l != nil && l.EntityType != kind {
		stop(invalid("listId", "has to be a "+kind+", as what is saved"))
	}
	return l
}

func (c *call) source() (l *List, rows []json.RawMessage) {
	l = must(lists.byID(c, c.in.text("sourceListId")))
	if l.CompletionStatus == "processing" {
		deny("LIST_PROCESSING", "The source list is still being built.")
	}
	if !c.in.has("contactIds") {
		return l, slices.Clone(l.Rows)
	}
	for _, id := range c.in.texts("contactIds") {
		row, ok := c.ws.row(l, id)
		if !ok {
			deny("CONTACT_NOT_IN_LIST", "The list has no row "+id+".")
		}
		rows = append(rows, row)
	}
	return l, rows
}

// listByName finds the only list with a name, or nil.
func (c *call) listByName(name string) (found *List) {
	c.nameAllowed(name)
	for _, l := range lists.in(c.ws) {
		if strings.TrimSpace(l.Name) != name {
			continue
		}
		if found != nil {
			deny("LIST_NAME_AMBIGUOUS", "Several lists have this name.")
		}
		found = l
	}
	if found == nil {
		c.nameFree(name) // an agent may have it
	}
	return found
}

func (c *call) saveToNew(kind string, rows []json.RawMessage) response {
	l, name := &List{}, c.in.trimmed("listName")
	c.buy(len(rows), "rows added", func() {
		l = c.ws.makeList(name, kind, c.now)
		c.ws.insert(l, 0, rows)
	}, "list created: %q, with %d rows", name, len(rows))
	return reply(http.StatusOK, object{"list": l.wire(), "addedCount": len(rows)})
}

// CRM says which CRM kinds are connected. The five that the service supports are undocumented: here they are these, and then crm-1, crm-2 and so on.
type CRM struct {
	Connected []string `json:"connected,omitempty"`
}

func (c CRM) supported() []string {
	kinds := slices.Clone(c.Connected)
	for n := 1; len(kinds) < 5; n++ {
		if name := fmt.Sprintf("crm-%d", n); !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
		}
	}
	return kinds
}

// ConnectCRM connects a CRM kind, one of those that the workspace supports.
func (tx *Tx) ConnectCRM(kind string) {
	tx.connect("ConnectCRM", &tx.ws.CRM.Connected, tx.ws.CRM.supported(), kind)
}

func (c *call) pushToCRM() response {
	crm, contacts, chosen := c.in.text("crm"), c.in.texts("contactIds"), c.in.has("contactIds")
	l := c.list()
	switch {
	case l.EntityType != ContactList:
		deny("CONTACT_LIST_REQUIRED", "The list is a company list.")
	case !slices.Contains(c.ws.CRM.Connected, crm):
		deny("CRM_NOT_CONNECTED", crm+" is not connected.")
	}
	if !chosen {
		contacts = slices.Clone(c.ws.index(l).ids)
	}
	push := Outgoing{Time: c.now, RequestID: c.id, Kind: "crm", To: crm, Count: len(contacts), ListID: l.ID, ContactIDs: contacts, Overwrite: chosen}
	c.effect(func() { c.ws.sent = append(c.ws.sent, push) }, "pushed to %s: %d contacts", crm, len(contacts))
	return reply(http.StatusAccepted, object{"crm": crm, "listIds": []string{l.ID}})
}
