//go:build !only || azcore

package main

import (
	"context"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

func init() {
	register(peer{
		name: "azcore", module: "github.com/Azure/azure-sdk-for-go/sdk/azcore",
		open: openAzure, code: func(err error) string {
			return codeIn(err, func(e *azcore.ResponseError) string { return e.ErrorCode })
		},
		does: "A pipeline with the default policies: retries, telemetry, logging hooks, body download, and a key as credential. Its transport is tuned for many connections.",
	})
}

func openAzure(base string, h *http.Client) (doer, error) {
	options := &policy.ClientOptions{InsecureAllowCredentialWithHTTP: true}
	if h != nil {
		options.Transport = h
	}
	key := runtime.NewKeyCredentialPolicy(azcore.NewKeyCredential(token), "Authorization", &runtime.KeyCredentialPolicyOptions{
		Prefix: "Basic ", InsecureAllowCredentialWithHTTP: true,
	})
	pipeline := runtime.NewPipeline("benchmarks", "v1.0.0", runtime.PipelineOptions{PerRetry: []policy.Policy{key}}, options)
	return func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		req, err := runtime.NewRequest(ctx, method, base+query.appendTo(path))
		if err != nil {
			return err
		}
		if body != nil {
			if err := runtime.MarshalAsJSON(req, body); err != nil {
				return err
			}
		}
		res, err := pipeline.Do(req) //nolint:bodyclose // the pipeline has read and closed it
		if err != nil {
			return err
		}
		if !runtime.HasStatusCode(res, http.StatusOK) {
			return runtime.NewResponseError(res)
		}
		return runtime.UnmarshalAsJSON(res, out)
	}, nil
}
