package main

import (
	"sync"

	"example.com/prospectkit/sandbox"
)

// faultList remembers the faults of a sandbox in the words in which they were given.
type faultList struct {
	mu    sync.Mutex
	given []givenFault
}

type givenFault struct {
	spec  string
	fault *sandbox.Fault
}

// faultView is a fault as the control plane shows it.
type faultView struct {
	Number int    `json:"number"` // as in the header X-Sandbox-Fault
	Fault  string `json:"fault"`
	Does   string `json:"does"`
	Hits   int    `json:"hits"`
}

func (l *faultList) add(box *sandbox.Sandbox, spec string) error {
	f, err := parseFault(spec)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given = append(l.given, givenFault{spec, box.Fail(f.operation, f.opts...)})
	return nil
}

func (l *faultList) views(box *sandbox.Sandbox) []faultView {
	l.mu.Lock()
	defer l.mu.Unlock()
	views := make([]faultView, len(l.given))
	for i, given := range l.given {
		views[i] = faultView{i + 1, given.spec, given.fault.String(), box.Hits(given.fault)}
	}
	return views
}

// clear takes all faults back.
func (l *faultList) clear(box *sandbox.Sandbox) {
	l.mu.Lock()
	defer l.mu.Unlock()
	box.Clear()
	l.given = nil
}
