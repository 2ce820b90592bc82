package firstcontact

import (
	"sync"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/shapes"
)

// Source says where an expectation comes from.
type Source string

// The sources.
const (
	Documented Source = "documented"
	Assumed    Source = "assumed" // by this project
)

// envelope is the description of every unsuccessful response.
const envelope = `{"error": {"code": "string", "message": "string", "param": "string null", "doc_url": "string null",
	"request_id": "string null"}}`

// described parses the descriptions once.
var described = sync.OnceValue(func() map[*op.Op]*shapes.Shape {
	all := map[*op.Op]*shapes.Shape{nil: shapes.Describe(envelope, parts)}
	for _, d := range descriptions {
		all[d.op] = shapes.Describe(d.body, parts)
	}
	return all
})
