package tests

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/faultspec"
	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/retrydata"
	"example.com/prospectkit/sandbox"
)

// worldFile is the state that the requests of testdata/http need, for a sandbox whose clock is the real one.
var worldFile = Path("testdata", "retry-world.json")

// TestRetryData_World holds the file against the state. go generate writes it.
func TestRetryData_World(t *testing.T) {
	begin := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	var want strings.Builder
	_, err := EveryState(begin, begin.AddDate(100, 0, 0)).WriteTo(&want)
	require.NoError(t, err)
	golden.Equal(t, worldFile, want.String())
}

func retryFile(t *testing.T) *retrydata.File {
	t.Helper()
	f, err := retrydata.Load(Path("testdata", "retry.json"))
	require.NoError(t, err)
	return f
}

// TestRetryData_KeepsThePromises holds each cell of the file against the promises of docs/safety.md, whatever the decision table
// says.
func TestRetryData_KeepsThePromises(t *testing.T) {
	cells := 0
	for _, failure := range retryFile(t).Failures {
		for _, columns := range []retrydata.Cells{failure.Once, failure.Always} {
			for kind, cell := range columns {
				cells++
				where := failure.Name + ", " + kind
				require.LessOrEqual(t, cell.Processed, cell.Requests, where)
				require.LessOrEqual(t, cell.Requests, cell.Attempts, where)
				if kind == retrydata.Read {
					require.NotContains(t, []string{retrydata.Unknown, retrydata.ResponseLost}, cell.Result, where)
					continue
				}
				require.LessOrEqual(t, cell.Processed, 1, "%s: never processed twice", where)
				switch cell.Result {
				case retrydata.NotApplied:
					require.Zero(t, cell.Processed, where)
				case retrydata.Unknown:
					require.Equal(t, 1, cell.Requests, "%s: not sent after it may have been delivered", where)
				case retrydata.Success, retrydata.ResponseLost:
					require.Equal(t, 1, cell.Processed, where)
				default:
					require.Fail(t, cell.Result, where)
				}
			}
		}
	}
	require.NotZero(t, cells)
}

// TestRetryData_IsWhatTheClientDoes plays testdata/retry.json against the client, over real sockets: every operation and every
// failure. With -short, one operation of each kind.
func TestRetryData_IsWhatTheClientDoes(t *testing.T) {
	t.Parallel()
	file := retryFile(t)
	state, err := os.ReadFile(worldFile)
	require.NoError(t, err)
	world, err := sandbox.ReadState(strings.NewReader(string(state)))
	require.NoError(t, err)
	operations := file.Operations
	if testing.Short() {
		operations = onePerKind(operations)
	}
	var (
		all  sync.WaitGroup
		turn = make(chan struct{}, 128) // most of them wait
	)
	for _, failure := range file.Failures {
		for _, o := range operations {
			for when, cells := range map[string]retrydata.Cells{"once": failure.Once, "always": failure.Always} {
				want, ok := cells[o.Kind]
				if !ok {
					continue
				}
				turn <- struct{}{}
				all.Go(func() {
					defer func() { <-turn }()
					if row, _ := op.ByName(o.Name); row.Confirms == op.Yes && want.Result == retrydata.ResponseLost {
						want.Result = retrydata.Success
					}
					p := retryPlay{operation: o, failure: failure, always: when == "always"}
					if got, err := p.play(t, world); got != want {
						t.Errorf("%s, %s, %s, %s: %+v, want %+v: %v", failure.Name, o.Name, o.Kind, when, got, want, err)
					}
				})
			}
		}
	}
	all.Wait()
}

func onePerKind(all []retrydata.Operation) (few []retrydata.Operation) {
	seen := map[string]bool{}
	for _, o := range all {
		if !seen[o.Kind] {
			seen[o.Kind] = true
			few = append(few, o)
		}
	}
	return few
}

// retryPlay is a cell of the file.
type retryPlay struct {
	operation retrydata.Operation
	failure   retrydata.Failure
	always    bool

	attempts atomic.Int32
	mu       sync.Mutex
	conns    []net.Conn // of a client with a time limit
}

// play calls the operation, on a service of its own, and returns the cell that results.
func (p *retryPlay) play(t *testing.T, world sandbox.State) (got retrydata.Cell, err error) {
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	opts := []sandbox.Option{sandbox.Seed(world), sandbox.NoLimits()}
	if o, ok := op.ByName(p.operation.Name); ok && o.Provenance == op.CallerSupplied {
		opts = append(opts, EveryRoute()...)
	}
	switch p.failure.Needs {
	case retrydata.Caller:
		opts = append(opts, sandbox.WithClock(impatient{sandbox.RealClock(), giveUp}))
	case retrydata.Limit:
		opts = append(opts, sandbox.WithClock(impatient{sandbox.RealClock(), p.expire}))
	}
	sb := sandbox.New(t, opts...)
	fault, err := p.fail(sb)
	if err != nil {
		return got, err
	}
	server, err := sb.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		return got, err
	}
	defer server.Close()
	client, err := prospectkit.New(p.baseURL(server), sb.Token(), p.options()...)
	if err != nil {
		return got, err
	}
	defer client.Close()
	err = p.call(ctx, client)
	got.Attempts = int(p.attempts.Load())
	got.Result = resultOf(err)
	for _, entry := range sb.Journal() {
		if entry.Op != p.operation.Name {
			continue
		}
		got.Requests++
		if entry.Processed {
			got.Processed++
		}
	}
	if p.operation.Kind == retrydata.LaterPage { // without the first
		got.Attempts, got.Requests, got.Processed = got.Attempts-1, got.Requests-1, got.Processed-1
	}
	if fault != nil && sb.Hits(fault) == 0 {
		return got, errors.Join(err, errors.New("the fault never fired"))
	}
	return got, err
}

// fail sets the fault, if there is one.
func (p *retryPlay) fail(sb *sandbox.Sandbox) (*sandbox.Fault, error) {
	if p.failure.Fault == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	when := "nth=1"
	switch {
	case p.always:
		when = "always"
	case p.operation.Kind == retrydata.LaterPage:
		when = "nth=2"
	}
	spec, err := faultspec.Read(p.operation.Name + ":" + when + ":" + p.failure.Fault)
	if err != nil {
		return nil, err
	}
	return sb.Fail(spec.Operation, spec.Options...), nil
}

// dial makes a connection that expire can end.
func (p *retryPlay) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.conns = append(p.conns, conn)
	}
	return conn, err
}

// expire ends the time in which the connections wait for a response. A real limit could end before the request arrives.
func (p *retryPlay) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.SetReadDeadline(time.Now()) // the earlier ones are closed
	}
}

// impatient is a clock that tells when the service delays a response.
type impatient struct {
	sandbox.Clock

	delayed func()
}

func (c impatient) Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		c.delayed()
	}
	return c.Clock.Sleep(ctx, d)
}

func (p *retryPlay) baseURL(server *sandbox.Server) string {
	switch p.failure.Needs {
	case retrydata.ClosedPort:
		return "http://127.0.0.1:1/api/v1" // no port that a system hands out
	case retrydata.TLS:
		return strings.Replace(server.BaseURL(), "http:", "https:", 1)
	}
	return server.BaseURL()
}

func (p *retryPlay) options() []prospectkit.ClientOption {
	opts := []prospectkit.ClientOption{
		Routes(),
		prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: 1, MaxDelay: 1}),
		Watch(func(e prospectkit.Event) {
			if e.Kind == prospectkit.EventAttempt {
				p.attempts.Add(1)
			}
		}),
	}
	switch p.failure.Needs {
	case retrydata.Limit:
		opts = append(opts, prospectkit.WithTransport(&http.Transport{DialContext: p.dial}))
	case retrydata.Bound:
		opts = append(opts, prospectkit.WithMaxResponseBytes(64<<10))
	}
	return opts
}

// call makes the call, up to its second page if that is to fail.
func (p *retryPlay) call(ctx context.Context, client *prospectkit.Client) error {
	if p.operation.Kind != retrydata.LaterPage {
		_, err := EveryCall[p.operation.Name](ctx, client)
		return err
	}
	pages := client.Search.Prospects(ctx, prospectkit.SearchParams{Filters: vps, Size: 1}, prospectkit.MaxPaidPages(2))
	if p.operation.Name == "search.run-saved" {
		pages = client.Search.RunSaved(ctx, SavedID, 1, prospectkit.MaxPaidPages(2))
	}
	found := 0
	for _, err := range pages {
		if err != nil {
			return err
		}
		if found++; found == 2 {
			return nil
		}
	}
	return fmt.Errorf("the pages end after %d", found)
}

func resultOf(err error) string {
	switch {
	case err == nil:
		return retrydata.Success
	case errors.Is(err, prospectkit.ErrResponseLost):
		return retrydata.ResponseLost
	}
	return string(prospectkit.OutcomeOf(err))
}
