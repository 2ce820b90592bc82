// Package faultspec reads faults of the sandbox from text, such as lists.create:nth=2:drop-after. The command
// prospectkit sandbox and the data of testdata/retry.json have them.
package faultspec

import (
	"errors"
	"fmt"
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
and one of these, which take the rest of the text and so come last
  body=TEXT              this body, with status 200 or the one given
  location=URL           a redirect, with status 302 or the one given
  retry-after-raw=TEXT   a date, or garbage
`

// Spec is a fault for [sandbox.Sandbox.Fail].
type Spec struct {
	Operation string
	Options   []sandbox.FaultOption

	status     int
	code       string
	futureCode string
	body       *string
	location   *string
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
	f := &Spec{Operation: name}
	for rest != "" {
		var part string
		if key, _, _ := strings.Cut(rest, "="); slices.Contains(greedy, key) {
			part, rest = rest, ""
		} else {
			part, rest, _ = strings.Cut(rest, ":")
		}
		if err := f.read(part); err != nil {
			return nil, err
		}
	}
	f.response()
	return f, nil
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

// greedy words may contain colons.
var greedy = []string{"body", "location", "retry-after-raw"}

// words without a value.
var flagWords = map[string]func() sandbox.FaultOption{
	"always":       sandbox.Always,
	"applied":      sandbox.Applied,
	"drop-before":  sandbox.DropBefore,
	"drop-after":   sandbox.DropAfter,
	"refuse":       sandbox.Refuse,
	"reset":        sandbox.Reset,
	"empty-body":   sandbox.EmptyBody,
	"extra-fields": sandbox.ExtraFields,
}

var countWords = map[string]func(int) sandbox.FaultOption{
	"nth":         sandbox.Nth,
	"first":       sandbox.First,
	"every":       sandbox.Every,
	"retry-after": sandbox.RetryAfter,
	"slow-body":   sandbox.SlowBody,
	"truncate":    sandbox.Truncate,
	"html":        sandbox.HTML,
	"sparse":      func(status int) sandbox.FaultOption { return sandbox.Status(status, "") },
	"oversized":   func(n int) sandbox.FaultOption { return sandbox.Oversized(int64(n)) },
}

var durationWords = map[string]func(time.Duration) sandbox.FaultOption{
	"latency": sandbox.Latency,
	"stall":   sandbox.Stall,
}

var textWords = map[string]func(string) sandbox.FaultOption{
	"key":             sandbox.ForKey,
	"content-type":    sandbox.ContentType,
	"retry-after-raw": sandbox.RetryAfterRaw,
	"null":            sandbox.NullField,
}

// read reads one part: a word, or a word and its value.
func (f *Spec) read(part string) error {
	word, value, valued := strings.Cut(part, "=")
	if option, ok := flagWords[word]; ok && !valued {
		f.Options = append(f.Options, option())
		return nil
	}
	if !valued || value == "" && word != "body" {
		return fmt.Errorf("%q needs a value, or is not a word of a fault", part)
	}
	var err error
	switch {
	case countWords[word] != nil:
		err = add(f, countWords[word], value, strconv.Atoi)
	case durationWords[word] != nil:
		err = add(f, durationWords[word], value, time.ParseDuration)
	case textWords[word] != nil:
		f.Options = append(f.Options, textWords[word](value))
	default:
		err = f.readResponse(word, value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", part, err)
	}
	return nil
}

func add[T any](f *Spec, option func(T) sandbox.FaultOption, value string, parse func(string) (T, error)) error {
	v, err := parse(value)
	if err != nil {
		return errors.New("not a number, or not a duration such as 1.5s")
	}
	f.Options = append(f.Options, option(v))
	return nil
}

// readResponse reads the words that set the response together.
func (f *Spec) readResponse(word, value string) (err error) {
	switch word {
	case "status":
		f.status, err = strconv.Atoi(value)
	case "code":
		f.code = value
	case "future-code":
		f.futureCode = value
	case "body":
		f.body = &value
	case "location":
		f.location = &value
	case "enum":
		path, v, ok := strings.Cut(value, "=")
		if !ok {
			return errors.New("has to be enum=PATH=VALUE")
		}
		f.Options = append(f.Options, sandbox.EnumValue(path, v))
	default:
		return errors.New("not a word of a fault")
	}
	if err != nil {
		return errors.New("not a number")
	}
	return nil
}

// response turns those words into an option. Contradicting words give several, which the sandbox refuses.
func (f *Spec) response() {
	status := func(fallback int) int {
		if f.status != 0 {
			return f.status
		}
		return fallback
	}
	before := len(f.Options)
	if f.body != nil {
		f.Options = append(f.Options, sandbox.RawBody(status(200), *f.body))
	}
	if f.location != nil {
		f.Options = append(f.Options, sandbox.Redirect(status(302), *f.location))
	}
	if f.futureCode != "" {
		f.Options = append(f.Options, sandbox.FutureCode(f.status, f.futureCode))
	}
	responds := len(f.Options) > before
	if f.code == "" && (f.status == 0 || responds) {
		return
	}
	code, fallback := f.code, 0
	if known, ok := op.CodeByName(code); ok {
		fallback = known.Statuses[0]
	}
	if code == "" {
		code = onlyCode(f.status)
	}
	f.Options = append(f.Options, sandbox.Status(status(fallback), code))
}

// onlyCode finds the code of a status with only one code. Without a code, the sandbox makes a server error sparse.
func onlyCode(status int) string {
	found := ""
	for _, code := range op.Codes {
		if !slices.Contains(code.Statuses, status) {
			continue
		}
		if found != "" {
			return ""
		}
		found = code.Name
	}
	return found
}
