package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"example.com/prospectkit/sandbox"
)

// shifted is real time that can be moved forward, so that messages are sent without sitting through the hours until they are due.
type shifted struct {
	sandbox.Clock

	by atomic.Int64
}

func (c *shifted) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.by.Load())) }

// arrivals tell which worker has just sent a write, or has asked for rows.
type arrivals struct{ writes, rows chan int }

func newArrivals() arrivals { return arrivals{writes: make(chan int, 1), rows: make(chan int, 1)} }

// tell is the condition of a fault that never happens.
func tell(to chan<- int) sandbox.FaultOption {
	return sandbox.When(func(r *http.Request) bool {
		name, _, _ := strings.Cut(r.UserAgent(), " ")
		if n, err := strconv.Atoi(strings.TrimPrefix(name, workerName)); err == nil {
			select {
			case to <- n:
			default:
			}
		}
		return false
	})
}

// service makes the sandbox, with the documented limits and with a network that loses responses.
func service(o options, seen arrivals) (*sandbox.Sandbox, *shifted) {
	clock := &shifted{Clock: sandbox.RealClock()}
	sb := sandbox.New(nil, sandbox.Seed(seed(o)), sandbox.WithClock(clock), sandbox.InitializesFor(2*time.Second),
		sandbox.ActivatesFor(time.Second), sandbox.Agents(sandbox.AgentPlan{Results: agentResults, Every: 500 * time.Millisecond}))
	for _, op := range []string{"agents.create-person-discovery", "agents.activate", "campaigns.create", "campaigns.approve"} {
		sb.Fail(op, tell(seen.writes), sandbox.DropAfter())
		sb.Fail(op, sandbox.Every(5), sandbox.DropAfter())
	}
	sb.Fail("lists.rows", tell(seen.rows), sandbox.DropAfter())
	sb.Fail("lists.rows", sandbox.Every(40), sandbox.Status(http.StatusInternalServerError, "UNEXPECTED_ERROR"))
	sb.Fail("lists.rows", sandbox.Always(), sandbox.Latency(50*time.Millisecond)) // so that kills meet copies
	return sb, clock
}

// agentResults is how many people the agent of each workspace finds.
const agentResults = 5

// workerName and a number are the name of a worker, for River and for the service.
const workerName = "worker-"

func seed(o options) sandbox.State {
	state := sandbox.State{}
	for i := range o.workspaces {
		w := sandbox.Workspace{Name: fmt.Sprintf("customer-%02d", i+1), Credits: 100_000, Accounts: []string{"email"}}
		for _, name := range []string{"Newsletter", "Trade fair"} {
			w.Lists = append(w.Lists, sandbox.List{Name: name, Rows: people(o.rows, name)})
		}
		if i%2 == 0 { // the others have to make it
			w.Lists = append(w.Lists, sandbox.List{Name: listName, Rows: people(3, listName)})
		}
		state.Workspaces = append(state.Workspaces, w)
	}
	return state
}

func people(n int, list string) []json.RawMessage {
	rows := make([]sandbox.Row, n)
	for i := range rows {
		rows[i] = sandbox.Row{
			"firstName": fmt.Sprint("Person ", i), "email": fmt.Sprintf("%d@%s.example", i, strings.ReplaceAll(strings.ToLower(list), " ", "-")),
		}
	}
	return sandbox.Rows(rows...)
}
