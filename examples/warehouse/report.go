package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
)

// wire counts what happened on the wire.
type wire struct{ requests, refused, retries, waited atomic.Int64 }

func (w *wire) observe(_ context.Context, e prospectkit.Event) {
	switch e.Kind {
	case event.KindAttempt:
		w.requests.Add(1)
		if e.Status == 429 {
			w.refused.Add(1)
		}
		if e.Attempt > 1 {
			w.retries.Add(1)
		}
	case event.KindCall:
		w.waited.Add(int64(e.Waited))
	default:
	}
}

// write prints the result of a sync. The figures of the tables are for the whole run, even if it was killed in between.
func (y *syncer) write(ctx context.Context, out io.Writer, w *wire) error {
	var lists, living, added, changed, gone int64
	err := y.store.db.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM lists WHERE gone_run IS NULL),
		COUNT(CASE WHEN gone_run IS NULL THEN 1 END),
		COUNT(CASE WHEN gone_run IS NULL AND first_run = $1 THEN 1 END),
		COUNT(CASE WHEN gone_run IS NULL AND changed_run = $1 AND first_run < $1 THEN 1 END),
		COUNT(CASE WHEN gone_run = $1 THEN 1 END) FROM list_rows`, y.run).Scan(&lists, &living, &added, &changed, &gone)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Run %d: %d lists, %s rows: %s new, %s changed, %s gone.\n", y.run, lists, humanize.Comma(living),
		humanize.Comma(added), humanize.Comma(changed), humanize.Comma(gone))
	r := &y.report
	if r.continued {
		fmt.Fprintln(out, "  It continued where an earlier process had stopped.")
	}
	fmt.Fprintf(out, "  Read completely: %d lists. Read as far as changed: %d lists.\n", r.walked, r.followed)
	if r.repeats+r.recovered > 0 {
		fmt.Fprintf(out, "  The lists moved meanwhile: %d rows came twice, %d would have been skipped.\n", r.repeats, r.recovered)
	}
	if len(r.unsettled) > 0 {
		fmt.Fprintf(out, "  These kept changing, and will be read again: %s.\n", printable(strings.Join(r.unsettled, ", ")))
	}
	fmt.Fprintf(out, "  %d requests, %d of them retries, %d refused by the rate limit, waited %s.\n", w.requests.Swap(0),
		w.retries.Swap(0), w.refused.Swap(0), time.Duration(w.waited.Swap(0)).Round(time.Millisecond))
	return nil
}
