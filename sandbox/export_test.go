package sandbox

// What this system says of a connection.
const (
	ErrRefused = errRefused
	ErrReset   = errReset
)

// Suspend takes rules out of the book that Strict and X-Sandbox-Assumed go by, until restore is called.
func Suspend(suspended func(Rule) bool) (restore func()) {
	var changed []*Rule
	for _, r := range rulebook {
		if !r.Ambient && suspended(*r) {
			r.Ambient = true
			changed = append(changed, r)
		}
	}
	return func() {
		for _, r := range changed {
			r.Ambient = false
		}
	}
}
