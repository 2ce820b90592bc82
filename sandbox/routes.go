package sandbox

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"example.com/prospectkit/internal/op"
)

// endpoints are those of all files.
var endpoints = map[*op.Op]endpoint{}

// serves adds the endpoints of a file.
func serves(some map[*op.Op]endpoint) struct{} { //nolint:unparam // a variable needs a value
	maps.Copy(endpoints, some)
	return struct{}{}
}

// target is what the router knows about a request.
type target struct {
	http.ResponseWriter // never called
	op                  *op.Op
	serves              endpoint
	req                 *http.Request // knows the values in the path
}

// muxes are those of all sandboxes, by their routes. Making one takes longer than most tests of a program do.
var muxes sync.Map

func (sb *Sandbox) routes() *http.ServeMux {
	key := fmt.Sprint(sb.paths)
	if mux, ok := muxes.Load(key); ok {
		return mux.(*http.ServeMux)
	}
	mux := sb.register()
	muxes.Store(key, mux)
	return mux
}

// register makes a mux with every operation that has a path. A test checks that each has its endpoint.
func (sb *Sandbox) register() *http.ServeMux {
	mux := http.NewServeMux()
	for _, o := range op.All() {
		pattern := sb.pattern(o)
		if pattern == "" {
			continue
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			t := w.(*target)
			t.op, t.serves, t.req = o, endpoints[o], r
		})
	}
	mux.HandleFunc("/", nothing)
	return mux
}

// pattern is the route of an operation, or empty if it has none.
func (sb *Sandbox) pattern(o *op.Op) string {
	switch route, moved := sb.paths[o]; {
	case moved:
		return route
	case o.Path == "":
		return ""
	}
	return o.Method + " " + basePath + o.Path
}

func (sb *Sandbox) route(r *http.Request) *target {
	t := &target{req: r}
	if routable(r) {
		sb.mux.ServeHTTP(t, r)
	}
	return t
}

// routable keeps from the mux what it would handle itself: HEAD, which it takes for GET, and paths that it would redirect.
func routable(r *http.Request) bool {
	own := r.Method == http.MethodHead || r.Method == http.MethodConnect || r.RequestURI == "*"
	return !own && clean(r.URL.Path) && clean(r.URL.EscapedPath())
}

func clean(p string) bool { return strings.HasPrefix(p, "/") && path.Clean(p) == p }

func nothing(http.ResponseWriter, *http.Request) {}

// WithRoute sets the undocumented path of an operation to the one that your application uses:
//
//	sandbox.WithRoute("agents.pause", "POST /business/agents/{agentId}/pause")
//
// The parameters are agentId for agents.pause, campaignId and stepId for campaigns.preview-step, and contactId for
// contacts.timeline. An assumed path can be changed in the same way.
func WithRoute(opName, route string) Option {
	return func(sb *Sandbox, _ *settings) error {
		o, ok := op.ByName(opName)
		if !ok || o.Provenance == op.Documented {
			return fmt.Errorf("WithRoute: %q is not an operation with an undocumented path", opName)
		}
		method, path, _ := strings.Cut(route, " ")
		if method == "" || o.Method != "" && method != o.Method || !clean(path) {
			return fmt.Errorf("WithRoute: %s: %q has to be a method, %s, and a path", opName, route, o.Method)
		}
		for _, name := range slices.Concat(endpoints[o].path, op.Parameters(o.Path)) {
			if !slices.Contains(op.Parameters(path), name) {
				return fmt.Errorf("WithRoute: %s: %q lacks {%s}", opName, route, name)
			}
		}
		if err := sb.move(o, method+" "+basePath+path); err != nil {
			return fmt.Errorf("WithRoute: %s: %w", opName, err)
		}
		return nil
	}
}

// move sets the pattern of an operation, if a mux accepts those of all operations together.
func (sb *Sandbox) move(o *op.Op, pattern string) (err error) {
	before := maps.Clone(sb.paths)
	defer func() {
		if p := recover(); p != nil {
			sb.paths, err = before, fmt.Errorf("%v", p)
		}
	}()
	sb.paths[o] = pattern
	sb.routes()
	return nil
}
