package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// Several accounts in one process: a client for each workspace, with a budget of its own, and one transport for all. What is used
// up in one workspace holds no other up.
func ExampleNew_workspaces() {
	ctx := context.Background()
	sb := sandbox.New(nil)
	transport := sb.Transport() // of the service: one *http.Transport
	tokens := []struct{ workspace, token string }{{"acme", sb.Token()}, {"globex", sb.Workspace("globex").Token()}}

	clients := make(map[string]*prospectkit.Client)
	for _, t := range tokens {
		client, err := prospectkit.New(sb.BaseURL(), t.token, prospectkit.WithTransport(transport))
		if err != nil {
			log.Fatal(err)
		}
		clients[t.workspace] = client
	}
	if _, err := clients["acme"].Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}); err != nil {
		log.Fatal(err)
	}

	sb.Consume("lists", 200) // acme's minute is used up
	for _, t := range tokens {
		lists, err := prospectkit.Collect(clients[t.workspace].Lists.All(ctx, prospectkit.ListsParams{}, prospectkit.WithMaxWait(0)), 100)
		fmt.Printf("%s: %d lists, rate limited: %t\n", t.workspace, len(lists), errors.Is(err, prospectkit.ErrRateLimited))
	}
	// Output:
	// acme: 0 lists, rate limited: true
	// globex: 0 lists, rate limited: false
}
