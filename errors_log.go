package prospectkit

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/spend"
)

// LogValue groups what is safe to log.
func (e *Error) LogValue() slog.Value { return logValue(e.Op, e) }

// LogValue groups what is safe to log.
func (e *RefusedError) LogValue() slog.Value {
	if wait, ok := e.cause.(*waitError); ok { //nolint:errorlint // its own
		return logValue(e.Op, e, slog.String("surface", wait.surface), milliseconds("wait_ms", wait.Wait))
	}
	return logValue(e.Op, e)
}

// ownError is an error of this package.
type ownError interface {
	error
	slog.LogValuer
	Outcome() Outcome
	tried() []Attempt
}

// logValue groups what is safe to log of an error; own is what only its type has.
func logValue(opName string, err ownError, own ...slog.Attr) slog.Value {
	attrs := []slog.Attr{
		slog.String("op", opName), slog.String("error.type", errorTypeOf(err)), slog.String("reason", reasonOf(err)),
	}
	if _, refused := err.(*RefusedError); !refused { // the cause of a refusal may be an error of another call
		if e, ok := errors.AsType[*Error](err); ok {
			attrs = append(attrs, slog.Int("status", e.Status), slog.String("code", plain(string(e.Code))),
				slog.String("param", redact.Shorten(redact.Printable(e.Param), maxName)),
				slog.String("request_id", redact.Shorten(redact.Printable(e.RequestID), maxName)))
		}
	}
	attrs = append(append(attrs, own...), slog.String("outcome", string(err.Outcome())), slog.Int("attempts", len(err.tried())))
	return slog.GroupValue(notEmpty(attrs)...)
}

// notEmpty leaves out empty texts and zeros.
func notEmpty(attrs []slog.Attr) []slog.Attr {
	return slices.DeleteFunc(attrs, func(a slog.Attr) bool {
		return a.Value.Equal(slog.StringValue("")) || a.Value.Equal(slog.IntValue(0))
	})
}

// milliseconds has the unit in the name of the attribute: a handler of JSON would write a duration as nanoseconds.
func milliseconds(name string, d time.Duration) slog.Attr { return slog.Int64(name, d.Milliseconds()) }

// plain returns a code or a state if it is a plain name, as all known ones are: what the service sends can be anything.
func plain(s string) string {
	if s != "" && redact.PlainName(s) == "" {
		return "undocumented"
	}
	return s
}

func (e *Error) tried() []Attempt { return e.Attempts }

func (e *RefusedError) tried() []Attempt { return nil }

// errorTypeOf is the error type of a call; see ErrorType of [Event]. Of several attempts, the last decides.
func errorTypeOf(err error) string {
	own, ok := errors.AsType[ownError](err)
	if !ok {
		return errorType(err, 0, "", deliveryNotSent)
	}
	last := Attempt{} // of an OutcomeUnknownError of an earlier run
	switch e := own.(type) {
	case *RefusedError:
		if e.Rule == RuleRateLimit {
			return "wait_too_long"
		}
		return "refused_locally"
	case *Error:
		if inner, ok := errors.AsType[ownError](e.cause); ok && e.text != "" {
			return errorTypeOf(inner)
		}
		if e.cause == nil && slices.Contains(e.classes, ErrNotStarted) {
			return "not_started"
		}
		last = Attempt{Status: e.Status, Code: e.Code, Delivery: deliveryNotSent}
	}
	if tried := own.tried(); len(tried) > 0 {
		last = tried[len(tried)-1]
	}
	return errorType(own, last.Status, last.Code, last.Delivery)
}

// errorType is a word of a closed set for an attempt that failed, or nothing for a success.
func errorType(err error, status int, code Code, delivery string) string {
	switch {
	case code.Known():
		return string(code)
	case status >= http.StatusMultipleChoices:
		return strconv.Itoa(status)
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline_exceeded"
	case status != 0:
		return "unreadable_response"
	case delivery == deliveryNotSent, delivery == deliveryUnprocessed:
		return "not_sent"
	}
	return "no_response"
}

// reasonOf says why a call failed in words that logs may hold: those of this package, and of net and crypto/tls
// about a connection. What other code and the service say is left out.
func reasonOf(err error) string { return redact.OneLine(wholeReason(err)) }

func wholeReason(err error) string {
	var parts []string
	addReasons(&parts, err)
	return strings.Join(parts, "; ")
}

func addReasons(parts *[]string, err error) {
	text := wordsOf(err)
	if text != "" && !slices.ContainsFunc(*parts, func(part string) bool { return strings.Contains(part, text) }) {
		*parts = append(*parts, text)
	}
	switch e := err.(type) { //nolint:errorlint // each error inside is looked at
	case interface{ Unwrap() error }:
		addReasons(parts, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			addReasons(parts, inner)
		}
	}
}

// plainErrors are errors of other packages whose texts never quote anything.
var plainErrors = []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, spend.ErrUnknownPrice}

// errnoType is the type of the operating system's errors, which has another name on Plan 9.
var errnoType = reflect.TypeOf(error(syscall.EINVAL))

// wordsOf is what one error adds to a reason, without those inside of it.
func wordsOf(err error) string {
	switch e := err.(type) { //nolint:errorlint // reasonOf looks at each error inside
	case nil:
		return ""
	case interface{ Words() string }:
		return e.Words()
	case *Error:
		return e.words()
	case *RefusedError:
		return e.words()
	}
	if slices.Contains(plainErrors, err) || reflect.TypeOf(err) == errnoType {
		return err.Error()
	}
	return exchange.Words(err)
}

// words says what is wrong with a response that neither code nor cause explains.
func (e *Error) words() string {
	switch {
	case e.text != "":
		return e.text
	case e.Code != "" || e.Status == 0 || e.cause != nil:
		return ""
	case e.Status >= http.StatusMultipleChoices && e.Status < http.StatusBadRequest:
		return "a redirect, which is not followed"
	}
	return "a response without the error envelope"
}

// words is the rule, or the problems without the values that they quote: those in quotes, and all after a colon.
func (e *RefusedError) words() string {
	parts := make([]string, 0, 1+len(e.Violations))
	if e.Rule != "" {
		parts = append(parts, string(e.Rule))
	}
	for _, v := range e.Violations {
		problem := strings.ReplaceAll(redact.Unquoted(v.Problem), `" "...`, "") // one for a whole list
		problem, _, _ = strings.Cut(problem, ": ")
		parts = append(parts, redact.WithoutIDs(redact.Shorten(v.Param, maxName))+" "+problem)
	}
	return strings.Join(parts, "; ")
}
