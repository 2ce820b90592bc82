package prospectkit

import "slices"

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

// InitializationStatus says how far the service is with what it generates for a campaign.
type InitializationStatus string

// The documented values: those in which it settles. Earlier ones are undocumented.
const (
	InitializationCompleted InitializationStatus = "completed"
	InitializationFailed    InitializationStatus = "failed"
)

// Known reports whether the status is documented, and with that settled.
func (s InitializationStatus) Known() bool {
	return s == InitializationCompleted || s == InitializationFailed
}

// Campaign is an outreach campaign. What it has is documented, and of its fields only initializationStatus; the places
// of the others are assumed. Its name is not here, because no field with it is documented: see Raw.
type Campaign struct {
	ID                   string               `json:"id" doc:"assumed"`                   // assumed; the campaignId of the paths
	Status               CampaignStatus       `json:"status" doc:"assumed"`               // assumed; an approval returns it under this name
	InitializationStatus InitializationStatus `json:"initializationStatus" doc:"assumed"` // documented; that listings have it is assumed
	Channels             []string             `json:"channels" doc:"assumed"`             // assumed; requests have it under this name. Its values are undocumented
	ListIDs              []string             `json:"listIds" doc:"assumed"`              // assumed; requests have it under this name. The source lists, at most 10
	partial
}

// String returns the campaign as JSON: the text that the service sent, or the fields that you set.
func (c Campaign) String() string { return textOf(c.raw, c) }

// Initialized reports whether the service has finished, or given up, what it generates for the campaign.
func (c *Campaign) Initialized() bool { return c.InitializationStatus.Known() }

func (c *Campaign) validate() error {
	return errorIf(!c.raw.begins('{'), "a campaign is not an object")
}

// StepType is what a step of a campaign does.
type StepType string

// The documented types. There are others: that of an email is undocumented.
const (
	StepSocialConnection StepType = "social_connection" // it asks for a connection; its body is the note, at most 200 characters, or none
	StepSocialMessage    StepType = "social_message"    // no StepSocialConnection may follow it
)

// Known reports whether the type is documented.
func (t StepType) Known() bool { return t == StepSocialConnection || t == StepSocialMessage }

// Step is a step in the sequence of a campaign. Before an approval, each needs what its type says: subject and body, or a topic.
type Step struct {
	ID             string   `json:"id" doc:"inferred"`               // inferred: that each step has an id is documented; the stepId of paths
	SequenceNumber int      `json:"sequenceNumber"`                  // documented; no two steps have the same
	Type           StepType `json:"type" doc:"assumed"`              // assumed; the types are documented
	Subject        string   `json:"subject,omitempty" doc:"assumed"` // assumed; that a step may have one is documented
	Body           string   `json:"body,omitempty" doc:"inferred"`   // documented for StepSocialConnection, inferred for others
	Topic          string   `json:"topic,omitempty" doc:"assumed"`   // assumed; that a step may have one is documented
	partial
}

// String returns the step as JSON: the text that the service sent, or the fields that you set. It may hold words to people:
// keep it out of logs.
func (s Step) String() string { return textOf(s.raw, s) }

func (s *Step) validate() error { return errorIf(!s.raw.begins('{'), "a step is not an object") }

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

// Send is a scheduled send: a message that a campaign has sent or will send. Only its states are documented: for whom it is,
// when it goes out and what it says is in Raw.
type Send struct {
	ID    string    `json:"id" doc:"assumed"`    // assumed; the sendId of a path
	State SendState `json:"state" doc:"assumed"` // assumed; the states are documented
	partial
}

// String returns the send as JSON: the text that the service sent, or the fields that you set. It may hold personal data: keep it
// out of logs.
func (s Send) String() string { return textOf(s.raw, s) }

func (s *Send) validate() error {
	return errorIf(!s.raw.begins('{'), "a scheduled send is not an object")
}
