//go:build !only || gitlab

package main

import (
	"context"
	"net/http"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

func init() {
	register(peer{
		name: "GitLab", module: "gitlab.com/gitlab-org/api/client-go/v2",
		open: openGitLab, code: func(error) string { return "" },
		does: "client-go, NewRequest and Do over go-retryablehttp. Paces itself by RateLimit-Limit, retries. A 404 is one value without body or code.",
	})
}

func openGitLab(base string, h *http.Client) (doer, error) {
	options := []gitlab.ClientOptionFunc{gitlab.WithBaseURL(base)}
	if h != nil {
		options = append(options, gitlab.WithHTTPClient(h))
	}
	client, err := gitlab.NewClient(token, options...)
	return func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		in := body // it makes the query string itself
		if query != nil {
			in = query
		}
		req, err := client.NewRequest(method, path[1:], in, []gitlab.RequestOptionFunc{gitlab.WithContext(ctx)})
		if err != nil {
			return err
		}
		_, err = client.Do(req, out)
		return err
	}, err
}
