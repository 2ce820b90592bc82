package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/prospectkit"
)

// explain says what went wrong, and what to do, to somebody who does not program. It leaves out the prose of the service, which might
// quote a row.
func explain(err error) string {
	e, ok := errors.AsType[*prospectkit.Error](err)
	if !ok || e.Status == 0 {
		return reason(err)
	}
	text := fmt.Sprintf("%s (status %d", reason(err), e.Status)
	if e.Code != "" {
		text += ", " + string(e.Code)
	}
	if e.RequestID != "" {
		text += ", request " + e.RequestID
	}
	return text + ")"
}

func reason(err error) string {
	e, ok := errors.AsType[*prospectkit.Error](err)
	switch {
	case errors.Is(err, context.Canceled):
		return "stopped"
	case errors.Is(err, context.DeadlineExceeded):
		return "the time limit was too short: -timeout gives it more"
	case errors.Is(err, prospectkit.ErrUnauthorized):
		return "the service does not accept the key in PROSPECTKIT_TOKEN: check it, or create a new key in the app"
	case errors.Is(err, prospectkit.CodeInsufficientScope):
		return "the key may not read lists: create a key with the scope lists, or with full access"
	case errors.Is(err, prospectkit.CodeListNotFound):
		return "the key sees no list with this id: check the id, and that the key is of the same workspace"
	case errors.Is(err, prospectkit.CodeListProcessing):
		return "the list is still being filled: try again later"
	case errors.Is(err, prospectkit.CodeEndpointNotFound):
		return "the service does not know the address that was asked for: check PROSPECTKIT_BASE_URL"
	case errors.Is(err, prospectkit.ErrRateLimited):
		return "the workspace has used up its requests for now: try again later"
	case ok && e.Status >= 500:
		return "the service failed: try again later"
	case ok && e.Status != 0:
		return "the service sent a response that cannot be used: check PROSPECTKIT_BASE_URL"
	}
	text := err.Error()
	if _, cause, refused := strings.Cut(text, "refused locally: "); refused {
		return strings.ReplaceAll(cause, "base URL ", prospectkit.EnvBaseURL+" ")
	}
	if ok {
		return strings.TrimPrefix(text, "prospectkit: "+e.Op+": ")
	}
	return text
}
