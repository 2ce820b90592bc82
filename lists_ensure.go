package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

// Ensured is the result of [ListsService.Ensure].
type Ensured struct {
	List    *List // beside an error that matches [CodeListNameTaken]: what has the name, or nearly
	Created bool  // by this call, for certain
	Certain bool  // whether Created is: if not, this call or a teammate may have created it
}

// Ensure gets or creates the list with this name, after trimming, and this kind. The name is the key, so [Once] is refused.
//
// After an unknown outcome, it looks for the list for 10 s, or for half of the time left, and creates it again, twice at most: the service
// refuses a taken name (documented). If something else has the name, or nearly, the error matches [CodeListNameTaken]; beside it stands
// that list, or nil for an agent.
//
// Errors: documented: [CodeListNameTaken], [CodeValidationFailed]; likely: [CodeListNameReserved].
//
// POST /business/lists, scope lists.
func (s *ListsService) Ensure(ctx context.Context, in NewList, opts ...CallOption) (*Ensured, error) {
	in.Name = strings.TrimSpace(in.Name)
	opts = append(slices.Clip(opts), callOption(func(c *callConfig, bad *check.Violations) { // a second call would end without the list
		bad.Must(c.once == "", "Once", "is not for Ensure: the name is its key")
	}))
	e := ensuring{lists: s, in: in, began: time.Now(), reads: append(sharedOptions(opts), begun)}
	var list *List
	var found *Ensured
	sent, looked := e.write.repeat(func() (err error) {
		list, err = s.Create(ctx, in, opts...)
		return err
	}, func(unknown *OutcomeUnknownError) (again bool, err error) {
		found, again, err = e.afterUnknown(ctx, unknown)
		return again, err
	})
	switch {
	case sent == nil:
		return &Ensured{List: list, Created: true, Certain: true}, nil
	case OutcomeOf(sent) == OutcomeUnknown:
		return e.end(found, looked)
	case errors.Is(sent, CodeListNameTaken):
		return e.end(e.taken(ctx, sent))
	case OutcomeOf(sent) == OutcomeApplied:
		return e.created(ctx, sent)
	}
	return e.end(nil, sent)
}

// Named finds the list with exactly this name, after trimming, and this kind, if any, with a request for each 1,000 lists of a similar name.
// If there is none, the error matches [ErrNotFound].
//
// Errors: those of [ListsService.Page].
//
// GET /business/lists, scope lists.
func (s *ListsService) Named(ctx context.Context, name string, kind ListKind, opts ...CallOption) (*List, error) {
	var bad check.Violations
	name = strings.TrimSpace(name)
	bad.Must(name != "", "name", "must not be blank") // the results of an agent may have a longer name than a list that is created
	bad.Text("name", name)
	if check.OneOf(&bad, "entityType", kind, listKinds...); len(bad) > 0 {
		return nil, refusal(op.ListsList, bad)
	}
	list, _, err := s.named(ctx, name, opts)
	if err != nil {
		return nil, err
	}
	if list == nil || kind != "" && list.Kind != kind {
		missing := withoutEffect(op.ListsList, nil)
		missing.Code, missing.Message = CodeListNotFound, "no list of this kind has this name"
		return nil, missing
	}
	return list, nil
}

// ensuring is the state of one call of Ensure.
type ensuring struct {
	lists *ListsService
	in    NewList
	began time.Time
	reads []CallOption
	write repeatableWrite
	looks string // the result of the last lookup
	held  bool   // a list of the other kind was seen to have the name
}

// end returns the result. After an unknown creation, a later error does not make the outcome known,
// except for a list of the other kind with that name.
func (e *ensuring) end(found *Ensured, err error) (*Ensured, error) {
	switch {
	case found != nil && err == nil:
		return found, nil
	case e.write.unknown == nil || e.held:
		return found, err
	case err != nil:
		return nil, fmt.Errorf("%w (%s; and since: %w)", e.write.unknown, e.looks, err)
	}
	return nil, fmt.Errorf("%w (%s)", e.write.unknown, e.looks)
}

// afterUnknown looks for the list of a creation whose outcome is unknown. If it does not show, the creation may be sent
// again, but not if a list of nearly that name does.
func (e *ensuring) afterUnknown(ctx context.Context, unknown *OutcomeUnknownError) (result *Ensured, again bool, err error) {
	patience := op.ListsCreate.VisibleAfter
	if at, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(at)/2)
	}
	q := unknown.resolver()
	q.sent.First = e.write.unknown.SentAt // the list may be that of an earlier creation
	r, err := q.resolve(ctx, patience, e.reads)
	if err != nil {
		e.looks = "it could not be resolved"
		return nil, false, err
	}
	e.looks = r.Note
	list, found := r.Object.(*List)
	switch {
	case !found:
		return nil, q.found.sight == absent, ctx.Err()
	case list.Kind != e.in.kind():
		result, err = e.heldBy(list, nil)
		return result, false, err
	}
	return &Ensured{List: list, Certain: r.Outcome == OutcomeNotApplied}, false, nil
}

// taken looks for the list that holds the name. A list created just now may not be visible yet.
func (e *ensuring) taken(ctx context.Context, cause error) (*Ensured, error) {
	var info Info
	var evidence readEvidence
	var holder *List
	var near []*List
	reads := append(slices.Clip(e.reads), WithInfo(&info), evidence.option()) // a cache may have the listing without it
	enough, err := e.lists.conf.until(ctx, op.ListsCreate, op.ListsCreate.VisibleAfter, func() (done bool, err error) {
		holder, near, err = e.lists.named(ctx, e.in.Name, reads)
		return holder != nil || e.explained(near, evidence.header(&info), cause), err
	})
	switch {
	case err != nil:
		return nil, err
	case holder == nil && !enough:
		return nil, holderUnseen(ctx, cause)
	case holder == nil:
		return e.nearlyHeld(near, evidence.header(&info), cause)
	case holder.Kind != e.in.kind():
		return e.heldBy(holder, cause)
	}
	return &Ensured{List: holder, Certain: e.older(holder, evidence.header(&info))}, nil
}

// explained reports whether an older list whose name differs in case only is why the service refused the name.
func (e *ensuring) explained(near []*List, h http.Header, refusal error) bool {
	return e.write.unknown == nil && errors.Is(refusal, CodeListNameTaken) && slices.ContainsFunc(near, func(list *List) bool {
		return strings.EqualFold(strings.TrimSpace(list.Name), e.in.Name) && !list.CreatedAt.IsZero() && e.older(list, h)
	})
}

// holderUnseen is the error of a creation, if the time was too short for what has the name to show.
func holderUnseen(ctx context.Context, creation error) error {
	response, ok := errors.AsType[*Error](creation)
	if !ok || OutcomeOf(creation) == OutcomeUnknown {
		return creation
	}
	e := *response
	e.cause = withCause(e.cause, cmp.Or(contextEnd(ctx, ""), errTooLate))
	e.text = "there was too little time to see what has the name: call it again with more"
	return &e
}

// older reports whether a list certainly existed before this call. If none of its requests has an
// unknown outcome, only a gateway can have repeated one, so a small margin is enough.
func (e *ensuring) older(list *List, h http.Header) bool {
	switch {
	case list.CreatedAt.IsZero():
		return e.write.unknown == nil
	case e.write.unknown != nil:
		_, certain := e.write.unknown.resolver().sent.Older(list.CreatedAt, h)
		return certain
	}
	return list.CreatedAt.Before(clock.Before(e.began, e.lists.conf.clock.MadeAhead(), h))
}

// created looks for a list that was created by a call whose response could not be read.
func (e *ensuring) created(ctx context.Context, unread error) (*Ensured, error) {
	found, err := e.taken(ctx, unread)
	if err != nil {
		return found, fmt.Errorf("%w (and it could not be read: %w)", unread, err)
	}
	older := found.Certain && !found.List.CreatedAt.IsZero() // then another server has answered
	found.Created, found.Certain = !older, true
	return found, nil
}

// opEnsure is the Op of [ListsService.Ensure].
const opEnsure = "lists.ensure"

// conflict is the error of a call whose name something else has. It keeps the fields of the service's refusal, if there was one.
func conflict(refusal error, text string) *Error {
	var e Error
	if response, ok := errors.AsType[*Error](refusal); ok && response.Code == CodeListNameTaken {
		e = *response
	}
	e.Op, e.Method, e.Route, e.Code, e.outcome = opEnsure, op.ListsCreate.Method, op.ListsCreate.Path, CodeListNameTaken, OutcomeNotApplied
	e.text = text
	return &e
}

// heldBy is the result, and the error, for a list of another kind that has the name.
func (e *ensuring) heldBy(list *List, refusal error) (*Ensured, error) {
	e.held = list.Kind != ""
	holder := cmp.Or(redact.PlainName(string(list.Kind)), "list of another kind")
	return &Ensured{List: list}, conflict(refusal, fmt.Sprintf("the name is held by a %s, a %s was wanted", holder, e.in.kind()))
}

// nearlyHeld is the result, and the error, if no list has exactly the name.
func (e *ensuring) nearlyHeld(near []*List, h http.Header, refusal error) (*Ensured, error) {
	if len(near) == 0 {
		return nil, conflict(refusal, "the name is taken, but no list has it: an agent may hold it, or a new list may show late")
	}
	text := "the name is taken; a list's name differs from it in case, spaces or accents only, or is cut off"
	own := func(list *List) bool { return list.Kind == e.in.kind() && !e.older(list, h) }
	if slices.ContainsFunc(near, own) {
		text += "; that list is not older than this call: an intermediary may have sent the request twice"
	}
	return &Ensured{List: near[0]}, conflict(refusal, text)
}
