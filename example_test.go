package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// exampleSandbox is a sandbox with a list of three contacts, and a client for it.
func exampleSandbox() (*prospectkit.Client, *sandbox.Sandbox) {
	sb := sandbox.New(nil, sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
		Name: "main",
		User: sandbox.User{Email: "ada@workspace.example", Name: "Ada"},
		Lists: []sandbox.List{{
			ID: exampleList, Name: "Berlin", EntityType: sandbox.ContactList,
			Rows: sandbox.Rows(
				sandbox.Row{"id": "c00000000000000000000001", "firstName": "Grace", "jobTitle": "Engineer", "address": map[string]any{"city": "Berlin"}},
				sandbox.Row{"id": "c00000000000000000000002", "firstName": "Alan", "jobTitle": "Analyst", "address": map[string]any{"city": "Leeds"}},
				sandbox.Row{"id": "c00000000000000000000003", "firstName": "Edsger", "jobTitle": "Engineer"},
			),
		}},
	}}}))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err != nil {
		log.Fatal(err)
	}
	return client, sb
}

const exampleList = "a00000000000000000000001"

func Example() {
	ctx := context.Background()
	client, _ := exampleSandbox()

	user, err := client.Account.Me(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("signed in as", user.Name)

	for list, err := range client.Lists.All(ctx, prospectkit.ListsParams{Search: "berlin"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(list.Name, list.ContactsCount)
	}

	_, err = client.Lists.Create(ctx, prospectkit.NewList{Name: "Berlin"})
	if errors.Is(err, prospectkit.CodeListNameTaken) {
		fmt.Println("the name is taken")
	}
	// Output:
	// signed in as Ada
	// Berlin 3
	// the name is taken
}

func ExampleListsService_Rows() {
	client, _ := exampleSandbox()
	rows := client.Lists.Rows(context.Background(), exampleList, prospectkit.RowsParams{
		Filter: prospectkit.ContactFilter{Title: prospectkit.AnyOf("Engineer")},
		Sort:   prospectkit.Ascending(prospectkit.ByFirstName),
	})
	for row, err := range rows {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %q\n", row.Text("firstName"), row.Text("address.city"))
	}
	// Output:
	// Edsger ""
	// Grace "Berlin"
}

func ExampleRowsOf() {
	client, _ := exampleSandbox()
	type contact struct {
		ID        string `json:"id"`
		FirstName string `json:"firstName"`
	}
	for c, err := range prospectkit.RowsOf[contact](context.Background(), client.Lists, exampleList, prospectkit.RowsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.FirstName)
	}
	// Output:
	// Grace
	// Alan
	// Edsger
}

// A write whose answer was lost is not sent again. Its error can look what became of it.
func ExampleOutcomeUnknownError_Resolve() {
	ctx := context.Background()
	client, sb := exampleSandbox()
	sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())

	_, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
	if doubt, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok {
		fmt.Println(doubt)
		resolution, err := doubt.Resolve(ctx)
		if err != nil {
			log.Fatal(err)
		}
		list, _ := prospectkit.Resolved[prospectkit.List](resolution)
		fmt.Println(resolution.Verdict, list.Name)
	}
	fmt.Println("sent", sb.Calls("lists.create"), "time")
	// Output:
	// prospectkit: lists.create: outcome unknown, it may have happened: EOF
	// happened Q1
	// sent 1 time
}

// Ensure makes a name an idempotency key: it creates the list, or finds exactly that one.
func ExampleListsService_Ensure() {
	ctx := context.Background()
	client, _ := exampleSandbox()
	for range 2 {
		ensured, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: "Q1"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ensured.List.Name, "created:", ensured.Created)
	}
	// Output:
	// Q1 created: true
	// Q1 created: false
}

// A walk over pages can be left and taken up again, by another process if need be.
func ExampleTrack() {
	ctx := context.Background()
	client, _ := exampleSandbox()
	var progress prospectkit.Progress
	for row, err := range client.Lists.Rows(ctx, exampleList, prospectkit.RowsParams{}, prospectkit.Track(&progress)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("first run:", row.Text("firstName"))
		break
	}
	saved := progress.Checkpoint()

	rows := client.Lists.Rows(ctx, exampleList, prospectkit.RowsParams{}, prospectkit.ResumeFrom(saved), prospectkit.Track(&progress))
	for row, err := range rows {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("second run:", row.Text("firstName"))
	}
	fmt.Println("finished:", progress.Report().Finished)
	// Output:
	// first run: Grace
	// second run: Alan
	// second run: Edsger
	// finished: true
}

// The rows come as they would one page after the other, only sooner.
func ExamplePrefetch() {
	client, _ := exampleSandbox()
	rows := client.Lists.Rows(context.Background(), exampleList, prospectkit.RowsParams{Limit: 1}, prospectkit.Prefetch(2))
	for row, err := range rows {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Text("firstName"))
	}
	// Output:
	// Grace
	// Alan
	// Edsger
}

func ExampleCapture() {
	client, sb := exampleSandbox()
	sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
	var info prospectkit.Info
	_, err := client.Account.Me(context.Background(), prospectkit.Capture(&info))
	if err != nil {
		log.Fatal(err)
	}
	for _, attempt := range info.Attempts {
		fmt.Println(attempt.Status, attempt.Evidence)
	}
	fmt.Println(info.Rate.Remaining, "of", info.Rate.Limit, "left in the", info.Rate.Window)
	// Output:
	// 500 answered
	// 200 answered
	// 119 of 120 left in the minute
}

// The service has learned something that this version does not know: an observer is told of it, before it matters.
func ExampleUndocumented() {
	sb := sandbox.New(nil)
	sb.Fail("account.me", sandbox.RawBody(200, `{"user": {"id": "65f0c0ffee65f0c0ffee65f1", "name": "Ada", "timezone": "UTC"}}`))
	canary := func(_ context.Context, e prospectkit.Event) {
		if e.Kind == prospectkit.EventUndocumented {
			fmt.Println(e.Op, e.Undocumented.Kind, e.Undocumented.Name)
		}
	}
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithObserver(canary))
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		if _, err := client.Account.Me(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// account.me field user.timezone
}

func ExampleReadOnly() {
	client, _ := exampleSandbox()
	safe, err := client.With(prospectkit.ReadOnly())
	if err != nil {
		log.Fatal(err)
	}
	_, err = safe.Lists.Create(context.Background(), prospectkit.NewList{Name: "Q1"})
	fmt.Println(errors.Is(err, prospectkit.ErrRefusedLocally), err)
	// Output:
	// true prospectkit: lists.create: refused locally: read-only: the operation may change something
}

func ExampleCodeOf() {
	client, _ := exampleSandbox()
	_, err := client.Lists.Get(context.Background(), "a00000000000000000000009", prospectkit.GetListParams{})
	switch prospectkit.CodeOf(err) {
	case prospectkit.CodeListNotFound:
		fmt.Println("missing, or of another workspace")
	case prospectkit.CodeUnauthorized:
		fmt.Println("another key is needed")
	default:
		fmt.Println(err)
	}
	// Output:
	// missing, or of another workspace
}

func ExampleExplain() {
	explanation, _ := prospectkit.Explain(prospectkit.CodeCampaignBusy)
	fmt.Println(explanation.Meaning)
	fmt.Println(explanation.Advice.Action)
	// Output:
	// another approve or stop holds the activation lock
	// after-delay
}

func ExampleCollect() {
	client, _ := exampleSandbox()
	lists, err := prospectkit.Collect(client.Lists.All(context.Background(), prospectkit.ListsParams{}), 100)
	fmt.Println(len(lists), err)
	// Output:
	// 1 <nil>
}
