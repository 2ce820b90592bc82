package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

// Explain says what went wrong, and what to do, to somebody who does not program. It leaves out the prose of the service, which might
// quote a row.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	return explained{err}
}

// explained has the text for a person, and the error.
type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// Error returns the text.
func (e explained) Error() string {
	failed, ok := errors.AsType[*prospectkit.Error](e.error)
	if !ok || failed.Status == 0 {
		return reason(e.error)
	}
	text := fmt.Sprintf("%s (status %d", reason(e.error), failed.Status)
	if failed.Code != "" {
		text += ", " + string(failed.Code)
	}
	if failed.RequestID != "" {
		text += ", request " + failed.RequestID
	}
	return redact.Printable(text + ")")
}

func reason(err error) string {
	e, ok := errors.AsType[*prospectkit.Error](err)
	for _, c := range []struct {
		is   error
		text string
	}{
		{context.Canceled, "stopped"},
		{context.DeadlineExceeded, "the time limit was too short: -timeout gives it more"},
		{prospectkit.ErrUnauthorized, "the service does not accept the key: check " + EnvToken + " or -token-file, or create a new key in the app"},
		{prospectkit.CodeInsufficientScope, "the key may not do this: create a key with the scope " + scopeOf(e) + ", or with full access"},
		{prospectkit.CodeListNotFound, "the key sees no list with this id: check the id, and that the key is of the same workspace"},
		{prospectkit.CodeListProcessing, "the list is still being filled: try again later"},
		{prospectkit.CodeEndpointNotFound, "the service does not know the address that was asked for: check " + EnvBaseURL},
		{prospectkit.ErrRateLimited, "the workspace has used up its requests for now: try again later"},
	} {
		if errors.Is(err, c.is) {
			return c.text
		}
	}
	switch {
	case ok && e.Status >= 500:
		return "the service failed: try again later"
	case ok && e.Status != 0:
		return "the service sent a response that cannot be used: check " + EnvBaseURL
	}
	text := err.Error()
	if _, cause, refused := strings.Cut(text, "refused locally: "); refused {
		return strings.ReplaceAll(cause, "base URL ", EnvBaseURL+" ")
	}
	if ok {
		return strings.TrimPrefix(text, "prospectkit: "+e.Op+": ")
	}
	return text
}

// scopeOf names what a key needs for the call that failed.
func scopeOf(e *prospectkit.Error) string {
	if e != nil {
		if o, ok := op.ByName(e.Op); ok && o.Scope != op.ScopeAny {
			return string(o.Scope)
		}
	}
	return "that the call needs"
}
