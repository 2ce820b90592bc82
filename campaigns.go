package prospectkit

import (
	"cmp"
	"context"
	"iter"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
)

// CampaignsService reads, prepares and approves outreach campaigns and their scheduled sends. Only
// Approve is documented to send messages.
type CampaignsService struct{ service }

// All iterates over the campaigns, in undocumented order. The response is undocumented: a bare
// array, or an array under "campaigns" or "data", is accepted. If a pagination, a nextCursor or a scrollToken stands beside it, further
// pages are requested with pageNum (assumed), and the same page once more is an error. Any other response is an error that names its
// keys. A further page that the response tells of in any other way is not read.
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) All(ctx context.Context, opts ...PageOption) iter.Seq2[*Campaign, error] {
	return campaignListing(s.conf).pager().items(ctx, opts)
}

// Pages iterates over pages of campaigns, and otherwise as [CampaignsService.All] does.
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) Pages(ctx context.Context, opts ...PageOption) iter.Seq2[*Page[Campaign], error] {
	return campaignListing(s.conf).pager().pages(ctx, opts)
}

// Page reads the first page of the campaigns, or all if there are no pages; see [CampaignsService.All]. Parameters are
// undocumented: see [WithQuery].
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) Page(ctx context.Context, opts ...CallOption) (*Page[Campaign], error) {
	return campaignListing(s.conf).page(ctx, 1, opts)
}

func campaignListing(conf *config) listing[Campaign] {
	return listing[Campaign]{conf: conf, op: op.CampaignsList, name: "campaigns", id: func(c *Campaign) string { return c.ID }}
}

func stepListing(conf *config, campaignID string) listing[Step] {
	return listing[Step]{
		conf: conf, op: op.CampaignsSteps, ids: []string{campaignID}, name: "steps", id: func(s *Step) string { return s.ID },
	}
}

func sendListing(conf *config, campaignID string) listing[Send] {
	return listing[Send]{
		conf: conf, op: op.CampaignsSends, ids: []string{campaignID}, name: "scheduledSends", id: func(s *Send) string { return s.ID },
	}
}

// Create creates a campaign. Body and response are undocumented, except for fields of [NewCampaign]:
// supply others in Extra. The sandbox takes name and optionally channels, listIds, steps (objects of type,
// sequenceNumber, subject, body and topic), knowledgeHubId, templateId and writingStyleId (assumed: rule
// campaigns.create and steps.sent). The body of a step of the type social_connection is the connection note, of
// at most 200 characters. A social_connection step must not follow a social_message step.
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
func (s *CampaignsService) Create(ctx context.Context, in NewCampaign, opts ...CallOption) (*Campaign, error) {
	return doRecord[Campaign](ctx, s.conf, op.CampaignsCreate, args{body: in, extra: []Fields{in.Extra}}, opts, "campaign", "id")
}

// Adjust changes a campaign, for example its source lists. Nothing else of body and response is
// documented: supply other fields in Extra. The sandbox takes name, channels, listIds and steps, at
// least one (assumed: rule campaigns.adjust and steps.sent). Whether it spends credits is
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
func (s *CampaignsService) Adjust(ctx context.Context, campaignID string, in CampaignChanges, opts ...CallOption) (*Campaign, error) {
	a := args{ids: []string{campaignID}, body: in, extra: []Fields{in.Extra}}
	return doChange(ctx, s.conf, op.CampaignsAdjust, a, opts, "campaign", func(c *Campaign) *string { return &c.ID })
}

// Steps iterates over the steps of a campaign as [CampaignsService.All] does, under "steps" or
// "data".
//
// Errors: likely: [CodeCampaignNotFound].
//
// GET /business/campaigns/{campaignId}/steps, scope campaigns.
func (s *CampaignsService) Steps(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Step, error] {
	return stepListing(s.conf, campaignID).pager().items(ctx, opts)
}

// StepsPages iterates over pages of steps, and otherwise as [CampaignsService.Steps] does.
//
// Errors: those of [CampaignsService.Steps].
//
// GET /business/campaigns/{campaignId}/steps, scope campaigns.
func (s *CampaignsService) StepsPages(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Page[Step], error] {
	return stepListing(s.conf, campaignID).pager().pages(ctx, opts)
}

// StepsPage reads the first page of the steps of a campaign, or all if there are no pages; see [CampaignsService.Steps].
//
// Errors: those of [CampaignsService.Steps].
//
// GET /business/campaigns/{campaignId}/steps, scope campaigns.
func (s *CampaignsService) StepsPage(ctx context.Context, campaignID string, opts ...CallOption) (*Page[Step], error) {
	return stepListing(s.conf, campaignID).page(ctx, 1, opts)
}

// Sends iterates over the messages that a campaign has sent or will send, as [CampaignsService.All]
// does, under "scheduledSends" or "data".
//
// Errors: likely: [CodeCampaignNotFound].
//
// GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) Sends(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Send, error] {
	return sendListing(s.conf, campaignID).pager().items(ctx, opts)
}

// SendsPages iterates over pages of scheduled sends, and otherwise as [CampaignsService.Sends] does.
//
// Errors: those of [CampaignsService.Sends].
//
// GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) SendsPages(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Page[Send], error] {
	return sendListing(s.conf, campaignID).pager().pages(ctx, opts)
}

// SendsPage reads the first page of the scheduled sends of a campaign, or all if there are no pages; see [CampaignsService.Sends].
//
// Errors: those of [CampaignsService.Sends].
//
// GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) SendsPage(ctx context.Context, campaignID string, opts ...CallOption) (*Page[Send], error) {
	return sendListing(s.conf, campaignID).page(ctx, 1, opts)
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
func (s *CampaignsService) EditSend(ctx context.Context, sendID string, in Fields, opts ...CallOption) (*Send, error) {
	a := args{ids: []string{sendID}, body: in}
	return doChange(ctx, s.conf, op.CampaignsEditSend, a, opts, "scheduledSend", func(s *Send) *string { return &s.ID })
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
	return doExpecting(ctx, s.conf, op.CampaignsPreviewStep, args{ids: []string{campaignID, stepID}, body: in}, opts,
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

// Approve starts a campaign: the service then sends its messages to people, in the background. Only
// approval is documented to send messages. No credit cost is documented. A stopped campaign resumes where
// it was. Only its owner can approve it.
//
// A nil error means that the service has confirmed it. If the rest of its response was lost, the result
// holds what is documented, id and status.
//
// It is never retried after an unknown outcome, not even with [AllowRetryUnknown]: a teammate may have
// stopped the campaign in between, and a second approval would resume it. The error is then an
// [OutcomeUnknownError], whose Resolve reads the status from the listing (assumed to be there). To
// approve exactly what a person has seen, use [CampaignsService.ApproveReviewed].
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
	a := args{ids: []string{campaignID}, look: s.lookForApproval, lookup: journal.Lookup{Digest: digest}}
	return doExpecting(ctx, s.conf, op.CampaignsApprove, a, opts, expected[Approval]{
		proof: func(a *Approval) bool { return sameID(a.CampaignID, campaignID) },
		known: &Approval{CampaignID: campaignID, Status: CampaignActive},
	})
}

func (s *CampaignsService) looks() map[*op.Op]look {
	return map[*op.Op]look{op.CampaignsApprove: s.lookForApproval}
}

// lookForApproval reads the status of a campaign from the listing. An active one was approved. A stopped
// one proves nothing: a teammate may have stopped it since, and another approval would resume it.
func (s *CampaignsService) lookForApproval(ctx context.Context, q *resolver, opts []CallOption) (Resolution, error) {
	campaign, err := s.onAnyListing(ctx, q.id(), opts)
	if err != nil {
		return Resolution{}, err
	}
	r := Resolution{Verdict: VerdictUnknowable, Object: campaign}
	switch {
	case campaign.ID == "":
		r.Object = nil
		r.Note = "the listing does not hold the campaign: its shape and its pages are undocumented"
	case campaign.Status == "":
		r.Note = "the listing holds the campaign, but not its status"
	case campaign.Status == CampaignActive:
		r.Verdict = VerdictHappened
		r.Note = "the campaign is active; a teammate may have approved it at the same moment"
	default:
		r.Verdict, q.undone = VerdictNotSeen, campaign.Status == CampaignStopped
		r.Note = "the campaign is not active: it may still become so, because activation runs in the background (documented)"
		if q.undone {
			r.Note = "the campaign is stopped: a teammate may have stopped it since, so ask before you approve again"
		}
	}
	return r, nil
}

// onAnyListing is inListing where a listing of another shape is no error: it does not hold the campaign.
func (s *CampaignsService) onAnyListing(ctx context.Context, id string, opts []CallOption) (*Campaign, error) {
	response, err := do[Object](ctx, s.conf, op.CampaignsList, args{}, opts)
	if err != nil {
		return nil, err
	}
	page, err := campaignListing(s.conf).read(*response)
	if err != nil {
		return new(Campaign), nil //nolint:nilerr // that it is no listing is known
	}
	for _, campaign := range page.Items {
		if sameID(campaign.ID, id) {
			return &campaign, nil
		}
	}
	if _, paged := response.Get("pagination"); paged {
		return s.inListing(ctx, id, pageOptions(opts))
	}
	return new(Campaign), nil
}

// inListing finds a campaign on any page of the listing. It returns one without an id if there is none.
func (s *CampaignsService) inListing(ctx context.Context, id string, opts []PageOption) (*Campaign, error) {
	for campaign, err := range s.All(ctx, opts...) {
		if err != nil {
			return new(Campaign), err
		}
		if sameID(campaign.ID, id) {
			return campaign, nil
		}
	}
	return new(Campaign), nil
}

// WaitInitialized reads the listing until the campaign with that id is [Campaign.Initialized]: until its
// initializationStatus is completed or failed. It keeps waiting while the listing lacks the campaign, or its status. It polls less
// often than [AgentsService.WaitSettled]. With a [WaitTimeoutError], it returns the campaign as last seen.
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) WaitInitialized(ctx context.Context, campaignID string, opts ...CallOption) (*Campaign, error) {
	var bad check.Violations
	if bad.ID("campaignId", campaignID); len(bad) > 0 {
		return nil, refusal(op.CampaignsList, bad)
	}
	read := func(ctx context.Context) (*Campaign, error) { return s.inListing(ctx, campaignID, pageOptions(opts)) }
	return waitFor(ctx, s.conf, op.CampaignsList, read, func(campaign *Campaign) waits.Sighting {
		if campaign.ID == "" {
			return waits.Sighting{State: "not in the listing"}
		}
		state := cmp.Or(string(campaign.InitializationStatus), "without initializationStatus")
		return waits.Sighting{Settled: campaign.Initialized(), State: state}
	})
}
