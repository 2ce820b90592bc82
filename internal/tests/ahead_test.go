package tests_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// A program whose walk reads ahead is the same program in each run of EveryFailure, and loses nothing: its pages are requested in their order.
func TestEveryFailure_ReadsAhead(t *testing.T) {
	const rows = 14
	program := func(r *sandbox.Run) error {
		client, err := prospectkit.New(r.BaseURL(), r.Token(), prospectkit.WithTransport(r.Transport()))
		if err != nil {
			return err
		}
		list, _ := r.Load("list")
		saved, _ := r.Load("ids") // with the place, in one
		ids := strings.Fields(saved)
		place := ""
		if len(ids) > 0 {
			place, ids = ids[0], ids[1:]
		}
		p := prospectkit.Progress{ResumeFrom: place}
		opts := []prospectkit.PageOption{prospectkit.WithProgress(&p)}
		for row, err := range client.Lists.Rows(r.Context(), list, prospectkit.RowsParams{Limit: 2}, opts...) {
			if err != nil {
				return err
			}
			if len(ids)%3 == 0 {
				if _, err := client.Lists.Get(r.Context(), list); err != nil {
					return err
				}
			}
			ids = append(ids, row.ID())
			r.Save("ids", p.Checkpoint()+" "+strings.Join(ids, " "))
		}
		return nil
	}
	invariant := func(r *sandbox.Run) error {
		saved, _ := r.Load("ids")
		ids := strings.Fields(saved)
		ids = ids[min(1, len(ids)):]
		slices.Sort(ids)
		if once := slices.Compact(ids); r.Err() == nil && len(once) != rows {
			return fmt.Errorf("%d rows of %d", len(once), rows)
		}
		return nil
	}
	setup := sandbox.Setup(func(r *sandbox.Run) {
		r.Do(func(tx *sandbox.Tx) {
			list := tx.CreateList(sandbox.List{Name: "Long"})
			for i := range rows {
				tx.AddRows(list, sandbox.Row{"firstName": strconv.Itoa(i)})
			}
			r.Save("list", list)
		})
		r.Fail("lists.rows", sandbox.Always(), sandbox.Latency(time.Second))
	})
	first := sandbox.EveryFailure(t, program, invariant, setup)
	require.Equal(t, 8+5, first.Requests, "its pages, of which the last is full, and a call for every third row")
	require.Equal(t, first, sandbox.EveryFailure(t, program, invariant, setup))
}
