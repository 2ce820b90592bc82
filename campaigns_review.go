package prospectkit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/review"
	"example.com/prospectkit/journal"
)

// Review is a campaign with its steps, scheduled sends, source lists and their contacts. It holds personal data: keep it out of logs.
type Review struct {
	Campaign *Campaign
	Steps    []Step
	Sends    []Send
	Lists    []List

	ContactsCount int  // rows of the lists
	ListsUnread   bool // the listing names no lists: none were reviewed, and no contacts
	Approvals     int  // how many calls have approved the campaign before, or may have, by the journal

	content   review.Review // the texts of all of it
	evidence  readEvidence
	approvals []journal.Entry // of one that is made for an approval
}

// Digest identifies what was read, and when: who agrees to it agrees to this content, once, for seven days. It names no person.
func (r *Review) Digest() string { return r.content.Digest() }

// Resumes reports whether an approval would resume the campaign, or may, which needs [AllowResume].
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

// String is the review for a person: what an approval does, to how many contacts, and what was not reviewed.
func (r *Review) String() string { return r.content.String() }

// Review reads all that the API shows of a campaign, for a person who is to approve it: campaign, steps, scheduled sends, and the lists with
// their rows, a request for each 1,000. It changes and sends nothing. Pass its Digest to [CampaignsService.Approve].
//
// The lists are those under listIds in the listing (assumed), and need the scope lists. Without listIds, ListsUnread is true.
//
// Errors: those of [CampaignsService.Steps] and [ListsService.Rows].
//
// GET /business/campaigns and GET /business/campaigns/{campaignId}/steps and GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) Review(ctx context.Context, campaignID string, opts ...CallOption) (*Review, error) {
	if len(sharedOptions(opts)) < len(opts) {
		return nil, refusal(op.CampaignsList, check.One("options", "must be ones that a client can have, too: a review is many requests"))
	}
	began := time.Now()
	r, err := s.review(ctx, campaignID, nil, opts)
	if err != nil {
		return nil, err
	}
	r.content.Began = began
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
	first := pageOptions(shared) // later requests go before our part of the rate is due: without them, this one was for nothing
	shared = append(shared, begun)
	pages := pageOptions(shared)
	if earlier != nil {
		first = pages
		if err := s.reviewLists(ctx, r, earlier, shared); err != nil {
			return nil, err
		}
	}
	var err error
	if r.Steps, err = versions(ctx, &r.content, review.Steps, stepListing(s.conf, campaignID), first); err != nil {
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
	for v, err := range itemsOf[T](ctx, l.pager(), opts) {
		if err != nil {
			return nil, err
		}
		r.Add(section, (*v).Raw().Raw())
		all = append(all, *v)
	}
	return all, nil
}

// reviewLists reads the lists after their rows: a change of the rows meanwhile shows in the counts. The rows of a list that counts more of
// them are read once more: pages of an order with ties may hold some twice, and others not at all. A count may also be stale.
func (s *CampaignsService) reviewLists(ctx context.Context, r *Review, campaign *Campaign, opts []CallOption) error {
	if lists, _ := campaign.Raw().Get("listIds"); !lists.begins('[') {
		r.content.Unread = []review.Section{review.Lists, review.Contacts}
	}
	all := make([]reviewedList, len(campaign.ListIDs))
	for again, short := false, true; short; again = true {
		if err := s.reviewRows(ctx, campaign, all, opts); err != nil {
			return err
		}
		r.evidence.began, r.evidence.responses = time.Now(), 0 // a change of the rows shows from here on
		short = false
		for i, id := range campaign.ListIDs {
			list, err := (&ListsService{s.service}).Get(ctx, id, opts...)
			if err != nil {
				return err
			}
			all[i].list = list
			short = short || !again && all[i].short()
		}
	}
	for _, l := range all {
		r.content.AddRows(l.rows, l.counted())
		r.content.Add(review.Lists, l.list.Raw().Raw())
		r.Lists = append(r.Lists, *l.list)
	}
	return nil
}

// reviewedList is a list with its rows, as they were read.
type reviewedList struct {
	list *List
	rows *review.Review
}

// counted is how many rows the list counts itself.
func (l *reviewedList) counted() int {
	if l.list.Kind == CompanyList {
		return l.list.CompaniesCount
	}
	return l.list.ContactsCount
}

func (l *reviewedList) short() bool { return l.rows.Count(review.Contacts) < l.counted() }

// reviewRows reads the rows of the lists that were not read, or count more rows than came.
func (s *CampaignsService) reviewRows(ctx context.Context, campaign *Campaign, all []reviewedList, opts []CallOption) error {
	for i, id := range campaign.ListIDs {
		if all[i].rows != nil && !all[i].short() {
			continue
		}
		rows := new(review.Review)
		for row, err := range (&ListsService{s.service}).Rows(ctx, id, RowsParams{}, pageOptions(opts)...) {
			if err != nil {
				return err
			}
			rows.Add(review.Contacts, row.Raw())
		}
		all[i].rows = rows
	}
	return nil
}

// Approve approves a campaign once, if it is still what a person has reviewed: the service then sends its messages to people. It needs a
// journal, the digest of a review of the last seven days, and ten requests or more of the limits.
//
//   - nil: it is approved, by this call or, if Already, by an earlier one with this digest, even if stopped since.
//   - [*OutcomeUnknownError]: it may have happened. Resolve it.
//   - [RuleReview]: it is active, or not what was reviewed. Review it again.
//   - [RuleResume]: it was stopped or approved before. A person decides about [AllowResume].
//   - [RuleInProgress]: call again later.
//   - any other error: it approved nothing.
//
// Errors: those of [CampaignsService.Steps] and [ListsService.Rows] and [CampaignsService.ApproveUnreviewed].
//
// POST /business/campaigns/{campaignId}/approve, scope campaigns.
func (s *CampaignsService) Approve(ctx context.Context, campaignID, digest string, opts ...CallOption) (*Approval, error) {
	if !review.Valid(digest) {
		return nil, refusal(op.CampaignsApprove, check.One("digest", "is not the digest of a review by this version: review the campaign again"))
	}
	if err := s.conf.readsJournal(ctx, op.CampaignsApprove); err != nil { // which knows whether the review was used
		return nil, err
	}
	approval, err := s.approveReviewed(ctx, campaignID, digest, opts)
	if errors.Is(err, errAlready) {
		return s.already(ctx, campaignID, opts), nil
	}
	return approval, err
}

func (s *CampaignsService) approveReviewed(ctx context.Context, campaignID, digest string, opts []CallOption) (*Approval, error) {
	_, err := s.approvals(ctx, campaignID, digest, opts)
	if err == nil {
		err = inTime(digest)
	}
	if err != nil {
		return nil, err
	}
	first, err := s.reviewed(ctx, campaignID, digest, nil, opts)
	if err == nil {
		err = s.mayResume(first, opts)
	}
	if err != nil {
		return nil, err
	}
	a := args{lookup: journal.Lookup{Digest: digest}, beforeAttempt: (*call).mayApprove, lastLook: func(ctx context.Context) (*readEvidence, error) {
		last, err := s.reviewed(ctx, campaignID, digest, first.Campaign, opts)
		if err != nil {
			return nil, err
		}
		return &last.evidence, nil
	}}
	for waits := 0; waits < 3; { // each is over by then
		approval, err := s.approve(ctx, campaignID, a, append(slices.Clip(opts), begun))
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
	errAnother       = errors.New("another call has approved it meanwhile")
	errAged    error = redact.OwnError("what was read is too old by now: the approval had to wait")
)

// already is the result for a digest that has approved the campaign, by the journal, which alone proves it: the status is empty if it
// cannot be read now.
func (s *CampaignsService) already(ctx context.Context, campaignID string, opts []CallOption) *Approval {
	var evidence readEvidence
	approval := &Approval{CampaignID: campaignID, Already: true}
	campaign, err := s.inListing(ctx, campaignID, pageOptions(append(sharedOptions(opts), evidence.option())))
	if err == nil && !evidence.cached {
		approval.Status = campaign.Status
	}
	return approval
}

const (
	reviewLasts = 7 * 24 * time.Hour
	maxAhead    = 5 * time.Minute
)

// inTime refuses a digest of a review that is too old. One of a time to come, by more than clocks differ, is refused, too: nothing tells
// its age.
func inTime(digest string) error {
	switch began := review.Began(digest); {
	case time.Since(began) > reviewLasts:
		return notReviewed("digest", "is of "+began.UTC().Format(time.RFC3339)+", more than seven days ago: review the campaign again")
	case time.Until(began) > maxAhead:
		return notReviewed("digest", "is of "+began.UTC().Format(time.RFC3339)+", which is to come: set the clocks, and review the campaign again")
	}
	return nil
}

// approvedBy reports whether one of the calls that have approved a campaign had the digest.
func approvedBy(digest string, approvals []journal.Entry) bool {
	return slices.ContainsFunc(approvals, func(e journal.Entry) bool {
		return e.Outcome == journal.Applied && e.Ticket.Lookup.Digest == digest
	})
}

// mayApprove refuses to send the approval of a review if another approval of the campaign has no outcome, or is one that the review does
// not know, or if the campaign has to be read again: because that was long ago, or because an attempt got a response, which may be that
// to a second request of a gateway. Each approval stores its ticket before it looks here, so of two at the same time at least one sees
// the other.
func (c *call) mayApprove() error {
	if c.met() {
		return c.withhold(errAged)
	}
	digest := c.in.lookup.Digest
	approvals, err := c.conf.approvals(c.ctx, c.in.ids[0])
	switch {
	case err != nil:
		return c.refuseAttempt(RuleJournal, err)
	case approvedBy(digest, approvals):
		return c.withhold(errAlready)
	}
	var others review.Review
	for _, e := range approvals {
		switch {
		case e.Ticket.ID == c.ticketID:
		case e.Outcome == journal.Unknown:
			return c.refuseAttempt(RuleInProgress, noOutcomeYet(e.Ticket))
		default:
			others.Approved(e.Ticket.ID, false)
		}
	}
	if !others.ApprovedAs(digest) {
		return c.refuseAttempt(RuleReview, errAnother)
	}
	if c.evidence.aged() {
		return c.withhold(errAged)
	}
	return nil
}

// withhold keeps an attempt from being sent by this call: Approve reads again, and makes another one, or is done.
func (c *call) withhold(why error) error {
	c.cause = withCause(c.cause, why)
	return why
}

// aged reports whether so much time has passed since the reads began that others may have changed what they showed. More reads
// may take longer, because they queue for the rate limit.
func (s *readEvidence) aged() bool {
	within := 30*time.Second + time.Duration(s.responses)*5*time.Second
	return !clock.Sent{Last: s.began.Add(-s.older), Local: true}.Recent(within, time.Now(), nil)
}

// reviewed makes the review once more, and returns an error unless it is the same, and the campaign is not active. If it has become so
// by a call that the journal does not know, that uses the review up: a later call with it resumes nothing that was stopped since.
func (s *CampaignsService) reviewed(ctx context.Context, campaignID, digest string, earlier *Campaign, opts []CallOption) (*Review, error) {
	now, err := s.review(ctx, campaignID, earlier, opts)
	if err == nil && now.evidence.cached {
		err = unproved(errCached, "keep responses of this API out of caches")
	}
	if err == nil {
		now.approvals, err = s.approvals(ctx, campaignID, digest, opts)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range now.approvals { // later ones are found by the ticket
		now.content.Approved(e.Ticket.ID, false)
	}
	changes := now.content.Changes(digest)
	if now.has(CampaignActive) {
		if now.content.ApprovedAs(digest) && slices.ContainsFunc(changes, func(c review.Change) bool { return c.Section == review.Campaign }) {
			s.useUp(ctx, campaignID)
		}
		return nil, notReviewed("campaign", isActive)
	}
	if len(changes) == 0 {
		return now, nil
	}
	refused := ruleRefusal(op.CampaignsApprove, RuleReview, nil)
	for _, c := range changes {
		v := Violation{Param: string(c.Section), Problem: c.String()}
		if c.Section == review.Campaign && now.has(CampaignStopped) {
			v.Problem += ": it is stopped"
		}
		refused.Violations = append(refused.Violations, v)
	}
	return nil, refused
}

const isActive = "is active: another call has approved it"

// mayResume returns an error if an approval would resume the campaign, which is as it was reviewed, and the caller does not allow that.
func (s *CampaignsService) mayResume(r *Review, opts []CallOption) error {
	r.Approvals = len(r.approvals)
	if !r.Resumes() || s.conf.with(opts, new(check.Violations)).allowResume {
		return nil
	}
	how := "may be stopped: the listing does not show its status"
	switch {
	case r.has(CampaignStopped):
		how = "is stopped"
	case r.Approvals > 0:
		how = "was approved at " + r.approvals[r.Approvals-1].Ticket.LastSent.UTC().Format(time.RFC3339)
	}
	refused := ruleRefusal(op.CampaignsApprove, RuleResume, nil)
	refused.Violations = []Violation{{Param: "campaign", Problem: how + ": pass AllowResume if a person who has read this has agreed to resume it"}}
	return refused
}

// approvals returns the calls that have approved a campaign: errAlready if one of them approved this review, and another error if one may
// have approved the campaign, or is about to.
func (s *CampaignsService) approvals(ctx context.Context, campaignID, digest string, opts []CallOption) ([]journal.Entry, error) {
	known, err := s.conf.approvals(ctx, campaignID)
	switch {
	case err != nil:
		return nil, withoutEffect(op.CampaignsApprove, err)
	case approvedBy(digest, known):
		return nil, withoutEffect(op.CampaignsApprove, errAlready)
	}
	var doubts []journal.Entry
	for _, e := range known {
		switch {
		case e.InProgress:
			return nil, ruleRefusal(op.CampaignsApprove, RuleInProgress, noOutcomeYet(e.Ticket))
		case e.Outcome == journal.Unknown:
			doubts = append(doubts, e)
		}
	}
	if len(doubts) == 0 {
		return known, nil
	}
	var evidence readEvidence
	campaign, err := s.inListing(ctx, campaignID, pageOptions(append(sharedOptions(opts), evidence.option())))
	switch active := !evidence.cached && (&Review{Campaign: campaign}).has(CampaignActive); {
	case err != nil:
		return nil, err
	case !active || !s.settleApplied(ctx, doubts):
		return nil, earlierUnknown(s.conf, op.CampaignsApprove, doubts[len(doubts)-1].Ticket, s.lookForApproval)
	case approvedBy(digest, doubts):
		return nil, withoutEffect(op.CampaignsApprove, errAlready)
	}
	return nil, notReviewed("campaign", isActive)
}

// settleApplied settles the approvals in doubt of a campaign that is active, as Resolve does, and reports whether it could.
func (s *CampaignsService) settleApplied(ctx context.Context, doubts []journal.Entry) bool {
	all := true
	for i, e := range doubts {
		if s.conf.settle(ctx, e.Ticket, journal.End{Outcome: journal.Applied}) == nil {
			doubts[i].Outcome = journal.Applied
		} else {
			all = false
		}
	}
	return all
}

// useUp notes an approval that was not made by this review, so that it is older than the last one.
func (s *CampaignsService) useUp(ctx context.Context, campaignID string) {
	var c call
	c.conf, c.op, c.ctx, c.firstSent, c.lastSent = s.conf, op.CampaignsApprove, ctx, time.Now(), time.Now()
	c.in = args{ids: []string{campaignID}}
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

var errCached error = redact.OwnError("what was read may be old by its Age, which is that of a cache, or of a gateway that finds Date too old")

// unproved is the error of an approval without proof that nothing has changed.
func unproved(why error, hint string) error {
	e := withoutEffect(op.CampaignsApprove, why)
	e.hint = "nothing was approved: " + hint
	return e
}

// notReviewed refuses an approval because the campaign is not what was reviewed, or not any more.
func notReviewed(param, problem string) error {
	refused := ruleRefusal(op.CampaignsApprove, RuleReview, nil)
	refused.Violations = []Violation{{Param: param, Problem: problem}}
	return refused
}

// approvals returns the calls that approved a campaign, or may have.
func (c *config) approvals(ctx context.Context, campaignID string) ([]journal.Entry, error) {
	return c.sent(ctx, op.CampaignsApprove, []string{campaignID})
}
