package sandbox_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"example.com/prospectkit/sandbox"
)

// call sends a request the plain way, with net/http.
func call(sb *sandbox.Sandbox, method, path, body string) (status string, answer string) {
	req, err := http.NewRequest(method, sb.BaseURL()+path, strings.NewReader(body))
	if err != nil {
		return err.Error(), ""
	}
	req.SetBasicAuth(sb.Token(), "")
	req.Header.Set("Content-Type", "application/json")
	resp, err := sb.Client().Do(req)
	if err != nil {
		return err.Error(), ""
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error(), ""
	}
	return resp.Status, string(raw)
}

func Example() {
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewManualClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))))

	fmt.Println(call(sb, "POST", "/business/lists", `{"name": "Q1"}`))
	status, _ := call(sb, "POST", "/business/lists", `{"name": "Q1"}`)
	fmt.Println(status)
	for _, entry := range sb.Journal() {
		fmt.Println(entry)
	}
	// Output:
	// 201 Created {"list":{"id":"5a0000010000000000000002","name":"Q1","entityType":"contactList","contactsCount":0,"companiesCount":0,"createdAt":"2026-03-01T09:00:00.000Z","folderId":null}}
	// 409 Conflict
	// req_000001 POST /api/v1/business/lists 201: list created: "Q1"
	// req_000002 POST /api/v1/business/lists 409 LIST_NAME_TAKEN
}

// The worst moment for a connection to break: the list exists, and the client has not heard of it.
func ExampleSandbox_Fail() {
	sb := sandbox.New(nil)
	sb.Fail("lists.create", sandbox.DropAfter(), sandbox.Nth(1))

	status, _ := call(sb, "POST", "/business/lists", `{"name": "Q1"}`)
	fmt.Println(status)
	status, _ = call(sb, "POST", "/business/lists", `{"name": "Q1"}`)
	fmt.Println(status)
	// Output:
	// Post "https://sandbox.invalid/api/v1/business/lists": EOF
	// 409 Conflict
}

// A day passes at once.
func ExampleSandbox_Advance() {
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewManualClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))))
	sb.Consume("account", 120)
	status, _ := call(sb, "GET", "/business/me", "")
	fmt.Println(status)
	sb.Advance(time.Minute)
	status, _ = call(sb, "GET", "/business/me", "")
	fmt.Println(status)
	// Output:
	// 429 Too Many Requests
	// 200 OK
}

// An agent delivers by the clock, and pays by the ledger.
func ExampleAgents() {
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewManualClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))),
		sandbox.Agents(sandbox.AgentPlan{Results: 2, Every: time.Hour}))
	call(sb, "POST", "/business/agents/web-monitor", `{"listName": "Openings", "entityType": "company", "prompt": "new offices in 2026", "start": true}`)
	for _, event := range sb.Advance(3 * time.Hour) {
		fmt.Println(event.Time.Format(time.TimeOnly), event.Kind)
	}
	for _, entry := range sb.Ledger() {
		fmt.Println(entry.Amount, entry.Reason)
	}
	// Output:
	// 10:00:00 agent delivered
	// 11:00:00 agent run ended
	// -50 result of Openings
	// -50 result of Openings
}

// A campaign is approved once, and its messages end in the outbox.
func ExampleTenant_Outbox() {
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewManualClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))))
	var campaign string
	sb.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		list := tx.CreateList(sandbox.List{Name: "Q1", Rows: sandbox.Rows(sandbox.Row{"email": "adasandbox.WithClock(sandbox.NewManualClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)))engines.example"})})
		campaign = tx.CreateCampaign(sandbox.ReadyCampaign("Q1", list))
	})
	for range 2 {
		status, _ := call(sb, "POST", "/business/campaigns/"+campaign+"/approve", "")
		fmt.Println(status)
	}
	for _, event := range sb.Advance(time.Hour) {
		fmt.Println(event.Time.Format(time.TimeOnly), event.Kind)
	}
	fmt.Println(len(sb.Outbox()), "message, and none has left")
	// Output:
	// 202 Accepted
	// 409 Conflict
	// 09:00:03 campaign activated
	// 09:01:03 messages sent
	// 1 message, and none has left
}
