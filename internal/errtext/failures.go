package errtext

import (
	"fmt"
	"strings"
	"time"

	"example.com/prospectkit/internal/redact"
)

// Response is an unsuccessful response, or the lack of any.
type Response struct {
	Op          string
	Status      int // 0: there was no response
	Code        string
	Applied     bool // the call had its effect
	ContentType string
	Message     string
	Cause       error
	Hint        string
	Param       string
	RequestID   string
	Attempts    int
}

// String describes the failure in one line.
func (r Response) String() string {
	text := Line(r.Op, r.what(), r.Message, Cause(r.Cause, r.Op))
	if r.Hint != "" {
		text = strings.TrimSuffix(text, ".") + "; " + r.Hint
	}
	if notes := r.notes(); len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}

func (r Response) what() string {
	switch {
	case r.Applied && r.Status != 0:
		return fmt.Sprintf("applied (status %d), but the response was lost", r.Status)
	case r.Applied:
		return "applied, but the response was lost"
	case r.Code != "" && r.Status != 0:
		return fmt.Sprintf("%d %s", r.Status, r.Code)
	case r.Code != "":
		return r.Code
	case r.Status >= 300 && r.Status < 400:
		return fmt.Sprintf("%d, a redirect, which is not followed", r.Status)
	case r.Status != 0 && r.Cause == nil:
		kind := redact.WithoutIDs(redact.OneLine(r.ContentType))
		return fmt.Sprintf("%d without the error envelope (content type %q)", r.Status, kind)
	case r.Status != 0:
		return fmt.Sprintf("unusable response with status %d", r.Status)
	case r.Cause == nil && r.Message == "":
		return "no details are known"
	}
	return ""
}

func (r Response) notes() (notes []string) {
	if r.Param != "" {
		notes = append(notes, "param "+redact.OneLine(r.Param))
	}
	if r.RequestID != "" {
		notes = append(notes, "request "+redact.OneLine(r.RequestID))
	}
	if r.Attempts > 1 {
		notes = append(notes, fmt.Sprintf("%d attempts", r.Attempts))
	}
	return notes
}

// Full is a rate limit without room in time.
type Full struct {
	Surface, Window string
	Wait            time.Duration // 0: unknown
	FitsAt          time.Time     // zero: unknown
	Waited          time.Duration // so far
	Deadline        bool          // the context's deadline is too near, not the longest wait
}

// String says how long the wait would be.
func (f Full) String() string {
	text := "the rate limit"
	if f.Waited > 0 {
		text = "after a wait of " + f.Waited.Round(time.Millisecond).String() + ", " + text
	}
	if f.Surface != "" {
		text += " of surface " + f.Surface
	}
	if f.Window != "" {
		text += " (" + f.Window + ")"
	}
	bound := "the longest wait allowed (WithMaxWait)"
	if f.Deadline {
		bound = "the context's deadline"
	}
	if f.Wait > 0 {
		text += fmt.Sprintf(" has room in %s, which is beyond %s", f.Wait.Round(time.Millisecond), bound)
	} else {
		text += " has no room within " + bound
	}
	if !f.FitsAt.IsZero() {
		text += "; retry at " + f.FitsAt.Add(time.Second-1).UTC().Format(time.RFC3339)
	}
	return text
}

// NotSettled is a wait that has ended after some polls, with the state seen last.
func NotSettled(polls int, waited time.Duration, state string) string {
	text := "not settled"
	if polls > 0 {
		text += fmt.Sprintf(" after %s and %s", waited.Round(time.Millisecond), Plural(polls, "poll"))
	}
	switch {
	case state != "":
		text += ", last seen as " + redact.OneLine(state)
	case polls > 0:
		text += ", no state was seen"
	}
	return text
}
