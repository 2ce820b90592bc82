package prospectkit_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// What is only for a store is refused without one.
func TestBudget_ConfigOfAStoreWithoutOne(t *testing.T) {
	newWith := func(c prospectkit.BudgetConfig) error {
		_, err := prospectkit.New(baseURL, token, prospectkit.WithBudget(prospectkit.NewBudget(c)))
		return err
	}
	for name, c := range map[string]prospectkit.BudgetConfig{
		"timeout": {StoreTimeout: time.Second}, "processes": {Processes: 1}, "logger": {Logger: slog.New(slog.DiscardHandler)},
	} {
		require.ErrorContains(t, newWith(c), "BudgetConfig.Store is missing", name)
	}
	require.NoError(t, newWith(prospectkit.BudgetConfig{}))
	require.NoError(t, newWith(prospectkit.BudgetConfig{Store: newStore(1), StoreTimeout: time.Second, Processes: 1, Logger: slog.New(slog.DiscardHandler)}))
	require.ErrorContains(t, newWith(prospectkit.BudgetConfig{Reserve: -1}), "BudgetConfig.Reserve is -1, must not be negative")
}
