package spend_test

import (
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/spend"
)

func TestPrices(t *testing.T) {
	const monitor, watcher = "agents.create-web-monitor", "agents.create-people-watcher"
	month := time.Now().AddDate(0, 0, 31)
	five := func(c spend.Call) (int64, error) {
		c.Body[0], c.IDs[0] = 'x', "x"
		return 5, nil
	}
	for name, c := range map[string]struct {
		prices spend.Prices
		call   spend.Call
		want   int64 // -1: unknown
	}{
		"none":             {nil, spend.Call{Op: "a"}, -1},
		"free":             {spend.Prices{"a": {}}, spend.Call{Op: "a"}, 0},
		"sum":              {spend.Prices{"a": {PerCall: 1, PerItem: 2, ItemsIn: "ids", PerResult: 10, WorstCase: five}}, spend.Call{Op: "a", IDs: []string{"1"}, Body: []byte(`{"ids":[1,{},null]}`), Results: 7}, 82},
		"no items":         {spend.Prices{"a": {PerItem: 2, ItemsIn: "ids"}}, spend.Call{Op: "a", Body: []byte(`{"ids":[]}`)}, 0},
		"other items":      {spend.Prices{"a": {PerItem: 2, ItemsIn: "ids"}}, spend.Call{Op: "a", Body: []byte(`{"contacts":[1]}`)}, -1},
		"items are null":   {spend.Prices{"a": {PerItem: 2, ItemsIn: "ids"}}, spend.Call{Op: "a", Body: []byte(`{"ids":null}`)}, -1},
		"a file":           {spend.Prices{"a": {PerItem: 2, ItemsIn: "ids"}}, spend.Call{Op: "a"}, -1},
		"results unknown":  {spend.Prices{"a": {PerResult: 2}}, spend.Call{Op: "a"}, -1},
		"function":         {spend.Prices{"a": {WorstCase: func(spend.Call) (int64, error) { return 0, errors.New("no idea") }}}, spend.Call{Op: "a"}, -1},
		"negative":         {spend.Prices{"a": {WorstCase: func(spend.Call) (int64, error) { return -1, nil }}}, spend.Call{Op: "a"}, -1},
		"panic":            {spend.Prices{"a": {WorstCase: func(spend.Call) (int64, error) { panic("no idea") }}}, spend.Call{Op: "a"}, -1},
		"a read":           {spend.Prices{"a": {PerCall: 1}}, spend.Call{Op: "a", Repeats: true}, -1},
		"a read, items":    {spend.Prices{"a": {PerItem: 1, ItemsIn: "ids"}}, spend.Call{Op: "a", Repeats: true, Body: []byte(`{"ids":[1]}`)}, -1},
		"a read, results":  {spend.Prices{"a": {PerResult: 1}}, spend.Call{Op: "a", Repeats: true, Results: 1}, -1},
		"a read, runs":     {spend.Prices{"a": {Runs: 1}}, spend.Call{Op: "a", Repeats: true, Agent: &spend.Agent{PerRun: 1}}, -1},
		"a read, function": {spend.Prices{"a": {WorstCase: func(spend.Call) (int64, error) { return 1, nil }}}, spend.Call{Op: "a", Repeats: true}, -1},
		"a free function":  {spend.Prices{"a": {WorstCase: func(spend.Call) (int64, error) { return 0, nil }}}, spend.Call{Op: "a"}, 0},
		"one result":       {spend.Prices{"a": {PerResult: 2}}, spend.Call{Op: "a", Results: 1}, 2},
		"one credit a run": {spend.Prices{watcher: {Runs: 3}}, spend.Call{Op: watcher, Agent: &spend.Agent{PerRun: 1}}, 3},
		"a read, an agent": {nil, spend.Call{Op: watcher, Repeats: true, Agent: &spend.Agent{Op: watcher, PerRun: 1000, Every: 7, Until: month}}, -1},
		"a free read":      {spend.Prices{"a": {}}, spend.Call{Op: "a", Repeats: true}, 0},
		"a watcher":        {nil, spend.Call{Op: watcher, Agent: &spend.Agent{Op: watcher, PerRun: 1000, Every: 7, Until: month}}, 5000},
		"for ever":         {nil, spend.Call{Op: watcher, Agent: &spend.Agent{Op: watcher, PerRun: 1000, Every: 7}}, -1},
		"without a limit":  {nil, spend.Call{Op: watcher, Agent: &spend.Agent{Op: watcher, Every: 7, Until: month}}, -1},
		"a monitor":        {nil, spend.Call{Op: monitor, Agent: &spend.Agent{Op: monitor, PerRun: 1000, Until: month}}, -1},
		"runs":             {spend.Prices{monitor: {Runs: 3}}, spend.Call{Op: "agents.activate", Agent: &spend.Agent{Op: monitor, PerRun: 1000}}, 3000},
		"runs, unlimited":  {spend.Prices{monitor: {Runs: 3}}, spend.Call{Op: monitor, Agent: &spend.Agent{Op: monitor}}, -1},
		"runs, unknown":    {spend.Prices{"agents.activate": {Runs: 3}}, spend.Call{Op: "agents.activate"}, -1},
		"runs, before":     {spend.Prices{"agents.activate": {PerCall: 7}, monitor: {Runs: 3}}, spend.Call{Op: "agents.activate", Agent: &spend.Agent{Op: monitor, PerRun: 1000}}, 3000},
		"a spec, before":   {spend.Prices{"agents.activate": {PerCall: 7}}, spend.Call{Op: "agents.activate", Agent: &spend.Agent{Op: watcher, PerRun: 1000, Every: 7, Until: month}}, 5000},
		"activation":       {spend.Prices{"agents.activate": {PerCall: 7}}, spend.Call{Op: "agents.activate", Agent: &spend.Agent{Op: monitor, PerRun: 1000}}, 7},
		"by results":       {spend.Prices{monitor: {PerCall: 40 * spend.WebMonitorResult}}, spend.Call{Op: monitor, Agent: &spend.Agent{Op: monitor}}, 2000},
	} {
		t.Run(name, func(t *testing.T) {
			g := spend.NewGuard(math.MaxInt64, c.prices)
			c.call.ID = "1"
			err := g.Reserve(t.Context(), c.call)
			if c.want < 0 {
				require.ErrorIs(t, err, spend.ErrUnknownPrice)
				require.Contains(t, err.Error(), map[bool]string{false: "give one for ", true: "the class of "}[c.call.Repeats]+c.call.Op)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, booksOf(t, g).Total.InDoubt)
			require.NotContains(t, string(c.call.Body), "x", "a function gets a copy")
		})
	}
}

func TestAgent_WorstCase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := func(d time.Duration) time.Time { return time.Now().Add(d) }
		for _, c := range []struct {
			agent spend.Agent
			days  int
			want  int64 // 0: unknown
		}{
			{spend.Agent{PerRun: 1000, Every: 1}, 1, 2000}, // when it starts, and a day later
			{spend.Agent{PerRun: 1000, Every: 1}, 30, 31_000},
			{spend.Agent{PerRun: 1000, Every: 7}, 6, 1000},
			{spend.Agent{PerRun: 1000, Every: 7}, 7, 2000},
			{spend.Agent{PerRun: 1000, Every: 7, Until: in(10 * 24 * time.Hour)}, 365, 2000},
			{spend.Agent{PerRun: 1, Every: 1, Until: in(10 * 24 * time.Hour)}, 365, 11},
			{spend.Agent{PerRun: 1, Every: 1, Until: in(10*24*time.Hour + 1)}, 365, 12},
			{spend.Agent{PerRun: 1000, Every: 1, Until: in(time.Hour)}, 365, 2000},
			{spend.Agent{PerRun: 1000, Every: 1, Until: in(-time.Hour)}, 365, 2000},
			{spend.Agent{PerRun: 1000, Every: 1, Until: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}, 30, 31_000},
			{spend.Agent{PerRun: 1, Every: 1, Until: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}, math.MaxInt32, 2_921_940},
			{spend.Agent{PerRun: math.MaxInt64 / 2, Every: 1}, 30, math.MaxInt64},
			{spend.Agent{PerRun: 1 << 62, Every: 1}, 1, math.MaxInt64},
			{spend.Agent{PerRun: 1000, Every: 1}, 0, 0},
			{spend.Agent{Every: 1}, 30, 0},
			{spend.Agent{PerRun: 1000}, 30, 0},
		} {
			credits, err := c.agent.WorstCase(c.days)
			require.Equal(t, c.want, credits)
			require.Equal(t, c.want == 0, errors.Is(err, spend.ErrUnknownPrice))
		}
	})
}
