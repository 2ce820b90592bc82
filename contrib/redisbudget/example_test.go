package redisbudget_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"example.com/prospectkit"
	"example.com/prospectkit/contrib/redisbudget"
	"example.com/prospectkit/sandbox"
)

// Two processes share the quota of a workspace. Without a Redis at this address each would keep to its part.
func ExampleNew() {
	address, stop := redisbudget.ServeRedis() // yours is somewhere already
	defer stop()
	service := sandbox.New(nil)
	process := func() *prospectkit.Client {
		store, err := redisbudget.New(redis.NewClient(&redis.Options{Network: "unix", Addr: address, ContextTimeoutEnabled: true}), "acme")
		if err != nil {
			panic(err)
		}
		budget := prospectkit.NewBudget(prospectkit.BudgetConfig{Store: store, Processes: 2, Logger: slog.Default()})
		client, err := prospectkit.New(service.BaseURL(), service.Token(),
			prospectkit.WithTransport(service.Transport()), prospectkit.WithBudget(budget))
		if err != nil {
			panic(err)
		}
		return client
	}
	one, two := process(), process()
	for _, client := range []*prospectkit.Client{one, two, one} {
		if _, err := client.Lists.Page(context.Background(), prospectkit.ListsParams{}); err != nil {
			fmt.Println(err)
		}
	}
	for _, surface := range one.Budget().Snapshot() {
		fmt.Println(surface.Surface, surface.Minute.Used, "used,", surface.Minute.Remaining, "left")
	}
	// Output: lists 3 used, 117 left
}
