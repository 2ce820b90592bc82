//go:build !only || prospectkit

package main

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"sync/atomic"

	"example.com/prospectkit"
)

func init() {
	for _, n := range prefetches {
		linked = append(linked, contender{
			name: prefetching(n), does: fmt.Sprintf("The same with %d pages read ahead of the one that the loop works on.", n),
			open: func(base string, h *http.Client) (session, error) {
				return openOurs(base, h, nil, prospectkit.Prefetch(n))
			},
		})
	}
	linked = append(linked, contender{
		name: observed, open: func(base string, h *http.Client) (session, error) { return openOurs(base, h, new(counter)) },
		does: "The same with an observer that counts, for which the client also searches each response for undocumented fields and values.",
	}, contender{
		name: ours, open: func(base string, h *http.Client) (session, error) { return openOurs(base, h, nil) },
		does: "As it comes: checks of arguments, budget, retries with connection traces, a strict scan of the whole response, repeats removed by id. Keeps the raw lists and profiles; for W3X and W3R it keeps the raw rows: Decode fills the struct, and the other fields are read by name.",
	})
}

// prospector does the work through prospectkit.
type prospector struct {
	client *prospectkit.Client
	rows   []prospectkit.PageOption
}

func openOurs(base string, h *http.Client, events *counter, rows ...prospectkit.PageOption) (*prospector, error) {
	p := &prospector{rows: rows}
	options := []prospectkit.ClientOption{
		prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{TrustHeaders: true})), // the documented 120 requests a minute would decide everything
	}
	if events != nil {
		options = append(options, prospectkit.WithObserver(events.count))
	}
	if h != nil {
		options = append(options, prospectkit.WithHTTPClient(h))
	}
	var err error
	p.client, err = prospectkit.New(base, token, options...)
	return p, err
}

func (p *prospector) do(ctx context.Context, k kind, n int, s *sum) error {
	lists := p.client.Lists
	switch k {
	case readUser:
		return times(n, func() error {
			u, err := p.client.Account.Me(ctx)
			if err == nil {
				s.user(user{ID: u.ID, Email: u.Email, Name: u.Name})
			}
			return err
		})
	case readMissing:
		return times(n, func() error {
			_, err := lists.Get(ctx, listID, prospectkit.GetListParams{})
			return s.missing(err, func(err error) string {
				return codeIn(err, func(e *prospectkit.Error) string { return string(e.Code) })
			})
		})
	case readLists:
		return each(lists.All(ctx, prospectkit.ListsParams{}), func(l *prospectkit.List) {
			s.list(&list{l.ID, l.Name, string(l.Kind), l.ContactsCount, l.CompaniesCount, l.CreatedAt, l.FolderID})
		})
	case readContacts:
		return each(prospectkit.RowsOf[contact](ctx, lists, listID, prospectkit.RowsParams{}, p.rows...), s.contact)
	case readDeep:
		return each(prospectkit.RowsOf[deepContact](ctx, lists, listID, prospectkit.RowsParams{}, p.rows...), s.deep)
	case readOpen:
		return p.open(ctx, s)
	case readRaw:
		return each(lists.Rows(ctx, listID, prospectkit.RowsParams{}), func(row *prospectkit.Row) {
			s.n++
			s.text(row.Text("timezone"), row.Text("language"))
		})
	case readProfiles:
		search := p.client.Search.Prospects(ctx, prospectkit.SearchParams{}, prospectkit.UnlimitedPages())
		return each(search, func(f *prospectkit.Profile) {
			s.profile(&profile{f.FirstName, f.LastName, f.JobTitle, f.CompanyName, f.SocialURL})
		})
	default:
		t, err := k.rowType()
		if err != nil {
			return err
		}
		return t.(oursReader).ours(ctx, p, s) //nolint:forcetypeassert // all are rows
	}
}

// oursReader is what a row type is, too, where prospectkit is linked.
type oursReader interface {
	ours(ctx context.Context, p *prospector, s *sum) error
}

func (r rows[T]) ours(ctx context.Context, p *prospector, s *sum) error {
	return each(prospectkit.RowsOf[T](ctx, p.client.Lists, richListID, prospectkit.RowsParams{}, p.rows...), func(row *T) { r.sum(s, row) })
}

func (p *prospector) open(ctx context.Context, s *sum) error {
	var failed error
	err := each(p.client.Lists.Rows(ctx, listID, prospectkit.RowsParams{}, p.rows...), func(row *prospectkit.Row) {
		var c contact
		if err := row.Decode(&c); err != nil && failed == nil {
			failed = err
		}
		s.contact(&c)
		s.text(row.Text("timezone"), row.Text("language"))
	})
	return cmp.Or(err, failed)
}

// each hands the elements of an iterator to a function.
func each[T any](seq iter.Seq2[*T, error], f func(*T)) error {
	for v, err := range seq {
		if err != nil {
			return err
		}
		f(v)
	}
	return nil
}

// counter is an observer that does next to nothing: what it costs is making the events.
type counter struct{ n atomic.Int64 }

func (c *counter) count(context.Context, prospectkit.Event) { c.n.Add(1) }
