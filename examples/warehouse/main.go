// Command warehouse copies all lists and their rows into a SQL database, and keeps the copy up to date.
//
// It may be killed at any moment and run again. Without an account in the environment it runs on a sandbox, twice.
package main

import (
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
	"example.com/prospectkit/sandbox"
)

// config is what the flags say.
type config struct {
	file, dsn    string
	csv, parquet string
	pageSize     int
	fullEvery    time.Duration
	trustHeaders bool
}

func main() {
	var cfg config
	flag.StringVar(&cfg.file, "db", filepath.Join("out", "warehouse.db"), "the SQLite `file`")
	flag.StringVar(&cfg.dsn, "dsn", "", "a PostgreSQL database in its place: `postgres://...`")
	flag.StringVar(&cfg.csv, "csv", "", "write all living rows into this `file`")
	flag.StringVar(&cfg.parquet, "parquet", "", "write all living rows into this `file`")
	flag.IntVar(&cfg.pageSize, "page", 1000, "rows a request, up to 1000")
	flag.DurationVar(&cfg.fullEvery, "full-every", 24*time.Hour, "read all rows of a list again after so long; 0 is always")
	flag.BoolVar(&cfg.trustHeaders, "trust-headers", false, "pace by the answers alone, for a plan with limits of its own")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cfg, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "warehouse:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cfg config, out *os.File) (err error) {
	var limits []prospectkit.BudgetOption
	if cfg.trustHeaders {
		limits = append(limits, prospectkit.TrustHeaders())
	}
	budget, wire := prospectkit.NewBudget(limits...), new(wire)
	bar := newBar(out, func(requests int) time.Duration { return budget.Forecast(prospectkit.SurfaceLists, requests) })
	client, baseURL, sb, err := connect(out, prospectkit.WithBudget(budget), prospectkit.WithObserver(wire.observe),
		prospectkit.WithObserver(bar.observe), prospectkit.ReadOnly(), prospectkit.WithPriority(prospectkit.PriorityBatch),
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
func connect(out io.Writer, opts ...prospectkit.Option) (client *prospectkit.Client, baseURL string, sb *sandbox.Sandbox, err error) {
	if baseURL = os.Getenv(prospectkit.EnvBaseURL); baseURL != "" {
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
	}
	return open(ctx, cfg.file, cfg.dsn)
}
