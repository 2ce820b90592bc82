package prospectkit

import (
	"context"
	"iter"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

// ContactsService finds the ids of contacts and reads their activities.
type ContactsService struct{ service }

// Resolve finds the id of a contact. Beyond contactId, body and response are undocumented. The sandbox takes email or socialUrl (assumed:
// rule contacts.resolve). It counts as spending credits (undocumented).
//
// Errors: likely: [CodeContactNotFound], [CodeInsufficientCredits].
//
// POST /business/contacts/resolve, scope contacts.
func (s *ContactsService) Resolve(ctx context.Context, in Fields, opts ...CallOption) (*ContactMatch, error) {
	return doRecord[ContactMatch](ctx, s.conf, op.ContactsResolve, args{body: in}, opts, "contact", "contactId")
}

// ContactMatch is a contact that [ContactsService.Resolve] has found.
type ContactMatch struct {
	ContactID string `json:"contactId"` // documented; also the id of its rows
	partial
}

// String returns its JSON.
func (m ContactMatch) String() string { return textOf(m.raw, m) }

type activityQuery struct {
	Cursor string `url:"cursor,omitempty"`
}

// Activities iterates over the activities of a contact, newest first, after the campaign steps that are still scheduled. Its path is
// undocumented: supply it with [WithRoutes] and one parameter in braces. That it is a GET is inferred. A page has 100, or 1 to 100 with
// [WithQuery] and limit.
//
// Errors: likely: [CodeContactNotFound].
//
// GET (path undocumented), scope contacts.
func (s *ContactsService) Activities(ctx context.Context, contactID string, opts ...PageOption) iter.Seq2[*Object, error] {
	return itemsOf[Object](ctx, timelineOf(s.conf, contactID).pages(), opts)
}

// ActivitiesPage reads the first page of [ContactsService.Activities]; its Next reads the following one.
//
// Errors: those of [ContactsService.Activities].
//
// GET (path undocumented), scope contacts.
func (s *ContactsService) ActivitiesPage(ctx context.Context, contactID string, opts ...CallOption) (*ScrollPage[Object], error) {
	return timelineOf(s.conf, contactID).first(ctx, opts)
}

func timelineOf(conf *config, contactID string) scroll[Object] {
	fetch := func(ctx context.Context, cursor string, opts []CallOption) (*ScrollPage[Object], jsonscan.Text, error) {
		in := args{ids: []string{contactID}, query: activityQuery{cursor}, pageToken: cursor}
		found := new(activities)
		want := repeatsID(contactID, &found.ContactID)
		want.out, want.proof = found, func() bool { return true } // a page proves itself by its shape
		c, err := doCall(ctx, conf, op.ContactsTimeline, in, opts, want)
		if err != nil {
			return nil, nil, err
		}
		page := &ScrollPage[Object]{Items: found.Activities, RequestID: c.requestID, Rate: c.rate}
		return page, found.NextCursor, nil
	}
	return scroll[Object]{op: op.ContactsTimeline, identity: (*Object).String, fetch: fetch}
}

type activities struct {
	ContactID  string        `json:"contactId"`
	Activities []Object      `json:"activities"`
	NextCursor jsonscan.Text `json:"nextCursor"`
}

func (a *activities) validate() error {
	return errorIf(a.Activities == nil, "the page has no activities")
}
