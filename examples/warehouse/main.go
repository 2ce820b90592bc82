// Command warehouse copies all lists and their rows into a SQL database, and keeps the copy up to date.
//
// It may be killed at any moment and run again. Without an account in the environment it runs on a sandbox, twice.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"

	"example.com/prospectkit"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
)

// config holds the flags.
type config struct {
	file, dsn    string
	csv, parquet string
	pageSize     int
	fullEvery    time.Duration
	trustHeaders bool
}

const usage = `Usage: warehouse [flags]

Copies all lists and their rows into a SQL database, and keeps the copy up to date. It may be killed at any moment and run again.

With PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN in the environment it reads from that service, and changes nothing there. With
neither it runs on a sandbox, twice. WAREHOUSE_DSN is what -dsn says, and stands in no list of processes: give a password there.

`

// envDSN names the database, as -dsn does.
const envDSN = "WAREHOUSE_DSN"

func main() {
	var cfg config
	flag.StringVar(&cfg.file, "db", filepath.Join("out", "warehouse.db"), "the SQLite `file`")
	flag.StringVar(&cfg.dsn, "dsn", "", "a PostgreSQL database in its place: `postgres://...`")
	flag.StringVar(&cfg.csv, "csv", "", "write all living rows into this `file`")
	flag.StringVar(&cfg.parquet, "parquet", "", "write all living rows into this `file`")
	flag.IntVar(&cfg.pageSize, "page", maxPage, "rows a request, up to 1000")
	flag.DurationVar(&cfg.fullEvery, "full-every", 24*time.Hour, "read all rows of a list again after so long; 0 is always")
	flag.BoolVar(&cfg.trustHeaders, "trust-headers", false, "pace by the responses alone, for a plan with limits of its own")
	out := begin(usage)
	if err := cfg.check(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	cfg.dsn = cmp.Or(cfg.dsn, os.Getenv(envDSN))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out.end(run(ctx, cfg, os.Stdout, out))
}

const maxPage = 1000 // rows, as documented

func (c config) check() error {
	switch {
	case c.pageSize < 1 || c.pageSize > maxPage:
		return fmt.Errorf("-page is %d, must be from 1 to %d", c.pageSize, maxPage)
	case c.fullEvery < 0:
		return fmt.Errorf("-full-every is %s, must not be negative", c.fullEvery)
	}
	return nil
}

func run(ctx context.Context, cfg config, terminal *os.File, out io.Writer) (err error) {
	budget, wire := prospectkit.NewBudget(prospectkit.BudgetConfig{TrustHeaders: cfg.trustHeaders}), new(wire)
	bar := newBar(terminal, func(requests int) time.Duration { return budget.Forecast(ratelimit.SurfaceLists, requests) })
	client, baseURL, sb, err := connect(out, prospectkit.WithBudget(budget), prospectkit.WithObserver(wire.observe),
		prospectkit.WithObserver(bar.observe), prospectkit.ReadOnly(), prospectkit.WithPriority(ratelimit.PriorityBatch),
		prospectkit.WithMaxWait(time.Hour))
	if err != nil {
		return err
	}
	store, err := openStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer store.Close()
	sync := func() error {
		y := &syncer{lists: client.Lists, store: store, bar: bar, pageSize: cfg.pageSize, fullEvery: cfg.fullEvery}
		err := y.sync(ctx, baseURL)
		bar.clear()
		if err != nil {
			return err
		}
		return y.write(ctx, out, wire)
	}
	if err := sync(); err != nil {
		return err
	}
	if sb != nil {
		teammate(sb, out)
		if err := sync(); err != nil {
			return err
		}
	}
	for _, file := range []string{cfg.csv, cfg.parquet} {
		if file == "" {
			continue
		}
		rows, err := store.export(ctx, file)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "Wrote %s rows to %s.\n", humanize.Comma(int64(rows)), file)
	}
	return nil
}

// connect returns a client for the service in the environment, or for a sandbox.
func connect(out io.Writer, opts ...prospectkit.ClientOption) (client *prospectkit.Client, baseURL string, sb *sandbox.Sandbox, err error) {
	baseURL = os.Getenv(prospectkit.EnvBaseURL)
	if baseURL != "" || os.Getenv(prospectkit.EnvToken) != "" { // half of an account is a mistake
		client, err = prospectkit.FromEnv(opts...)
		return client, baseURL, nil, err
	}
	fmt.Fprintln(out, "No account in the environment: using a sandbox.")
	sb = demo()
	client, err = prospectkit.New(sb.BaseURL(), sb.Token(), append(opts, prospectkit.WithTransport(sb.Transport()))...)
	return client, sb.BaseURL(), sb, err
}

func openStore(ctx context.Context, cfg config) (*store, error) {
	if cfg.dsn == "" {
		if err := os.MkdirAll(filepath.Dir(cfg.file), 0o750); err != nil {
			return nil, err
		}
		file, err := os.OpenFile(cfg.file, os.O_CREATE|os.O_RDWR, 0o600) // SQLite would make personal data readable for everybody
		if err != nil {
			return nil, err
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return open(ctx, cfg.file, cfg.dsn)
}
