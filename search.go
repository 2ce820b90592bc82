package prospectkit

import (
	"context"

	"example.com/prospectkit/internal/op"
)

// SearchService finds prospects and companies.
type SearchService struct{ client *Client }

// FilterOptions returns the values that search filters accept. Any valid key may call it. The shape is not shown by the
// service's document.
//
// GET /business/prospects/filter-options, scope any.
func (s *SearchService) FilterOptions(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do(ctx, s.client, op.SearchFilterOptions, request{}, readObject, opts)
}
