package sandbox

import (
	"fmt"
	"regexp"
	"sync"

	"example.com/prospectkit/internal/faultspec"
	"example.com/prospectkit/sandbox"
)

// faultList keeps the faults of a sandbox as they were written.
type faultList struct {
	mu    sync.Mutex
	given []givenFault
}

type givenFault struct {
	spec  string
	fault *sandbox.Fault
	off   bool
}

// faultView is a fault as the control plane shows it.
type faultView struct {
	Number int    `json:"number"` // as in the header X-Sandbox-Fault
	Fault  string `json:"fault"`
	Does   string `json:"does"`
	Hits   int    `json:"hits"`
	On     bool   `json:"on"`
}

// keyWord is the part of a fault with a token, which is never returned.
var keyWord = regexp.MustCompile(`(:key=)[^:]*`)

func (l *faultList) add(box *sandbox.Sandbox, spec string, opts []sandbox.Option) error {
	f, err := faultspec.Parse(spec, opts...)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given = append(l.given, givenFault{spec: keyWord.ReplaceAllString(spec, "$1..."), fault: box.Fail(f.Operation, f.Options...)})
	return nil
}

func (l *faultList) views(box *sandbox.Sandbox) []faultView {
	l.mu.Lock()
	defer l.mu.Unlock()
	views := make([]faultView, len(l.given))
	for i, given := range l.given {
		views[i] = faultView{i + 1, given.spec, given.fault.String(), box.Hits(given.fault), !given.off}
	}
	return views
}

// turn switches one fault on or off.
func (l *faultList) turn(box *sandbox.Sandbox, number int, on bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number < 1 || number > len(l.given) {
		return fmt.Errorf("there is no fault %d", number)
	}
	given := &l.given[number-1]
	given.off = !on
	box.Switch(given.fault, on)
	return nil
}

// clear removes all faults.
func (l *faultList) clear(box *sandbox.Sandbox) {
	l.mu.Lock()
	defer l.mu.Unlock()
	box.Clear()
	l.given = nil
}
