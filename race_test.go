//go:build race

package prospectkit_test

// raceEnabled tells tests that the race detector slows everything down.
const raceEnabled = true
