package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"unicode"
)

// This file is the same in every example: a command line that refuses what it does not know, and output that is safe to print.

// begin reads the command line. With -h it prints what the command does.
func begin(usage string) *screen {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "it takes no arguments but flags, not %q; -h lists them\n", flag.Args())
		os.Exit(2)
	}
	return &screen{to: os.Stdout}
}

// end exits with status 1 if the command failed, or could not print.
func (s *screen) end(err error) {
	if err = cmp.Or(err, s.err); err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
}

// screen prints on a terminal. Names and texts of the service cannot move its cursor, change its colours or title, or turn the direction
// of writing. The first failure is kept, because nobody checks the result of Fprintf.
type screen struct {
	to  io.Writer
	err error
}

func (s *screen) Write(p []byte) (int, error) {
	safe := bytes.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, p)
	if _, err := s.to.Write(safe); err != nil {
		s.err = cmp.Or(s.err, err)
		return 0, err
	}
	return len(p), nil
}
