package journal

import "time"

// Version is the version of the JSON form of a [Ticket].
const Version = 1

// Ticket identifies one call whose outcome may be unknown, with what is needed to look for its effect. It holds no key, no header and, of
// the request body, only what Lookup names. Its JSON form is stable: fields may be added, and a change of meaning increases Version.
type Ticket struct {
	Version int    `json:"version"`
	ID      string `json:"id"` // random, unique

	Op        string   `json:"op"`            // such as "lists.create", or the name that Client.Call was given
	IDs       []string `json:"ids,omitempty"` // in the path of the request, in order
	Lookup    Lookup   `json:"lookup,omitzero"`
	Service   string   `json:"service"`             // base URL
	Workspace string   `json:"workspace,omitempty"` // that of the journal; empty without one
	Actor     string   `json:"actor,omitempty"`     // who made the call
	Once      string   `json:"once,omitempty"`      // the key with which the call is made once; after that of Client.Call, its path
	Body      string   `json:"body,omitempty"`      // beside Once: 64 bits of a hash of what the caller gave, salted with ID

	FirstSent time.Time `json:"firstSent"` // the earliest time at which the call can have had its effect, by the local clock
	LastSent  time.Time `json:"lastSent"`  // when it was sent last
	// Timeout is the limit of one attempt, within which the request left, if it is longer than the operation's own.
	Timeout time.Duration `json:"timeout,omitempty"` // in nanoseconds
	// ServiceAhead is how far the clock of the service was ahead of the local one; nil if unknown.
	ServiceAhead *time.Duration `json:"serviceAhead,omitempty"` // in nanoseconds
	// Open says that not seeing the effect proves nothing: a success came that may have been that of the call, although it named
	// something else, or a transport still had the request. The ticket is then stored again, before its outcome is noted.
	Open bool `json:"open,omitempty"`
}

// Lookup is what a search for the effect of a call needs, beside the operation and the ids.
type Lookup struct {
	Name     string `json:"name,omitempty"`     // of the list or agent that the call creates
	Kind     string `json:"kind,omitempty"`     // of the list or agent, or of the CRM that contacts are pushed into
	Start    bool   `json:"start,omitempty"`    // the agent was to start at once, or after its adjustment
	FolderID string `json:"folderId,omitempty"` // where the list was to go; empty: out of its folder
	Digest   string `json:"digest,omitempty"`   // of the review that was approved
}
