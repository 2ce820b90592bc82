// Package faultspec reads faults of the sandbox from text, such as lists.create:nth=2:drop-after. The command
// prospectkit sandbox and the data of testdata/retry.json have them.
package faultspec

import (
	"cmp"
	"encoding/json"
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
const Help = `OPERATION is a name such as lists.rows, or * for all (docs/operations.md lists them).
WHEN is one of nth=N, first=N, every=N and always (the default).
WHAT is any of
  status=N code=CODE     a documented error; a code alone has its status
  status=N future-code=X an undocumented error code
  status=N               a server error whose envelope is almost empty
  html=N                 a page with this status, as from a proxy
  applied                the service applies the request before that response
  retry-after=SECONDS    the header
  drop-before drop-after connection cut before, or after, the effect; with reset, by the peer
  refuse reset           connection refused, or reset
  latency=D stall=D truncate=N empty-body oversized=N
  resent                 it arrives twice, and the second response is forwarded, with Via
  cap-totals=N empty-page
and one of these, which take the rest of the text and so come last
  body=TEXT              this body, with status 200 or the one given
  set=PATH=JSON          a field of the response, such as data.*.folderId=null; ** is any place
  header=NAME=TEXT       any header
`

// Spec is a fault for [sandbox.Sandbox.Fail].
type Spec struct {
	Operation string
	Options   []sandbox.FaultOption
}

// Parse reads OPERATION:WHEN:WHAT. [sandbox.Sandbox.Fail] reports what is wrong with the fault as a whole.
func Parse(spec string) (*Spec, error) {
	name, rest, _ := strings.Cut(spec, ":")
	f, response := &Spec{Operation: name}, map[string]string{}
	for rest != "" {
		part, more, _ := strings.Cut(rest, ":")
		if word, _, _ := strings.Cut(part, "="); slices.Contains([]string{"body", "set", "header"}, word) {
			part, more = rest, "" // it may have colons
		}
		rest = more
		word, value, valued := strings.Cut(part, "=")
		if slices.Contains([]string{"status", "code", "future-code", "body"}, word) && valued {
			response[word] = value // they set it together
			continue
		}
		if words[word] == nil {
			return nil, fmt.Errorf("%q is not a word of a fault, or needs a value", part)
		}
		option, err := words[word](value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part, err)
		}
		f.Options = append(f.Options, option)
	}
	return f, f.respond(response)
}

type reader func(value string) (sandbox.FaultOption, error)

// words are those whose value, if they have one, is all of an option.
var words = map[string]reader{
	"always":      flag(sandbox.Always),
	"applied":     flag(sandbox.Applied),
	"drop-before": flag(sandbox.DropBefore),
	"drop-after":  flag(sandbox.DropAfter),
	"refuse":      flag(sandbox.Refuse),
	"reset":       flag(sandbox.Reset),
	"empty-body":  flag(sandbox.EmptyBody),
	"resent":      flag(sandbox.Resent),
	"empty-page":  flag(sandbox.EmptyPage),
	"nth":         read(strconv.Atoi, sandbox.Nth),
	"first":       read(strconv.Atoi, sandbox.First),
	"every":       read(strconv.Atoi, sandbox.Every),
	"retry-after": read(strconv.Atoi, sandbox.RetryAfter),
	"truncate":    read(strconv.Atoi, sandbox.Truncate),
	"html":        read(strconv.Atoi, sandbox.HTML),
	"cap-totals":  read(strconv.Atoi, sandbox.CapTotals),
	"oversized":   read(strconv.Atoi, func(n int) sandbox.FaultOption { return sandbox.Oversized(int64(n)) }),
	"latency":     read(time.ParseDuration, sandbox.Latency),
	"stall":       read(time.ParseDuration, sandbox.Stall),
	"set":         pair(func(path, raw string) sandbox.FaultOption { return sandbox.SetField(path, json.RawMessage(raw)) }),
	"header":      pair(sandbox.Header),
}

func flag(option func() sandbox.FaultOption) reader {
	return func(value string) (sandbox.FaultOption, error) {
		if value != "" {
			return nil, errors.New("takes no value")
		}
		return option(), nil
	}
}

func read[T any](parse func(string) (T, error), option func(T) sandbox.FaultOption) reader {
	return func(value string) (sandbox.FaultOption, error) {
		v, err := parse(value)
		if err != nil {
			return nil, errors.New("not a number, or not a duration such as 1.5s")
		}
		return option(v), nil
	}
}

func pair(option func(name, value string) sandbox.FaultOption) reader {
	return func(both string) (sandbox.FaultOption, error) {
		name, value, ok := strings.Cut(both, "=")
		if !ok {
			return nil, errors.New("needs a name and a value")
		}
		return option(name, value), nil
	}
}

// respond turns the words of the response into an option. Contradicting words give several, which the sandbox refuses.
func (f *Spec) respond(set map[string]string) error {
	status, err := strconv.Atoi(cmp.Or(set["status"], "0"))
	if err != nil {
		return fmt.Errorf("status=%s: not a number", set["status"])
	}
	add := func(word string, option func(value string) sandbox.FaultOption) {
		if value, given := set[word]; given {
			f.Options = append(f.Options, option(value))
		}
	}
	add("body", func(body string) sandbox.FaultOption { return sandbox.RawBody(cmp.Or(status, http.StatusOK), body) })
	add("future-code", func(code string) sandbox.FaultOption { return sandbox.FutureCode(status, code) })
	if len(set) == 1 && status != 0 {
		set["code"] = ""
	}
	add("code", func(code string) sandbox.FaultOption {
		if known, ok := op.CodeByName(code); ok {
			status = cmp.Or(status, known.Statuses[0])
		}
		return sandbox.Status(status, code)
	})
	return nil
}
