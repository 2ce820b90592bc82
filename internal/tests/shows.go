package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"example.com/prospectkit"
)

// Faces are all the ways in which a value is printed by mistake.
func Faces(v any) map[string]string {
	out := make(map[string]string)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X"} {
		out[verb] = fmt.Sprintf(verb, v)
	}
	if text, err := json.Marshal(v); err == nil {
		out["JSON"] = string(text)
	}
	var line bytes.Buffer
	slog.New(slog.NewTextHandler(&line, nil)).Error("x", "value", v)
	slog.New(slog.NewJSONHandler(&line, nil)).Error("x", slog.Any("value", v), slog.Group("g", slog.Any("value", v)))
	out["slog"] = line.String()
	if err, ok := v.(error); ok {
		out["cause"] = fmt.Sprintf("%v %+v", errors.Unwrap(err), errors.Join(io.EOF, err))
	}
	return out
}

// Shows gathers all ways to look at values: every verb, JSON, both handlers of slog, LogValue, and each error inside.
type Shows struct{ strings.Builder }

// Show adds what the values look like.
func (s *Shows) Show(values ...any) {
	for _, v := range values {
		for _, text := range Faces(v) { // also of no error
			_, _ = s.WriteString(text + "\n")
		}
		if valuer, ok := v.(slog.LogValuer); ok {
			fmt.Fprintf(s, "%+v %#v\n", valuer.LogValue(), valuer.LogValue())
		}
		switch inner := v.(type) {
		case interface{ Unwrap() error }:
			s.Show(inner.Unwrap())
		case interface{ Unwrap() []error }:
			for _, err := range inner.Unwrap() {
				s.Show(err)
			}
		}
	}
}

// Options show what observers and loggers get.
func (s *Shows) Options() []prospectkit.ClientOption {
	logs := slog.New(slog.NewJSONHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug}))
	text := slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return []prospectkit.ClientOption{
		prospectkit.WithLogger(logs), prospectkit.WithLogger(text), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}),
		prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) context.Context {
			s.Show(e, e.Err)
			return nil
		}),
	}
}

// Failure shows an error and what is known of the call.
func (s *Shows) Failure(err error, info prospectkit.Info) {
	s.Show(err, info, string(info.Body))
	for _, a := range info.Attempts {
		s.Show(a, a.Err)
	}
	if e, ok := errors.AsType[*prospectkit.Error](err); ok {
		s.Show(*e, e.Code)
	}
}
