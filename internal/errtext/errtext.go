// Package errtext joins the parts of the texts of errors, and their causes.
package errtext

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/redact"
)

const prefix = "prospectkit"

// Line joins the parts of an error's text that are not empty, after the name of the package.
func Line(parts ...string) string {
	text := prefix
	for _, part := range parts {
		if part != "" {
			text = strings.TrimSuffix(text, ".") + ": " + redact.OneLine(part)
		}
	}
	return text
}

// Cause is the text of a cause, without a prefix that repeats the operation.
func Cause(err error, opName string) string {
	if err == nil {
		return ""
	}
	return redact.OneLine(strings.ReplaceAll(err.Error(), prefix+": "+opName+": ", ""))
}

// With adds a second cause to an error. Either may be nil.
func With(err, cause error) error {
	switch {
	case cause == nil || errors.Is(err, cause):
		return err
	case err == nil:
		return cause
	}
	return fmt.Errorf("%w; %w", err, cause)
}

// End is the end of a context with its cause, and what was going on; that may be empty.
func End(ctx context.Context, when string) error {
	end := With(context.Cause(ctx), ctx.Err())
	if when == "" {
		return end
	}
	return fmt.Errorf("stopped %s: %w", when, end)
}

// ErrTooLate says that the deadline is too close for another attempt.
var ErrTooLate error = tooLateError{}

type tooLateError struct{}

func (tooLateError) Error() string        { return "the deadline is too near for another attempt" }
func (e tooLateError) Words() string      { return e.Error() }
func (tooLateError) Is(target error) bool { return target == context.DeadlineExceeded }

// Plural counts things.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
