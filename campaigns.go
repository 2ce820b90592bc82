package prospectkit

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/digests"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/review"
)

// CampaignsService reads, prepares and approves outreach campaigns and their scheduled sends. Only
// Approve is documented to send messages.
type CampaignsService struct{ service }

// CampaignStatus is the state of a campaign.
type CampaignStatus string

// The documented values. The value of a draft is undocumented.
const (
	CampaignActive  CampaignStatus = "active"  // its messages go out
	CampaignStopped CampaignStatus = "stopped" // an approval resumes it
)

var campaignStatuses = []CampaignStatus{CampaignActive, CampaignStopped}

// Known reports whether the status is documented.
func (s CampaignStatus) Known() bool { return slices.Contains(campaignStatuses, s) }

// SendState is the state of a scheduled send.
type SendState string

// The documented states. There is one more, of waiting on a task, whose value is undocumented.
const (
	SendScheduled        SendState = "scheduled"
	SendApprovalRequired SendState = "approval_required"
	SendSent             SendState = "sent"
	SendSkipped          SendState = "skipped"
	SendStopped          SendState = "stopped"
	SendOverwritten      SendState = "overwritten"
	SendReplied          SendState = "replied"
	SendFailed           SendState = "failed"
)

var sendStates = []SendState{
	SendScheduled, SendApprovalRequired, SendSent, SendSkipped, SendStopped, SendOverwritten, SendReplied,
	SendFailed,
}

// Known reports whether the state is documented.
func (s SendState) Known() bool { return slices.Contains(sendStates, s) }

// Editable reports whether [CampaignsService.EditSend] is accepted in this state.
func (s SendState) Editable() bool { return s == SendScheduled || s == SendApprovalRequired }

// List reads the campaigns, and returns the response as it is. Parameters (see [WithQuery]) and
// response are undocumented.
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) List(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.CampaignsList, args{}, opts)
}

// All iterates over the campaigns, in undocumented order. The response is undocumented: a bare
// array, or an array under "campaigns" or "data", is accepted. If a pagination stands beside it,
// further pages are requested with pageNum (assumed). Any other response is an error that names its
// keys.
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) All(ctx context.Context, opts ...PageOption) iter.Seq2[*Object, error] {
	return s.pager(op.CampaignsList, "campaigns").items(ctx, opts)
}

func (s *CampaignsService) pager(o *op.Op, name string, ids ...string) pager[Object] {
	return listing[Object]{conf: s.conf, op: o, ids: ids, name: name}.
		pager(func(o *Object) string { return o.Text("id") })
}

// Create creates a campaign. Body and response are undocumented: you supply the fields. The sandbox
// takes name and optionally channels, listIds, steps (objects of type, sequenceNumber, subject,
// body and topic), knowledgeHubId, templateId and writingStyleId (assumed: rule campaigns.create
// and steps.sent). The body of a step of the type social_connection is the connection note, of at
// most 200 characters. A social_connection step must not follow a social_message step.
//
// The service may generate parts of the campaign, so the call counts as spending credits. Names may
// repeat, so a second call creates a second campaign. It is never retried after an unknown outcome:
// check [CampaignsService.All] instead.
//
// Errors: likely: [CodeKnowledgeHubNotFound], [CodeTemplateNotFound], [CodeWritingStyleNotFound],
// [CodeListNotFound], [CodeContactListRequired], [CodeListEmpty],
// [CodeListIncompatibleWithChannels], [CodeCampaignListCapReached], [CodeInvalidCampaignChannels],
// [CodeStepOrderInvalid], [CodeStepPositionTaken], [CodeConnectionNoteTooLong],
// [CodeInvalidRequest].
//
// POST /business/campaigns, scope campaigns.
func (s *CampaignsService) Create(ctx context.Context, in Fields, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.CampaignsCreate, args{body: in}, opts)
}

// Adjust changes a campaign, for example the listIds of its source lists, at most 10. Nothing else
// of body and response is documented: you supply the fields. The sandbox takes name, channels,
// listIds and steps, at least one (assumed: rule campaigns.adjust and steps.sent). Whether it spends credits is
// undocumented; the "nothing billed" of [CodeCampaignListCapReached] hints that attaching lists may, so it counts as
// spending. It is never retried after an unknown outcome: look at the campaign.
//
// Errors: documented: [CodeCampaignInitializing] (see [CampaignsService.WaitInitialized]); likely:
// [CodeCampaignNotFound], [CodeListNotFound], [CodeContactListRequired], [CodeListEmpty],
// [CodeListIncompatibleWithChannels] (may pass right after a list was filled),
// [CodeCampaignListCapReached], [CodeInvalidCampaignChannels], [CodeStepOrderInvalid],
// [CodeStepPositionTaken], [CodeConnectionNoteTooLong], [CodeInvalidRequest].
//
// PATCH /business/campaigns/{campaignId}, scope campaigns.
func (s *CampaignsService) Adjust(ctx context.Context, campaignID string, in Fields, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.CampaignsAdjust, args{ids: []string{campaignID}, body: in}, opts)
}

// Steps iterates over the steps of a campaign as [CampaignsService.All] does, under "steps" or
// "data". Only their id and sequenceNumber are documented.
//
// Errors: likely: [CodeCampaignNotFound].
//
// GET /business/campaigns/{campaignId}/steps, scope campaigns.
func (s *CampaignsService) Steps(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Object, error] {
	return s.pager(op.CampaignsSteps, "steps", campaignID).items(ctx, opts)
}

// StepsPage reads the steps of a campaign, and returns the response as it is.
//
// Errors: those of [CampaignsService.Steps].
//
// GET /business/campaigns/{campaignId}/steps, scope campaigns.
func (s *CampaignsService) StepsPage(ctx context.Context, campaignID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.CampaignsSteps, args{ids: []string{campaignID}}, opts)
}

// Sends iterates over the messages that a campaign has sent or will send, as [CampaignsService.All]
// does, under "scheduledSends" or "data". Only their states are documented: see [SendState].
//
// Errors: likely: [CodeCampaignNotFound].
//
// GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) Sends(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Object, error] {
	return s.pager(op.CampaignsSends, "scheduledSends", campaignID).items(ctx, opts)
}

// SendsPage reads the scheduled sends of a campaign, and returns the response as it is.
//
// Errors: those of [CampaignsService.Sends].
//
// GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) SendsPage(ctx context.Context, campaignID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.CampaignsSends, args{ids: []string{campaignID}}, opts)
}

// EditSend changes a scheduled send before it goes out. Body and response are undocumented: you
// supply the fields. The sandbox takes subject, body and dueAt, at least one (assumed: rule
// sends.edit.shape). After an unknown outcome, it is retried only with [AllowRetryUnknown]; otherwise
// check [CampaignsService.Sends].
//
// Errors: documented: [CodeScheduledSendNotEditable] (see [SendState.Editable]); likely:
// [CodeScheduledSendNotFound], [CodeConnectionNoteTooLong].
//
// PATCH /business/scheduled-sends/{sendId}, scope campaigns.
func (s *CampaignsService) EditSend(ctx context.Context, sendID string, in Fields, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.CampaignsEditSend, args{ids: []string{sendID}, body: in}, opts)
}

// StepPreview is a step rendered for a sample lead. The shape of the preview is undocumented.
type StepPreview struct {
	StepID  string `json:"stepId"`
	Preview Object `json:"preview"`
	record
}

// String returns the preview as JSON, for fmt. It may hold personal data: keep it out of logs.
func (p StepPreview) String() string { return textOf(Object{}, p) }

// PreviewStep renders a step for a sample lead. It saves nothing and sends no message. Path and
// body are undocumented: you supply both. Supply the path with [WithRoute] and two parameters in
// braces, for the campaign and then the step. The sandbox takes nothing: the body is
// ignored (assumed: rule steps.preview.shape). Whether rendering costs credits is undocumented, so it
// counts as spending and is never retried after an unknown outcome.
//
// Errors: documented: [CodeSequenceStepNotFound], [CodeStepPreviewUnavailable]; likely:
// [CodeCampaignNotFound].
//
// POST (path undocumented), scope campaigns.
func (s *CampaignsService) PreviewStep(ctx context.Context, campaignID, stepID string, in Fields, opts ...CallOption) (*StepPreview, error) {
	return do(ctx, s.conf, op.CampaignsPreviewStep, args{ids: []string{campaignID, stepID}, body: in}, opts,
		provedBy(func(p *StepPreview) bool { return sameID(p.StepID, stepID) }))
}

// Approval is the response to the approval of a campaign.
type Approval struct {
	CampaignID string         `json:"campaignId"`
	Status     CampaignStatus `json:"status"` // active
	record
}

// String returns the approval as JSON, for fmt.
func (a Approval) String() string { return textOf(Object{}, a) }

// Approve starts a campaign: the service then sends its messages to people, in the background. No
// other call is documented to. A stopped campaign resumes where it was. Only its owner can approve it.
// Without an error, the service has confirmed it, even if the rest of its response was lost: the result then
// holds what is documented, id and status.
//
// It is never retried after an unknown outcome, not even with [AllowRetryUnknown]: a teammate may have
// stopped the campaign in between, and a second approval would resume it. The error is then an
// [OutcomeUnknownError], whose Resolve reads the status from the listing (assumed to be there).
//
// Errors: documented: [CodeCampaignNotFound] (also for a campaign of another owner),
// [CodeCampaignNotApprovable] (also for an active campaign), [CodeCampaignBusy] (passes within
// seconds), [CodeCampaignNotReady], [CodeValidationFailed].
//
// POST /business/campaigns/{campaignId}/approve, scope campaigns.
func (s *CampaignsService) Approve(ctx context.Context, campaignID string, opts ...CallOption) (*Approval, error) {
	return s.approve(ctx, campaignID, "", opts)
}

func (s *CampaignsService) approve(ctx context.Context, campaignID, digest string, opts []CallOption) (*Approval, error) {
	a := args{ids: []string{campaignID}, lookup: journal.Lookup{Digest: digest}}
	return do(ctx, s.conf, op.CampaignsApprove, a, opts, expected[Approval]{
		proof: func(a *Approval) bool { return sameID(a.CampaignID, campaignID) },
		known: &Approval{CampaignID: campaignID, Status: CampaignActive},
	})
}

// Review reads all that the API shows of a campaign, for a person who is to approve it: the campaign in the
// listing, its steps and scheduled sends, and its lists with their rows, a request for each 1,000.
// The lists are those under listIds in the listing (assumed); they need the scope lists. If there are none, lists and contacts
// are Unread in the review, and its text says so. Pass the Digest of the review to [CampaignsService.ApproveReviewed].
//
// Errors: those of [CampaignsService.Steps] and [ListsService.Rows].
//
// GET /business/campaigns and GET /business/campaigns/{campaignId}/steps and GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) Review(ctx context.Context, campaignID string, opts ...CallOption) (*review.Review, error) {
	r, _, err := s.review(ctx, campaignID, nil, opts)
	if err != nil {
		return nil, err
	}
	for e, err := range s.conf.approvalsOf(ctx) {
		if err != nil {
			return nil, withoutEffect(op.CampaignsList, err)
		}
		r.Approved(e.Ticket.Lookup.Digest)
	}
	return r, nil
}

// review makes a review. If the campaign was read earlier, its lists come first: they may have many pages,
// and a change while those are read shows in what is read after them.
func (s *CampaignsService) review(ctx context.Context, campaignID string, earlier *Object, opts []CallOption) (*review.Review, *Object, error) {
	r, shared := new(review.Review), sharedOptions(opts)
	pages := pageOptions(shared)
	if earlier != nil {
		if err := s.reviewLists(ctx, r, *earlier, shared); err != nil {
			return nil, nil, err
		}
	}
	err := addAll(r, review.Steps, s.versions(op.CampaignsSteps, "steps", campaignID).items(ctx, pages))
	if err == nil {
		err = addAll(r, review.Sends, s.versions(op.CampaignsSends, "scheduledSends", campaignID).items(ctx, pages))
	}
	if err != nil {
		return nil, nil, err
	}
	campaign, err := s.inListing(ctx, campaignID, pages)
	switch {
	case err != nil:
		return nil, nil, err
	case campaign.IsZero():
		return nil, nil, unusable(op.CampaignsList, "the listing does not hold the campaign")
	}
	r.Add(review.Campaign, campaign.Raw())
	if earlier == nil {
		err = s.reviewLists(ctx, r, *campaign, shared)
	}
	return r, campaign, err
}

// addAll adds the texts of a sequence to a review, up to its first error.
func addAll[T interface{ Raw() json.RawMessage }](r *review.Review, s review.Section, texts iter.Seq2[T, error]) error {
	for text, err := range texts {
		if err != nil {
			return err
		}
		r.Add(s, text.Raw())
	}
	return nil
}

// versions is a pager that drops only what is the same: two steps of one id may differ.
func (s *CampaignsService) versions(o *op.Op, name string, ids ...string) pager[Object] {
	p := s.pager(o, name, ids...)
	id := p.id
	p.id = func(o *Object) string {
		if id(o) == "" {
			return ""
		}
		return id(o) + "\x00" + o.String()
	}
	return p
}

// reviewLists reads the lists after their rows: a change of the rows meanwhile shows in the counts.
func (s *CampaignsService) reviewLists(ctx context.Context, r *review.Review, campaign Object, opts []CallOption) error {
	if lists, _ := campaign.Get("listIds"); !lists.begins('[') {
		r.Unread = []review.Section{review.Lists, review.Contacts}
	}
	for id := range campaign.All("listIds") {
		rows := (&ListsService{s.service}).Rows(ctx, id.Text(""), RowsParams{}, pageOptions(opts)...)
		if err := addAll(r, review.Contacts, rows); err != nil {
			return err
		}
	}
	for id := range campaign.All("listIds") {
		list, err := (&ListsService{s.service}).Get(ctx, id.Text(""), GetListParams{}, opts...)
		if err != nil {
			return err
		}
		r.Add(review.Lists, list.Raw().Raw())
	}
	return nil
}

// ApproveReviewed approves a campaign if it is still what was reviewed. It makes the [CampaignsService.Review]
// twice more, the second time with the contacts first, so that a change while those are read also counts.
// If anything differs, nothing is approved: the error is a [RefusedError] with [RuleReview], whose
// Violations name what changed. The approval itself takes no content, so a change of a part after its
// last read and before the approval goes unnoticed. A review whose lists and contacts are Unread can be approved: neither
// is compared.
//
// A digest is used up by one approval. After it, and for a campaign that is active, nothing is sent: the error is a
// [RefusedError] with [RuleApproved], and whoever wanted the campaign approved is done. If the outcome of the earlier approval is
// unknown and the campaign is not active, the error is its [OutcomeUnknownError]: resolve that. A campaign that a teammate has stopped
// stays stopped until a new review is approved. This reaches as far as the journal of the client remembers, if that is a
// [journal.History], in whichever process. Without one, it reaches as far as this client and those of its With: another process then
// knows only that an active campaign is approved.
//
// Errors: those of [CampaignsService.Steps] and [ListsService.Rows] and [CampaignsService.Approve].
//
// POST /business/campaigns/{campaignId}/approve, scope campaigns.
func (s *CampaignsService) ApproveReviewed(ctx context.Context, campaignID, digest string, opts ...CallOption) (*Approval, error) {
	switch {
	case digests.Outdated(digest):
		return nil, refusal(op.CampaignsApprove, check.One("digest", "is of an earlier version of this package: review the campaign again"))
	case !digests.Valid(digest):
		return nil, refusal(op.CampaignsApprove, check.One("digest", "is not the digest of a review"))
	}
	if err := s.unapproved(ctx, campaignID, digest, opts); err != nil {
		return nil, err
	}
	var campaign *Object
	for range 2 {
		now, found, err := s.review(ctx, campaignID, campaign, opts)
		if err != nil {
			return nil, err
		}
		campaign = found
		if err := inactive(campaign); err != nil {
			return nil, err
		}
		if changes := now.Changes(digest); len(changes) > 0 {
			refused := ruleRefusal(op.CampaignsApprove, RuleReview, nil)
			for _, c := range changes {
				refused.Violations = append(refused.Violations, Violation{Param: string(c.Section), Problem: c.String()})
			}
			return nil, refused
		}
	}
	return s.approve(ctx, campaignID, digest, opts)
}

// unapproved returns an error if an earlier call has approved the review, or may have.
func (s *CampaignsService) unapproved(ctx context.Context, campaignID, digest string, opts []CallOption) error {
	var earlier journal.Entry
	for e, err := range s.conf.approvalsOf(ctx) {
		switch {
		case err != nil:
			return withoutEffect(op.CampaignsApprove, err)
		case e.Ticket.Lookup.Digest == digest && earlier.Outcome != journal.Applied:
			earlier = e
		}
	}
	switch earlier.Outcome {
	case journal.Applied:
		return approved("digest", "was used: this review was approved at "+earlier.Ticket.FirstSent.UTC().Format(time.RFC3339))
	case journal.Unknown:
		campaign, err := s.inListing(ctx, campaignID, pageOptions(sharedOptions(opts)))
		if err == nil {
			err = inactive(campaign)
		}
		return cmp.Or(err, error(earlierUnknown(s.conf, op.CampaignsApprove, earlier.Ticket)))
	case journal.NotApplied: // is left out
	}
	return nil
}

// inactive returns an error if a campaign is active.
func inactive(campaign *Object) error {
	if CampaignStatus(campaign.Text("status")) == CampaignActive {
		return approved("campaign", "is active: somebody has approved it")
	}
	return nil
}

func approved(param, problem string) error {
	refused := ruleRefusal(op.CampaignsApprove, RuleApproved, nil)
	refused.Violations = []Violation{{Param: param, Problem: problem}}
	return refused
}

// lookForApproval reads the status of a campaign from the listing. An active one was approved. A stopped
// one proves nothing: a teammate may have stopped it since, and another approval would resume it.
func (s *CampaignsService) lookForApproval(ctx context.Context, q *resolver, opts []CallOption) (Resolution, error) {
	listing, err := s.List(ctx, opts...) // of any shape
	if err != nil {
		return Resolution{}, err
	}
	campaign := campaignIn(*listing, q.id())
	if _, paged := listing.Get("pagination"); paged && campaign.IsZero() {
		if campaign, err = s.inListing(ctx, q.id(), pageOptions(opts)); err != nil {
			return Resolution{}, err
		}
	}
	r := Resolution{Verdict: VerdictUnknowable, Object: campaign}
	switch status := CampaignStatus(campaign.Text("status")); {
	case campaign.IsZero():
		r.Object = nil
		r.Note = "the listing does not hold the campaign: its shape and its pages are undocumented"
	case status == "":
		r.Note = "the listing holds the campaign, but not its status"
	case status == CampaignActive:
		r.Verdict = VerdictHappened
		r.Note = "the campaign is active; a teammate may have approved it at the same moment"
	default:
		r.Verdict, q.undone = VerdictNotSeen, status == CampaignStopped
		r.Note = "the campaign is not active: it may still become so, because activation runs in the background (documented)"
		if q.undone {
			r.Note = "the campaign is stopped: a teammate may have stopped it since, so ask before you approve again"
		}
	}
	return r, nil
}

// campaignIn finds a campaign on a page of the listing. Its id is under "id" (assumed).
func campaignIn(page Object, id string) *Object {
	campaigns, _ := elementsOf(page, "campaigns")
	for c := range campaigns.All("") {
		if sameID(c.Text("id"), id) {
			return &c
		}
	}
	return new(Object)
}

// inListing finds a campaign on any page of the listing. It returns a zero Object if there is none.
func (s *CampaignsService) inListing(ctx context.Context, id string, opts []PageOption) (*Object, error) {
	for campaign, err := range s.All(ctx, opts...) {
		if err != nil {
			return new(Object), err
		}
		if sameID(campaign.Text("id"), id) {
			return campaign, nil
		}
	}
	return new(Object), nil
}

// Initialized reports whether the initializationStatus of a campaign is completed or failed. It is a
// test for [CampaignsService.WaitInitialized]. Earlier values are undocumented. The campaigns of the
// listing have the field (assumed).
func Initialized(campaign Object) bool {
	status := campaign.Text("initializationStatus")
	return status == "completed" || status == "failed"
}

// WaitInitialized reads the listing until test, such as [Initialized], returns true for the campaign
// with that id. It keeps waiting while the listing lacks the campaign. It polls less
// often than [AgentsService.WaitSettled]. With a [WaitTimeoutError], it returns the campaign as last seen.
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) WaitInitialized(ctx context.Context, campaignID string, test func(Object) bool, opts ...CallOption) (*Object, error) {
	var bad check.Violations
	bad.ID("campaignId", campaignID)
	bad.Must(test != nil, "test", "must not be nil")
	if len(bad) > 0 {
		return nil, refusal(op.CampaignsList, bad)
	}
	read := func(ctx context.Context) (*Object, error) { return s.inListing(ctx, campaignID, pageOptions(opts)) }
	return waitFor(ctx, s.conf, op.CampaignsList, read, func(campaign *Object) waits.Sighting {
		if campaign.IsZero() {
			return waits.Sighting{State: "not in the listing"}
		}
		return waits.Sighting{Settled: test(*campaign), State: campaign.Text("initializationStatus")}
	})
}
