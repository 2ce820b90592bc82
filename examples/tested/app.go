// Package tested is a small application with its tests: they show how to test your own. The guide to them is docs/testing.md.
package tested

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"example.com/prospectkit"
)

// Export writes the contacts of a list as CSV and returns how many there were.
func Export(ctx context.Context, client *prospectkit.Client, listName string, out io.Writer) (int, error) {
	list, err := Find(ctx, client.Lists, listName)
	if err != nil {
		return 0, err
	}
	file := csv.NewWriter(out)
	_ = file.Write([]string{"name", "email"}) // Flush tells
	n := 0
	for row, err := range client.Lists.Rows(ctx, list.ID, prospectkit.RowsParams{}) {
		if err != nil {
			return n, err
		}
		_ = file.Write([]string{cell(row.Text("firstName")), cell(row.Text("email"))})
		n++
	}
	file.Flush()
	return n, file.Error()
}

// cell keeps a spreadsheet from running a text as a formula: it shows the text after an apostrophe.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(text)[0]) {
		return "'" + text
	}
	return text
}

// Lister is all that Find needs of the client.
type Lister interface {
	All(ctx context.Context, p prospectkit.ListsParams, opts ...prospectkit.PageOption) iter.Seq2[*prospectkit.List, error]
}

// Find returns the list of that name.
func Find(ctx context.Context, lists Lister, name string) (*prospectkit.List, error) {
	for list, err := range lists.All(ctx, prospectkit.ListsParams{Search: name}) {
		if err != nil {
			return nil, err
		}
		if list.Name == name {
			return list, nil
		}
	}
	return nil, fmt.Errorf("there is no list %q", name)
}

// Approver is all that Launch needs of the client.
type Approver interface {
	Approve(ctx context.Context, campaignID, digest string, opts ...prospectkit.CallOption) (*prospectkit.Approval, error)
}

// Launch approves what a person has said yes to, the review with that digest. Its error means that nothing was approved, and may be
// repeated. If the outcome is unknown, a person has to look first.
func Launch(ctx context.Context, campaigns Approver, campaignID, digest string) (doubt, err error) {
	_, err = campaigns.Approve(ctx, campaignID, digest)
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	if !ok { // nil, also if an earlier run has approved it
		return nil, err
	}
	resolution, resolveErr := unknown.Resolve(ctx)
	if resolveErr == nil && resolution.Outcome == prospectkit.OutcomeApplied {
		return nil, nil
	}
	return fmt.Errorf("look at campaign %s: %w", campaignID, errors.Join(err, resolveErr)), nil
}
