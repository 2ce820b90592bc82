package main

import (
	"context"
	"io"
	"net/http"
)

// A decoder replaces encoding/json in the program by hand. It is empty where its package is not linked.
type decoder struct {
	read   func(body io.Reader, out any) error
	decode func(page []byte, out any) error // where it wants the body in one piece
	note   string
}

// The decoders that their own files fill.
var bySonic, byJSONv2 decoder

const (
	bySonicName  = "by hand, sonic"
	byJSONv2Name = "by hand, json/v2"
)

// byDecoder lists the programs by hand with another decoder.
func byDecoder() []contender {
	return []contender{
		{
			name: bySonicName, link: "sonic", module: "github.com/bytedance/sonic", open: bySonic.open,
			does: "The body read into one piece of its length and given to sonic.Unmarshal with the default settings: strings point into the page and keep it alive, and invalid UTF-8 passes.",
		},
		{
			name: byJSONv2Name, link: "jsonv2", since: "go1.27", open: byJSONv2.open,
			does: "json.UnmarshalRead of encoding/json/v2 with its default settings, which Go has since 1.27: keys match in their exact case, equal keys and invalid UTF-8 are refused.",
		},
	}
}

func (d *decoder) open(base string, h *http.Client) (session, error) {
	if h == nil {
		h = &http.Client{}
	}
	call := func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		res, err := send(ctx, h, method, base+query.appendTo(path), body)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return readResponse(res, out)
		}
		return d.take(res, out)
	}
	return &sdk{call, codeOfProblem, false}, nil
}

func (d *decoder) take(res *http.Response, out any) error {
	if d.decode == nil {
		return d.read(res.Body, out)
	}
	page := make([]byte, res.ContentLength) // the service tells it
	if _, err := io.ReadFull(res.Body, page); err != nil {
		return err
	}
	return d.decode(page, out)
}
