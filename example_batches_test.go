package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// batchSandbox is a sandbox with two agents, and a client for it.
func batchSandbox() (*prospectkit.Client, *sandbox.Sandbox) {
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewManualClock(time.Now())), sandbox.Seed(sandbox.State{
		Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
			Name: "main", Credits: 5000, Accounts: []string{"email"},
			Agents: []sandbox.Agent{
				{ID: founderAgentID, Name: "Founders", Type: sandbox.WebMonitor, Status: "active"},
				{ID: draftAgentID, Name: "Investors", Type: sandbox.WebMonitor},
			},
		}},
	}))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err != nil {
		log.Fatal(err)
	}
	return client, sb
}

// Ids in that sandbox.
const (
	founderAgentID = "a60000000000000000000001"
	draftAgentID   = "a60000000000000000000002"
)

// One listing a poll serves all agents. The error of one does not end the wait for the others.
func ExampleAgentsService_WaitEach() {
	client, sb := batchSandbox()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for agent, err := range client.Agents.WaitEach(ctx, founderAgentID, draftAgentID) {
		switch {
		case errors.Is(err, prospectkit.ErrNotStarted):
			fmt.Println(agent.Name, "is a draft")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(agent.Name, agent.Status)
		}
	}
	fmt.Println(sb.Calls("agents.list"), "request")
	// Output:
	// Founders active
	// Investors is a draft
	// 1 request
}
