package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/clock"
	"example.com/prospectkit/internal/errtext"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
)

// Ensured is the result of [ListsService.Ensure].
type Ensured struct {
	List    *List
	Created bool // by this call, for certain, according to the service
	// Certain is false if either this call or a teammate, at the same moment, may have created the
	// list. A gateway that repeats a request also counts as this call.
	Certain bool
}

// Ensure gets or creates the list with this name, after trimming, and this kind. The name serves as
// idempotency key, so [Once] is refused. The result says whether this call created the list, and whether that is certain.
//
// It costs one request if the list is new, some reads more if the name is taken, and up to two more
// creations after an unknown outcome. No credit cost is documented.
//
// If something else has the name, the error is a [NameConflictError], which matches
// [CodeListNameTaken]. If no list or agent with the name is found, because your context leaves less than 10 s to look, the error has
// this code, too, and says so. If the outcome remains unknown, the error is an [OutcomeUnknownError]. Its text
// says how often it looked, or that it could not look.
//
// After an unknown outcome, it looks for the list for 10 s, or for half of the time left in your
// context if that is shorter. It then creates the list again, at most twice. The service is documented
// to refuse a name that is taken, also at the same moment (assumed).
//
// It does not create the list again if one has appeared whose name differs in case, spaces or accents
// only, or is cut off. That may be this one, under the name that the service gave it. A list found
// then is never reported as Created.
//
// Without a deadline, allow a minute: a request without a response lasts as long as
// [WithAttemptTimeout] allows, 30 s. With a deadline of 10 s, set it to 2 s.
//
// Errors: documented: [CodeListNameTaken], [CodeValidationFailed]; likely: [CodeListNameReserved].
//
// POST /business/lists, scope lists.
func (s *ListsService) Ensure(ctx context.Context, in NewList, opts ...CallOption) (*Ensured, error) {
	in.Name = strings.TrimSpace(in.Name)
	opts = append(slices.Clip(opts), callOption(func(c *callConfig, bad *check.Violations) { // a second call would end without the list
		bad.Must(c.once == "", "Once", "is not for Ensure: the name is its key")
	}))
	e := ensuring{lists: s, in: in, began: time.Now(), reads: sharedOptions(opts)}
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

// Named finds the list with exactly this name, after trimming, and this kind, or of either kind if it is empty. It
// creates nothing: [ListsService.Ensure] does. It costs one request for each 1,000 lists that contain the longest part of the
// name in ASCII, and reads all lists if the name has none.
//
// If there is none, the error matches [ErrNotFound] and [CodeListNotFound]. Names are documented as unique; should several
// lists share one, the error matches [CodeListNameAmbiguous].
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
}

// end returns the result. After an unknown creation, a later error does not make the outcome known,
// except for a list of the other kind with that name.
func (e *ensuring) end(found *Ensured, err error) (*Ensured, error) {
	held, holds := errors.AsType[*NameConflictError](err)
	switch {
	case found != nil:
		return found, nil
	case e.write.unknown == nil || holds && held.Holder != nil && held.Holder.Kind != "":
		return nil, err
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
		return nil, false, &NameConflictError{Name: e.in.Name, Kind: e.in.kind(), Holder: list}
	}
	return &Ensured{List: list, Certain: r.Outcome == OutcomeNotApplied}, false, nil
}

// taken looks for the list that holds the name. A list created just now may not be visible yet.
func (e *ensuring) taken(ctx context.Context, cause error) (*Ensured, error) {
	var info Info
	var near []*List
	conflict := &NameConflictError{Name: e.in.Name, Kind: e.in.kind(), cause: cause}
	reads := append(slices.Clip(e.reads), WithInfo(&info), new(readEvidence).option()) // a cache may have the listing without it
	enough, err := e.lists.conf.until(ctx, op.ListsCreate, op.ListsCreate.VisibleAfter, func() (done bool, err error) {
		conflict.Holder, near, err = e.lists.named(ctx, e.in.Name, reads)
		return conflict.Holder != nil, err
	})
	for _, list := range near {
		conflict.Near = append(conflict.Near, list.Name)
		conflict.own = conflict.own || list.Kind == e.in.kind() && !e.older(list, info)
	}
	switch list := conflict.Holder; {
	case err != nil:
		return nil, err
	case list == nil && !enough:
		return nil, holderUnseen(ctx, cause)
	case list == nil:
		return nil, conflict
	case list.Kind != e.in.kind():
		return nil, conflict
	default:
		return &Ensured{List: list, Certain: e.older(list, info)}, nil
	}
}

// holderUnseen is the error of a creation, if the time was too short for what has the name to show.
func holderUnseen(ctx context.Context, creation error) error {
	response, ok := errors.AsType[*Error](creation)
	if !ok || OutcomeOf(creation) == OutcomeUnknown {
		return creation
	}
	e := *response
	e.cause = errtext.With(e.cause, cmp.Or(errtext.End(ctx, ""), errtext.ErrTooLate))
	e.special.text = "there was too little time to see what has the name: call it again with more"
	return &e
}

// older reports whether a list certainly existed before this call. If none of its requests has an
// unknown outcome, only a gateway can have repeated one, so a small margin is enough.
func (e *ensuring) older(list *List, info Info) bool {
	switch {
	case list.CreatedAt.IsZero():
		return e.write.unknown == nil
	case e.write.unknown != nil:
		_, certain := e.write.unknown.resolver().sent.Older(list.CreatedAt, info.Header)
		return certain
	}
	return list.CreatedAt.Before(clock.Before(e.began, info.Header))
}

// created looks for a list that was created by a call whose response could not be read.
func (e *ensuring) created(ctx context.Context, unread error) (*Ensured, error) {
	found, err := e.taken(ctx, unread)
	if err != nil {
		return nil, fmt.Errorf("%w (and it could not be read: %w)", unread, err)
	}
	older := found.Certain && !found.List.CreatedAt.IsZero() // then another server has answered
	found.Created, found.Certain = !older, true
	return found, nil
}

// opEnsure is the Op of [ListsService.Ensure].
const opEnsure = "lists.ensure"

// NameConflictError means that something else has the name of a list: a list of the other kind, or
// something that is not a list, such as an agent.
type NameConflictError struct {
	Name   string
	Kind   ListKind // the requested kind
	Holder *List    // nil if no list with exactly that name is found
	Near   []string // names that differ in case, spaces or accents only, or are cut off; whether those count is undocumented

	cause error
	own   bool // a list of a near name is not older than the call
}

// Error says what has the name.
func (e *NameConflictError) Error() string {
	text := "the name is taken, but no list has it: an agent may hold it, or a new list may show late"
	if e.Holder != nil {
		holder := cmp.Or(redact.PlainName(string(e.Holder.Kind)), "list of another kind")
		text = fmt.Sprintf("the name is held by a %s, a %s was wanted", holder, cmp.Or(e.Kind, ContactList))
	} else if len(e.Near) > 0 {
		text = "the name is taken; a list's name differs from it in case, spaces or accents only, or is cut off"
	}
	if e.own {
		text += "; that list is not older than this call: an intermediary may have sent the request twice"
	}
	return errtext.Line(opEnsure, text)
}

// Is matches [CodeListNameTaken] and [ErrConflict].
func (e *NameConflictError) Is(target error) bool {
	return target == error(CodeListNameTaken) || target == error(ErrConflict)
}

// Unwrap returns the error of the creation, or nil if this call found the conflict by reading.
func (e *NameConflictError) Unwrap() error { return e.cause }

// Outcome returns [OutcomeNotApplied].
func (e *NameConflictError) Outcome() Outcome { return OutcomeNotApplied }

// LogValue groups the fields that are safe to log, as that of [Error] does: no names.
func (e *NameConflictError) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("wanted", string(e.Kind)), slog.Int("near", len(e.Near))}
	if e.Holder != nil {
		attrs = append(attrs, slog.String("holder", Code(e.Holder.Kind).logged()))
	}
	return logValue(opEnsure, e, attrs...)
}

func (e *NameConflictError) errorCode() Code { return CodeListNameTaken }
