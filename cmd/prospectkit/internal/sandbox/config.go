package sandbox

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/faultspec"
	"example.com/prospectkit/internal/filesystem"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// config is the command line.
type config struct {
	addr        string
	allowRemote bool
	seed        string
	seedNumber  uint64
	stateFile   string
	clock       string
	limits      bool
	options     []sandbox.Option // of -limit, -price and -route
	routes      []routeItem
	credits     int64 // negative is as seeded
	latency     time.Duration
	faults      []string
	json        bool
	rules       bool // print what is assumed, and end
}

const help = `Runs a double of the Prospecting and Outreach Business API on a port of this machine, for programs in any
language and for curl. It prints the two variables to export. Everything but the API is under /_sandbox/.
`

const helpEnd = `
The paths of agents.pause, campaigns.preview-step and contacts.timeline are undocumented. Serve them at the paths that your program
uses, with their parameters: agentId, campaignId and stepId, contactId. For example

  -route 'agents.pause=POST /path/to/{agentId}/pause'

A fault is OPERATION:WHEN:WHAT, for example

  -fault lists.rows:nth=3:status=429:code=RATE_LIMITED:retry-after=2
  -fault lists.create:nth=2:drop-after

` + faultspec.Help

func (cfg *config) flags(flags *flag.FlagSet) {
	flags.StringVar(&cfg.addr, "addr", "127.0.0.1:0", "`address` to listen on; port 0 takes a free one")
	flags.BoolVar(&cfg.allowRemote, "allow-remote", false, "allow an -addr that other machines can reach, and accept every host name")
	flags.StringVar(&cfg.seed, "seed", "small", "the initial state, `small|large:N|empty|FILE`: N rows, or a file with a state")
	flags.Uint64Var(&cfg.seedNumber, "seed-number", 1, "another `number` makes other data of the same kind")
	flags.StringVar(&cfg.stateFile, "state", "", "`file` that keeps the state: read instead of the seed if it exists, written while running and at the end")
	flags.StringVar(&cfg.clock, "clock", "real", "`real|manual|manual:TIME|xN`: moved by you, from a time on (RFC 3339), or N times as fast")
	cfg.limits = true
	flags.Func("limits", "rate limits, `on|off`; off raises them to a million a minute (default on)", func(s string) error {
		if s != "on" && s != "off" {
			return errors.New("on or off")
		}
		cfg.limits = s == "on"
		return nil
	})
	flags.Func("limit", "limits of a surface, `SURFACE=MINUTE/DAY`, such as search=5/100; may be repeated", cfg.addLimit)
	flags.Func("price", "credits that an operation costs for each row, `OPERATION=CREDITS`; may be repeated", cfg.addPrice)
	flags.Func("route", "where to serve an operation with an undocumented path, `OPERATION=METHOD PATH`; may be repeated", cfg.addRoute)
	flags.Int64Var(&cfg.credits, "credits", -1, "credits of every workspace; negative leaves them as seeded")
	flags.DurationVar(&cfg.latency, "latency", 0, "delay of every response, which moves a manual clock")
	flags.Func("fault", "inject a `fault`, see below; may be repeated", func(spec string) error {
		cfg.faults = append(cfg.faults, spec)
		return nil // it is read later, because a -route may follow
	})
	flags.BoolVar(&cfg.rules, "rules", false, "print what the sandbox assumes, because it is undocumented, and end")
	flags.BoolVar(&cfg.json, "json", false, "print one JSON object instead of text")
}

func (cfg config) check() error {
	host, _, err := net.SplitHostPort(cfg.addr)
	if err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	if !check.IsLoopback(host) && !cfg.allowRemote {
		return fmt.Errorf("-addr %s: other machines could reach the sandbox; if that is meant, add -allow-remote", cfg.addr)
	}
	if cfg.latency < 0 {
		return fmt.Errorf("-latency: %v is negative", cfg.latency)
	}
	if cfg.stateFile != "" {
		file, err := filesystem.Target(cfg.stateFile)
		return wrap("-state", cmp.Or(err, writable(filepath.Dir(file))))
	}
	return nil
}

// addLimit reads SURFACE=MINUTE/DAY.
func (cfg *config) addLimit(text string) error {
	surface, numbers, _ := strings.Cut(text, "=")
	minute, day, both := strings.Cut(numbers, "/")
	perMinute, err := strconv.Atoi(minute)
	perDay, errDay := strconv.Atoi(day)
	if err != nil || errDay != nil || !both {
		return errors.New("has to be like search=5/100: requests a minute and a day")
	}
	return cfg.add(sandbox.Limits(map[string]sandbox.Limit{surface: {PerMinute: perMinute, PerDay: perDay}}))
}

// addPrice reads OPERATION=CREDITS.
func (cfg *config) addPrice(text string) error {
	operation, number, _ := strings.Cut(text, "=")
	credits, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return errors.New("has to be like search.prospects=2")
	}
	return cfg.add(sandbox.WithPrices(sandbox.Prices{operation: credits}))
}

// addRoute reads OPERATION=METHOD PATH.
func (cfg *config) addRoute(text string) error {
	operation, route, _ := strings.Cut(text, "=")
	cfg.routes = append(cfg.routes, routeItem{operation, route})
	return cfg.add(sandbox.WithRoute(operation, route))
}

func (cfg *config) add(option sandbox.Option) error {
	cfg.options = append(cfg.options, option)
	return tryOptions(cfg.options)
}

// tryOptions tries options on a temporary sandbox.
func tryOptions(opts []sandbox.Option) error {
	var t faultspec.Trial
	sandbox.New(&t, opts...)
	return errors.Join(t...)
}

// writable tries to write into a folder.
func writable(dir string) error {
	file, err := os.CreateTemp(dir, ".prospectkit.*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// load reads the initial state, and returns its source.
func (cfg config) load() (sandbox.State, string, error) {
	if cfg.stateFile != "" {
		state, err := readState(cfg.stateFile)
		if !errors.Is(err, fs.ErrNotExist) {
			return state, cfg.stateFile, wrap("-state", err)
		}
	}
	kind, count, counted := strings.Cut(cfg.seed, ":")
	switch {
	case cfg.seed == "small":
		return fixture.Small(cfg.seedNumber), cfg.seed, nil
	case cfg.seed == "empty":
		return fixture.Empty(), cfg.seed, nil
	case kind == "large" && counted:
		rows, err := strconv.Atoi(count)
		if err != nil || rows < 0 || rows > maxRows {
			return sandbox.State{}, "", fmt.Errorf("-seed %s: rows have to be a number from 0 to %d", cfg.seed, maxRows)
		}
		return fixture.Large(cfg.seedNumber, rows), cfg.seed, nil
	}
	state, err := readState(cfg.seed)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%q is neither small, large:N, empty nor a file", cfg.seed)
	}
	return state, cfg.seed, wrap("-seed", err)
}

const maxRows = 5_000_000 // about as many as a machine has memory for

func readState(path string) (sandbox.State, error) {
	file, err := os.Open(path) //nolint:gosec // the user names the file
	if err != nil {
		return sandbox.State{}, err
	}
	defer file.Close()
	return sandbox.ReadState(file)
}

// newClock starts a manual clock no earlier than the times in the state, because time never goes back.
func (cfg config) newClock(state sandbox.State) (sandbox.Clock, error) {
	kind, at, dated := strings.Cut(cfg.clock, ":")
	switch scale, scaled := strings.CutPrefix(cfg.clock, "x"); {
	case cfg.clock == "real":
		return sandbox.RealClock(), nil
	case scaled:
		n, err := strconv.ParseFloat(scale, 64)
		if err != nil || !(n > 0 && n <= 1e6) {
			return nil, fmt.Errorf("-clock %s: the factor has to be a number above 0, at most a million", cfg.clock)
		}
		return sandbox.NewScaledClock(n), nil
	case kind == "manual":
		start := time.Now().UTC().Truncate(time.Second)
		if dated {
			var err error
			if start, err = time.Parse(time.RFC3339, at); err != nil {
				return nil, fmt.Errorf("-clock %s: the time has to look like 2026-01-31T09:00:00Z", cfg.clock)
			}
		}
		return sandbox.NewManualClock(latest(start, state)), nil
	}
	return nil, fmt.Errorf("-clock %s: real, manual, manual:TIME or a factor such as x60", cfg.clock)
}

// latest is the later one of the start and the newest time in a state.
func latest(start time.Time, state sandbox.State) time.Time {
	times := []time.Time{start}
	for _, ws := range state.Workspaces {
		for _, l := range ws.Lists {
			times = append(times, l.CreatedAt)
		}
		for _, c := range ws.Campaigns {
			times = append(times, c.CreatedAt)
		}
		for _, a := range ws.Agents {
			times = append(times, a.BeganAt)
		}
	}
	return slices.MaxFunc(times, time.Time.Compare)
}

func wrap(flagName string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flagName, err)
}
