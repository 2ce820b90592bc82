package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A doer makes one call: through a contender's own way for requests that it has no method for. The query is nil where there is
// none, and so is the body.
type doer func(ctx context.Context, method, path string, query *pageQuery, body, out any) error

// A peer is another client.
type peer struct {
	name   string
	module string                                          // empty for the standard library
	open   func(base string, h *http.Client) (doer, error) // h is nil for the contender's own default
	code   func(error) string                              // of the service's error, as far as the contender hands it over
	does   string                                          // what it does and what not, for the report
}

// A contender opens sessions; h is nil for its own default transport.
type contender struct {
	name   string
	module string
	does   string
	open   func(base string, h *http.Client) (session, error)
	peer   bool   // another client
	floor  bool   // decodes nothing, so there is no sum to compare
	link   string // the tag, where it is not the name
	since  string // the first version of Go that can build it
}

// tag is the build tag that links a contender into a binary, together with "only". By hand and the floors are in all binaries.
func (c *contender) tag() string {
	if c.link != "" {
		return c.link
	}
	if c.floor || c.name == byHandName || c.name == byHandRaw {
		return "hand"
	}
	name, _, _ := strings.Cut(c.name, ",")
	return strings.ToLower(strings.TrimPrefix(name, "go-"))
}

const (
	ours       = "prospectkit"
	observed   = "prospectkit, observed"
	byHandName = "by hand"
	byHandRaw  = "by hand, raw kept"
)

// prefetches are the numbers of pages that prospectkit reads ahead in W7.
var prefetches = []int{1, 2, 4, 8}

func prefetching(n int) string { return fmt.Sprintf("%s, Prefetch(%d)", ours, n) }

// linked holds the contenders that this binary was built with.
var linked []contender

func register(p peer) {
	linked = append(linked, contender{name: p.name, module: p.module, does: p.does, peer: true, open: openPeer(p, false)})
}

// order is that of the report; what is missing in it comes last.
var order = []string{
	ours, observed, prefetching(1), prefetching(2), prefetching(4), prefetching(8), byHandName, "retryablehttp", "go-github", "GitLab", "godo", "hcloud", "openai", "azcore", "resty",
}

func contenders() []contender {
	hand := peer{
		name: byHandName, open: byHand, code: codeOfProblem,
		does: "net/http and a json.Decoder, as most programs begin. No retries, no budget, no limit to the size of a response.",
	}
	all := append([]contender{{name: hand.name, does: hand.does, peer: true, open: openPeer(hand, false)}}, linked...)
	slices.SortStableFunc(all, func(a, b contender) int { return place(a.name) - place(b.name) })
	all = append(append(all, byDecoder()...), contender{
		name: byHandRaw, open: openPeer(hand, true),
		does: "The row kept as one raw value and parsed again for the two fields, the cheapest way with encoding/json. The others keep a map of raw fields.",
	})
	return append(all, floors()...)
}

// runs reports whether a version of Go can build a contender.
func (c *contender) runs(goVersion string) bool {
	return c.since == "" || version.Compare(goVersion, c.since) >= 0
}

func place(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

// untyped stands for the code where the error that came is not of the contender's type.
const untyped = "no typed error"

// codeIn takes the code out of an error of type E.
func codeIn[E error](err error, code func(E) string) string {
	var e E
	if !errors.As(err, &e) {
		return untyped
	}
	return code(e)
}

func codeOfProblem(err error) string {
	return codeIn(err, func(p *problem) string { return p.Err.Code })
}

func (q *pageQuery) appendTo(path string) string {
	if q == nil {
		return path
	}
	return path + "?limit=" + strconv.Itoa(q.Limit) + "&pageNum=" + strconv.Itoa(q.PageNum)
}

// readResponse is what a careful program does with a response.
func readResponse(res *http.Response, out any) error {
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		p := &problem{Status: res.StatusCode}
		if err := json.NewDecoder(res.Body).Decode(p); err != nil {
			return err
		}
		return p
	}
	return json.NewDecoder(res.Body).Decode(out)
}

func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return json.Marshal(body)
}

func byHand(base string, h *http.Client) (doer, error) {
	if h == nil {
		h = &http.Client{}
	}
	return func(ctx context.Context, method, path string, query *pageQuery, body, out any) error {
		res, err := send(ctx, h, method, base+query.appendTo(path), body)
		if err != nil {
			return err
		}
		return readResponse(res, out)
	}, nil
}

func send(ctx context.Context, h *http.Client, method, url string, body any) (*http.Response, error) {
	text, err := encode(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(token, "")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return h.Do(req)
}
