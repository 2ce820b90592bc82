package tests

import "runtime/debug"

// Tests make much garbage and keep little: so rare a collection takes a sixth less of the processor.
func init() { debug.SetGCPercent(400) }
