package prospectkit

import (
	"context"
	"iter"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

// ContactsService finds the ids of contacts and reads what happened with them.
type ContactsService struct{ client *Client }

// Resolve finds the id of a contact, which the response holds as contactId. Nothing else of body and response is documented: you supply
// the fields. The sandbox takes email or socialUrl (assumed: rule contacts.resolve). Whether it costs credits is undocumented, too, so it
// counts as spending, and is not retried after a lost response.
//
// Errors: likely: [CodeContactNotFound].
//
// POST /business/contacts/resolve, scope contacts.
func (s *ContactsService) Resolve(ctx context.Context, in Fields, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.client, op.ContactsResolve, args{body: in}, opts)
}

const (
	maxActivities = 100
	maxCursor     = 500
)

// ActivityParams selects activities of a contact.
type ActivityParams struct {
	Limit int `url:"limit,omitempty"` // activities a page, 1 to 100; default 100. The first page may hold a few more
}

// activityQuery is the request of one page.
type activityQuery struct {
	ActivityParams
	Cursor string `url:"cursor,omitempty"`
}

func (q activityQuery) check(bad *checks) {
	bad.between("limit", q.Limit, 1, maxActivities)
	bad.optionalLength("cursor", q.Cursor, 1, maxCursor)
}

// Activities iterates over what happened with a contact, newest first; campaign steps that are still scheduled come before. The shape of
// an activity is undocumented. The id is that of a row, or the one that [ContactsService.Resolve] finds. The path is undocumented: give it
// by [WithRoute], with one parameter in braces for the contact. A page of up to 100 is read when the loop needs it; each range
// restarts at the first page, and none can be resumed.
//
// After an error, the [Report] of [WithProgress] says how much was delivered.
//
// Errors: likely: [CodeContactNotFound].
//
// GET (path undocumented), scope contacts.
func (s *ContactsService) Activities(ctx context.Context, contactID string, p ActivityParams, opts ...PageOption) iter.Seq2[*Object, error] {
	return s.timeline(contactID, p).items(ctx, opts)
}

// ActivitiesPage reads the first page of what happened with a contact; its Next reads on. The path has to be given by [WithRoute],
// as for [ContactsService.Activities].
//
// Errors: those of [ContactsService.Activities].
//
// GET (path undocumented), scope contacts.
func (s *ContactsService) ActivitiesPage(ctx context.Context, contactID string, p ActivityParams, opts ...CallOption) (*ScrollPage[Object], error) {
	return s.timeline(contactID, p).first(ctx, opts)
}

func (s *ContactsService) timeline(contactID string, p ActivityParams) *scroll[Object] {
	identity := func(o *Object) string { return string(o.raw) }
	return &scroll[Object]{op: op.ContactsTimeline, identity: identity, fetch: func(ctx context.Context, cursor string, opts []CallOption) (*ScrollPage[Object], jsonscan.Text, error) {
		r := args{ids: []string{contactID}, query: activityQuery{p, cursor}, secret: cursor}
		page, err := do[activities](ctx, s.client, op.ContactsTimeline, r, opts)
		if err != nil {
			return nil, nil, err
		}
		return &ScrollPage[Object]{Items: page.Activities, ContactID: page.ContactID}, page.NextCursor, nil
	}}
}

// activities is the response of a timeline.
type activities struct {
	ContactID  string        `json:"contactId"`
	Activities []Object      `json:"activities"`
	NextCursor jsonscan.Text `json:"nextCursor"`
}

func (a *activities) missing() string {
	if a.Activities == nil {
		return "the page has no activities"
	}
	return ""
}
