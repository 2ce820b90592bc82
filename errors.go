package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// Error returns the code itself.
func (c Code) Error() string { return string(c) }

// Is reports whether target is the class of a documented code.
func (c Code) Is(target error) bool {
	t, _ := target.(ErrorClass)
	return t != "" && classOf(c, 0) == t
}

// Outcome returns [OutcomeNotApplied] for a documented code, else [OutcomeUnknown], as for [CodeUnexpectedError].
func (c Code) Outcome() Outcome {
	known, ok := op.CodeByName(string(c))
	if !ok || slices.Max(known.Statuses) >= http.StatusInternalServerError {
		return OutcomeUnknown
	}
	return OutcomeNotApplied
}

// Known reports whether the code is documented.
func (c Code) Known() bool { _, ok := op.CodeByName(string(c)); return ok }

// CodeOf returns the code of an error: the service's, [CodeValidationFailed] for arguments refused locally, [CodeRateLimited] for
// [RuleRateLimit]. After a write, check [OutcomeOf] first.
func CodeOf(err error) Code {
	type coded interface {
		error
		errorCode() Code
	}
	if e, ok := errors.AsType[coded](err); ok {
		return e.errorCode()
	}
	code, _ := errors.AsType[Code](err)
	return code
}

// ErrorClass stands for many codes, as a target for errors.Is.
type ErrorClass string

// Error returns the class in words.
func (c ErrorClass) Error() string { return "prospectkit: " + string(c) }

// Outcome returns [OutcomeUnknown] for ErrOutcomeUnknown, [OutcomeApplied] for ErrResponseLost, and [OutcomeNotApplied] for the others.
func (c ErrorClass) Outcome() Outcome {
	if c == ErrOutcomeUnknown {
		return OutcomeUnknown
	}
	if c == ErrResponseLost {
		return OutcomeApplied
	}
	return OutcomeNotApplied
}

// The classes. One covers documented codes, and undocumented codes by their status. The error page of a proxy
// matches none, but any 429 matches ErrRateLimited.
const (
	ErrNotFound            ErrorClass = "missing or not visible"
	ErrConflict            ErrorClass = "conflict with the current state"
	ErrInvalid             ErrorClass = "invalid request"
	ErrUnauthorized        ErrorClass = "the key was not accepted"
	ErrForbidden           ErrorClass = "the key or its owner may not do this"
	ErrInsufficientCredits ErrorClass = "not enough credits"
	ErrRateLimited         ErrorClass = "rate limited"
	ErrOutcomeUnknown      ErrorClass = "the outcome is unknown"    // it may have happened
	ErrResponseLost        ErrorClass = "the response was lost"     // applied or billed, but it cannot be read
	ErrNotStarted          ErrorClass = "the agent was not started" // a draft, or not seen to start
	ErrNotSettled          ErrorClass = "not settled"               // a wait ended before the state was there: wait again
	ErrRecordsMissing      ErrorClass = "records are missing"       // a range ended too early: see Missing of Report
	ErrSpendCap            ErrorClass = "the spend cap is reached"  // the call was not sent
)

// classOf returns the class of a code. The status decides only for undocumented codes.
func classOf(code Code, status int) ErrorClass {
	switch code {
	case "":
		return ""
	case CodeInsufficientCredits:
		return ErrInsufficientCredits
	case CodeEndpointNotFound:
		return "" // a wrong path says nothing about the resource
	}
	if known, ok := op.CodeByName(string(code)); ok {
		status = known.Statuses[len(known.Statuses)-1]
	}
	return statusClasses[status]
}

var statusClasses = map[int]ErrorClass{
	http.StatusBadRequest:          ErrInvalid,
	http.StatusUnauthorized:        ErrUnauthorized,
	http.StatusPaymentRequired:     ErrInsufficientCredits,
	http.StatusForbidden:           ErrForbidden,
	http.StatusNotFound:            ErrNotFound,
	http.StatusConflict:            ErrConflict,
	http.StatusUnprocessableEntity: ErrInvalid,
	http.StatusTooManyRequests:     ErrRateLimited,
}

// Outcome says whether a call had its effect.
type Outcome = journal.Outcome

// The outcomes, which package journal calls the same without the prefix.
const (
	OutcomeNotApplied Outcome = journal.NotApplied // nothing was sent, or the service did not do it
	OutcomeApplied    Outcome = journal.Applied    // the service confirmed it
	OutcomeUnknown    Outcome = journal.Unknown    // it may have happened
)

// OutcomeOf returns the outcome of a call by its error. Repeat a write only after [OutcomeNotApplied]. It is [OutcomeApplied] for nil, and
// [OutcomeUnknown] for an error of another package. Of joined errors, an unknown outcome decides.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return OutcomeApplied
	}
	if e := deciding(err); e != nil {
		return e.Outcome()
	}
	return OutcomeUnknown
}

// marked is an error that tells the outcome of a call.
type marked interface {
	error
	Outcome() Outcome
}

// deciding returns the error in a tree whose outcome counts, or nil: by weight, and of several as heavy the first.
func deciding(err error) (found marked) {
	switch e := err.(type) { //nolint:errorlint // it looks at one node of the tree
	case marked:
		return e
	case interface{ Unwrap() []error }:
		for _, each := range e.Unwrap() {
			if next := deciding(each); next != nil && (found == nil || slices.Index(byWeight, next.Outcome()) > slices.Index(byWeight, found.Outcome())) {
				found = next
			}
		}
		return found
	case interface{ Unwrap() error }:
		return deciding(e.Unwrap())
	}
	found, _ = errors.AsType[marked](err) // of an error with a method As
	return found
}

var byWeight = []Outcome{OutcomeNotApplied, OutcomeApplied, OutcomeUnknown}

// RetryAfter returns how long to wait before the same call may succeed. It is false if time alone does not help. It is true only for calls
// that were not applied: after a 429, a wait that did not fit, or, except of an approval, a documented conflict that passes, such as
// [CodeCampaignBusy].
func RetryAfter(err error) (time.Duration, bool) {
	if err == nil || OutcomeOf(err) != OutcomeNotApplied {
		return 0, false
	}
	switch e := deciding(err).(type) {
	case *RefusedError:
		switch {
		case e.Rule != RuleRateLimit:
			return 0, false
		case e.FitsAt.IsZero():
			return time.Minute, true
		}
		return max(0, time.Until(e.FitsAt)), true
	case *Error:
		return e.retryAfter()
	}
	return 0, false
}

func (e *Error) retryAfter() (time.Duration, bool) {
	if wait, helps := RetryAfter(e.cause); helps { // of a method that makes several calls
		return wait, true
	}
	_, waits := errors.AsType[*waitError](e.cause)
	switch {
	case waits || e.Is(ErrRateLimited):
		return cmp.Or(e.RetryAfter, time.Minute), true
	case e.Op == op.CampaignsApprove.Name || !slices.Contains(passing, e.Code):
		return 0, false
	}
	return cmp.Or(e.RetryAfter, 5*time.Second), true
}

// passing are the conflicts that are documented to pass by themselves.
var passing = []Code{CodeCampaignBusy, CodeAgentProcessing, CodeListProcessing, CodeCampaignInitializing}

// Error is an unsuccessful response, an unusable success of a read, or the lack of any response to a call that changed nothing. If it
// matches [ErrResponseLost], the call was applied, or billed, but its response cannot be read.
type Error struct {
	Op     string // such as "lists.create", or the method that made several calls
	Method string
	Route  string // without ids

	Status    int    // HTTP status; 0 when none arrived
	Code      Code   // of the service's error envelope; at most 64 bytes if not Known
	Message   string // never match on it: it may be reworded
	Param     string // the offending field of a failed validation
	DocURL    string
	RequestID string // quote it to the service's support

	RowID string // of the row that does not fit your type, for RowsOf

	RetryAfter  time.Duration // what the service asked for, or how long until the window resets
	ResetAt     time.Time     // when that wait ends; zero when unknown
	ContentType string
	Body        string    // the first 2 KiB of the response; it may hold personal data
	Attempts    []Attempt // oldest first

	hint    string
	foreign bool         // the response is not the service's: see isServiceEnvelope
	classes []ErrorClass // beside that of the code
	text    string       // what a method says in place of the response, in words that logs may hold
	outcome Outcome
	cause   error // why there was no response, or no further attempt

	withoutURL func() string // the message, if there may be the URL of the call in it; nil: there is none
}

// Attempt is one attempt of a call.
type Attempt struct {
	At       time.Time
	Duration time.Duration
	Status   int           // 0 when no response arrived
	Code     Code          // of an error response
	Err      error         `json:"-"` // why there was no usable response
	Wait     time.Duration // before the next attempt

	// Delivery is what the connection tells of the request: "not sent", "unprocessed", "cut short", "confirmed" (by a response), or
	// "unknown": it may have been processed.
	Delivery string
}

// The words of Attempt.Delivery.
const (
	deliveryNotSent     = "not sent"    // no connection, or no header written
	deliveryUnprocessed = "unprocessed" // the peer's protocol layer says that it was not processed
	deliveryUnknown     = "unknown"     // it may have been processed
	deliveryCutShort    = "cut short"   // the end of an upload was not sent, so it was not processed
	deliveryConfirmed   = "confirmed"   // a complete response arrived, or an error response, even cut short
)

// withoutEffect returns the error of a call that changed nothing.
func withoutEffect(o *op.Op, cause error) *Error {
	return &Error{Op: o.Name, Method: o.Method, Route: o.Path, outcome: OutcomeNotApplied, cause: cause}
}

// unusable returns the error of a success with unusable content.
func unusable(o *op.Op, what string) *Error {
	e := withoutEffect(o, redact.OwnError(what))
	e.Status = http.StatusOK
	return e
}

// Error is one line without key, id, URL and query. It quotes the service's message, which may name people.
func (e *Error) Error() string {
	if e.text != "" {
		return errorLine(e.Op, e.text, causeText(e.cause, e.Op))
	}
	message := e.Message
	if e.withoutURL != nil {
		message = e.withoutURL()
	}
	text := errorLine(e.Op, e.what(), redact.WithoutIDs(message), causeText(e.cause, e.Op))
	if e.hint != "" {
		text = strings.TrimSuffix(text, ".") + "; " + e.hint
	}
	var notes []string
	if e.Param != "" {
		notes = append(notes, "param "+redact.OneLine(e.Param))
	}
	if e.RequestID != "" {
		notes = append(notes, "request "+redact.OneLine(e.RequestID))
	}
	if len(e.Attempts) > 1 {
		notes = append(notes, fmt.Sprintf("%d attempts", len(e.Attempts)))
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}

// what says what came, if anything did.
func (e *Error) what() string {
	kind := ""
	if e.ContentType != "" {
		kind = fmt.Sprintf(" (content type %q)", redact.WithoutIDs(redact.OneLine(e.ContentType)))
	}
	switch {
	case e.outcome == OutcomeApplied:
		return fmt.Sprintf("applied (status %d), but the response was lost", e.Status)
	case e.Code != "" && e.Status != 0:
		return fmt.Sprintf("%d %s", e.Status, string(e.Code))
	case e.Code != "" || e.Status == 0 && (e.cause != nil || e.Message != ""):
		return string(e.Code)
	case e.Status == 0:
		return "no details are known"
	case e.Status >= 300 && e.Status < 400:
		return fmt.Sprintf("%d, a redirect, which is not followed", e.Status)
	case e.cause == nil:
		return fmt.Sprintf("%d without the error envelope%s", e.Status, kind)
	}
	return fmt.Sprintf("unusable response with status %d%s", e.Status, kind)
}

// Is reports whether target is the code of the error, or one of its classes.
func (e *Error) Is(target error) bool {
	switch t := target.(type) {
	case Code:
		return e.Code == t
	case ErrorClass:
		return slices.Contains(e.classes, t) || t != "" && (!e.foreign && classOf(e.Code, e.Status) == t || t == ErrRateLimited && e.Status == http.StatusTooManyRequests ||
			t == ErrResponseLost && e.outcome == OutcomeApplied)
	}
	return false
}

// Unwrap returns why there was no usable response, or what stopped the retries.
func (e *Error) Unwrap() error { return e.cause }

// Outcome says whether the call had its effect.
func (e *Error) Outcome() Outcome { return cmp.Or(e.outcome, e.Code.Outcome()) }

// maxName is how many bytes of a foreign name are kept.
const maxName = 64

func (e *Error) errorCode() Code { return e.Code }

// RefusedError is a call that this client did not send: the arguments break documented bounds, a safety rule forbids it, or its wait for the
// rate limit does not fit. Earlier calls of the same iterator or method may have been sent. It matches its Rule; for arguments
// [CodeValidationFailed] and [ErrInvalid], for [RuleRateLimit] [ErrRateLimited].
type RefusedError struct {
	Op         string
	Method     string
	Route      string
	Violations []Violation
	Rule       SafetyRule // that refused; empty for arguments
	FitsAt     time.Time  `json:",omitzero"` // of RuleRateLimit: not before, as far as is known

	Earlier *journal.Entry `json:",omitzero"` // the call with the key of [Once] that kept this one back

	cause error // of RuleRateLimit, RuleJournal, RuleToken, RuleGate and RuleSpendGuard, and of another approval
}

// SafetyRule is a rule that refused to send a call, as a target for errors.Is.
type SafetyRule string

// Error returns the rule, for errors.Is.
func (r SafetyRule) Error() string { return string(r) }

// The safety rules.
const (
	RuleReadOnly SafetyRule = "read-only: the operation may change something"
	RuleNoSpend  SafetyRule = "no-spend: the operation may spend credits"
	RuleNoSend   SafetyRule = "no-send: the operation may send messages or write into a CRM"
	RuleReview   SafetyRule = "the campaign is not what was reviewed" // Violations, or the cause, name what changed

	RuleResume SafetyRule = "approving it would resume it" // Violations say why

	ErrAlreadyDone SafetyRule = "done before, with this key" // an earlier call with this key of Once has done this: OutcomeOf is applied
	// RuleOtherBody: an earlier call with this key of Once had another body. This one is not applied.
	RuleOtherBody  SafetyRule = "this key was used with another body, and nothing was sent: look at the outcome of that call before you choose another key"
	RuleInProgress SafetyRule = "another call may be doing this" // by the key of Once, or the campaign: call later

	// Of these, Unwrap of the error returns the cause.
	RuleJournal    SafetyRule = "the journal failed"
	RuleSpendGuard SafetyRule = "the spend guard did not reserve the credits"
	RuleToken      SafetyRule = "the token source gave no token"
	RuleGate       SafetyRule = "a gate refused"

	RuleRateLimit SafetyRule = "no room in time" // within [WithMaxWait], or the deadline, which the error then matches, too
	RulePaidPages SafetyRule = "the range has read as many paid pages as MaxPaidPages allows: raise it"
)

// forOperators reports whether a refusal is the business of who operates the program, and may pass once they have mended something.
func (r SafetyRule) forOperators() bool {
	return r == RuleJournal || r == RuleSpendGuard || r == RuleToken || r == RuleRateLimit
}

func refusal(o *op.Op, bad check.Violations) *RefusedError {
	e := &RefusedError{Op: o.Name, Method: o.Method, Route: o.Path}
	for _, v := range bad {
		e.Violations = append(e.Violations, Violation(v))
	}
	return e
}

func ruleRefusal(o *op.Op, rule SafetyRule, cause error) *RefusedError {
	e := refusal(o, nil)
	e.Rule, e.cause = rule, cause
	return e
}

// errAlready ends an approval that has nothing to do: Approve then returns a success.
var errAlready error = redact.OwnError("this review has approved it before")

// Violation is one broken bound.
type Violation struct {
	Param   string // the service's name of a parameter, or the name of a Go argument or option
	Problem string
}

// String says what is wrong with what.
func (v Violation) String() string { return redact.Printable(v.Param + " " + v.Problem) }

// Error lists every violation in one line.
func (e *RefusedError) Error() string {
	parts := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		parts[i] = v.String()
	}
	text := errorLine(e.Op, "refused locally", string(e.Rule), causeText(e.cause, e.Op))
	return strings.TrimSuffix(text+": "+strings.Join(parts, "; "), ": ")
}

// Unwrap returns why the journal, the spend guard, the token source or the gate refused, or which other call keeps this one back.
func (e *RefusedError) Unwrap() error {
	if deciding(e.cause) != nil {
		return otherCallError{e.cause}
	}
	return e.cause
}

// otherCallError hides an outcome and a code: whoever branched on them would take them for those of their own call.
type otherCallError struct{ error }

func (e otherCallError) Is(target error) bool {
	switch target.(type) {
	case Code, ErrorClass, SafetyRule:
		return false
	}
	return errors.Is(e.error, target)
}

func (e otherCallError) As(target any) bool {
	return !reflect.TypeOf(target).Elem().Implements(reflect.TypeFor[marked]()) && errors.As(e.error, target)
}

// Is matches the targets that [RefusedError] names.
func (e *RefusedError) Is(target error) bool {
	switch target {
	case error(ErrSpendCap):
		return errors.Is(e.cause, spend.ErrCap)
	case error(CodeRateLimited), error(ErrRateLimited):
		return e.Rule == RuleRateLimit
	case error(e.Rule):
		return e.Rule != ""
	}
	return e.Rule == "" && (target == error(CodeValidationFailed) || target == error(ErrInvalid))
}

// Outcome returns [OutcomeNotApplied], and [OutcomeApplied] for [ErrAlreadyDone].
func (e *RefusedError) Outcome() Outcome {
	if e.Rule == ErrAlreadyDone {
		return OutcomeApplied
	}
	return OutcomeNotApplied
}

func (e *RefusedError) errorCode() Code {
	if e.Rule == RuleRateLimit {
		return CodeRateLimited
	}
	if e.Rule != "" {
		return ""
	}
	return CodeValidationFailed
}

// waitError says that a wait for the rate limit does not fit: alone, why a call was refused, and in an [*Error], why no attempt followed.
type waitError struct {
	budget.WaitTooLongError
	surface string
	waited  time.Duration // before it was refused
}

// Error says how long the wait would be.
func (e *waitError) Error() string {
	text := "the rate limit of surface " + e.surface + " (" + e.Window.String() + ")"
	if e.waited > 0 {
		text = "after a wait of " + e.waited.Round(time.Millisecond).String() + ", " + text
	}
	bound := "the longest wait allowed (WithMaxWait)"
	if e.Deadline {
		bound = "the context's deadline"
	}
	if e.Wait > 0 {
		text += fmt.Sprintf(" has room in %s, which is beyond %s", e.Wait.Round(time.Millisecond), bound)
	} else {
		text += " has no room within " + bound
	}
	if !e.FitsAt.IsZero() {
		text += "; retry at " + e.FitsAt.Add(time.Second-1).UTC().Format(time.RFC3339)
	}
	return text
}

// Words leaves out the times, which logs have as attributes.
func (e *waitError) Words() string {
	return (&waitError{budget.WaitTooLongError{Window: e.Window, Deadline: e.Deadline}, e.surface, 0}).Error()
}

// Is matches a rate limit, and the deadline if it was too near.
func (e *waitError) Is(target error) bool {
	return target == error(ErrRateLimited) || target == error(CodeRateLimited) || e.Deadline && target == context.DeadlineExceeded
}
