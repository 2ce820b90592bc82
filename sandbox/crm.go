package sandbox

import (
	"fmt"
	"net/http"
	"slices"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.ListsCRMPush: {handle: (*call).pushToCRM, json: true},
})

const crmKinds = 5

// CRM says which CRM kinds a workspace may name and which are connected.
//
// The five names are undocumented, so the default of Supported is the connected ones and invented ones.
type CRM struct {
	Supported []string `json:"supported,omitempty"`
	Connected []string `json:"connected,omitempty"`
}

// IsZero reports whether nothing is set.
func (c CRM) IsZero() bool { return len(c.Supported) == 0 && len(c.Connected) == 0 }

// complete names five kinds, as many as the service supports: the connected ones, then invented names.
func (c CRM) complete() CRM {
	if len(c.Supported) > 0 {
		return c
	}
	c.Supported = slices.Clone(c.Connected)
	for n := 1; len(c.Supported) < crmKinds; n++ {
		if name := fmt.Sprintf("crm-%d", n); !slices.Contains(c.Supported, name) {
			c.Supported = append(c.Supported, name)
		}
	}
	return c
}

// ConnectCRM connects a CRM kind, one of those that the workspace supports.
func (tx *Tx) ConnectCRM(kind string) {
	tx.connect("ConnectCRM", &tx.ws.CRM.Connected, tx.ws.CRM.Supported, kind)
}

func (c *call) pushToCRM() response {
	body := c.body
	crm := body.required("crm")
	if len(body.messages) == 0 && !slices.Contains(c.ws.CRM.Supported, crm) {
		body.among("crm", crm, true, c.ws.CRM.Supported)
	}
	contacts, chosen := body.ids("contactIds")
	l := c.list()
	switch {
	case l.EntityType != ContactList:
		deny("CONTACT_LIST_REQUIRED", "The list is a company list.")
	case !slices.Contains(c.ws.CRM.Connected, crm):
		deny("CRM_NOT_CONNECTED", crm+" is not connected.")
	}
	if !chosen {
		contacts = slices.Clone(l.ids)
	}
	push := Outgoing{Time: c.now, RequestID: c.id, Kind: "crm", To: crm, Count: len(contacts), ListID: l.ID, ContactIDs: contacts, Overwrite: chosen}
	c.effect(func() { c.ws.sent = append(c.ws.sent, push) }, "pushed to %s: %d contacts", crm, len(contacts))
	return reply(http.StatusAccepted, object{"crm": crm, "listIds": []string{l.ID}})
}
