// Package browser holds the tests that drive the sandbox's dashboard in a headless browser. They are a module of their own for the
// sake of what they need.
package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// limit is for one test, on a busy machine.
const limit = 2 * time.Minute

// command is a sandbox that runs.
type command struct{ BaseURL, Token, ControlURL string }

// start builds and runs the command.
func start(t *testing.T, args ...string) *command {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "prospectkit")
	build := exec.CommandContext(t.Context(), "go", "-C", "../..", "build", "-o", binary, "./cmd/prospectkit")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"sandbox", "-json"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	c := new(command)
	require.NoError(t, json.NewDecoder(bufio.NewReader(stdout)).Decode(c))
	return c
}

// call calls the API and returns the status.
func (c *command) call(t *testing.T, method, path, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.BaseURL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.SetBasicAuth(c.Token, "")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	return resp.StatusCode
}

// seedFile writes a state for -seed.
func seedFile(t *testing.T, state sandbox.State) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "state.json"))
	require.NoError(t, err)
	defer file.Close()
	_, err = state.WriteTo(file)
	require.NoError(t, err)
	return file.Name()
}

// page is a browser that looks at the dashboard. What the page complains about fails the test.
type page struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // it is how chromedp names a tab

	mu         sync.Mutex
	complaints []string
}

func (c *command) open(t *testing.T) *page {
	t.Helper()
	path := browserPath()
	if path == "" {
		t.Skip("the dashboard is not tested: there is no Chromium (Debian: apt-get install chromium)")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(limit))
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	p := &page{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.complain(e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Source != log.SourceNetwork { // refusals by the control plane are in order
				p.complain(e.Entry.Text)
			}
		}
	})
	p.run(chromedp.Navigate(c.ControlURL))
	p.until(`document.querySelectorAll("#operation option").length > 40 && document.getElementById("seed").innerText !== ""`)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Empty(t, p.complaints)
	})
	return p
}

func browserPath() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func (p *page) complain(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, text)
}

func (p *page) run(actions ...chromedp.Action) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Run(p.ctx, actions...))
}

// until waits for an expression to be true.
func (p *page) until(expression string) {
	p.t.Helper()
	err := chromedp.Run(p.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(limit/2)))
	require.NoError(p.t, err, "never true: %s", expression)
}

// untilText waits for a text in an element.
func (p *page) untilText(id, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.getElementById(%q).innerText.includes(%q)", id, text))
}

// ask evaluates an expression.
func ask[T any](p *page, expression string) (result T) {
	p.t.Helper()
	p.run(chromedp.Evaluate(expression, &result))
	return result
}
