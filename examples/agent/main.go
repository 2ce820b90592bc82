// Command agent starts an agent without unexpected costs, waits for its first run, and prints what it has found. It may be killed and run again:
// there is one agent, started once. It runs on a sandbox with a fast clock. With prospectkit.FromEnv, start does the same at the service.
package main

import (
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
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewScaledClock(600)), sandbox.Credits(5000), sandbox.WithPrices(prices))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err == nil {
		err = start(context.Background(), client, os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

const maxSpend = 1000                                              // credits that one run may cost
var prices = sandbox.Prices{"agents.create-person-discovery": 300} // a person; invented, like every undocumented price

// start looks titles up, starts the agent, waits for its first run and prints what it has found. After an error, run it again.
func start(ctx context.Context, client *prospectkit.Client, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour) // the agent works on without it
	defer cancel()
	titles, err := known(ctx, client, "Head of sales", "Vice President of Sales", "Chief Happiness Wizard")
	if err != nil {
		return err
	}
	// A draft costs nothing. Whatever happens to the responses, it is started once: its name is the key, so take one that only this program uses.
	started, err := client.Agents.Ensure(ctx, prospectkit.PersonDiscovery{
		ListName: "Heads of sales in Berlin", Start: true, MaxCreditSpend: maxSpend,
		Expires: prospectkit.Expiration(time.Now().AddDate(0, 0, 7).Format(time.DateOnly)),
		Filters: prospectkit.Fields{"jobTitles": titles, "locations": []string{"Berlin, Germany"}}, // names of fields that are undocumented
	})
	if err != nil {
		return err
	}
	agent, err := client.Agents.WaitSettled(ctx, started.Agent.ID)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%q, for %q, is %s, and has found:\n", agent.Name, titles, agent.Status); err != nil {
		return err
	}
	for row, err := range client.Agents.Rows(ctx, agent.ID, prospectkit.RowsParams{}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %q %q, %q in %q\n", row.Text("firstName"), row.Text("lastName"), row.Text("jobTitle"), row.Text("address.city"))
	}
	return nil
}

// known looks job titles up, and leaves out others: the service accepts them, and such an agent finds nobody.
func known(ctx context.Context, client *prospectkit.Client, titles ...string) (good []string, err error) {
	check := prospectkit.ValueCheck{Field: prospectkit.AutocompleteTitle, Values: titles, TextParam: "text"} // this name is undocumented, too
	values, err := client.Agents.CheckValues(ctx, check)
	for _, v := range values {
		if v.Known {
			good = append(good, v.Value)
		} else if len(v.Near) > 0 { // as the service writes it
			good = append(good, v.Near[0])
		}
	}
	if err == nil && len(good) == 0 {
		err = errors.New("the service knows none of the titles")
	}
	return good, err
}
