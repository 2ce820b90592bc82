// Command agents starts an agent without unexpected costs: a draft costs nothing, filter values are checked before credits are spent, a
// cap bounds each run, and a lost response starts nothing twice. Then it waits for the run and streams the results, and the
// sandbox's ledger proves what it cost.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
	"example.com/prospectkit/sandbox"
)

const usage = `Usage: agents

Starts an agent without a surprise on the bill, waits for its run and shows what it delivered and cost.
It runs on a sandbox in this process, needs no account, and reads nothing from the environment.
`

func main() {
	out := begin(usage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out.end(run(ctx, out))
}

const maxSpend = 1000 // credits that one run may cost

// 300 credits a person is invented, like every undocumented price.
var prices = sandbox.Prices{"agents.create-person-discovery": 300}

func run(ctx context.Context, out io.Writer) error {
	clock := sandbox.NewManualClock(time.Now())
	sb := sandbox.New(nil, sandbox.WithClock(clock), sandbox.Credits(5000), sandbox.WithPrices(prices))
	sb.Fail("agents.activate", sandbox.Nth(1), sandbox.DropAfter())
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithObserver(quickly(clock)))
	if err != nil {
		return err
	}

	if err := start(ctx, client, out); err != nil {
		return err
	}
	return prove(sb, out)
}

// start looks the filter values up, starts the agent, waits for its first run and shows what it has found.
func start(ctx context.Context, client *prospectkit.Client, out io.Writer) error {
	titles, err := checked(ctx, client, out, "Head of sales", "Vice President of Sales", "Chief Happiness Wizard")
	if err != nil {
		return err
	}
	// The names of the two filters are undocumented: these are invented.
	spec := prospectkit.PersonDiscovery{
		ListName:       "Heads of sales in Berlin",
		MaxCreditSpend: maxSpend,
		Filters:        prospectkit.Fields{"jobTitles": titles, "locations": []string{"Berlin, Germany"}},
	}
	if err := draft(ctx, client, out, spec); err != nil {
		return err
	}
	fmt.Fprintln(out, "Starting the agent. The response is lost, so the client reads its state for some seconds ...")
	agent, err := client.Agents.CreateAndStart(ctx, spec)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Started %q: %s\n", agent.Name, agent.Status)
	if agent, err = client.Agents.WaitSettled(ctx, agent.ID); err != nil {
		return err
	}
	fmt.Fprintf(out, "Its first run is over, it is %s, and has delivered:\n", agent.Status)
	for row, err := range client.Agents.Rows(ctx, agent.ID, prospectkit.RowsParams{}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %-8s %-10s %-26s %s\n", row.Text("firstName"), row.Text("lastName"), row.Text("jobTitle"), row.Text("address.city"))
	}
	return nil
}

// quickly advances the sandbox's clock while the client waits, so that a run of minutes takes seconds.
func quickly(clock *sandbox.ManualClock) func(context.Context, prospectkit.Event) {
	return func(_ context.Context, e prospectkit.Event) {
		if e.Kind == event.KindWait {
			clock.Advance(10 * time.Minute)
		}
	}
}

// checked looks job titles up: the service accepts unknown ones, and such an agent finds nobody.
func checked(ctx context.Context, client *prospectkit.Client, out io.Writer, titles ...string) (good []string, err error) {
	values, err := client.Agents.CheckValues(ctx, prospectkit.ValueCheck{
		Field: prospectkit.AutocompleteTitle, Values: titles,
		TextParam: "text", // this name is undocumented, too
	})
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		switch {
		case v.Known:
			good = append(good, v.Value)
		case len(v.Near) > 0:
			fmt.Fprintf(out, "%q is not known: taking %q\n", v.Value, v.Near[0])
			good = append(good, v.Near[0])
		default:
			fmt.Fprintf(out, "%q is not known: left out\n", v.Value)
		}
	}
	return good, nil
}

// draft shows that a draft costs nothing and cannot be waited for.
func draft(ctx context.Context, client *prospectkit.Client, out io.Writer, spec prospectkit.PersonDiscovery) error {
	spec.ListName = "Just a draft"
	agent, err := client.Agents.Create(ctx, spec)
	if err != nil {
		return err
	}
	_, err = client.Agents.WaitSettled(ctx, agent.ID)
	if !errors.Is(err, prospectkit.ErrNotStarted) {
		return errors.Join(errors.New("a draft was expected to wait"), err)
	}
	fmt.Fprintf(out, "Saved %q, which is free: %v\n", agent.Name, err)
	return nil
}

// prove reads in the sandbox's journal and ledger what was started and what it cost.
func prove(sb *sandbox.Sandbox, out io.Writer) error {
	starts, lost := 0, 0
	for _, entry := range sb.Journal() {
		if entry.Op == "agents.activate" {
			starts++
			if entry.Fault != "" {
				lost++
			}
		}
	}
	fmt.Fprintf(out, "\nThe journal: %d activation reached the service, %d response was lost.\nThe ledger:\n", starts, lost)
	spent := int64(0)
	for _, entry := range sb.Ledger() {
		spent -= entry.Amount
		fmt.Fprintf(out, "  %+5d  %-36s %5d left\n", entry.Amount, entry.Reason, entry.Balance)
	}
	if starts != 1 || lost != 1 || spent == 0 || spent > maxSpend {
		return fmt.Errorf("%d activations, %d lost, %d credits: wanted one of each, and at most %d", starts, lost, spent, maxSpend)
	}
	fmt.Fprintf(out, "%d credits were spent; the cap of %d kept the run from a fourth person.\n", spent, maxSpend)
	return nil
}
