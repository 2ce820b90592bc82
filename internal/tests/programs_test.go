package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// Four programs that people write, each with the mistake and without it. EveryFailure has to find the mistake at the request where it is.

// clientOf is the client of a program.
func clientOf(run *sandbox.Run, opts ...prospectkit.ClientOption) *prospectkit.Client {
	client, err := prospectkit.New(run.BaseURL(), run.Token(), append(opts, prospectkit.WithTransport(run.Transport()))...)
	require.NoError(run, err)
	return client
}

// brokenBy is EveryFailure for a program with a mistake.
func brokenBy(t *testing.T, program, invariant func(*sandbox.Run) error, opts ...sandbox.SweepOption) sandbox.Failure {
	t.Helper()
	tried := sandbox.EveryFailure(quiet{t}, program, invariant, opts...)
	require.NotNil(t, tried.Broken, "the mistake was not found in %s", tried)
	require.Len(t, tried.Broken.Failures, 1, "%v", tried.Broken)
	f := tried.Broken.Failures[0]
	require.NotEmpty(t, f.Path)
	f.Method, f.Path = "", ""
	return f
}

// quiet is a test that does not fail with the program.
type quiet struct{ *testing.T }

func (quiet) Errorf(string, ...any) {}

// effective counts the requests for an operation that may have been applied: those without one of these statuses.
func effective(run *sandbox.Run, op string, harmless ...int) (n int) {
	for _, e := range run.Journal() {
		if e.Op == op && !slices.Contains(harmless, e.Status) {
			n++
		}
	}
	return n
}

// A campaign with two contacts that is ready.
func readyCampaign(run *sandbox.Run) {
	run.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		list := tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(
			sandbox.Row{"firstName": "Grace", "email": "grace@navy.example"}, sandbox.Row{"firstName": "Alan", "email": "alan@park.example"},
		)})
		tx.CreateCampaign(sandbox.ReadyCampaign("Spring", list))
	})
}

// approvedOnce allows one approval that may have had an effect.
func approvedOnce(run *sandbox.Run) error {
	if n := effective(run, "campaigns.approve", 429); n > 1 {
		return fmt.Errorf("%d approvals were sent", n)
	}
	time.Sleep(time.Hour)
	if sent := len(run.Outbox()); sent > 2 || run.Err() == nil && sent != 2 {
		return fmt.Errorf("%d messages", sent)
	}
	return nil
}

func TestPrograms_ApproveRepeated(t *testing.T) {
	found := brokenBy(t, func(run *sandbox.Run) error {
		campaigns, id := clientOf(run).Campaigns, run.Campaigns()[0].ID
		if _, err := campaigns.StepsPage(run.Context(), id); err != nil {
			return err
		}
		var err error
		for range 3 {
			if _, err = campaigns.Approve(run.Context(), id); err == nil {
				break
			}
			time.Sleep(time.Minute)
		}
		return err
	}, approvedOnce, sandbox.Setup(readyCampaign))
	require.Equal(t, sandbox.Failure{Kind: sandbox.RequestLost, Request: 2, Op: "campaigns.approve"}, found)

	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		campaigns, id := clientOf(run).Campaigns, run.Campaigns()[0].ID
		if _, err := campaigns.StepsPage(run.Context(), id); err != nil {
			return err
		}
		if _, sent := run.Load("approving"); sent { // by a start that was stopped
			return ifActive(run.Context(), campaigns, id)
		}
		run.Save("approving", id)
		_, err := campaigns.Approve(run.Context(), id)
		if unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok {
			if r, _ := unknown.Resolve(run.Context()); r != nil && r.Verdict == prospectkit.VerdictHappened {
				return nil
			}
		}
		return err
	}, approvedOnce, sandbox.Setup(readyCampaign), sandbox.Twice())
}

// ifActive leaves everything else to a person.
func ifActive(ctx context.Context, campaigns *prospectkit.CampaignsService, id string) error {
	for c, err := range campaigns.All(ctx) {
		if err != nil {
			return err
		}
		if c.ID == id && c.Status == prospectkit.CampaignActive {
			return nil
		}
	}
	return errors.New("look at the campaign before you approve it")
}

const peopleID = "a00000000000000000000001"

// people is a list of five rows.
func people(run *sandbox.Run) {
	var rows []sandbox.Row
	for i := range 5 {
		rows = append(rows, sandbox.Row{"id": fmt.Sprintf("%024x", i+1), "firstName": strconv.Itoa(i)})
	}
	run.Do(func(tx *sandbox.Tx) {
		tx.CreateList(sandbox.List{ID: peopleID, Name: "People", Rows: sandbox.Rows(rows...)})
	})
}

// storedAll demands every row if the program claims that it is done.
func storedAll(run *sandbox.Run) error {
	if rows := stored(run); run.Err() == nil && len(rows) != 5 {
		return fmt.Errorf("%d of 5 rows were stored", len(rows))
	}
	return nil
}

// stored reads the rows of a program, by id.
func stored(run *sandbox.Run) map[string]bool {
	rows := map[string]bool{}
	if text, ok := run.Load("rows"); ok {
		require.NoError(run, json.Unmarshal([]byte(text), &rows))
	}
	return rows
}

func store(run *sandbox.Run, ids ...string) {
	rows := stored(run)
	for _, id := range ids {
		rows[id] = true
	}
	text, err := json.Marshal(rows)
	require.NoError(run, err)
	run.Save("rows", string(text))
}

// copyRows stores rows and a checkpoint, with the checkpoint first or last.
func copyRows(run *sandbox.Run, each func(id, checkpoint string), opts ...prospectkit.PageOption) error {
	var progress prospectkit.Progress
	from, _ := run.Load("checkpoint")
	opts = append(opts, prospectkit.WithProgress(&progress), prospectkit.ResumeFrom(from))
	for row, err := range clientOf(run).Lists.Rows(run.Context(), peopleID, prospectkit.RowsParams{Limit: 2}, opts...) {
		if err != nil {
			return err
		}
		each(row.ID(), progress.Checkpoint())
	}
	return nil
}

func TestPrograms_CheckpointBeforeStore(t *testing.T) {
	naive := func(run *sandbox.Run) error {
		return copyRows(run, func(id, checkpoint string) {
			run.Save("checkpoint", checkpoint)
			store(run, id)
		})
	}
	found := brokenBy(t, naive, storedAll, sandbox.Setup(people))
	require.Equal(t, sandbox.Failure{Kind: sandbox.StopBetween, Request: 1, Op: "lists.rows", Name: "rows"}, found)

	inBatches := func(run *sandbox.Run) error {
		var batch []string
		err := copyRows(run, func(id, checkpoint string) {
			batch = append(batch, id)
			run.Save("checkpoint", checkpoint)
		})
		store(run, batch...)
		return err
	}
	found = brokenBy(t, inBatches, storedAll, sandbox.Setup(people), sandbox.Only(sandbox.StopBefore, sandbox.StopAfter))
	require.Equal(t, sandbox.Failure{Kind: sandbox.StopBefore, Request: 2, Op: "lists.rows"}, found)

	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		return copyRows(run, func(id, checkpoint string) {
			store(run, id)
			run.Save("checkpoint", checkpoint)
		})
	}, storedAll, sandbox.Setup(people), sandbox.UntilDone(1))
}

const crm = "crm-1"

// pushedOnce allows no contact twice, and none that is missing without a word.
func pushedOnce(run *sandbox.Run) error {
	pushes := map[string]int{}
	for _, p := range run.CRMPushes() {
		for _, id := range p.ContactIDs {
			pushes[id]++
		}
	}
	unknown, _ := run.Load("unknown")
	for i := range 5 {
		id := fmt.Sprintf("%024x", i+1)
		if n := pushes[id]; n > 1 || n == 0 && run.Err() == nil && unknown == "" {
			return fmt.Errorf("contact %d was pushed %d times", i+1, n)
		}
	}
	return nil
}

func TestPrograms_PushRepeated(t *testing.T) {
	parts := func(run *sandbox.Run) (*prospectkit.ListsService, [][]string, error) {
		lists := clientOf(run).Lists
		page, err := lists.RowsPage(run.Context(), peopleID, prospectkit.RowsParams{})
		if err != nil {
			return nil, nil, err
		}
		var ids []string
		for i := range page.Items {
			ids = append(ids, page.Items[i].ID())
		}
		return lists, slices.Collect(slices.Chunk(ids, 3)), nil
	}
	setup := []sandbox.SweepOption{sandbox.Setup(people), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", CRM: sandbox.CRM{Connected: []string{crm}},
	}}})}
	found := brokenBy(t, func(run *sandbox.Run) error {
		lists, parts, err := parts(run)
		for _, part := range parts {
			for range 3 {
				if _, err = lists.PushToCRM(run.Context(), peopleID, prospectkit.CRMPush{CRM: crm, ContactIDs: part}); err == nil {
					break
				}
			}
		}
		return err
	}, pushedOnce, setup...)
	require.Equal(t, sandbox.Failure{Kind: sandbox.ResponseLost, Request: 2, Op: "lists.crm-push"}, found)

	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		lists, parts, err := parts(run)
		for i, part := range parts {
			name := fmt.Sprintf("part %d", i)
			if state, begun := run.Load(name); begun {
				if state == "sent" { // and who knows
					run.Save("unknown", name)
				}
				continue
			}
			run.Save(name, "sent")
			_, err = lists.PushToCRM(run.Context(), peopleID, prospectkit.CRMPush{CRM: crm, ContactIDs: part})
			if err != nil {
				return err
			}
			run.Save(name, "pushed")
		}
		return err
	}, pushedOnce, append(setup, sandbox.UntilDone(1))...)
}

// oneAgent allows one agent and one start, whatever happens.
func oneAgent(run *sandbox.Run) error {
	starts := 0
	for _, e := range run.Journal() {
		if e.Op == "agents.activate" {
			starts += len(e.Effects)
		}
	}
	agents := run.Agents()
	if len(agents) > 1 || starts > 1 {
		return fmt.Errorf("%d agents, %d starts", len(agents), starts)
	}
	if run.Err() == nil && (len(agents) != 1 || agents[0].Status == "initializing") {
		return fmt.Errorf("the program is done, and the agents are %+v", agents)
	}
	return nil
}

var heads = prospectkit.PersonDiscovery{
	ListName: "Heads of sales", MaxCreditSpend: 1000, Filters: prospectkit.Fields{"jobTitles": []string{"Head of Sales"}},
}

func TestPrograms_DraftForgotten(t *testing.T) {
	found := brokenBy(t, func(run *sandbox.Run) error {
		agents, spec := clientOf(run).Agents, heads
		draft, err := agents.Create(run.Context(), spec)
		if err != nil { // the name may be taken now: take another one
			spec.ListName += " again"
			draft, err = agents.Create(run.Context(), spec)
		}
		if err == nil {
			_, err = agents.Activate(run.Context(), draft.ID)
		}
		return err
	}, oneAgent)
	require.Equal(t, sandbox.Failure{Kind: sandbox.ResponseLost, Request: 1, Op: "agents.create-person-discovery"}, found)

	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		agents := clientOf(run).Agents
		var draft *prospectkit.Agent
		for agent, err := range agents.All(run.Context()) {
			switch {
			case err != nil:
				return err
			case agent.Name == heads.ListName:
				draft = agent
			}
		}
		var err error
		if draft == nil {
			draft, err = agents.Create(run.Context(), heads)
		}
		if err == nil && draft.Draft() {
			_, err = agents.Activate(run.Context(), draft.ID)
		}
		return err
	}, oneAgent, sandbox.UntilDone(3), sandbox.RestartAfter(2*time.Minute), sandbox.Twice())
}
