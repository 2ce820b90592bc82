package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/errtext"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/review"
	"example.com/prospectkit/journal"
)

// Review is a campaign with its steps, scheduled sends, source lists and their contacts, as they were
// read. It holds personal data: keep it out of logs.
type Review struct {
	Campaign *Campaign
	Steps    []Step
	Sends    []Send
	Lists    []List

	ContactsCount int // rows of the lists

	// ListsUnread says that the listing names no lists: neither lists nor contacts were reviewed.
	ListsUnread bool
	// Approvals is how many calls have approved the campaign before, or may have, as far as the client knows: the text tells which.
	// That is part of the digest, so that each review is approved once, and none after a later approval.
	Approvals int

	content  review.Review // the texts of all of it
	evidence readEvidence
}

// Digest identifies what was read: whoever agrees to it agrees to this content, once. It names no person
// and has about 160 characters. Changes of the fields do not change it.
func (r *Review) Digest() string { return r.content.Digest() }

// Resumes reports whether an approval would resume the campaign, or may: because it is stopped, was approved before, or the listing does not
// show its status. [CampaignsService.Approve] then needs [AllowResume]. It is false for a campaign that is active, whose approval
// is refused with [RuleApproved].
func (r *Review) Resumes() bool {
	return !r.has(CampaignActive) && (r.Approvals > 0 || r.has(CampaignStopped) || r.has(""))
}

// has reports whether the campaign has a status, or none with "".
func (r *Review) has(status CampaignStatus) bool {
	shown := CampaignStatus("")
	if r.Campaign != nil {
		shown = r.Campaign.Status
	}
	return strings.EqualFold(string(shown), string(status))
}

// String is the review as a text for a person: first what an approval does, to how many contacts, and what was not reviewed; then
// the campaign, steps, lists and scheduled sends with their fields, of the sends the first 20.
func (r *Review) String() string { return r.content.String() }

// Review reads all that the API shows of a campaign, for a person who is to approve it. It changes
// nothing and sends no message. Pass the Digest of the review to [CampaignsService.Approve].
//
// It reads the campaign in the listing, its steps and scheduled sends, and its lists with their rows, a
// request for each 1,000. Pages are those of [CampaignsService.All].
//
// The lists are those under listIds in the listing (assumed). They need the scope lists. Without
// listIds, the review has ListsUnread, and its text says so.
//
// It takes the options that a client can have, too, such as [WithMaxWait], and refuses those for one request, such as [WithInfo].
//
// Errors: those of [CampaignsService.Steps] and [ListsService.Rows].
//
// GET /business/campaigns and GET /business/campaigns/{campaignId}/steps and GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) Review(ctx context.Context, campaignID string, opts ...CallOption) (*Review, error) {
	if len(sharedOptions(opts)) < len(opts) {
		return nil, refusal(op.CampaignsList, check.One("options", "must be ones that a client can have, too: a review is many requests"))
	}
	r, err := s.review(ctx, campaignID, nil, opts)
	if err != nil {
		return nil, err
	}
	approvals, err := s.conf.approvals(ctx, campaignID)
	if err != nil {
		return nil, withoutEffect(op.CampaignsList, err)
	}
	for _, e := range approvals {
		r.content.Approved(e.Ticket.ID, e.Outcome == journal.Unknown)
	}
	r.ContactsCount, r.ListsUnread, r.Approvals = r.content.Count(review.Contacts), r.content.Unread != nil, len(approvals)
	return r, nil
}

// review makes a review. If the campaign was read earlier, its lists come first: they may have many pages,
// and a change while those are read shows in what is read after them.
func (s *CampaignsService) review(ctx context.Context, campaignID string, earlier *Campaign, opts []CallOption) (*Review, error) {
	r := new(Review)
	shared := append(sharedOptions(opts), r.evidence.option())
	pages := pageOptions(shared)
	if earlier != nil {
		if err := s.reviewLists(ctx, r, earlier, shared); err != nil {
			return nil, err
		}
	}
	var err error
	if r.Steps, err = versions(ctx, &r.content, review.Steps, stepListing(s.conf, campaignID), pages); err != nil {
		return nil, err
	}
	if r.Sends, err = versions(ctx, &r.content, review.Sends, sendListing(s.conf, campaignID), pages); err != nil {
		return nil, err
	}
	r.Campaign, err = s.inListing(ctx, campaignID, pages)
	switch {
	case err != nil:
		return nil, err
	case r.Campaign.ID == "":
		return nil, unusable(op.CampaignsList, "the listing does not hold the campaign")
	}
	r.content.Add(review.Campaign, r.Campaign.Raw().Raw())
	if earlier == nil {
		err = s.reviewLists(ctx, r, r.Campaign, shared)
	}
	return r, err
}

// versions reads a listing, and drops only what is the same: two steps of one id may differ.
func versions[T interface{ Raw() Object }](ctx context.Context, r *review.Review, section review.Section, l listing[T], opts []PageOption) ([]T, error) {
	id := l.id
	l.id = func(v *T) string {
		if id(v) == "" {
			return ""
		}
		return id(v) + "\x00" + (*v).Raw().String()
	}
	var all []T
	for v, err := range itemsOf(ctx, l.pager(), opts) {
		if err != nil {
			return nil, err
		}
		r.Add(section, (*v).Raw().Raw())
		all = append(all, *v)
	}
	return all, nil
}

// reviewLists reads the lists after their rows: a change of the rows meanwhile shows in the counts.
func (s *CampaignsService) reviewLists(ctx context.Context, r *Review, campaign *Campaign, opts []CallOption) error {
	if lists, _ := campaign.Raw().Get("listIds"); !lists.begins('[') {
		r.content.Unread = []review.Section{review.Lists, review.Contacts}
	}
	lists := &ListsService{s.service}
	for _, id := range campaign.ListIDs {
		for row, err := range lists.Rows(ctx, id, RowsParams{}, pageOptions(opts)...) {
			if err != nil {
				return err
			}
			r.content.Add(review.Contacts, row.Raw())
		}
	}
	r.evidence.began, r.evidence.responses = time.Now(), 0 // a change of the rows shows from here on
	for _, id := range campaign.ListIDs {
		list, err := lists.Get(ctx, id, GetListParams{}, opts...)
		if err != nil {
			return err
		}
		r.content.Add(review.Lists, list.Raw().Raw())
		r.Lists = append(r.Lists, *list)
	}
	return nil
}

// Approve approves a campaign if it is still what was reviewed, with that digest: the service then sends its messages to people,
// as after [CampaignsService.ApproveUnreviewed]. A digest is used up by one approval, in whichever process, as far as the journal of the client
// remembers. Without a journal, every review is refused with [ErrInvalid].
//
// What to do with its error:
//
//   - nil: the service has confirmed the approval.
//   - a [RefusedError] with [RuleApproved]: the campaign is active, or this review was approved before. That is success for whoever
//     wanted the approval. A review of a campaign that was not active is used up by that, which the journal notes. If a teammate has
//     stopped the campaign since, it stays stopped until a new review is approved with [AllowResume].
//   - a [RefusedError] with [RuleResume]: the approval would resume the campaign, or may, as [Review.Resumes] says, and the call has no
//     [AllowResume]. Nothing was approved: a person decides.
//   - a [RefusedError] with [RuleReview]: something differs, which its Violations name, or another approval came after the
//     review. Review it again.
//   - a [RefusedError] with [RuleInProgress]: another approval of the campaign may be in progress. Two calls at the same moment may keep
//     back each other, so that nothing is approved: make the call again later, with the same digest.
//   - an [OutcomeUnknownError]: this approval, or an earlier one of the campaign, by whatever review, may have happened. Nothing more is
//     sent until that is known: Resolve the error, or settle its Ticket in the journal. A rejection with [CodeCampaignNotApprovable] or
//     [CodeCampaignBusy] is one, too: the campaign could be approved a moment ago, and a gateway may have repeated the request.
//     Unless the campaign is active, Resolve does not know the outcome.
//   - any other error: this call approved nothing.
//
// Errors: those of [CampaignsService.Steps] and [ListsService.Rows] and [CampaignsService.ApproveUnreviewed].
//
// POST /business/campaigns/{campaignId}/approve, scope campaigns.
func (s *CampaignsService) Approve(ctx context.Context, campaignID, digest string, opts ...CallOption) (*Approval, error) {
	switch {
	case review.Outdated(digest):
		return nil, refusal(op.CampaignsApprove, check.One("digest", "is of an earlier version of this package: review the campaign again"))
	case !review.Valid(digest):
		return nil, refusal(op.CampaignsApprove, check.One("digest", "is not the digest of a review"))
	}
	if s.conf.journal == nil {
		return nil, refusal(op.CampaignsApprove, check.One("WithJournal", "is required: an approval resumes a campaign that was stopped, and only a "+
			"journal knows whether this review was used"))
	}
	approvals, err := s.approvals(ctx, campaignID, digest, opts)
	if err != nil {
		return nil, err
	}
	first, err := s.reviewed(ctx, campaignID, digest, approvals, nil, opts)
	if err == nil {
		err = s.mayResume(first, approvals, opts)
	}
	if err != nil {
		return nil, err
	}
	a := args{lookup: journal.Lookup{Digest: digest}, beforeAttempt: (*call).mayApprove, lastLook: func(ctx context.Context) (*readEvidence, error) {
		last, err := s.reviewed(ctx, campaignID, digest, approvals, first.Campaign, opts)
		if err != nil {
			return nil, err
		}
		return &last.evidence, nil
	}}
	for waits := 0; waits < 3; { // each is over by then
		approval, err := s.approve(ctx, campaignID, a, opts)
		if !errors.Is(err, errAged) {
			return approval, err
		}
		if e, _ := errors.AsType[*Error](err); e != nil && len(e.Attempts) > 0 {
			a.before += len(e.Attempts)
		} else {
			waits++
		}
	}
	return nil, unproved(errAged, "call it again when the workspace is less busy")
}

var (
	errApproved = errors.New("by another call, meanwhile")

	errAged error = redact.OwnError("what was read is too old by now: the approval had to wait")
)

// mayApprove refuses to send the approval of a review if another approval of the campaign has no outcome, or is one that the review does
// not know, or if the campaign has to be read again: because that was long ago, or because an attempt got a response, which may be that
// to a second request of a gateway. Each approval stores its ticket before it looks here, so of two at the same time at least one sees
// the other.
func (c *call) mayApprove() error {
	if c.met() {
		return c.keepUntilRead()
	}
	digest := c.in.lookup.Digest
	approvals, err := c.conf.approvals(c.ctx, c.in.ids[0])
	if err != nil {
		return c.keepBack(RuleJournal, err)
	}
	var others review.Review
	for _, e := range approvals {
		switch {
		case e.Ticket.ID == c.ticketID:
		case e.Outcome == journal.Unknown:
			return c.keepBack(RuleInProgress, noOutcomeYet(e.Ticket))
		case e.Ticket.Lookup.Digest == digest:
			return c.keepBack(RuleApproved, errApproved)
		default:
			others.Approved(e.Ticket.ID, false)
		}
	}
	if !others.ApprovedAs(digest) {
		return c.keepBack(RuleReview, errApproved)
	}
	if c.evidence.aged() {
		return c.keepUntilRead()
	}
	return nil
}

// keepUntilRead keeps an attempt from being sent by this call: Approve reads again, and makes another one.
func (c *call) keepUntilRead() error {
	c.cause = errtext.With(c.cause, errAged)
	return errAged
}

// met reports whether an attempt of the call reached a server, or may have.
func (c *call) met() bool {
	return slices.ContainsFunc(c.attempts, func(a Attempt) bool { return a.Delivery != deliveryNotSent })
}

// aged reports whether so much time has passed since the reads began that others may have changed what they showed. More reads
// may take longer, because they queue for the rate limit.
func (s *readEvidence) aged() bool {
	within := 30*time.Second + time.Duration(s.responses)*5*time.Second
	return !clock.Sent{Last: s.began, Local: true}.Recent(within, time.Now(), nil)
}

// reviewed makes the review once more, and returns an error unless it is the same.
func (s *CampaignsService) reviewed(ctx context.Context, campaignID, digest string, approvals []journal.Entry, earlier *Campaign, opts []CallOption) (*Review, error) {
	now, err := s.review(ctx, campaignID, earlier, opts)
	if err == nil && now.evidence.cached {
		err = unproved(errCached, "keep responses of this API out of caches")
	}
	if err != nil {
		return nil, err
	}
	for _, e := range approvals { // later ones are found by the ticket
		now.content.Approved(e.Ticket.ID, false)
	}
	if err := inactive(now.Campaign); err != nil {
		stopped := func(c review.Change) bool { return c.Section == review.Campaign } // what was reviewed was not active
		if now.content.ApprovedAs(digest) && slices.ContainsFunc(now.content.Changes(digest), stopped) {
			s.useUp(ctx, campaignID, digest) // nothing in the journal tells
		}
		return nil, err
	}
	if changes := now.content.Changes(digest); len(changes) > 0 {
		refused := ruleRefusal(op.CampaignsApprove, RuleReview, nil)
		for _, c := range changes {
			refused.Violations = append(refused.Violations, Violation{Param: string(c.Section), Problem: c.String()})
		}
		return nil, refused
	}
	return now, nil
}

// mayResume returns an error if an approval would resume the campaign, which is as it was reviewed, and the caller does not allow that.
func (s *CampaignsService) mayResume(r *Review, approvals []journal.Entry, opts []CallOption) error {
	r.Approvals = len(approvals)
	if !r.Resumes() || s.conf.with(opts, new(check.Violations)).allowResume {
		return nil
	}
	how := "may be stopped: the listing does not show its status"
	switch {
	case r.has(CampaignStopped):
		how = "is stopped"
	case r.Approvals > 0:
		how = "was approved at " + approvals[len(approvals)-1].Ticket.LastSent.UTC().Format(time.RFC3339)
	}
	refused := ruleRefusal(op.CampaignsApprove, RuleResume, nil)
	refused.Violations = []Violation{{Param: "campaign", Problem: how + ": pass AllowResume if a person who has read this has agreed to resume it"}}
	return refused
}

// approvals returns the calls that have approved a campaign, or an error if one of them approved this review, or may have approved the
// campaign, or is about to.
func (s *CampaignsService) approvals(ctx context.Context, campaignID, digest string, opts []CallOption) ([]journal.Entry, error) {
	known, err := s.conf.approvals(ctx, campaignID)
	if err != nil {
		return nil, withoutEffect(op.CampaignsApprove, err)
	}
	var doubts []journal.Ticket
	for _, e := range known {
		switch {
		case e.InProgress:
			return nil, ruleRefusal(op.CampaignsApprove, RuleInProgress, noOutcomeYet(e.Ticket))
		case e.Outcome == journal.Unknown:
			doubts = append(doubts, e.Ticket)
		case e.Ticket.Lookup.Digest == digest:
			return nil, approved("digest", "was used up at "+e.Ticket.FirstSent.UTC().Format(time.RFC3339)+": the campaign was approved")
		}
	}
	if len(doubts) == 0 {
		return known, nil
	}
	var evidence readEvidence
	campaign, err := s.inListing(ctx, campaignID, pageOptions(append(sharedOptions(opts), evidence.option())))
	if err == nil && !evidence.cached {
		if err = inactive(campaign); err != nil {
			s.settleApplied(ctx, doubts)
		}
	}
	last := doubts[len(doubts)-1]
	return nil, cmp.Or(err, error(earlierUnknown(s.conf, op.CampaignsApprove, last, s.lookForApproval)))
}

// settleApplied settles the approvals in doubt of a campaign that is active, as Resolve does.
func (s *CampaignsService) settleApplied(ctx context.Context, doubts []journal.Ticket) {
	for _, t := range doubts {
		_ = s.conf.settle(ctx, t, journal.Applied) // or it stays in doubt
	}
}

// useUp notes that whoever has approved the campaign has used up this review: a later call with it resumes nothing that was stopped since.
func (s *CampaignsService) useUp(ctx context.Context, campaignID, digest string) {
	var c call
	c.conf, c.op, c.ctx, c.firstSent, c.lastSent = s.conf, op.CampaignsApprove, ctx, time.Now(), time.Now()
	c.in = args{ids: []string{campaignID}, lookup: journal.Lookup{Digest: digest}}
	t, j := c.ticket(), s.conf.journal
	err := j.Sending(ctx, t)
	exchange.Finish(ctx, time.Second/2, func(ctx context.Context) { // or it stays in doubt, and keeps back all approvals
		switch {
		case err != nil: // it may have been stored
			_ = j.Ended(ctx, t.ID, journal.End{Outcome: journal.NotApplied})
		case j.Ended(ctx, t.ID, journal.End{Outcome: journal.Unknown}) == nil: // to say how it is known
			_ = j.Settle(ctx, t.ID, journal.Settlement{Outcome: journal.Applied, By: "prospectkit", Because: "the campaign was active: another call has approved it"})
		}
	})
}

var errCached error = redact.OwnError("what was read came from a cache (Age), which may show what is no longer there")

// unproved is the error of an approval without proof that nothing has changed.
func unproved(why error, hint string) error {
	e := withoutEffect(op.CampaignsApprove, why)
	e.hint = "nothing was approved: " + hint
	return e
}

func inactive(campaign *Campaign) error {
	if strings.EqualFold(string(campaign.Status), string(CampaignActive)) {
		return approved("campaign", "is active: somebody has approved it")
	}
	return nil
}

func approved(param, problem string) error {
	refused := ruleRefusal(op.CampaignsApprove, RuleApproved, nil)
	refused.Violations = []Violation{{Param: param, Problem: problem}}
	return refused
}
