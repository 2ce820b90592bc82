// Package faultspec reads faults of the sandbox from text, such as lists.create:nth=2:drop-after. The command
// prospectkit sandbox and the data of testdata/retry.json have them.
package faultspec

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// Help explains the words of a fault.
const Help = `OPERATION is a name such as lists.rows, or * for all (GET /_sandbox/operations lists them).
WHEN is one of nth=N, first=N, every=N, always (the default), and key=TOKEN.
WHAT is any of
  status=N code=CODE     a documented error; one of them is enough if it implies the other
  status=N future-code=X an undocumented error code
  sparse=N               a server error whose envelope is almost empty
  html=N                 a page with this status, as from a proxy
  applied                the service applies the request before that response
  retry-after=SECONDS    the header
  drop-before drop-after connection cut before, or after, the effect; with reset, by the peer
  refuse reset           connection refused, or reset
  latency=D stall=D slow-body=BYTES_PER_SECOND
  truncate=N empty-body oversized=N content-type=TYPE extra-fields null=PATH enum=PATH=VALUE
  resent                 it arrives twice, and the second response is forwarded, with Via
  age=SECONDS cap-totals=N empty-page
and one of these, which take the rest of the text and so come last
  body=TEXT              this body, with status 200 or the one given
  location=URL           a redirect, with status 302 or the one given
  retry-after-raw=TEXT   a date, or garbage
`

// Spec is a fault for [sandbox.Sandbox.Fail].
type Spec struct {
	Operation string
	Options   []sandbox.FaultOption
}

// Parse reads OPERATION:WHEN:WHAT and tries it on a temporary sandbox with these options. A fault of an operation with an
// undocumented path needs its [sandbox.WithRoute].
func Parse(spec string, opts ...sandbox.Option) (*Spec, error) {
	f, err := Read(spec)
	if err != nil {
		return nil, err
	}
	var t Trial
	sandbox.New(&t, opts...).Fail(f.Operation, f.Options...)
	return f, errors.Join(t...)
}

// Read is Parse without the trial: [sandbox.Sandbox.Fail] reports what is wrong with the fault as a whole.
func Read(spec string) (*Spec, error) {
	name, rest, _ := strings.Cut(spec, ":")
	f, response := &Spec{Operation: name}, map[string]string{}
	for rest != "" {
		var part string
		if word, _, _ := strings.Cut(rest, "="); slices.Contains(greedy, word) {
			part, rest = rest, ""
		} else {
			part, rest, _ = strings.Cut(rest, ":")
		}
		word, value, valued := strings.Cut(part, "=")
		switch {
		case flags[word] != nil && !valued:
			f.Options = append(f.Options, flags[word]())
		case !valued || value == "" && word != "body":
			return nil, fmt.Errorf("%q needs a value, or is not a word of a fault", part)
		case slices.Contains(responses, word):
			response[word] = value
		case words[word] == nil:
			return nil, fmt.Errorf("%s: not a word of a fault", part)
		default:
			option, err := words[word](value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", part, err)
			}
			f.Options = append(f.Options, option)
		}
	}
	return f, f.respond(response)
}

// Trial is the test of a temporary sandbox. It collects what the sandbox reports.
type Trial []error

// Helper does nothing.
func (*Trial) Helper() {}

// Cleanup does nothing: a temporary sandbox needs no end.
func (*Trial) Cleanup(func()) {}

// Errorf keeps the first line of a report, without what the sandbox puts before it.
func (t *Trial) Errorf(format string, args ...any) {
	message := strings.TrimPrefix(fmt.Sprintf(format, args...), "sandbox: ")
	if _, why, ok := strings.Cut(message, "): "); ok && strings.HasPrefix(message, "Fail(") {
		message = why
	}
	message, _, _ = strings.Cut(message, "\n") // later lines often follow from the first
	*t = append(*t, errors.New(message))
}

var (
	greedy    = []string{"body", "location", "retry-after-raw"}               // may contain colons
	responses = []string{"status", "code", "future-code", "body", "location"} // set the response together
)

// flags are the words without a value.
var flags = map[string]func() sandbox.FaultOption{
	"always":       sandbox.Always,
	"applied":      sandbox.Applied,
	"drop-before":  sandbox.DropBefore,
	"drop-after":   sandbox.DropAfter,
	"refuse":       sandbox.Refuse,
	"reset":        sandbox.Reset,
	"empty-body":   sandbox.EmptyBody,
	"extra-fields": sandbox.ExtraFields,
	"resent":       sandbox.Resent,
	"empty-page":   sandbox.EmptyPage,
}

// words are those whose value is all of an option.
var words = map[string]func(value string) (sandbox.FaultOption, error){
	"nth":             read(strconv.Atoi, sandbox.Nth),
	"first":           read(strconv.Atoi, sandbox.First),
	"every":           read(strconv.Atoi, sandbox.Every),
	"retry-after":     read(strconv.Atoi, sandbox.RetryAfter),
	"slow-body":       read(strconv.Atoi, sandbox.SlowBody),
	"truncate":        read(strconv.Atoi, sandbox.Truncate),
	"html":            read(strconv.Atoi, sandbox.HTML),
	"sparse":          read(strconv.Atoi, func(status int) sandbox.FaultOption { return sandbox.Status(status, "") }),
	"cap-totals":      read(strconv.Atoi, sandbox.CapTotals),
	"age":             read(strconv.Atoi, sandbox.Age),
	"oversized":       read(strconv.Atoi, func(n int) sandbox.FaultOption { return sandbox.Oversized(int64(n)) }),
	"latency":         read(time.ParseDuration, sandbox.Latency),
	"stall":           read(time.ParseDuration, sandbox.Stall),
	"key":             read(text, sandbox.ForKey),
	"content-type":    read(text, sandbox.ContentType),
	"retry-after-raw": read(text, sandbox.RetryAfterRaw),
	"null":            read(text, sandbox.NullField),
	"enum": func(value string) (sandbox.FaultOption, error) {
		path, v, ok := strings.Cut(value, "=")
		if !ok {
			return nil, errors.New("has to be enum=PATH=VALUE")
		}
		return sandbox.EnumValue(path, v), nil
	},
}

func text(value string) (string, error) { return value, nil }

func read[T any](parse func(string) (T, error), option func(T) sandbox.FaultOption) func(string) (sandbox.FaultOption, error) {
	return func(value string) (sandbox.FaultOption, error) {
		v, err := parse(value)
		if err != nil {
			return nil, errors.New("not a number, or not a duration such as 1.5s")
		}
		return option(v), nil
	}
}

// respond turns the words of the response into an option. Contradicting words give several, which the sandbox refuses.
func (f *Spec) respond(set map[string]string) error {
	before := len(f.Options)
	status, err := strconv.Atoi(cmp.Or(set["status"], "0"))
	if err != nil {
		return fmt.Errorf("status=%s: not a number", set["status"])
	}
	if body, ok := set["body"]; ok {
		f.Options = append(f.Options, sandbox.RawBody(cmp.Or(status, http.StatusOK), body))
	}
	if location, ok := set["location"]; ok {
		f.Options = append(f.Options, sandbox.Redirect(cmp.Or(status, http.StatusFound), location))
	}
	if code, ok := set["future-code"]; ok {
		f.Options = append(f.Options, sandbox.FutureCode(status, code))
	}
	code, ok := set["code"]
	if !ok && (status == 0 || len(f.Options) > before) {
		return nil
	}
	if known, ok := op.CodeByName(code); ok {
		status = cmp.Or(status, known.Statuses[0])
	}
	f.Options = append(f.Options, sandbox.Status(status, cmp.Or(code, onlyCode(status))))
	return nil
}

// onlyCode finds the code of a status with only one code. Without a code, the sandbox makes a server error sparse.
func onlyCode(status int) string {
	fitting := slices.DeleteFunc(slices.Clone(op.Codes), func(code op.Code) bool { return !slices.Contains(code.Statuses, status) })
	if len(fitting) != 1 {
		return ""
	}
	return fitting[0].Name
}
