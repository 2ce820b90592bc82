//go:build !only || godo

package main

import (
	"context"
	"net/http"

	"github.com/digitalocean/godo"
)

func init() {
	register(peer{
		name: "godo", module: "github.com/digitalocean/godo",
		open: openGodo, code: func(err error) string {
			return codeIn[*godo.ErrorResponse](err, func(*godo.ErrorResponse) string { return "" })
		},
		does: "NewRequest and Do; no retries unless asked. Parses rate headers. The code of a foreign error is left in the text.",
	})
}

func openGodo(base string, h *http.Client) (doer, error) {
	client, err := godo.New(h, godo.SetBaseURL(base+"/"), godo.SetRequestHeaders(map[string]string{"Authorization": "Bearer " + token}))
	return func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		req, err := client.NewRequest(ctx, method, query.appendTo(path)[1:], body)
		if err != nil {
			return err
		}
		_, err = client.Do(ctx, req, out)
		return err
	}, err
}
