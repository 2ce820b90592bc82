// Package settings has what the options of packages changes and push set, for the packages that carry them out.
package settings

import (
	"context"

	"example.com/prospectkit/internal/check"
)

// Changes is what the options of package changes set.
type Changes struct {
	Held func(context.Context) (int, error) // the rows of the copy
	Bad  check.Violations
}

// Push is what the options of package push set.
type Push struct {
	From    string // the checkpoint; empty: of a push that has yet to begin
	Except  map[string]bool
	Repeat  bool  // every part whose outcome is unknown,
	Repeats []int // or these
	Save    func(ctx context.Context, checkpoint string) error
	Bad     check.Violations
}

// Read fills s by options, of which none may be nil.
func Read[S any, O ~func(*S)](s *S, bad *check.Violations, opts []O) {
	for _, option := range opts {
		if bad.Must(option != nil, "option", "is nil"); option != nil {
			option(s)
		}
	}
}
