package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.ContactsResolve: {handle: (*call).resolveContact, json: true, takes: []taking{
		either("email", "socialUrl"), optional("email", anyText), optional("socialUrl", anyText),
	}},
	op.ContactsTimeline: {handle: (*call).timeline, path: []string{"contactId"}, takes: []taking{
		optional("limit", integer(1, 100)), optional("cursor", chars(500)),
	}},
})

// Activity seeds a past or scheduled activity of a contact.
type Activity struct {
	ID        string    `json:"id,omitempty"`
	ContactID string    `json:"contactId"`
	Type      string    `json:"type"`                // any word
	At        time.Time `json:"at"`                  // without one, it happened at the first use, or when it was put
	Scheduled bool      `json:"scheduled,omitempty"` // a campaign step that has not run yet
}

var activities = keeps(kind[Activity]{
	name: "activities", seeds: func(ws *Workspace) *[]Activity { return &ws.Activities },
	check: func(_ *Workspace, a Activity, fail failing) {
		if !isID(a.ContactID) || a.Type == "" {
			fail("an activity lacks its type, or the id of its contact: 24 hexadecimal digits")
		}
	},
})

func (a *Activity) begin(_ *workspace, _, now time.Time) {
	if a.At.IsZero() {
		a.At = stamp(now)
	}
}

func (c *call) resolveContact() response {
	id, found := c.ws.contactWith(map[string]string{"email": c.in.text("email"), "socialUrl": c.in.text("socialUrl")})
	if !found {
		deny("CONTACT_NOT_FOUND", "No contact has these.")
	}
	c.charge("contact resolved", "contact resolved: "+id)
	return reply(http.StatusOK, object{"contactId": id})
}

// contactWith finds the first contact that has one of the values, in fields of these names. No contact has an empty value.
func (ws *workspace) contactWith(values map[string]string) (id string, found bool) {
	for _, l := range lists.in(ws) {
		if l.EntityType != ContactList {
			continue
		}
		for i, id := range ws.index(l).ids {
			for name, value := range values {
				if has, _ := fieldString(l.Rows[i], name); value != "" && strings.EqualFold(has, value) {
					return id, true
				}
			}
		}
	}
	return "", false
}

// activitiesOf returns the activities of a contact, newest first: scheduled ones and past ones.
func (ws *workspace) activitiesOf(contactID string) (scheduled, happened []object) {
	var all []object
	add := func(kind string, at time.Time, scheduled bool) object {
		all = append(all, object{"type": kind, "at": wireTime(at), "scheduled": scheduled})
		return all[len(all)-1]
	}
	for _, a := range activities.in(ws) {
		if sameID(a.ContactID, contactID) {
			add(a.Type, a.At, a.Scheduled)
		}
	}
	for _, cp := range campaigns.in(ws) {
		for _, s := range cp.Sends {
			if sameID(s.ContactID, contactID) && (s.State == sendScheduled || s.State == sendSent) {
				step := add("campaign_step", s.DueAt, s.State == sendScheduled)
				step["campaignId"], step["sendId"] = cp.ID, s.ID
			}
		}
	}
	slices.SortStableFunc(all, func(a, b object) int { return strings.Compare(b["at"].(string), a["at"].(string)) })
	isScheduled := func(a object) bool { return a["scheduled"] == true }
	return kept(all, isScheduled), kept(all, func(a object) bool { return !isScheduled(a) })
}

func (c *call) timeline() response {
	id := c.req.PathValue("contactId")
	limit, cursor := int(c.in.number("limit", 100)), c.in.text("cursor")
	scheduled, happened := c.ws.activitiesOf(id)
	if _, there := c.ws.findRow(ContactList, id); !there && len(scheduled)+len(happened) == 0 {
		deny("CONTACT_NOT_FOUND", "No contact has this id.")
	}
	left := len(happened)
	if cursor != "" {
		left, scheduled = readCursor(cursor, id, left), nil
	}
	from := len(happened) - left
	to := min(len(happened), from+limit)
	next := ""
	if to < len(happened) {
		next = newCursor(id, len(happened)-to)
	}
	return reply(http.StatusOK, object{"contactId": id, "activities": append(append([]object{}, scheduled...), happened[from:to]...), "nextCursor": orNull(next)})
}

// A cursor says whose timeline it is, and how many of the oldest activities are left. Later activities do not change that.
func newCursor(contactID string, left int) string {
	return fmt.Sprintf("%s-%d", strings.ToLower(contactID), left)
}

func readCursor(cursor, contactID string, most int) (left int) {
	owner, number, _ := strings.Cut(cursor, "-")
	left, err := strconv.Atoi(number)
	if err != nil || !sameID(owner, contactID) || left < 1 || left > most {
		stop(invalid("cursor", "is none that a page of this contact gave"))
	}
	return left
}
