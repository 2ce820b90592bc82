package tests

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// resolved resolves an unknown outcome.
func resolved(ctx context.Context, err error) error {
	if unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok {
		_, _ = unknown.Resolve(ctx)
	}
	return err
}

// saved is a store in what survives the stops of a run.
type saved struct{ run *sandbox.Run }

func (s saved) Update(_ context.Context, change func([]byte) ([]byte, error)) error {
	state, _ := s.run.Load("spend")
	next, err := change([]byte(state))
	if err == nil {
		s.run.Save("spend", string(next))
	}
	return err
}

// The cap holds after every failure at every request, and after a stop before everything that is stored.
func TestEveryFailure_SpendGuard(t *testing.T) {
	const most = 3_000
	prices := spend.Prices{"search.prospects": {PerResult: 1}, "lists.add-contacts": {PerCall: 400}, "agents.create-web-monitor": {PerCall: 2000}}
	monitor := Monitor()
	monitor.MaxCreditSpend = 2000
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client := clientOf(run, prospectkit.WithSpendGuard(spend.NewSharedGuard(most, prices, saved{run})))
		_, search := client.Search.ProspectsPage(run.Context(), prospectkit.SearchParams{Filters: vps, Size: 50})
		_, add := EveryCall["lists.add-contacts"](run.Context(), client)
		_, start := client.Agents.CreateAndStart(run.Context(), monitor)
		return errors.Join(resolved(run.Context(), search), resolved(run.Context(), add), start)
	}, func(run *sandbox.Run) error {
		books, err := spend.NewSharedGuard(most, nil, saved{run}).Books(run.Context())
		spent := int64(0)
		for _, e := range run.Ledger() {
			spent -= min(0, e.Amount)
		}
		if held := books.Total.Committed + books.Total.InDoubt; err != nil || spent > most || held < spent || held > most {
			return fmt.Errorf("spent %d, held %d, %w", spent, held, err)
		}
		return nil
	}, append(everySweep(), sandbox.WithPrices(sandbox.Prices{"lists.add-contacts": 400}))...)
}
