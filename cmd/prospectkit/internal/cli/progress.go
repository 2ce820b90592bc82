package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	patience = 2 * time.Second // a command that ends before needs no line
	pace     = time.Second
)

// Progress writes the text on a terminal after two seconds, and each second again, until stop is called, so that a long silence is no
// mystery. Stop removes the line; a second stop does nothing. Anywhere else than on a terminal nothing is written. The function that makes
// the text is called in a goroutine of its own.
func Progress(w io.Writer, text func() string) (stop func()) {
	if !isTerminal(w) {
		return func() {}
	}
	return show(w, text)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func show(w io.Writer, text func() string) (stop func()) {
	done := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() {
		width := 0
		timer := time.NewTimer(patience)
		defer timer.Stop()
		for {
			select {
			case <-done:
				if width > 0 {
					fmt.Fprintf(w, "\r%s\r", strings.Repeat(" ", width))
				}
				return
			case <-timer.C:
				line := text()
				fmt.Fprintf(w, "\r%-*s", width, line)
				width = max(width, utf8.RuneCountInString(line))
				timer.Reset(pace)
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		working.Wait()
	})
}
