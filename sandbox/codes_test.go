package sandbox_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// unreached are the codes that the document lists for an operation and that no rule returns to it, and why.
var unreached = map[string]string{
	"folders.list INVALID_REQUEST": "the service that owns the folders refuses: a fault does it, in TestFoldersRelayARefusal",
}

// returned are the codes that rules returned in these tests, as "operation CODE", and the codes alone.
var returned = struct {
	sync.Mutex
	codes map[string]bool
}{codes: map[string]bool{}}

// remember notes what the requests to a sandbox returned. What a fault did does not count.
func remember(sb *sandbox.Sandbox) {
	returned.Lock()
	defer returned.Unlock()
	for _, e := range sb.Journal() {
		if e.Fault == "" {
			returned.codes[e.Op+" "+e.Code], returned.codes[e.Code] = true, true
		}
	}
}

// TestMain demands of a run of all tests that each operation has returned each code that its row has from the document, and none that
// its row lacks, and that each code of a handler was returned.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // a sandbox lives for a moment
	status := m.Run()
	for _, part := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if flag.Lookup(part).Value.String() != "" {
			os.Exit(status)
		}
	}
	if problems := codeProblems(); status == 0 && len(problems) > 0 {
		fmt.Println(strings.Join(problems, "\n"))
		status = 1
	}
	os.Exit(status)
}

// everywhere are the codes that no row names, and no code at all: those of Client.Call, of arguments, and of a body that is no
// object.
var everywhere = []string{
	"", "UNAUTHORIZED", "INSUFFICIENT_SCOPE", "ENDPOINT_NOT_FOUND", "RATE_LIMITED", "UNEXPECTED_ERROR", "VALIDATION_FAILED", "INVALID_REQUEST",
}

// codeProblems are the codes that lack a request. What only the error table has is of operations whose paths are undocumented.
func codeProblems() (problems []string) {
	for _, o := range op.All() {
		for _, code := range o.Codes {
			if pair := o.Name + " " + code; returned.codes[pair] == (unreached[pair] != "") {
				problems = append(problems, pair+": internal/op/table.go has it from the document. Its handler returns it to a request in the operation's own test, "+
					"or else unreached in sandbox/codes_test.go says why not")
			}
		}
	}
	for pair := range returned.codes {
		name, code, _ := strings.Cut(pair, " ")
		if o, ok := op.ByName(name); ok && !slices.Contains(slices.Concat(o.Codes, o.Likely, everywhere), code) {
			problems = append(problems, pair+": its handler returns it, and internal/op/table.go has it neither from the document nor as likely")
		}
	}
	var source strings.Builder
	paths, _ := filepath.Glob("*.go")
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil && !strings.HasSuffix(path, "_test.go") {
			source.Write(text)
		}
	}
	for _, code := range op.Codes {
		if strings.Contains(source.String(), `"`+code.Name+`"`) && !returned.codes[code.Name] {
			problems = append(problems, code.Name+": a handler of the sandbox returns it, and no request in sandbox/*_test.go gets it")
		}
	}
	return problems
}

// TestEveryCodeIsWithinReach proves for each documented code that a fault returns it. That rules do, TestMain demands.
func TestEveryCodeIsWithinReach(t *testing.T) {
	for _, code := range op.Codes {
		for _, status := range code.Statuses {
			t.Run(fmt.Sprintf("fault/%s/%d", code.Name, status), func(t *testing.T) {
				sb := sandbox.New(t)
				sb.Fail("*", sandbox.Status(status, code.Name))
				inPlace(t, sb).get("/business/me").fails(status, code.Name)
			})
		}
	}
}
