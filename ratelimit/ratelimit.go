// Package ratelimit names what the rate limits of the service are about: its surfaces, their windows, and what is known of both.
package ratelimit

import "time"

// Surface is a part of the API with its own rate limits, shared by all keys and members of a
// workspace.
type Surface string

// The surfaces, with their documented limits. Those of the last four are learned from response
// headers.
const (
	SurfaceLists         Surface = "lists"          // 120 a minute, 10,000 a day
	SurfaceCampaigns     Surface = "campaigns"      // 30 a minute, 1,000 a day; knowledge hubs and facts too
	SurfaceAccount       Surface = "account"        // 120 a minute, 10,000 a day
	SurfaceSearch        Surface = "search"         // 20 a minute, 1,000 a day
	SurfaceSavedSearches Surface = "saved-searches" // 60 a minute, 5,000 a day
	SurfaceAgents        Surface = "agents"         // 30 a minute, 2,000 a day
	SurfaceContacts      Surface = "contacts"
	SurfaceCompanies     Surface = "companies"
	SurfaceImports       Surface = "imports"
	SurfaceReference     Surface = "reference"
)

// Window is one of the two rate windows of a surface.
type Window string

// The windows. The headers do not name theirs: it is inferred from the limit, or from a reset beyond
// a minute.
const (
	WindowMinute  Window = "minute"
	WindowDay     Window = "day"
	WindowUnknown Window = "unknown"
)

// Headers is the rate headers of a response. They describe the window of a surface with
// fewer requests left, so the limit can alternate between responses.
type Headers struct {
	Surface   Surface
	Window    Window
	Limit     int // -1 without a header
	Remaining int // -1 without a header
	ResetAt   time.Time
	At        time.Time // when the response arrived
}

// Priority says which of the queued calls go first; see [example.com/prospectkit.WithPriority].
type Priority string

// The priorities. Every fourth request is that of a queued batch call.
const (
	PriorityInteractive Priority = "interactive" // the default
	PriorityBatch       Priority = "batch"       // goes last
)
