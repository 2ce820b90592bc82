// Command agent starts an agent without unexpected costs, waits for its first run, and prints what it has found. It may be killed and run again:
// there is one agent, started once. It runs on a sandbox with a fast clock. With prospectkit.FromEnv, start does the same at the service.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

func main() {
	out := bufio.NewWriter(os.Stdout) // it keeps the first error
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewScaledClock(600)), sandbox.Credits(5000), sandbox.WithPrices(prices))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err == nil {
		err = errors.Join(start(context.Background(), client, out), out.Flush())
	}
	if err != nil {
		log.Fatal(err)
	}
}

const maxSpend = 1000 // credits that one run may cost

// 300 credits a person is invented, like every undocumented price.
var prices = sandbox.Prices{"agents.create-person-discovery": 300}

// start looks the filter values up, starts the agent, waits for its first run and prints what it has found.
func start(ctx context.Context, client *prospectkit.Client, out io.Writer) error {
	titles, err := known(ctx, client, out, "Head of sales", "Vice President of Sales", "Chief Happiness Wizard")
	if err != nil {
		return err
	}
	// A draft costs nothing. Whatever happens to the responses, it is started once: its name is the key, so take one that only this program uses.
	started, err := client.Agents.Ensure(ctx, prospectkit.PersonDiscovery{
		ListName: "Heads of sales in Berlin", MaxCreditSpend: maxSpend, Start: true, Expires: prospectkit.Expiration(time.Now().AddDate(0, 0, 7).Format(time.DateOnly)),
		// The names of the filters are undocumented: these are assumed.
		Filters: prospectkit.Fields{"jobTitles": titles, "locations": []string{"Berlin, Germany"}},
	})
	if err != nil {
		return err // run it again
	}
	if started.WasStarted {
		fmt.Fprintln(out, "It runs already, with the cap and the filters that it was started with.")
	}
	agent, err := client.Agents.WaitSettled(ctx, started.Agent.ID)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%q is %s, and has found:\n", agent.Name, agent.Status)
	for row, err := range client.Agents.Rows(ctx, agent.ID, prospectkit.RowsParams{}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %q %q, %q in %q\n", row.Text("firstName"), row.Text("lastName"), row.Text("jobTitle"), row.Text("address.city"))
	}
	return nil
}

// known looks job titles up: the service accepts unknown ones, and such an agent finds nobody.
func known(ctx context.Context, client *prospectkit.Client, out io.Writer, titles ...string) (good []string, err error) {
	values, err := client.Agents.CheckValues(ctx, prospectkit.ValueCheck{
		Field: prospectkit.AutocompleteTitle, Values: titles,
		TextParam: "text", // this name is undocumented, too
	})
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
	return good, err
}
