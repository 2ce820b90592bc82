package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"example.com/prospectkit/sandbox"
)

// call sends a request the plain way, with net/http.
func call(sb *sandbox.Sandbox, method, path, body string) (status string, response string) {
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
	// 201 Created {"list":{"companiesCount":0,"contactsCount":0,"createdAt":"2026-03-01T09:00:00.000Z","entityType":"contactList","folderId":null,"id":"5a0000010000000000000002","name":"Q1"}}
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
	// -100 run of Openings
}

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

// The test that you write: a problem of the sandbox fails it, a fault that never fired for example. Here t only prints.
func ExampleNew() {
	t := &printer{}
	sb := sandbox.New(t, sandbox.Credits(5000), sandbox.NoLimits())
	sb.Fail("lists.rows", sandbox.Nth(3), sandbox.Status(429, "RATE_LIMITED"))
	status, _ := call(sb, "GET", "/business/me", "")
	fmt.Println(status, sb.Balance())
	t.end()
	// Output:
	// 200 OK 5000
	// failed: sandbox: a fault never fired: fault 1, lists.rows: request 3, 429 RATE_LIMITED
}

// printer stands for a *testing.T.
type printer struct{ cleanups []func() }

func (p *printer) Helper()          {}
func (p *printer) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

// Errorf omits the line that set the fault, and the last requests.
func (p *printer) Errorf(format string, args ...any) {
	problem, _, _ := strings.Cut(fmt.Sprintf(format, args...), " (")
	fmt.Println("failed:", problem)
}

func (p *printer) end() {
	for _, f := range p.cleanups {
		f()
	}
}

// The state of a first run seeds a second, and a file keeps it.
func ExampleSeed() {
	first := sandbox.New(nil, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name:  "main",
		Lists: []sandbox.List{{Name: "Q1", Rows: sandbox.Rows(sandbox.Row{"firstName": "Ada"}, sandbox.Row{"firstName": "Grace"})}},
	}}}))
	call(first, "POST", "/business/lists", `{"name": "Q2"}`)
	file, err := json.Marshal(first.Snapshot())
	if err != nil {
		fmt.Println(err)
	}

	var state sandbox.State
	if err := json.Unmarshal(file, &state); err != nil {
		fmt.Println(err)
	}
	for _, list := range sandbox.New(nil, sandbox.Seed(state)).Lists() {
		fmt.Println(list.Name, len(list.Rows))
	}
	// Output:
	// Q2 0
	// Q1 2
}

// Somebody adds a row while a program reads page after page: the last row of page one comes again as the first of page two.
func ExampleSandbox_Between() {
	sb := sandbox.New(nil)
	var list string
	sb.Do(func(tx *sandbox.Tx) {
		list = tx.CreateList(sandbox.List{Name: "Q1"})
		tx.AddRows(list, sandbox.Row{"id": "c00000000000000000000001"}, sandbox.Row{"id": "c00000000000000000000002"})
	})
	sb.Between("lists.rows", func(tx *sandbox.Tx) { tx.InsertRows(list, 0, sandbox.Row{"id": "c00000000000000000000003"}) })

	for page := range 2 {
		_, response := call(sb, "GET", fmt.Sprintf("/business/lists/%s/rows?limit=1&pageNum=%d", list, page+1), "")
		fmt.Println(response)
	}
	// Output:
	// {"entityType":"contactList","data":[{"id":"c00000000000000000000001"}],"pagination":{"pageNum":1,"totalPages":2,"totalRecords":2}}
	// {"entityType":"contactList","data":[{"id":"c00000000000000000000001"}],"pagination":{"pageNum":2,"totalPages":3,"totalRecords":3}}
}

// Credits move by the ledger, which names the request.
func ExampleTenant_Ledger() {
	sb := sandbox.New(nil, sandbox.Credits(100), sandbox.WithPrices(sandbox.Prices{"search.prospects": 2}))
	call(sb, "POST", "/business/prospects/search", `{"size": 10}`)
	sb.Do(func(tx *sandbox.Tx) { tx.AddCredits(50, "a refill") })
	for _, entry := range sb.Ledger() {
		fmt.Printf("%q %+d %s: %d\n", entry.RequestID, entry.Amount, entry.Reason, entry.Balance)
	}
	// Output:
	// "req_000001" -20 profiles found: 80
	// "" +50 a refill: 130
}

// The requests, their keys, and their results.
func ExampleSandbox_Journal() {
	sb := sandbox.New(nil)
	sb.Fail("lists.create", sandbox.DropAfter())
	call(sb, "POST", "/business/lists", `{"name": "Q1"}`)
	call(sb, "GET", "/business/lists", "")
	for _, entry := range sb.Journal() {
		fmt.Println(entry.Op, entry.Status, entry.Effects, entry.Fault)
	}
	// Output:
	// lists.create 201 [list created: "Q1"] fault 1, lists.create: dropped after
	// lists.list 200 []
}

// An operation with an undocumented path is served at the path that your application uses.
func ExampleWithRoute() {
	sb := sandbox.New(nil, sandbox.WithRoute("contacts.timeline", "GET /business/contacts/{contactId}/timeline"))
	sb.Do(func(tx *sandbox.Tx) {
		tx.AddRows(tx.CreateList(sandbox.List{Name: "Q1"}), sandbox.Row{"id": "c00000000000000000000001"})
	})
	fmt.Println(call(sb, "GET", "/business/contacts/c00000000000000000000001/timeline", ""))
	// Output:
	// 200 OK {"activities":[],"contactId":"c00000000000000000000001","nextCursor":null}
}

// The same sandbox on a port, for curl and for programs in other languages.
func ExampleSandbox_Handler() {
	sb := sandbox.New(nil)
	server := httptest.NewServer(sb.Handler())
	defer server.Close()
	req, err := http.NewRequest(http.MethodGet, server.URL+"/api/v1/business/me", http.NoBody)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.SetBasicAuth(sb.Token(), "")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output:
	// 200 OK
}

// A program that repeats whatever fails adds a contact twice when a response is lost.
func ExampleEveryFailure() {
	const listID = "a00000000000000000000001"
	program := func(run *sandbox.Run) (err error) {
		for range 2 {
			body := strings.NewReader(`{"contacts": [{"firstName": "Ada"}]}`)
			req, _ := http.NewRequestWithContext(run.Context(), http.MethodPost, run.BaseURL()+"/business/lists/"+listID+"/contacts", body)
			req.SetBasicAuth(run.Token(), "")
			req.Header.Set("Content-Type", "application/json")
			var resp *http.Response
			if resp, err = run.Client().Do(req); err == nil {
				return resp.Body.Close()
			}
		}
		return err
	}
	once := func(run *sandbox.Run) error {
		if n := len(run.Rows(listID)); n > 1 {
			return fmt.Errorf("there are %d contacts", n)
		}
		return nil
	}
	tried := sandbox.EveryFailure(nil, program, once, sandbox.Setup(func(run *sandbox.Run) {
		run.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{ID: listID, Name: "Q1"}) })
	}))
	fmt.Println(tried.Broken.Failures[0])
	fmt.Println(tried.Broken.Err)
	// Output:
	// request 1, lists.add-contacts POST /api/v1/business/lists/a00000000000000000000001/contacts: the response was lost
	// invariant: there are 2 contacts
}
