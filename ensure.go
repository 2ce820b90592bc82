package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// Ensured is what [ListsService.Ensure] came to.
type Ensured struct {
	List    *List
	Created bool // by this call, as far as one can know
	// Certain is false if the answer of a creation was lost and the list was found by its name and age: a teammate may then have
	// made it in the same moment.
	Certain bool
}

// Ensure creates a list, or finds exactly that list: same name after trimming, same kind. It tells created from found, and lost
// answers do not confuse it: it looks before it creates again, so the name serves as idempotency key.
//
// If the name is held by something else, the error is a [NameHeldError], which errors.Is takes for [CodeListNameTaken]. If an
// outcome stays unknown until the context ends, the error is the [OutcomeUnknownError].
//
// Errors: documented: [CodeListNameTaken], [CodeValidationFailed]; likely: [CodeListNameReserved].
//
// POST /business/lists and GET /business/lists, scope lists.
func (s *ListsService) Ensure(ctx context.Context, in NewList, opts ...CallOption) (*Ensured, error) {
	in.Name = strings.TrimSpace(in.Name)
	reads := readOptions(opts)
	for round := 1; ; round++ {
		list, err := s.Create(ctx, in, opts...)
		if err == nil {
			return &Ensured{List: list, Created: true, Certain: true}, nil
		}
		var doubt *OutcomeUnknownError
		switch {
		case errors.As(err, &doubt):
			found, again, err := s.ensureAfterDoubt(ctx, in, doubt, reads)
			if !again {
				return found, err
			}
			if round == ensureRounds {
				return nil, doubt
			}
		case errors.Is(err, CodeListNameTaken):
			return s.ensureTaken(ctx, in, err, reads)
		case OutcomeOf(err) == Applied:
			return s.ensureLost(ctx, in, err, reads)
		default:
			return nil, err
		}
	}
}

// readOptions keeps the options that hold for any call; a field or a path is meant for the write alone.
func readOptions(opts []CallOption) []CallOption {
	var reads []CallOption
	for _, o := range opts {
		if shared, ok := o.(sharedOption); ok {
			reads = append(reads, shared)
		}
	}
	return reads
}

// ensureRounds bounds how often a list is created that does not show afterwards.
const ensureRounds = 3

// ensureAfterDoubt looks what became of a creation. Only if it does not show once it surely would, it is made again.
func (s *ListsService) ensureAfterDoubt(ctx context.Context, in NewList, doubt *OutcomeUnknownError, opts []CallOption) (*Ensured, bool, error) {
	r, err := doubt.Resolve(ctx, opts...)
	if err != nil {
		return nil, false, fmt.Errorf("%w (and it could not be resolved: %w)", doubt, err)
	}
	list, found := Resolved[List](r)
	switch {
	case r.Verdict == VerdictHappened:
		return &Ensured{List: list, Created: true}, false, nil
	case found && list.Kind == in.kind():
		return &Ensured{List: list, Certain: true}, false, nil
	case found:
		return nil, false, &NameHeldError{Name: in.Name, Kind: in.kind(), Holder: list}
	case !r.Settled:
		return nil, false, doubt
	}
	return nil, true, nil
}

// ensureTaken finds the list that holds the name. One that was made a moment ago may not show yet.
func (s *ListsService) ensureTaken(ctx context.Context, in NewList, taken error, opts []CallOption) (*Ensured, error) {
	until := time.Now().Add(op.ListsCreate.Settle)
	for pause := time.Second; ; pause *= 2 {
		list, near, err := s.named(ctx, in.Name, opts)
		switch {
		case err != nil:
			return nil, err
		case list != nil && list.Kind == in.kind():
			return &Ensured{List: list, Certain: true}, nil
		case list != nil:
			return nil, &NameHeldError{Name: in.Name, Kind: in.kind(), Holder: list, cause: taken}
		}
		if pause = min(pause, time.Until(until)); pause <= 0 || !rest(ctx, pause) {
			return nil, &NameHeldError{Name: in.Name, Kind: in.kind(), Near: near, cause: taken}
		}
	}
}

// ensureLost finds a list that was surely created, but whose answer could not be read.
func (s *ListsService) ensureLost(ctx context.Context, in NewList, lost error, opts []CallOption) (*Ensured, error) {
	found, err := s.ensureTaken(ctx, in, lost, opts)
	if err != nil {
		return nil, fmt.Errorf("%w (and it could not be read: %w)", lost, err)
	}
	found.Created = true
	return found, nil
}

// NameHeldError says that a list cannot be had under a name, because something else holds it: a list of the other kind, or
// something that does not show among the lists, such as an agent.
type NameHeldError struct {
	Name   string
	Kind   ListKind // the kind that was wanted
	Holder *List    // nil if no list of that very name shows
	Near   []string // names that differ in case only; whether case counts is not shown by the service's document

	cause error
}

// Error says who holds the name.
func (e *NameHeldError) Error() string {
	switch {
	case e.Holder != nil:
		return fmt.Sprintf("prospectkit: lists.ensure: the name is held by a %s, a %s was wanted",
			cmp.Or(plainName(string(e.Holder.Kind)), "list of another kind"), cmp.Or(e.Kind, ContactList))
	case len(e.Near) > 0:
		return "prospectkit: lists.ensure: the name is taken; a list differs from it in case only"
	}
	return "prospectkit: lists.ensure: the name is taken, but no list of that name shows: an agent may hold it"
}

// Is matches [CodeListNameTaken] and [ErrConflict].
func (e *NameHeldError) Is(target error) bool {
	return target == error(CodeListNameTaken) || target == error(ErrConflict)
}

// Unwrap returns the service's refusal.
func (e *NameHeldError) Unwrap() error { return e.cause }

// Outcome returns [NotApplied].
func (e *NameHeldError) Outcome() Outcome { return NotApplied }

// Advice returns the advice of [CodeListNameTaken].
func (e *NameHeldError) Advice() Advice { return CodeListNameTaken.Advice() }

// LogValue groups the fields that are safe to log: no names.
func (e *NameHeldError) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("op", "lists.ensure"), slog.String("wanted", string(e.Kind)), slog.Int("near", len(e.Near))}
	if e.Holder != nil {
		attrs = append(attrs, slog.String("holder", Code(e.Holder.Kind).logged()))
	}
	return slog.GroupValue(attrs...)
}

func (e *NameHeldError) errorCode() Code { return CodeListNameTaken }

func (n NewList) kind() ListKind {
	if n.Kind == "" {
		return ContactList
	}
	return n.Kind
}

// named finds the list of exactly this name, of either kind; names that differ in case only come back as near. Several lists of one
// name are an error: the service promises unique names, and has a code for the opposite.
func (s *ListsService) named(ctx context.Context, name string, opts []CallOption) (match *List, near []string, err error) {
	search := name
	if runes := []rune(name); len(runes) > maxListSearch {
		search = strings.TrimSpace(string(runes[:maxListSearch]))
	}
	iterOpts := make([]IterOption, len(opts))
	for i, o := range opts {
		iterOpts[i] = o
	}
	for list, err := range s.All(ctx, ListsParams{Search: search}, iterOpts...) {
		switch {
		case err != nil:
			return nil, nil, err
		case strings.TrimSpace(list.Name) == name && match != nil:
			return nil, nil, &Error{
				Op: op.ListsList.Name, Method: op.ListsList.Method, Route: op.ListsList.Path, Status: http.StatusOK, Code: CodeListNameAmbiguous,
				Message: "several lists have this name", outcome: NotApplied,
			}
		case strings.TrimSpace(list.Name) == name:
			match = list
		case strings.EqualFold(strings.TrimSpace(list.Name), name):
			near = append(near, list.Name)
		}
	}
	return match, near, nil
}

// lookForNew finds a list that a lost creation may have made: the name, the kind, and an age that fits.
func (s *ListsService) lookForNew(in NewList) lookup {
	return func(ctx context.Context, e *OutcomeUnknownError, opts []CallOption) (Resolution, error) {
		var info Info
		list, _, err := s.named(ctx, in.Name, append(slices.Clip(opts), Capture(&info)))
		switch {
		case err != nil:
			return Resolution{}, err
		case list == nil:
			return Resolution{Verdict: VerdictNotSeen}, nil
		case list.Kind != in.kind():
			return Resolution{Verdict: VerdictNotSeen, Object: list, Settled: true, Note: "a list of the other kind holds the name"}, nil
		case !list.CreatedAt.IsZero() && list.CreatedAt.Before(serverTime(e.SentAt, info)):
			return Resolution{Verdict: VerdictNotSeen, Object: list, Settled: true, Note: "a list of that name is older than the call"}, nil
		}
		return Resolution{Verdict: VerdictHappened, Object: list}, nil
	}
}

// serverTime is the earliest instant by the service's clock that a local instant can stand for. The Date of an answer
// tells how the clocks differ, to the second; without it they are taken to agree within two minutes.
func serverTime(local time.Time, info Info) time.Time {
	date, err := http.ParseTime(info.Header.Get("Date"))
	if err != nil {
		return local.Add(-2 * time.Minute)
	}
	return local.Add(time.Until(date)).Add(-2 * time.Second)
}

// lookForFolder reads whether a list is where a lost move should have put it.
func (s *ListsService) lookForFolder(listID, folderID string) lookup {
	return func(ctx context.Context, _ *OutcomeUnknownError, opts []CallOption) (Resolution, error) {
		list, err := s.Get(ctx, listID, GetListParams{}, opts...)
		switch {
		case err != nil:
			return Resolution{}, err
		case list.FolderID == folderID:
			return Resolution{Verdict: VerdictHappened, Object: list}, nil
		}
		return Resolution{Verdict: VerdictNotSeen, Object: list}, nil
	}
}
