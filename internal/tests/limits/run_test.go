// Package limits_test measures the rate limiter as a user has it: clients in virtual time, against services that count in several ways.
package limits_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// run is what a run is made of.
type run struct {
	seed       uint64
	model      model
	campaigns  bool // its surface: else lists
	perMinute  int
	perDay     int
	roundDown  bool          // RateLimit-Reset; up otherwise
	stamps     bool          // RateLimit-Reset is a time stamp
	endless    bool          // there is none
	bare       bool          // no RateLimit headers
	untold     bool          // refusals have no headers of any kind
	nextToken  bool          // the reset of a bucket is when the next token is there
	skew       time.Duration // of the service's clock
	length     time.Duration // ten minutes when zero
	processes  int           // each with a client of its own
	goroutines int           // of each process, each with one call after another
	latency    time.Duration // of a request, 300 ms when zero
	spread     float64       // of the latency, log-normal
	mate       float64       // requests a second of a teammate without a limiter, at random
	late       time.Duration // when the second half of the processes begin
	lost       float64       // share of responses that are lost
	stray      time.Duration // when something in between refuses one request
	walks      bool          // instead of single calls, a walk with default options
}

// result is what a run came to.
type result struct {
	sent, refused         int // of ours
	mateSent, mateRefused int
	failed                int     // calls, by the limit
	quota                 int     // what the service serves in that time to somebody who always asks
	least                 float64 // calls of the process with the fewest, as a part of the mean
	longest               time.Duration
	early                 int // served in the first five seconds
}

func (r result) served() int       { return r.sent - r.refused }
func (r result) use() float64      { return float64(r.served()+r.mateSent-r.mateRefused) / float64(r.quota) }
func (r result) refusals() float64 { return float64(r.refused) / float64(max(1, r.sent)) }
func (r result) mates() float64    { return float64(r.mateRefused) / float64(max(1, r.mateSent)) }

func (r result) String() string {
	return fmt.Sprintf("use %5.1f %%, refused %4d of %4d (%4.1f %%), mate %4.1f %%, failed %d, least %.2f, longest %s", 100*r.use(), r.refused, r.sent,
		100*r.refusals(), 100*r.mates(), r.failed, r.least, r.longest.Round(time.Second))
}

// world is a run in progress.
type world struct {
	run

	start time.Time

	mu      sync.Mutex
	server  *server
	random  *rand.Rand
	calls   []int
	strayed bool
	result  result
}

func (r run) do(t *testing.T) result {
	t.Helper()
	if r.length == 0 {
		r.length = 10 * time.Minute
	}
	if r.latency == 0 {
		r.latency = 300 * time.Millisecond
	}
	if r.perMinute == 0 {
		if r.perMinute, r.perDay = 120, 10_000; r.campaigns {
			r.perMinute, r.perDay = 30, 1000
		}
	}
	w := &world{run: r, server: newServer(r), random: rand.New(rand.NewPCG(r.seed, 7)), calls: make([]int, r.processes)}
	synctest.Test(t, w.play)
	return w.end()
}

func (w *world) play(t *testing.T) {
	if w.stamps {
		time.Sleep(30 * 365 * 24 * time.Hour) // time stamps begin in 2001
	}
	w.start = time.Now()
	ctx := tests.Within(t, w.length)
	var all sync.WaitGroup
	all.Go(func() { w.invite(ctx) })
	for process := range w.processes {
		client := tests.NewClient(t, tests.RoundTrip(w.serve), prospectkit.WithMaxWait(25*time.Hour))
		for range w.goroutines {
			all.Go(func() {
				if process >= (w.processes+1)/2 {
					time.Sleep(w.late)
				}
				w.work(ctx, client, process)
			})
		}
	}
	all.Wait()
	time.Sleep(time.Hour) // what is on its way arrives
}

func (w *world) work(ctx context.Context, client *prospectkit.Client, process int) {
	if w.walks {
		for _, err := range client.Lists.All(ctx, prospectkit.ListsParams{Limit: 1}) {
			w.mu.Lock()
			if err == nil {
				w.calls[process]++
			} else if !errors.Is(err, context.DeadlineExceeded) {
				w.result.failed++
			}
			w.mu.Unlock()
		}
		return
	}
	for ctx.Err() == nil {
		began := time.Now()
		var err error
		if w.campaigns {
			_, err = client.Campaigns.Page(ctx)
		} else {
			_, err = client.Lists.Page(ctx, prospectkit.ListsParams{})
		}
		w.mu.Lock()
		switch {
		case err == nil:
			w.calls[process]++
			w.result.longest = max(w.result.longest, time.Since(began))
			if time.Since(w.start) <= 5*time.Second {
				w.result.early++
			}
		case errors.Is(err, context.DeadlineExceeded):
			w.mu.Unlock()
			return
		case errors.Is(err, prospectkit.ErrRateLimited):
			w.result.failed++
		}
		w.mu.Unlock()
	}
}

// serve is the service, at a distance.
func (w *world) serve(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	trip := time.Duration(float64(w.latency) * math.Exp(w.spread*w.random.NormFloat64()))
	lost := w.random.Float64() < w.lost
	w.mu.Unlock()
	time.Sleep(trip / 2)
	a := w.arrive()
	at := time.Now()
	time.Sleep(trip - trip/2)
	if lost {
		return nil, tests.ErrBroken
	}
	resp := w.response(a, at)
	if w.walks && !a.refused {
		page, _ := strconv.Atoi(r.URL.Query().Get("pageNum"))
		page = max(1, page)
		resp.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"data":[{"id":"%024x","name":"%d","entityType":"contactList","contactsCount":0,"companiesCount":0,"folderId":null}],`+
			`"pagination":{"currentPage":%d,"totalPages":100000,"totalRecords":100000}}`, page, page, page)))
	}
	return resp, nil
}

func (w *world) arrive() answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Since(w.start)
	if w.stray > 0 && now >= w.stray && !w.strayed {
		w.strayed = true
		return answer{refused: true, bare: true, retryAfter: 3 * time.Second}
	}
	a := w.server.arrive(now)
	if now <= w.length {
		w.result.sent++
		if a.refused {
			w.result.refused++
		}
	}
	return a
}

func (w *world) response(a answer, at time.Time) *http.Response {
	status, body, header := http.StatusOK, `{"data":[],"pagination":{"currentPage":1,"totalPages":1,"totalRecords":0}}`, []string{}
	if a.refused {
		status, body = http.StatusTooManyRequests, tests.Envelope("RATE_LIMITED")
		if !w.untold {
			header = append(header, "Retry-After", strconv.Itoa(int(a.retryAfter.Seconds())))
		}
	}
	header = append(header, "Date", at.Add(w.skew).UTC().Format(http.TimeFormat))
	resp := tests.Respond(status, body, header...)
	for _, name := range []string{"Limit", "Remaining", "Reset"} {
		resp.Header.Del("RateLimit-" + name)
	}
	if a.bare || a.refused && w.untold {
		return resp
	}
	reset := int(a.reset.Seconds())
	if w.stamps {
		reset = int(at.Add(w.skew).Unix()) + reset
	}
	resp.Header.Set("RateLimit-Limit", strconv.Itoa(a.limit))
	resp.Header.Set("RateLimit-Remaining", strconv.Itoa(a.remaining))
	if !w.endless {
		resp.Header.Set("RateLimit-Reset", strconv.Itoa(reset))
	}
	return resp
}

// invite is the teammate.
func (w *world) invite(ctx context.Context) {
	if w.mate == 0 {
		return
	}
	random := rand.New(rand.NewPCG(w.seed, 0))
	for ctx.Err() == nil {
		time.Sleep(time.Duration(random.ExpFloat64() / w.mate * float64(time.Second)))
		w.mu.Lock()
		w.result.mateSent++
		if w.server.arrive(time.Since(w.start)).refused {
			w.result.mateRefused++
		}
		w.mu.Unlock()
	}
}

func (w *world) end() result {
	w.result.quota = int(float64(w.perMinute) * w.length.Minutes())
	if w.perDay > 0 {
		w.result.quota = min(w.result.quota, w.perDay*int(math.Ceil(w.length.Hours()/24)))
	}
	sum, least := 0, math.MaxInt
	for _, n := range w.calls {
		sum, least = sum+n, min(least, n)
	}
	w.result.least = float64(least*len(w.calls)) / float64(max(1, sum))
	return w.result
}

func (r result) plus(o result) result {
	r.sent, r.refused, r.mateSent, r.mateRefused, r.failed = r.sent+o.sent, r.refused+o.refused, r.mateSent+o.mateSent, r.mateRefused+o.mateRefused, r.failed+o.failed
	if r.quota == 0 {
		r.least = 1
	}
	r.quota, r.least, r.longest, r.early = r.quota+o.quota, min(r.least, o.least), max(r.longest, o.longest), r.early+o.early
	return r
}
