//go:build go1.27 && (!only || jsonv2)

package main

import (
	"encoding/json/v2"
	"io"
)

func init() {
	byJSONv2.read = func(body io.Reader, out any) error { return json.UnmarshalRead(body, out) }
}
