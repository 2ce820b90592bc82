package waits

// Sighting is what a poll shows about the awaited state.
type Sighting struct {
	Settled bool   // the wait is over
	Err     error  // the wait is over, because the state will not come
	State   string // in words that logs may hold; empty if the value shows none
	Strange bool   // the state is undocumented: tell the observers, and go on
}
