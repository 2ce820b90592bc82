package sandbox

import _ "embed"

// Assumptions lists, a line each, what the sandbox had to choose because it is undocumented: the real service may differ. The
// tests of what is documented stand in testdata/conformance.md at the root of the module.
func Assumptions() string { return assumptions }

//go:embed assumptions.txt
var assumptions string
