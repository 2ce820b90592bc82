package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// clientOf is a client for a sandbox. It repeats without a pause, because nobody wants to wait for an example.
func clientOf(sb *sandbox.Sandbox, opts ...prospectkit.ClientOption) *prospectkit.Client {
	opts = append(opts, prospectkit.WithTransport(sb.Transport()), prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: 1}))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), opts...)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// For dashboards and notebooks: nothing that they call can change anything.
func ExampleReadOnly() {
	ctx := context.Background()
	client := clientOf(sandbox.New(nil), prospectkit.ReadOnly())

	_, err := client.Lists.Page(ctx, prospectkit.ListsParams{})
	fmt.Println("reading:", err)
	_, err = client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
	fmt.Println(errors.As(err, new(*prospectkit.RefusedError)), err)
	// Output:
	// reading: <nil>
	// true prospectkit: lists.create: refused locally: read-only: the operation may change something
}

// A search spends credits, and whether resolving a contact does is not documented: both are refused. A draft of an agent is free.
func ExampleNoSpend() {
	ctx := context.Background()
	sb := sandbox.New(nil, sandbox.Credits(5000))
	client := clientOf(sb, prospectkit.NoSpend())

	_, err := client.Search.ProspectsPage(ctx, prospectkit.SearchParams{})
	fmt.Println(err)
	_, err = client.Contacts.Resolve(ctx, prospectkit.Fields{"email": "grace@navy.example"})
	fmt.Println(err)
	draft, err := client.Agents.Create(ctx, prospectkit.WebMonitor{
		ListName: "Openings", EntityType: prospectkit.MonitorCompanies, Prompt: "new offices in 2026",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(draft.Name, draft.Status, "-", 5000-sb.Balance(), "credits")
	// Output:
	// prospectkit: search.prospects: refused locally: no-spend: the operation may spend credits
	// prospectkit: contacts.resolve: refused locally: no-spend: the operation may spend credits
	// Openings initializing - 0 credits
}

// One cap for all ranges: what does not fit is refused before it is sent.
func ExampleWithSpendGuard() {
	ctx := context.Background()
	sb := sandbox.New(nil, sandbox.Credits(100), sandbox.WithPrices(sandbox.Prices{"contacts.resolve": 20}))
	guard := spend.NewGuard(50, spend.Prices{"contacts.resolve": {PerCall: 20}}) // of your plan
	client := clientOf(sb, prospectkit.WithSpendGuard(guard))

	for range 3 {
		_, err := client.Contacts.Resolve(ctx, prospectkit.Fields{"email": "ada@engines.example"})
		fmt.Println(errors.Is(err, prospectkit.ErrSpendCap), prospectkit.CodeOf(err))
	}
	sb.Fail("contacts.resolve", sandbox.DropAfter())
	for range 3 {
		_, err := client.Contacts.Resolve(ctx, prospectkit.Fields{"email": "ada@engines.example"})
		fmt.Println(errors.Is(err, prospectkit.ErrSpendCap), errors.Is(err, prospectkit.ErrOutcomeUnknown))
	}
	books, err := guard.Books(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v, %d left\n", books.Total, books.Left)
	// Output:
	// false CONTACT_NOT_FOUND
	// false CONTACT_NOT_FOUND
	// false CONTACT_NOT_FOUND
	// false true
	// false true
	// true false
	// {Committed:0 InDoubt:40 Released:60}, 10 left
}

// Given to a client, a rule holds for all its calls; given to a call, for that one.
func ExampleNoSend() {
	ctx := context.Background()
	var campaign string
	sb := sandbox.New(nil)
	sb.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		list := tx.CreateList(sandbox.List{Name: "Berlin"})
		tx.AddRows(list, sandbox.Row{"email": "grace@navy.example"})
		campaign = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", list))
	})
	client := clientOf(sb)

	_, err := client.Campaigns.ApproveUnreviewed(ctx, campaign, prospectkit.NoSend())
	if refused, ok := errors.AsType[*prospectkit.RefusedError](err); ok {
		fmt.Println(refused.Rule)
	}
	approval, err := client.Campaigns.ApproveUnreviewed(ctx, campaign)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(approval.Status)
	// Output:
	// no-send: the operation may send messages or write into a CRM
	// active
}

// All that is wrong with the arguments is said at once, and nothing is sent. One branch serves the local and the remote check.
func ExampleRefusedError() {
	sb := sandbox.New(nil)
	params := prospectkit.ListsParams{Limit: 5000, FolderID: "inbox"}
	_, err := clientOf(sb).Lists.Page(context.Background(), params)
	if refused, ok := errors.AsType[*prospectkit.RefusedError](err); ok {
		for _, v := range refused.Violations {
			fmt.Println(v.Param, v.Problem)
		}
	}
	fmt.Println(errors.Is(err, prospectkit.CodeValidationFailed), sb.Calls("lists.list"), "calls")
	// Output:
	// limit is 5000, must be 1 to 1000
	// folderId must be 24 hexadecimal digits
	// true 0 calls
}

// Moving a list twice leaves it where moving it once does. So you may allow what is never done automatically: a second request.
func ExampleAllowRetryUnknown() {
	ctx := context.Background()
	sb := sandbox.New(nil, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name:    "main",
		Folders: []sandbox.Folder{{ID: "f00000000000000000000001", Name: "Events", Type: sandbox.ContactList}},
		Lists:   []sandbox.List{{ID: "a00000000000000000000001", Name: "Berlin"}},
	}}}))
	client := clientOf(sb)
	sb.Fail("lists.move", sandbox.First(2), sandbox.DropAfter())

	const list, folder = "a00000000000000000000001", "f00000000000000000000001"
	_, err := client.Lists.Move(ctx, list, folder)
	fmt.Println(prospectkit.OutcomeOf(err), "after", sb.Calls("lists.move"))

	_, err = client.Lists.Move(ctx, list, folder, prospectkit.AllowRetryUnknown())
	fmt.Println(prospectkit.OutcomeOf(err), "after", sb.Calls("lists.move"))
	// Output:
	// unknown after 1
	// applied after 3
}

// A webhook is delivered twice: its number keeps the second call from adding the contact again. The same number with another body is refused.
func ExampleOnce() {
	ctx := context.Background()
	sb := sandbox.New(nil)
	client, err := clientOf(sb).With(prospectkit.WithJournal(new(journal.MemoryJournal))) // in production journal.Open, or PostgreSQL
	if err != nil {
		log.Fatal(err)
	}
	list, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "From the form"})
	if err != nil {
		log.Fatal(err)
	}
	for _, email := range []string{"ada@engines.example", "ada@engines.example", "eve@engines.example"} {
		var info prospectkit.Info
		contact := prospectkit.Fields{"contacts": []prospectkit.Fields{{"email": email}}}
		_, err = client.Lists.AddContacts(ctx, list.ID, contact, prospectkit.Once("webhook 4711"), prospectkit.WithInfo(&info))
		fmt.Println(err == nil, info.Already, errors.Is(err, prospectkit.RuleOtherBody), sb.Calls("lists.add-contacts"))
	}
	// Output:
	// true false false 1
	// true true false 1
	// false false true 1
}

// What an error says about the call, without a list of cases.
func ExampleOutcomeOf() {
	ctx := context.Background()
	sb := sandbox.New(nil)
	client := clientOf(sb)
	sb.Fail("lists.create", sandbox.Nth(2), sandbox.DropAfter())

	for _, name := range []string{"Q1", "Q2", ""} {
		_, err := client.Lists.Create(ctx, prospectkit.NewList{Name: name})
		fmt.Println(prospectkit.OutcomeOf(err))
	}
	// Output:
	// applied
	// unknown
	// not applied
}

// Teammates have used the minute up. One call learns it by a 429; the next is not sent, because the whole surface is held.
func ExampleRefusedError_rateLimit() {
	ctx := context.Background()
	sb := sandbox.New(nil)
	client := clientOf(sb, prospectkit.WithMaxWait(10*time.Second))
	sb.Consume("lists", 120)

	_, err := client.Lists.Page(ctx, prospectkit.ListsParams{})
	fmt.Println(errors.Is(err, prospectkit.CodeRateLimited))

	_, err = client.Lists.Page(ctx, prospectkit.ListsParams{})
	if refused, ok := errors.AsType[*prospectkit.RefusedError](err); ok && refused.Rule == prospectkit.RuleRateLimit {
		fmt.Println(refused.Outcome()+", it would fit in", time.Until(refused.FitsAt).Round(time.Minute))
	}
	fmt.Println("sent", sb.Calls("lists.list"), "time")
	// Output:
	// true
	// not applied, it would fit in 1m0s
	// sent 1 time
}

func ExampleWithInfo() {
	sb := sandbox.New(nil)
	sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
	info := prospectkit.Info{MaxBody: 6}
	_, err := clientOf(sb).Account.Me(context.Background(), prospectkit.WithInfo(&info))
	if err != nil {
		log.Fatal(err)
	}
	for _, attempt := range info.Attempts {
		fmt.Println(attempt.Status, attempt.Delivery)
	}
	fmt.Println(info.Rate.Remaining, "of", info.Rate.Limit, "left in the", info.Rate.Window)
	fmt.Printf("%s, and more: %t\n", info.Body, info.BodyCut)
	// Output:
	// 500 confirmed
	// 200 confirmed
	// 119 of 120 left in the minute
	// {"user, and more: true
}

// Numbers for your metrics. Events are told in the goroutine of the call.
func ExampleWithObserver() {
	sb := sandbox.New(nil)
	sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
	client := clientOf(sb, prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) context.Context {
		fmt.Printf("%-7s %s %d %q\n", e.Kind, e.Op, e.Status, e.Next)
		return nil
	}))
	if _, err := client.Account.Me(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// start   account.me 0 ""
	// attempt account.me 500 "retry"
	// attempt account.me 200 ""
	// end     account.me 200 ""
}

// At Info: waits, repetitions and failures. At Debug, every call.
func ExampleWithLogger() {
	sb := sandbox.New(nil)
	sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey, "duration_ms", "wait_ms", "reason": // what differs from run to run
				return slog.Attr{}
			}
			return a
		},
	}))
	client := clientOf(sb, prospectkit.WithLogger(logger))
	if _, err := client.Account.Me(context.Background()); err != nil {
		log.Fatal(err)
	}
	_, err := client.Lists.Get(context.Background(), "a00000000000000000000009")
	fmt.Println(errors.Is(err, prospectkit.ErrNotFound))
	// Output:
	// level=INFO msg="prospectkit attempt" op=account.me attempt=1 error.type=UNEXPECTED_ERROR status=500 code=UNEXPECTED_ERROR delivery=confirmed failure="the service failed" next=retry
	// level=INFO msg="prospectkit attempt" op=lists.get attempt=1 error.type=LIST_NOT_FOUND status=404 code=LIST_NOT_FOUND delivery=confirmed failure="rejected by the service" next="return the error"
	// level=INFO msg="prospectkit end" op=lists.get attempts=1 error.type=LIST_NOT_FOUND status=404 code=LIST_NOT_FOUND outcome="not applied"
	// true
}

// An operation that came after this version: you describe it, and it is called as all others are.
func ExampleClient_Call() {
	sb := sandbox.New(nil, sandbox.Credits(5000))
	client := clientOf(sb)
	credits := prospectkit.Operation{
		Name: "your.credits", Method: "GET", Path: "/business/credits",
		Surface: "account", Reads: true, Free: true, AttemptTimeout: 10 * time.Second,
	}
	var balance prospectkit.Object // or a struct of yours
	if err := client.Call(context.Background(), credits, nil, &balance); err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(balance.Raw()))

	credits.Path = "/business/balance"
	err := client.Call(context.Background(), credits, nil, nil)
	fmt.Println(errors.Is(err, prospectkit.CodeEndpointNotFound))
	// Output:
	// {"credits":{"balance":5000}}
	// true
}

// The key changes while the program runs: the call that meets the revoked one asks for the next, and is sent again with it.
func ExampleWithTokenSource() {
	ctx := context.Background()
	sb := sandbox.New(nil)
	current := sb.Key() // in a file or a vault, where the next key will be
	client, err := prospectkit.New(sb.BaseURL(), "", prospectkit.WithTransport(sb.Transport()),
		prospectkit.WithTokenSource(func(context.Context) (string, error) { return current, nil }))
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
	fmt.Println(err)

	old := current
	current = sb.Key()
	sb.Revoke(old)
	var info prospectkit.Info
	_, err = client.Lists.Create(ctx, prospectkit.NewList{Name: "Q2"}, prospectkit.WithInfo(&info))
	fmt.Println(err)
	for _, attempt := range info.Attempts {
		fmt.Println(attempt.Status, attempt.Code)
	}
	// Output:
	// <nil>
	// <nil>
	// 401 UNAUTHORIZED
	// 201
}

// The rule of an application: nothing is sent to people while a freeze lasts, whoever asks.
func ExampleWithGate() {
	frozen := true
	freeze := func(_ context.Context, in prospectkit.Intent) error {
		if frozen && in.Sends {
			return fmt.Errorf("%s wants %s during the freeze", in.Actor, in.Op)
		}
		return nil
	}
	sb := sandbox.New(nil)
	client := clientOf(sb, prospectkit.WithGate(freeze))
	ctx := prospectkit.WithActor(context.Background(), "ada")
	_, err := client.Campaigns.ApproveUnreviewed(ctx, "c00000000000000000000001")
	fmt.Println(err)
	_, err = client.Lists.Page(ctx, prospectkit.ListsParams{})
	fmt.Println(err, len(sb.Journal()))
	// Output:
	// prospectkit: campaigns.approve: refused locally: a gate refused: ada wants campaigns.approve during the freeze
	// <nil> 1
}
