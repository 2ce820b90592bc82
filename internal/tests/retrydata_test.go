package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/faultspec"
	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests/retrydata"
	"example.com/prospectkit/sandbox"
)

// worldFile is the state that the requests of testdata/http need, for a sandbox whose clock is the real one.
var worldFile = Path("testdata", "retry-world.json")

// TestRetryData_World holds the file against the state. go generate writes it.
func TestRetryData_World(t *testing.T) {
	begin := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	want, err := json.MarshalIndent(EveryState(begin, begin.AddDate(100, 0, 0)), "", " ")
	require.NoError(t, err)
	golden.Equal(t, worldFile, string(want)+"\n")
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

// TestRetryData_ExplainsItsWords holds the words that the cells use against those that the file explains.
func TestRetryData_ExplainsItsWords(t *testing.T) {
	f := retryFile(t)
	explained := func(word string, terms []retrydata.Term) bool {
		return slices.ContainsFunc(terms, func(term retrydata.Term) bool { return term.Name == word && term.Means != "" })
	}
	kinds := map[string]bool{}
	for _, o := range f.Operations {
		kinds[o.Kind] = true
		require.True(t, explained(o.Kind, f.Kinds), o.Name)
	}
	require.Len(t, f.Kinds, len(kinds))
	for _, failure := range f.Failures {
		require.True(t, failure.Needs == "" || explained(failure.Needs, f.Needs), failure.Name)
		for _, cells := range []retrydata.Cells{failure.Once, failure.Always} {
			for kind, cell := range cells {
				require.True(t, kinds[kind] && explained(cell.Result, f.Results), "%s, %s", failure.Name, kind)
			}
		}
	}
}

// TestRetryData_IsWhatTheClientDoes plays testdata/retry.json against the client: every operation and every failure.
func TestRetryData_IsWhatTheClientDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { playAll(t, retryFile(t), inMemory) })
}

// TestRetryData_OverSockets plays over real sockets what cuts or resets a connection, with one operation of each kind.
func TestRetryData_OverSockets(t *testing.T) {
	t.Parallel()
	file := retryFile(t)
	file.Operations = onePerKind(file.Operations)
	file.Failures = slices.DeleteFunc(file.Failures, func(f retrydata.Failure) bool {
		return !strings.Contains(f.Fault, "drop-") && !strings.Contains(f.Fault, "truncate=")
	})
	require.Len(t, file.Failures, 8)
	playAll(t, file, overSockets)
}

func playAll(t *testing.T, file *retrydata.File, serve func(*testing.T, *sandbox.Sandbox) (*http.Transport, error)) {
	t.Helper()
	state, err := os.ReadFile(worldFile)
	require.NoError(t, err)
	var world sandbox.State
	require.NoError(t, json.Unmarshal(state, &world))
	time.Sleep(time.Until(world.Workspaces[0].Lists[0].CreatedAt.Add(24 * time.Hour))) // nothing but in a bubble
	var all sync.WaitGroup
	turn := make(chan struct{}, 128) // most of them wait
	for _, failure := range file.Failures {
		for _, o := range file.Operations {
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
					p := retryPlay{operation: o, failure: failure, always: when == "always", serve: serve}
					if got, err := p.play(t, world); got != want {
						t.Errorf("%s, %s, %s, %s: %+v, want %+v: %v", failure.Name, o.Name, o.Kind, when, got, want, err)
					}
				})
			}
		}
	}
	all.Wait()
}

// inMemory serves a sandbox without sockets.
func inMemory(t *testing.T, sb *sandbox.Sandbox) (*http.Transport, error) {
	t.Helper()
	m := serveInMemory(0, sb.Handler().ServeHTTP)
	m.Transport.DialTLSContext = nil
	t.Cleanup(m.Stop)
	return m.Transport, nil
}

// overSockets serves a sandbox on a port of this machine.
func overSockets(t *testing.T, sb *sandbox.Sandbox) (*http.Transport, error) {
	t.Helper()
	server := httptest.NewServer(sb.Handler())
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return transport, nil
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
	serve     func(*testing.T, *sandbox.Sandbox) (*http.Transport, error)
	attempts  atomic.Int32
}

// play calls the operation, on a service of its own, and returns the cell that results.
func (p *retryPlay) play(t *testing.T, world sandbox.State) (got retrydata.Cell, err error) {
	opts := []sandbox.Option{sandbox.Seed(world), sandbox.NoLimits()}
	if o, ok := op.ByName(p.operation.Name); ok && o.Provenance == op.CallerSupplied {
		opts = append(opts, EveryRoute()...)
	}
	sb := sandbox.New(t, opts...)
	fault, err := p.fail(sb)
	if err != nil {
		return got, err
	}
	transport, err := p.serve(t, sb)
	if err != nil {
		return got, err
	}
	client, err := p.client(transport, sb.Token())
	if err != nil {
		return got, err
	}
	defer client.Close()
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	if p.failure.Needs == retrydata.Caller { // the service takes an hour
		defer time.AfterFunc(time.Second, giveUp).Stop()
	}
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
	spec, err := faultspec.Parse(p.operation.Name + ":" + when + ":" + p.failure.Fault)
	if err != nil {
		return nil, err
	}
	return sb.Fail(spec.Operation, spec.Options...), nil
}

func (p *retryPlay) client(transport *http.Transport, token string) (*prospectkit.Client, error) {
	scheme := "http"
	opts := []prospectkit.ClientOption{
		Routes(), prospectkit.WithTransport(transport),
		prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: 1, MaxDelay: 1}),
		Watch(func(e prospectkit.Event) {
			if e.Kind == prospectkit.EventAttempt {
				p.attempts.Add(1)
			}
		}),
	}
	switch p.failure.Needs {
	case retrydata.ClosedPort:
		transport.DialContext = DialError(errors.New("connection refused"))
	case retrydata.TLS:
		scheme = "https"
	case retrydata.Bound:
		opts = append(opts, prospectkit.WithMaxResponseBytes(64<<10))
	}
	return prospectkit.New(scheme+"://127.0.0.1/api/v1", token, opts...)
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
