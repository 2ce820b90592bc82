//go:build !only || github

package main

import (
	"context"
	"net/http"

	"github.com/google/go-github/v92/github"
)

func init() {
	register(peer{
		name: "go-github", module: "github.com/google/go-github/v92",
		open: openGitHub, code: func(err error) string {
			return codeIn[*github.ErrorResponse](err, func(*github.ErrorResponse) string { return "" })
		},
		does: "NewRequest and Do. Parses its own rate headers, no retries. The code of a foreign error stays in the body.",
	})
}

func openGitHub(base string, h *http.Client) (doer, error) {
	base += "/"
	options := []github.ClientOptionsFunc{github.WithURLs(&base, &base), github.WithAuthToken(token)}
	if h != nil {
		options = append(options, github.WithHTTPClient(h))
	}
	client, err := github.NewClient(options...)
	return func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		req, err := client.NewRequest(ctx, method, query.appendTo(path)[1:], body)
		if err != nil {
			return err
		}
		_, err = client.Do(req, out)
		return err
	}, err
}
