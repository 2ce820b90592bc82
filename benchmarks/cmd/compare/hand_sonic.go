//go:build !only || sonic

package main

import "github.com/bytedance/sonic"

func init() {
	bySonic.decode = func(page []byte, out any) error { return sonic.Unmarshal(page, out) }
	if sonic.APIKind == sonic.UseStdJSON {
		bySonic.note = "here it falls back to encoding/json"
	}
}
