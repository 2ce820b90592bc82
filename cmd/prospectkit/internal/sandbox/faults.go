package sandbox

import (
	"regexp"

	"example.com/prospectkit/internal/faultspec"
	"example.com/prospectkit/sandbox"
)

// givenFault is a fault as it was written.
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

// keyWord is the part of a fault with a token, which is never returned.
var keyWord = regexp.MustCompile(`(:key=)[^:]*`)

func (box *instance) addFault(spec string, opts []sandbox.Option) error {
	f, err := faultspec.Parse(spec, opts...)
	if err != nil {
		return err
	}
	box.mu.Lock()
	defer box.mu.Unlock()
	box.faults = append(box.faults, givenFault{spec: keyWord.ReplaceAllString(spec, "$1..."), fault: box.Fail(f.Operation, f.Options...)})
	return nil
}

func (box *instance) faultViews() []faultView {
	box.mu.Lock()
	defer box.mu.Unlock()
	views := make([]faultView, len(box.faults))
	for i, given := range box.faults {
		views[i] = faultView{i + 1, given.spec, given.fault.String(), box.Hits(given.fault)}
	}
	return views
}

func (box *instance) clearFaults() {
	box.mu.Lock()
	defer box.mu.Unlock()
	box.Clear()
	box.faults = nil
}
