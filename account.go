package prospectkit

import (
	"context"

	"example.com/prospectkit/internal/op"
)

// AccountService reads the owner of the key and the credit balance.
type AccountService struct{ service }

// User is the owner of a key.
type User struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
	record
}

// String returns its JSON.
func (u User) String() string { return textOf(Object{}, u) }

// Me returns the owner of the key: a health check of address, key and network.
//
// GET /business/me, scope any.
func (s *AccountService) Me(ctx context.Context, opts ...CallOption) (*User, error) {
	return do[User](ctx, s.conf, op.AccountMe, args{}, opts)
}

// Credits returns the credit balance of the workspace. The response is undocumented; in the sandbox it is credits.balance (assumed). Read
// it with [Object.IntOK]: a wrong guess must not read as 0.
//
// GET /business/credits, scope any.
func (s *AccountService) Credits(ctx context.Context, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.AccountCredits, args{}, opts)
}

func (u *User) validate() error { return errorIf(u.ID == "", "the user has no id") }
