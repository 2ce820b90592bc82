package prospectkit

import (
	"context"
	"iter"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

// ContactsService finds the ids of contacts and reads their activities.
type ContactsService struct{ service }

// Resolve finds the id of a contact. Beyond it, body and response are undocumented: you supply the fields. The sandbox takes email or
// socialUrl (assumed: rule contacts.resolve). The id is looked for as contactId, at the top or under "contact" (assumed). It counts as
// spending credits (undocumented).
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

// String returns the match as JSON, as the service sent it or you set it. It may hold personal data: keep it out of logs.
func (m ContactMatch) String() string { return textOf(m.raw, m) }

// ActivityParams selects activities of a contact.
type ActivityParams struct {
	Limit int `url:"limit,omitempty"` // per page, 1 to 100; default 100. The first page may hold more
}

type activityQuery struct {
	ActivityParams
	Cursor string `url:"cursor,omitempty"`
}

func (q activityQuery) check(bad *check.Violations) {
	bad.Between("limit", q.Limit, 1, 100)
	bad.OptionalLength("cursor", q.Cursor, 1, 500)
}

// Activities iterates over the activities of a contact, newest first, after the campaign steps that are still scheduled. The id is
// that of a row, or from [ContactsService.Resolve]. Shape and path are undocumented: supply the path with [WithRoutes] and one
// parameter in braces, for the contact. That it is a GET is inferred. No range can be resumed.
//
// Errors: likely: [CodeContactNotFound].
//
// GET (path undocumented), scope contacts.
func (s *ContactsService) Activities(ctx context.Context, contactID string, p ActivityParams, opts ...PageOption) iter.Seq2[*Object, error] {
	return itemsOf[Object](ctx, timelineOf(s.conf, contactID, p).pages(), opts)
}

// ActivitiesPage reads the first page of what [ContactsService.Activities] finds; its Next reads the following one.
//
// Errors: those of [ContactsService.Activities].
//
// GET (path undocumented), scope contacts.
func (s *ContactsService) ActivitiesPage(ctx context.Context, contactID string, p ActivityParams, opts ...CallOption) (*ActivityPage, error) {
	return activityPage(timelineOf(s.conf, contactID, p).first(ctx, opts))
}

// ActivityPage is one page of the activities of a contact, and leads to the next.
type ActivityPage struct {
	ScrollPage[Object]

	ContactID string // as the service sent it
}

func activityPage(p *ScrollPage[Object], err error) (*ActivityPage, error) {
	if err != nil {
		return nil, err
	}
	return &ActivityPage{*p, p.contactID}, nil
}

// Next reads the following page, as that of a [ScrollPage] does. It is retried after an unknown outcome. No credit cost is documented.
func (p *ActivityPage) Next(ctx context.Context, opts ...CallOption) (*ActivityPage, error) {
	return activityPage(p.ScrollPage.Next(ctx, opts...))
}

func timelineOf(conf *config, contactID string, p ActivityParams) *scroll[Object] {
	fetch := func(ctx context.Context, cursor string, opts []CallOption) (*ScrollPage[Object], jsonscan.Text, error) {
		in := args{ids: []string{contactID}, query: activityQuery{p, cursor}, pageToken: cursor}
		found := new(activities)
		want := repeatsID(contactID, &found.ContactID)
		want.out, want.proof = found, func() bool { return true } // a page proves itself by its shape
		c, err := doCall(ctx, conf, op.ContactsTimeline, in, opts, want)
		if err != nil {
			return nil, nil, err
		}
		page := &ScrollPage[Object]{Items: found.Activities, contactID: found.ContactID, RequestID: c.requestID, Rate: c.rate}
		return page, found.NextCursor, nil
	}
	return &scroll[Object]{op: op.ContactsTimeline, identity: (*Object).String, fetch: fetch}
}

type activities struct {
	ContactID  string        `json:"contactId"`
	Activities []Object      `json:"activities"`
	NextCursor jsonscan.Text `json:"nextCursor"`
}

func (a *activities) validate() error {
	return errorIf(a.Activities == nil, "the page has no activities")
}
