//go:build !only || hcloud

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

func init() {
	register(peer{
		name: "hcloud", module: "github.com/hetznercloud/hcloud-go/v2",
		open: openHCloud, code: func(err error) string { return codeIn(err, func(e hcloud.Error) string { return string(e.Code) }) },
		does: "hcloud-go, NewRequest and Do. Retries, keeps the body and reads it once more for its own paging.",
	})
}

func openHCloud(base string, h *http.Client) (doer, error) {
	options := []hcloud.ClientOption{hcloud.WithEndpoint(base), hcloud.WithToken(token)}
	if h != nil {
		options = append(options, hcloud.WithHTTPClient(h))
	}
	client := hcloud.NewClient(options...)
	return func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		text, err := encode(body)
		if err != nil {
			return err
		}
		var reader io.Reader
		if body != nil {
			reader = bytes.NewReader(text)
		}
		req, err := client.NewRequest(ctx, method, query.appendTo(path), reader)
		if err != nil {
			return err
		}
		_, err = client.Do(req, out)
		return err
	}, nil
}
