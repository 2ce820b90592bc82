package exchange

import (
	"strings"
	"syscall/js"
)

// net/http makes the same distinction between a browser and node.
func init() {
	InBrowser = func() bool {
		process := js.Global().Get("process")
		node := process.Type() == js.TypeObject && strings.HasPrefix(process.Get("argv0").String(), "node")
		return !node && !js.Global().Get("fetch").IsUndefined()
	}
}
