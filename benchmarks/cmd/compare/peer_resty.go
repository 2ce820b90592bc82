//go:build !only || resty

package main

import (
	"context"
	"net/http"

	"resty.dev/v3"
)

func init() {
	register(peer{
		name: "resty", module: "resty.dev/v3",
		open: openResty, code: codeOfProblem,
		does: "Version 3, SetResult and SetResultError. Retries are off unless asked for, which is its default.",
	})
}

func openResty(base string, h *http.Client) (doer, error) {
	client := resty.New()
	if h != nil {
		client = resty.NewWithClient(h)
	}
	// It would warn of plain HTTP at each call.
	client.SetBaseURL(base).SetBasicAuth(token, "").SetLoggerWarnLevel(true)
	return func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		req := client.R().SetContext(ctx).SetResult(out).SetResultError(new(problem))
		if body != nil {
			req.SetBody(body)
		}
		res, err := req.Execute(method, query.appendTo(path))
		if err != nil {
			return err
		}
		if p, ok := res.ResultError().(*problem); ok && !res.IsStatusSuccess() {
			p.Status = res.StatusCode()
			return p
		}
		return nil
	}, nil
}
