package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/prospectkit/internal/op"
)

var _ = ambient("paths.supplied", "an operation whose path the document does not show is served where WithRoute puts it, and nowhere without it")

// parameters are those that the rules of an operation without a path look for.
var parameters = map[*op.Op][]string{
	op.AgentsPause:          {"agentId"},
	op.CampaignsPreviewStep: {"campaignId", "stepId"},
	op.ContactsTimeline:     {"contactId"},
}

// WithRoute serves an operation whose path the document does not show, where your application looks for it:
//
//	sandbox.WithRoute("agents.pause", "POST /business/agents/{agentId}/pause")
//
// The parameters are agentId for agents.pause, campaignId and stepId for campaigns.preview-step, and contactId for
// contacts.timeline. An operation whose path is assumed can be moved in the same way.
func WithRoute(opName, route string) Option {
	return func(sb *Sandbox, _ *settings) error {
		o, ok := op.ByName(opName)
		if !ok || o.Provenance == op.Documented {
			return fmt.Errorf("WithRoute: %q is no operation whose path is left open", opName)
		}
		method, path, _ := strings.Cut(route, " ")
		if method == "" || o.Method != "" && method != o.Method || !clean(path) {
			return fmt.Errorf("WithRoute: %s: %q has to be a method, %s, and a path", opName, route, o.Method)
		}
		for _, name := range slices.Concat(parameters[o], parametersOf(o.Path)) {
			if !slices.Contains(parametersOf(path), name) {
				return fmt.Errorf("WithRoute: %s: %q lacks {%s}", opName, route, name)
			}
		}
		if sb.paths == nil {
			sb.paths = map[*op.Op]string{}
		}
		sb.paths[o] = method + " " + basePath + path
		if err := sb.tryPatterns(); err != nil {
			delete(sb.paths, o)
			return fmt.Errorf("WithRoute: %s: %w", opName, err)
		}
		return nil
	}
}

func parametersOf(path string) (names []string) {
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// tryPatterns finds out whether a mux takes the patterns of all operations together.
func (sb *Sandbox) tryPatterns() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	sb.routes()
	return nil
}

func nothing(http.ResponseWriter, *http.Request) {}

// pattern is where an operation is served: nowhere, if it is empty.
func (sb *Sandbox) pattern(o *op.Op) string {
	switch route, moved := sb.paths[o]; {
	case moved:
		return route
	case o.Path == "":
		return ""
	}
	return o.Method + " " + basePath + o.Path
}
