package tests

import (
	"strings"

	"example.com/prospectkit"
)

// AgentJSON is an agent's record in a given state, in its wrapper.
func AgentJSON(status string) string {
	return `{"agent":{"id":"` + AgentID + `","type":"web-monitor","name":"Funding","status":"` + status + `","listId":"` + ResultsID + `"}}`
}

// Sees responds with an agent in a given state.
func Sees(status string) RoundTrip { return Always(200, AgentJSON(status)) }

// Altered changes a copy of a spec.
func Altered[T any](spec T, change func(*T)) T {
	change(&spec)
	return spec
}

// MonitorOf is the spec of a web monitor, for a test that alters one.
type MonitorOf = prospectkit.WebMonitor

// DiscoveryOf is the spec of a person discovery, for a test that alters one.
type DiscoveryOf = prospectkit.PersonDiscovery

// Listed responds with agents, each given by kind, name and status.
func Listed(agents ...[3]string) RoundTrip {
	all := make([]string, len(agents))
	for i, a := range agents {
		all[i] = `{"id":"` + AgentID + `","type":` + JSONText(a[0]) + `,"name":` + JSONText(a[1]) + `,"status":` + JSONText(a[2]) + `}`
	}
	return Always(200, `{"agents":[`+strings.Join(all, ",")+`]}`)
}

// OtherAgents responds with a listing without the agent that a test is about.
var OtherAgents = Listed([3]string{"web-monitor", "Another", "active"})

// OurDraft responds with a listing of the draft that a test saved.
var OurDraft = Listed([3]string{"web-monitor", "Funding", "initializing"})

// DraftSaved responds to the creation of a draft.
var DraftSaved = Always(201, AgentJSON("initializing"))

// NameTaken refuses a list whose name is taken.
var NameTaken = Always(409, Envelope("LIST_NAME_TAKEN"))

// HoldingList responds with a listing of the list that holds the name.
var HoldingList = Always(200, `{"data":[{"id":"a00000000000000000000001","name":"Funding","entityType":"contactList"}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`)

// Capped is a web monitor that may start.
func Capped() prospectkit.WebMonitor {
	return Altered(Monitor(), func(s *MonitorOf) { s.MaxCreditSpend = 1000 })
}
