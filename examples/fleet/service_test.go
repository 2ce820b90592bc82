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

// tell is the condition of a fault that never happens. It tells which worker has just sent a request.
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
func service(o options, seen chan<- int) (*sandbox.Sandbox, *shifted) {
	clock := &shifted{Clock: sandbox.RealClock()}
	sb := sandbox.New(nil, sandbox.Seed(seed(o)), sandbox.WithClock(clock), sandbox.InitializesFor(2*time.Second), sandbox.ActivatesFor(time.Second))
	for _, op := range writes {
		sb.Fail(op, tell(seen), sandbox.DropAfter())
		sb.Fail(op, sandbox.Every(5), sandbox.DropAfter())
		sb.Fail(op, sandbox.Always(), sandbox.Latency(20*time.Millisecond)) // so that kills meet writes
	}
	sb.Fail("campaigns.list", sandbox.Every(40), sandbox.Status(http.StatusInternalServerError, "UNEXPECTED_ERROR"))
	return sb, clock
}

// workerName and a number are the name of a worker, for River and for the service.
const workerName = "worker-"

func seed(o options) sandbox.State {
	state := sandbox.State{}
	for i := range o.workspaces {
		w := sandbox.Workspace{Name: fmt.Sprintf("customer-%02d", i+1), Credits: 100_000, Accounts: []string{"email"}}
		w.Lists = []sandbox.List{{Name: "Conference", Rows: people(o.contacts)}}
		state.Workspaces = append(state.Workspaces, w)
	}
	return state
}

func people(n int) []json.RawMessage {
	rows := make([]sandbox.Row, n)
	for i := range rows {
		rows[i] = sandbox.Row{"firstName": fmt.Sprint("Person ", i), "email": fmt.Sprint(i, "@conference.example")}
	}
	return sandbox.Rows(rows...)
}
