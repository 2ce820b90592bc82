package prospectkit

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/waits"
)

// CampaignsService reads, prepares and approves outreach campaigns. Only Approve and ApproveUnreviewed are documented to send messages.
type CampaignsService struct{ service }

// CampaignStatus is the state of a campaign.
type CampaignStatus string

// The documented values. The value of a draft is undocumented.
const (
	CampaignActive  CampaignStatus = "active"  // its messages go out
	CampaignStopped CampaignStatus = "stopped" // an approval resumes it: see [AllowResume]
)

// Known reports whether it is documented.
func (s CampaignStatus) Known() bool { return s == CampaignActive || s == CampaignStopped }

// InitializationStatus says how far the service is with what it generates for a campaign.
type InitializationStatus string

// The documented values. Earlier ones are undocumented.
const (
	InitializationCompleted InitializationStatus = "completed"
	InitializationFailed    InitializationStatus = "failed"
)

// Known reports whether the status is documented, and with that settled.
func (s InitializationStatus) Known() bool {
	return s == InitializationCompleted || s == InitializationFailed
}

// Campaign is an outreach campaign. Only initializationStatus is documented. Its name has no documented field: see Raw.
type Campaign struct {
	ID                   string               `json:"id"`                   // assumed
	Status               CampaignStatus       `json:"status"`               // assumed
	InitializationStatus InitializationStatus `json:"initializationStatus"` // in listings assumed
	Channels             []string             `json:"channels"`             // assumed; values are undocumented
	ListIDs              []string             `json:"listIds"`              // assumed; the source lists, at most 10
	partial
}

// String returns its JSON.
func (c Campaign) String() string { return textOf(c.raw, c) }

// Initialized reports whether the service has finished, or given up, what it generates for the campaign.
func (c *Campaign) Initialized() bool { return c.InitializationStatus.Known() }

// All iterates over the campaigns, in undocumented order, by pageNum (assumed). The response is undocumented: an array, bare or under
// "campaigns" or "data".
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) All(ctx context.Context, opts ...PageOption) iter.Seq2[*Campaign, error] {
	return itemsOf[Campaign](ctx, campaignListing(s.conf).pager(), opts)
}

// Pages iterates over the pages of [CampaignsService.All].
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) Pages(ctx context.Context, opts ...PageOption) iter.Seq2[*Page[Campaign], error] {
	return pagesOf[Campaign](ctx, campaignListing(s.conf).pager(), opts)
}

// Page reads the first page, as [CampaignsService.All] does. Parameters are undocumented: see [WithQuery].
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) Page(ctx context.Context, opts ...CallOption) (*Page[Campaign], error) {
	return campaignListing(s.conf).read(ctx, 1, opts)
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

// NewCampaign describes a campaign to create (fields assumed). Those of the name and of the steps are undocumented: supply them in Extra.
type NewCampaign struct {
	ListIDs        []string `json:"listIds,omitzero"`        // the source lists, at most 10
	Channels       any      `json:"channels,omitzero"`       // form and values undocumented; email with a social network is valid
	TemplateID     string   `json:"templateId,omitzero"`     // of a template
	WritingStyleID string   `json:"writingStyleId,omitzero"` // of a writing style
	KnowledgeHubID string   `json:"knowledgeHubId,omitzero"` // of the hub that its texts draw on
	Extra          Fields   `json:"-"`
}

func (n NewCampaign) check(bad *check.Violations) {
	checkSourceLists(bad, n.ListIDs)
	bad.OptionalID("templateId", n.TemplateID)
	bad.OptionalID("writingStyleId", n.WritingStyleID)
	bad.OptionalID("knowledgeHubId", n.KnowledgeHubID)
}

// Create creates a campaign. Beyond [NewCampaign], body and response are undocumented. The sandbox takes name and optionally channels,
// listIds, steps (objects of type, sequenceNumber, subject, body and topic), knowledgeHubId, templateId and writingStyleId (assumed: rule
// campaigns.create and steps.sent).
//
// It counts as spending credits. A second call creates a second campaign: pass the name to [Once]. After an unknown outcome, check
// [CampaignsService.All].
//
// Errors: likely: [CodeKnowledgeHubNotFound], [CodeTemplateNotFound], [CodeWritingStyleNotFound], [CodeListNotFound],
// [CodeContactListRequired], [CodeListEmpty], [CodeListIncompatibleWithChannels], [CodeCampaignListCapReached],
// [CodeInvalidCampaignChannels], [CodeStepOrderInvalid], [CodeStepPositionTaken], [CodeConnectionNoteTooLong], [CodeInvalidRequest],
// [CodeInsufficientCredits].
//
// POST /business/campaigns, scope campaigns.
func (s *CampaignsService) Create(ctx context.Context, in NewCampaign, opts ...CallOption) (*Campaign, error) {
	return doRecord[Campaign](ctx, s.conf, op.CampaignsCreate, args{body: in, extra: []Fields{in.Extra}}, opts, "campaign", "id")
}

// CampaignChanges are the changes of a campaign. What is zero is left out, and stays (assumed).
type CampaignChanges struct {
	ListIDs  []string `json:"listIds,omitzero"`  // the source lists, at most 10; whether they replace others is undocumented
	Channels any      `json:"channels,omitzero"` // assumed here; form and values as for a [NewCampaign]
	Extra    Fields   `json:"-"`
}

func (c CampaignChanges) check(bad *check.Violations) { checkSourceLists(bad, c.ListIDs) }

const maxSourceLists = 10 // of a campaign

func checkSourceLists(bad *check.Violations, ids []string) {
	bad.IDs("listIds", ids)
	n := len(check.Distinct(ids))
	bad.Must(n <= maxSourceLists, "listIds", "has %d lists, must have at most %d", n, maxSourceLists)
}

// Adjust changes a campaign, for example its source lists. Beyond [CampaignChanges], body and response are undocumented. The sandbox takes
// name, channels, listIds and steps, at least one (assumed: rule campaigns.adjust and steps.sent). It counts as spending credits.
//
// Errors: documented: [CodeCampaignInitializing] (see [CampaignsService.WaitInitialized]); likely: [CodeCampaignNotFound],
// [CodeListNotFound], [CodeContactListRequired], [CodeListEmpty], [CodeListIncompatibleWithChannels], [CodeCampaignListCapReached],
// [CodeInvalidCampaignChannels], [CodeStepOrderInvalid], [CodeStepPositionTaken], [CodeConnectionNoteTooLong], [CodeInvalidRequest],
// [CodeInsufficientCredits].
//
// PATCH /business/campaigns/{campaignId}, scope campaigns.
func (s *CampaignsService) Adjust(ctx context.Context, campaignID string, in CampaignChanges, opts ...CallOption) (*Campaign, error) {
	a, campaign := args{ids: []string{campaignID}, body: in, extra: []Fields{in.Extra}}, new(Campaign)
	return doChange(ctx, s.conf, op.CampaignsAdjust, a, opts, "campaign", campaign, &campaign.ID)
}

// StepType is what a step of a campaign does.
type StepType string

// The documented types. Others exist: that of an email is undocumented.
const (
	StepSocialConnection StepType = "social_connection" // it asks for a connection; its body is the note, at most 200 characters, or none
	StepSocialMessage    StepType = "social_message"    // no StepSocialConnection may follow it
)

// Known reports whether it is documented.
func (t StepType) Known() bool { return t == StepSocialConnection || t == StepSocialMessage }

// Step is a step of a campaign. An approval needs subject and body, or a topic, as its type says.
type Step struct {
	ID             string   `json:"id"`                // inferred
	SequenceNumber int      `json:"sequenceNumber"`    // unique
	Type           StepType `json:"type"`              // assumed
	Subject        string   `json:"subject,omitempty"` // assumed
	Body           string   `json:"body,omitempty"`    // inferred, except for StepSocialConnection
	Topic          string   `json:"topic,omitempty"`   // assumed
	partial
}

// String returns its JSON.
func (s Step) String() string { return textOf(s.raw, s) }

// Steps iterates over the steps of a campaign as [CampaignsService.All] does, under "steps" or "data".
//
// Errors: likely: [CodeCampaignNotFound].
//
// GET /business/campaigns/{campaignId}/steps, scope campaigns.
func (s *CampaignsService) Steps(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Step, error] {
	return itemsOf[Step](ctx, stepListing(s.conf, campaignID).pager(), opts)
}

// StepsPages iterates over the pages of [CampaignsService.Steps].
//
// Errors: those of [CampaignsService.Steps].
//
// GET /business/campaigns/{campaignId}/steps, scope campaigns.
func (s *CampaignsService) StepsPages(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Page[Step], error] {
	return pagesOf[Step](ctx, stepListing(s.conf, campaignID).pager(), opts)
}

// StepsPage reads the first page of [CampaignsService.Steps].
//
// Errors: those of [CampaignsService.Steps].
//
// GET /business/campaigns/{campaignId}/steps, scope campaigns.
func (s *CampaignsService) StepsPage(ctx context.Context, campaignID string, opts ...CallOption) (*Page[Step], error) {
	return stepListing(s.conf, campaignID).read(ctx, 1, opts)
}

// SendState is the state of a scheduled send.
type SendState string

// The documented states. There is one more, of waiting on a task.
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

// Known reports whether it is documented.
func (s SendState) Known() bool { return slices.Contains(sendStates, s) }

// Editable reports whether [CampaignsService.EditSend] is accepted in this state.
func (s SendState) Editable() bool { return s == SendScheduled || s == SendApprovalRequired }

// Send is a message that a campaign has sent or will send. Only its states are documented: to whom, when and what is in Raw.
type Send struct {
	ID    string    `json:"id"`    // assumed
	State SendState `json:"state"` // assumed
	partial
}

// String returns its JSON.
func (s Send) String() string { return textOf(s.raw, s) }

// Sends iterates over what a campaign has sent or will send as [CampaignsService.All] does, under "scheduledSends" or "data".
//
// Errors: likely: [CodeCampaignNotFound].
//
// GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) Sends(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Send, error] {
	return itemsOf[Send](ctx, sendListing(s.conf, campaignID).pager(), opts)
}

// SendsPages iterates over the pages of [CampaignsService.Sends].
//
// Errors: those of [CampaignsService.Sends].
//
// GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) SendsPages(ctx context.Context, campaignID string, opts ...PageOption) iter.Seq2[*Page[Send], error] {
	return pagesOf[Send](ctx, sendListing(s.conf, campaignID).pager(), opts)
}

// SendsPage reads the first page of [CampaignsService.Sends].
//
// Errors: those of [CampaignsService.Sends].
//
// GET /business/campaigns/{campaignId}/scheduled-sends, scope campaigns.
func (s *CampaignsService) SendsPage(ctx context.Context, campaignID string, opts ...CallOption) (*Page[Send], error) {
	return sendListing(s.conf, campaignID).read(ctx, 1, opts)
}

// EditSend changes a scheduled send before it goes out. Body and response are undocumented. The sandbox takes subject, body and dueAt, at
// least one (assumed: rule sends.edit.shape).
//
// Errors: documented: [CodeScheduledSendNotEditable] (see [SendState.Editable]); likely: [CodeScheduledSendNotFound],
// [CodeConnectionNoteTooLong].
//
// PATCH /business/scheduled-sends/{sendId}, scope campaigns.
func (s *CampaignsService) EditSend(ctx context.Context, sendID string, in Fields, opts ...CallOption) (*Send, error) {
	a, send := args{ids: []string{sendID}, body: in}, new(Send)
	return doChange(ctx, s.conf, op.CampaignsEditSend, a, opts, "scheduledSend", send, &send.ID)
}

// StepPreview is a step rendered for a sample lead. The shape of the preview is undocumented.
type StepPreview struct {
	StepID  string `json:"stepId"`
	Preview Object `json:"preview"`
	record
}

// String returns its JSON.
func (p StepPreview) String() string { return textOf(Object{}, p) }

// PreviewStep renders a step for a sample lead, and saves and sends nothing. Path and body are undocumented: supply the path with
// [WithRoutes] and two parameters in braces. The sandbox takes nothing: the body is ignored (assumed: rule steps.preview.shape). It counts
// as spending credits (undocumented).
//
// Errors: documented: [CodeSequenceStepNotFound], [CodeStepPreviewUnavailable]; likely: [CodeCampaignNotFound], [CodeInsufficientCredits].
//
// POST (path undocumented), scope campaigns.
func (s *CampaignsService) PreviewStep(ctx context.Context, campaignID, stepID string, in Fields, opts ...CallOption) (*StepPreview, error) {
	a, preview := args{ids: []string{campaignID, stepID}, body: in}, new(StepPreview)
	return doExpecting(ctx, s.conf, op.CampaignsPreviewStep, a, opts, preview, repeatsID(stepID, &preview.StepID))
}

// Approval is the approval of a campaign.
type Approval struct {
	CampaignID string         `json:"campaignId"`
	Status     CampaignStatus `json:"status"` // active; with Already that of now, if it could be read
	// Already says that an earlier call with this digest has approved it, by the journal. This one sent nothing.
	Already bool `json:"-"`
	record
}

// String returns its JSON.
func (a Approval) String() string { return textOf(Object{}, a) }

// ApproveUnreviewed approves a campaign as it is by then: the service sends its messages to people. A stopped campaign resumes. Never call
// it in a loop or a retry: [CampaignsService.Approve] approves what a person has seen, once.
//
//   - nil: the service has confirmed it.
//   - [*OutcomeUnknownError]: it may have happened. No option retries it.
//   - any other error: it approved nothing.
//
// Errors: documented: [CodeCampaignNotFound] (also for a campaign of another owner), [CodeCampaignNotApprovable] (also for an active
// campaign), [CodeCampaignBusy], [CodeCampaignNotReady], [CodeValidationFailed].
//
// POST /business/campaigns/{campaignId}/approve, scope campaigns.
func (s *CampaignsService) ApproveUnreviewed(ctx context.Context, campaignID string, opts ...CallOption) (*Approval, error) {
	return s.approve(ctx, campaignID, args{}, opts)
}

func (s *CampaignsService) approve(ctx context.Context, campaignID string, a args, opts []CallOption) (*Approval, error) {
	a.ids, a.look = []string{campaignID}, s.lookForApproval
	approval := new(Approval)
	want := repeatsID(campaignID, &approval.CampaignID)
	want.take = func() error {
		approval.CampaignID, approval.Status = cmp.Or(approval.CampaignID, campaignID), cmp.Or(approval.Status, CampaignActive)
		return nil
	}
	return doExpecting(ctx, s.conf, op.CampaignsApprove, a, opts, approval, want)
}

// looks are the reads that show the effects of writes, by operation: for tickets.
func (s *CampaignsService) looks() map[*op.Op]look {
	return map[*op.Op]look{op.CampaignsApprove: s.lookForApproval}
}

// lookForApproval reads the status of a campaign from the listing. An active one was approved. A stopped
// one proves nothing: a teammate may have stopped it since, and another approval would resume it.
func (s *CampaignsService) lookForApproval(ctx context.Context, q *resolver, opts []CallOption) (finding, error) {
	campaign, err := s.onAnyListing(ctx, q.id(), opts)
	switch {
	case err != nil:
		return finding{}, err
	case campaign.ID == "":
		return finding{note: "the listing does not hold the campaign: its shape and its pages are undocumented"}, nil
	case campaign.Status == "":
		return doesNotTell(campaign, "the listing holds the campaign, but not its status")
	case campaign.Status == CampaignActive:
		return finding{sight: shown, object: campaign, note: "the campaign is active; a teammate may have approved it at the same moment"}, nil
	case campaign.Status == CampaignStopped:
		return finding{sight: absent, object: campaign, note: "the campaign is stopped: a teammate may have stopped it since, so ask before you approve again"}, nil
	}
	note := "the campaign is not active: it may still become so, because activation runs in the background (documented)"
	return finding{sight: absent, object: campaign, note: note}, nil
}

// onAnyListing is inListing where a listing of another shape is no error: it does not hold the campaign.
func (s *CampaignsService) onAnyListing(ctx context.Context, id string, opts []CallOption) (*Campaign, error) {
	response, err := do[Object](ctx, s.conf, op.CampaignsList, args{}, opts)
	if err != nil {
		return nil, err
	}
	page, err := campaignListing(s.conf).pageOf(*response, 1)
	if err != nil {
		return new(Campaign), nil //nolint:nilerr // that it is no listing is known
	}
	for _, campaign := range page.Items {
		if sameID(campaign.ID, id) {
			return &campaign, nil
		}
	}
	if _, paged := response.Get("pagination"); paged || goesOn(*response) {
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

// WaitInitialized reads the listing until the campaign is [Campaign.Initialized]. One that is not there ends the wait after 10 s (assumed) with
// [CodeCampaignNotFound]; the context, or five failed polls in a row, with [ErrNotSettled]. Beside any error stands the campaign as last seen, or
// nil.
//
// GET /business/campaigns, scope campaigns.
func (s *CampaignsService) WaitInitialized(ctx context.Context, campaignID string, opts ...CallOption) (*Campaign, error) {
	var bad check.Violations
	if bad.ID("campaignId", campaignID); len(bad) > 0 {
		return nil, refusal(op.CampaignsList, bad)
	}
	read := func(ctx context.Context) (*Campaign, error) {
		campaign, err := s.inListing(ctx, campaignID, pageOptions(opts))
		if err == nil && campaign.ID == "" {
			missing := withoutEffect(op.CampaignsList, nil)
			missing.Code, missing.Message, err = CodeCampaignNotFound, "the listing does not hold the campaign", missing
		}
		return campaign, err
	}
	return waitFor(ctx, s.conf, op.CampaignsList, read, func(campaign *Campaign) waits.Sighting {
		state := cmp.Or(plain(string(campaign.InitializationStatus)), "without initializationStatus")
		return waits.Sighting{Settled: campaign.Initialized(), State: state}
	})
}
