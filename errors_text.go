package prospectkit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/prospectkit/internal/redact"
)

const textPrefix = "prospectkit"

// errorLine joins the parts of an error's text that are not empty, after the name of the package.
func errorLine(parts ...string) string {
	text := textPrefix
	for _, part := range parts {
		if part != "" {
			text = strings.TrimSuffix(text, ".") + ": " + redact.OneLine(part)
		}
	}
	return text
}

// causeText is the text of a cause, without a prefix that repeats the operation.
func causeText(err error, opName string) string {
	if err == nil {
		return ""
	}
	return redact.OneLine(strings.ReplaceAll(err.Error(), textPrefix+": "+opName+": ", ""))
}

// withCause adds a second cause to an error. Either may be nil.
func withCause(err, cause error) error {
	switch {
	case cause == nil || errors.Is(err, cause):
		return err
	case err == nil:
		return cause
	}
	return fmt.Errorf("%w; %w", err, cause)
}

// contextEnd is the end of a context with its cause, and what was going on; that may be empty.
func contextEnd(ctx context.Context, when string) error {
	end := withCause(context.Cause(ctx), ctx.Err())
	if when == "" {
		return end
	}
	return fmt.Errorf("stopped %s: %w", when, end)
}

// errTooLate says that the deadline is too close for another attempt.
var errTooLate error = tooLateError{}

type tooLateError struct{}

func (tooLateError) Error() string        { return "the deadline is too near for another attempt" }
func (e tooLateError) Words() string      { return e.Error() }
func (tooLateError) Is(target error) bool { return target == context.DeadlineExceeded }
