package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
)

const (
	pages      = 1000
	goroutines = 8
	perMinute  = 120 // on this surface, as documented
	mateComes  = 150 * time.Second
	mateGoes   = mateComes + 3*time.Minute
	mateToken  = "teammate"
	sampled    = 500 * time.Millisecond
)

// pull is the result of one way to do the work. Times count from the start.
type pull struct {
	took        time.Duration
	left        []int           // of the minute, twice a second
	refused     []time.Duration // our 429s
	mateRefused []time.Duration // the teammate's
	mateCalls   int
}

// reader reads a page by one of the two ways.
type reader func(ctx context.Context, client *prospectkit.Client, page int) error

// record reads all pages from a new sandbox, whose journal and windows show the result.
func record(ctx context.Context, read reader) (*pull, error) {
	sb := sandbox.New(nil, sandbox.Seed(workspace()))
	during, stop := context.WithCancel(ctx)
	p, start := &pull{}, time.Now()
	var (
		others sync.WaitGroup
		failed [2]error
	)
	others.Go(func() { p.sample(during, sb) })
	others.Go(func() { failed[1] = teammate(during, sb) })
	failed[0] = everything(ctx, sb, read)
	p.took = time.Since(start)
	stop()
	others.Wait()
	for _, e := range sb.Journal() {
		at, ours, refused := e.Time.Sub(start), e.KeyName != mateToken, e.Status == http.StatusTooManyRequests
		switch {
		case refused && ours:
			p.refused = append(p.refused, at)
		case refused:
			p.mateRefused = append(p.mateRefused, at)
		}
		if !ours {
			p.mateCalls++
		}
	}
	return p, errors.Join(failed[:]...)
}

// workspace has a thousand lists, to be read one a page. The content of the pages does not matter here.
func workspace() sandbox.State {
	w := sandbox.Workspace{Name: "main", Keys: []sandbox.Key{{Name: "ours"}, {Name: mateToken, Token: mateToken}}}
	for i := range pages {
		w.Lists = append(w.Lists, sandbox.List{Name: fmt.Sprintf("List %d", i+1)})
	}
	return sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{w}}
}

// everything reads each page once, by several goroutines that share a budget.
func everything(ctx context.Context, sb *sandbox.Sandbox, read reader) error {
	var (
		budget = prospectkit.NewBudget(prospectkit.BudgetConfig{})
		page   atomic.Int64
		all    sync.WaitGroup
		failed [goroutines]error
	)
	for i := range goroutines {
		client, err := connect(sb, sb.Token(), uint64(i), prospectkit.WithBudget(budget))
		if err != nil {
			return err
		}
		all.Go(func() {
			time.Sleep(time.Duration(i) * time.Millisecond) // so that the order is fixed
			for n := page.Add(1); n <= pages && failed[i] == nil; n = page.Add(1) {
				failed[i] = read(ctx, client, int(n))
			}
		})
	}
	all.Wait()
	return errors.Join(failed[:]...)
}

// readPage leaves the rest to the client and its budget.
func readPage(ctx context.Context, client *prospectkit.Client, page int) error {
	_, err := client.Lists.Page(ctx, prospectkit.ListsParams{Limit: 1, PageNum: page})
	return err
}

// readAgain does what programs without a limiter do: send at once, and wait as a 429 says.
func readAgain(ctx context.Context, client *prospectkit.Client, page int) error {
	for {
		err := readBlindly(ctx, client, page)
		refused, ok := errors.AsType[*prospectkit.Error](err)
		if !ok || refused.Status != http.StatusTooManyRequests {
			return err
		}
		time.Sleep(refused.RetryAfter)
	}
}

// readBlindly makes a single attempt with a new budget, which admits any first request.
func readBlindly(ctx context.Context, client *prospectkit.Client, page int) error {
	blind, err := client.With(prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{})), prospectkit.WithRetry(prospectkit.NoRetry))
	if err != nil {
		return err
	}
	return readPage(ctx, blind, page)
}

// teammate sends one request a second for some minutes, and does not retry those that get a 429.
func teammate(ctx context.Context, sb *sandbox.Sandbox) error {
	client, err := connect(sb, mateToken, goroutines)
	if err != nil {
		return err
	}
	start := time.Now()
	for at := mateComes; at < mateGoes && pause(ctx, at-time.Since(start)); at += time.Second {
		err := readBlindly(ctx, client, 1)
		if err != nil && !errors.Is(err, prospectkit.ErrRateLimited) && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// sample reads what is left of the minute.
func (p *pull) sample(ctx context.Context, sb *sandbox.Sandbox) {
	for more := true; more; more = pause(ctx, sampled) {
		p.left = append(p.left, sb.Windows(string(ratelimit.SurfaceLists))[0].Remaining)
	}
}

// pause reports whether there was time for it.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func connect(sb *sandbox.Sandbox, token string, seed uint64, opts ...prospectkit.ClientOption) (*prospectkit.Client, error) {
	w := &wire{to: sb.Transport(), random: rand.New(rand.NewPCG(seed, 0))}
	return prospectkit.New(sb.BaseURL(), token, append(opts, prospectkit.WithTransport(w))...)
}

// wire takes a request to the sandbox and its response back in 120 to 280 ms: different times for each goroutine, so that their order
// is fixed, and the same in each run.
type wire struct {
	to     http.RoundTripper
	random *rand.Rand
}

// RoundTrip serves one goroutine.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	way := 60*time.Millisecond + time.Duration(w.random.Int64N(int64(80*time.Millisecond)))
	time.Sleep(way)
	defer time.Sleep(way)
	return w.to.RoundTrip(req)
}
