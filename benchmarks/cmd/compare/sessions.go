package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// kind is what a session can be asked to do.
type kind int

const (
	readUser     kind = iota + 1 // n times
	readMissing                  // n times
	readLists                    // the whole collection, as all below
	readContacts                 // typed
	readOpen                     // typed, unknown fields kept and two read
	readRaw                      // nothing typed, everything kept and two read
	readDeep                     // typed, with fields of objects inside
	readProfiles
	readRows // the first of rowTypes; the others follow
)

// A session is a contender's open client.
type session interface {
	do(ctx context.Context, k kind, n int, s *sum) error
}

func openPeer(p peer, raw bool) func(string, *http.Client) (session, error) {
	return func(base string, h *http.Client) (session, error) {
		do, err := p.open(base, h)
		return &sdk{do, p.code, raw}, err
	}
}

// sdk does the work through a peer's doer.
type sdk struct {
	call doer
	code func(error) string
	raw  bool
}

func (c *sdk) do(ctx context.Context, k kind, n int, s *sum) error {
	switch k {
	case readUser:
		return times(n, func() error {
			var out struct {
				User user `json:"user"`
			}
			err := c.call(ctx, http.MethodGet, "/business/me", nil, nil, &out)
			s.user(out.User)
			return err
		})
	case readMissing:
		return times(n, func() error {
			var out list
			err := c.call(ctx, http.MethodGet, "/business/lists/"+listID, nil, nil, &out)
			return s.missing(err, c.code)
		})
	case readLists:
		return pages(ctx, c, "/business/lists", s.list)
	case readContacts:
		return pages(ctx, c, rowsPath, s.contact)
	case readDeep:
		return pages(ctx, c, rowsPath, s.deep)
	case readOpen:
		return c.open(ctx, s)
	case readRaw:
		return c.untyped(ctx, s)
	case readProfiles:
		return c.profiles(ctx, s)
	default:
		t, err := k.rowType()
		if err != nil {
			return err
		}
		return t.peer(ctx, c, s)
	}
}

func (k kind) rowType() (rowType, error) {
	all := rowTypes()
	if k < readRows || int(k-readRows) >= len(all) {
		return nil, fmt.Errorf("no such kind: %d", k)
	}
	return all[k-readRows], nil
}

const rowsPath = "/business/lists/" + listID + "/rows"

func times(n int, f func() error) error {
	for range n {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func pages[T any](ctx context.Context, c *sdk, path string, each func(*T)) error {
	for query := (pageQuery{Limit: rowsPerPage, PageNum: 1}); ; query.PageNum++ {
		var p page[T]
		if err := c.call(ctx, http.MethodGet, path, &query, nil, &p); err != nil {
			return err
		}
		for i := range p.Data {
			each(&p.Data[i])
		}
		if query.PageNum >= p.Pagination.TotalPages {
			return nil
		}
	}
}

func (c *sdk) open(ctx context.Context, s *sum) error {
	if c.raw {
		return pages(ctx, c, rowsPath, func(row *rawContact) {
			s.contact(&row.contact)
			s.text(unknowns(row.raw))
		})
	}
	return pages(ctx, c, rowsPath, func(row *openContact) {
		s.contact(&row.contact)
		s.text(text(row.extra, "timezone"), text(row.extra, "language"))
	})
}

func (c *sdk) untyped(ctx context.Context, s *sum) error {
	if c.raw {
		return pages(ctx, c, rowsPath, func(row *json.RawMessage) {
			s.n++
			s.text(unknowns(*row))
		})
	}
	return pages(ctx, c, rowsPath, func(row *map[string]json.RawMessage) {
		s.n++
		s.text(text(*row, "timezone"), text(*row, "language"))
	})
}

func (c *sdk) profiles(ctx context.Context, s *sum) error {
	for query := (scrollQuery{Size: profilesPerPage}); ; {
		var p scrollPage
		if err := c.call(ctx, http.MethodPost, "/business/prospects/search", nil, &query, &p); err != nil {
			return err
		}
		for i := range p.Profiles {
			s.profile(&p.Profiles[i])
		}
		if p.ScrollToken == "" {
			return nil
		}
		query.ScrollToken = p.ScrollToken
	}
}

// missing requires an error, and keeps the code that came with it.
func (s *sum) missing(err error, code func(error) string) error {
	if err == nil {
		return errors.New("no error for a 404")
	}
	s.n++
	if s.code = code(err); s.code == untyped {
		return fmt.Errorf("not the typed error of a 404: %w", err)
	}
	return nil
}
