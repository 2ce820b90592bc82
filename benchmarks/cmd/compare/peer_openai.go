//go:build !only || openai

package main

import (
	"context"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func init() {
	register(peer{
		name: "openai", module: "github.com/openai/openai-go/v3",
		open: openOpenAI, code: func(err error) string { return codeIn(err, func(e *openai.Error) string { return e.Code }) },
		does: "openai-go, Execute. Retries; reads the body whole. Decodes a caller's struct by encoding/json; its own types, which keep unknown fields, are slower and not measured.",
	})
}

func openOpenAI(base string, h *http.Client) (doer, error) {
	options := []option.RequestOption{option.WithBaseURL(base + "/"), option.WithAPIKey(token), option.WithUnsafeAllowHTTP()}
	if h != nil {
		options = append(options, option.WithHTTPClient(h))
	}
	client := openai.NewClient(options...)
	return func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		return client.Execute(ctx, method, query.appendTo(path)[1:], body, out)
	}, nil
}
