//go:build !only || retryablehttp

package main

import (
	"context"
	"net/http"

	"github.com/hashicorp/go-retryablehttp"
)

func init() {
	register(peer{
		name: "retryablehttp", module: "github.com/hashicorp/go-retryablehttp",
		open: openRetryable, code: codeOfProblem,
		does: "go-retryablehttp with its default policy, its logger off; the rest by hand. It is what prospectkit's retries are built on.",
	})
}

func openRetryable(base string, h *http.Client) (doer, error) {
	client := retryablehttp.NewClient()
	client.Logger = nil
	if h != nil {
		client.HTTPClient = h
	}
	return func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		text, err := encode(body)
		if err != nil {
			return err
		}
		var raw any // a nil slice would count as a body
		if body != nil {
			raw = text
		}
		req, err := retryablehttp.NewRequestWithContext(ctx, method, base+query.appendTo(path), raw)
		if err != nil {
			return err
		}
		req.SetBasicAuth(token, "")
		if body != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		return readResponse(res, out)
	}, nil
}
