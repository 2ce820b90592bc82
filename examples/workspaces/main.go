// Command workspaces makes sure that each of many workspaces has a list, all at once: each has its own key, limits and credits,
// so none waits for another, and one that fails stops no other. It runs on a sandbox in this process.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

func main() {
	out := bufio.NewWriter(os.Stdout) // it keeps the first error
	if err := errors.Join(demo(context.Background(), out), out.Flush()); err != nil {
		log.Fatal(err)
	}
}

func demo(ctx context.Context, out io.Writer) error {
	sb := sandbox.New(nil)
	tokens := map[string]string{} // from where you keep secrets
	for _, name := range []string{"acme", "globex", "initech"} {
		tokens[name] = sb.Workspace(name).Token()
	}
	clients, err := connect(sb.BaseURL(), tokens, sb.Transport(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	sb.Revoke(tokens["globex"])
	lists, err := ensure(ctx, clients, "Newsletter")
	for _, workspace := range slices.Sorted(maps.Keys(lists)) {
		fmt.Fprintf(out, "%s: list %s\n", workspace, lists[workspace].ID)
	}
	fmt.Fprintf(out, "To do by hand:\n%v\n", err)
	return nil
}

// connect makes a client for each workspace, for the life of the program. All share the connections of one transport, and each has a rate
// budget of its own. Logs name the workspace; a journal would, too.
func connect(baseURL string, tokens map[string]string, transport http.RoundTripper, logger *slog.Logger) (map[string]*prospectkit.Client, error) {
	clients := map[string]*prospectkit.Client{}
	for workspace, token := range tokens {
		client, err := prospectkit.New(baseURL, token, prospectkit.WithTransport(transport), prospectkit.WithLogger(logger.With("workspace", workspace)))
		if err != nil {
			return nil, fmt.Errorf("workspace %s: %w", workspace, err)
		}
		clients[workspace] = client
	}
	return clients, nil
}

// ensure gets or creates the list in each workspace. It returns the lists that are there, and an error that names the workspaces without
// one. Run it again: it finds what it has made.
func ensure(ctx context.Context, clients map[string]*prospectkit.Client, name string) (map[string]prospectkit.List, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var (
		all    sync.WaitGroup
		mu     sync.Mutex
		lists  = map[string]prospectkit.List{}
		failed []error
	)
	for workspace, client := range clients {
		all.Go(func() {
			ensured, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: name})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, fmt.Errorf("workspace %s: %w", workspace, err))
				return
			}
			lists[workspace] = *ensured.List
		})
	}
	all.Wait()
	return lists, errors.Join(failed...)
}
