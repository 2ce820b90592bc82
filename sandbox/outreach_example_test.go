package sandbox_test

import (
	"fmt"
	"time"

	"example.com/prospectkit/sandbox"
)

// A campaign is approved once, and its messages end in the outbox.
func ExampleTenant_Outbox() {
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewManualClock(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))))
	var campaign string
	sb.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		list := tx.CreateList(sandbox.List{Name: "Q1", Rows: sandbox.Rows(sandbox.Row{"email": "ada@engines.example"})})
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
