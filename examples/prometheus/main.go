// Command prometheus shows the metrics of two workspaces in the format of Prometheus: it makes some calls to a sandbox, one of which
// fails at first, and prints what a scrape would read. Copy collector.go into your program.
package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

const usage = `Usage: prometheus

Prints the metrics of two clients, one for each workspace, as Prometheus would read them.
It runs on a sandbox in this process, needs no account, and reads nothing from the environment.
`

func main() {
	out := begin(usage)
	out.end(run(context.Background(), out))
}

func run(ctx context.Context, out io.Writer) error {
	sb := sandbox.New(nil, sandbox.Seed(fixture.Small(1)))
	sb.Fail("lists.list", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
	registry := prometheus.NewRegistry()
	for workspace, token := range map[string]string{"acme": sb.Token(), "globex": sb.Workspace("globex").Token()} {
		budget := prospectkit.NewBudget(prospectkit.BudgetConfig{}) // each workspace has its own limits
		collector := NewCollector(workspace, budget)
		if err := registry.Register(collector); err != nil {
			return err
		}
		client, err := prospectkit.New(sb.BaseURL(), token, prospectkit.WithTransport(sb.Transport()),
			prospectkit.WithBudget(budget), prospectkit.WithObserver(collector.Observe))
		if err != nil {
			return err
		}
		for _, err := range client.Lists.All(ctx, prospectkit.ListsParams{}) {
			if err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(out, scrape(ctx, registry))
	return err
}

// scrape is what Prometheus reads. A server would mount the handler at /metrics.
func scrape(ctx context.Context, registry prometheus.Gatherer) string {
	response := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).
		ServeHTTP(response, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil))
	return response.Body.String()
}
