package prospectkit

import (
	"context"

	"example.com/prospectkit/internal/op"
)

// CallLaterPage makes the call of a later page of a scroll, for tests of what may be repeated.
func (c *Client) CallLaterPage(ctx context.Context, opts ...CallOption) error {
	_, err := do(ctx, c, op.SearchProspects, request{body: Fields{"scrollToken": "t"}, laterPage: true}, readObject, opts)
	return err
}
