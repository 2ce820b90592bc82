//go:build go1.27

package benchmarks

import (
	"encoding/json/v2"
	"net/http"
)

func init() {
	decodeV2 = func(res *http.Response, out any) error { return json.UnmarshalRead(res.Body, out) }
}
