// Package gateways holds tests that put real gateways between the client and the sandbox: nginx, haproxy, apache2 and caddy, as Debian
// has them, with configurations that are usual and some that mislead. It is in a module of its own, because it starts programs that
// not every machine has.
package gateways

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

func TestMain(m *testing.M) {
	var missing []string
	for _, program := range []string{"nginx", "haproxy", "apache2", "caddy"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		fmt.Fprintf(os.Stderr, "these tests need %s in the path (Debian: apt-get install nginx-light haproxy apache2 caddy)\n", strings.Join(missing, ", "))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const (
	contactID = "65f0c0ffee65f0c0ffee65f0"
	listID    = "a00000000000000000000001"
	factID    = "a00000000000000000000002"
)

var folders = []string{"f00000000000000000000001", "f00000000000000000000002"}

// stage is the service behind a gateway, and what was claimed about it.
type stage struct {
	gateway
	sb     *sandbox.Sandbox
	origin *http.Server
	url    string
	calls  int
}

func start(t *testing.T, g gateway) *stage {
	t.Helper()
	s := &stage{gateway: g, sb: sandbox.New(nil, sandbox.AllowRemote(), sandbox.NoLimits(), sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
		Name: "main", Credits: 1_000_000, Accounts: []string{"email"}, CRM: sandbox.CRM{Connected: []string{"crm-1"}},
		Folders:   []sandbox.Folder{{ID: folders[0], Name: "A", Type: sandbox.ContactList}, {ID: folders[1], Name: "B", Type: sandbox.ContactList}},
		Lists:     []sandbox.List{{ID: listID, Name: "People", Rows: sandbox.Rows(sandbox.Row{"id": contactID, "firstName": "Ada", "email": "ada@engines.example"})}},
		Facts:     []sandbox.Fact{{ID: factID, Claim: "Customers stay.", Category: "pricing"}},
		Prospects: sandbox.Rows(sandbox.Row{"firstName": "Ada"}, sandbox.Row{"firstName": "Bob"}),
		Companies: sandbox.Rows(sandbox.Row{"name": "Engines"}),
	}}}))}
	s.origin = &http.Server{Handler: s.sb.Handler(), ReadHeaderTimeout: 5 * time.Second}
	t.Cleanup(func() { _ = s.origin.Close() })
	var addresses []string
	for range 2 {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addresses = append(addresses, l.Addr().String())
		go func() { _ = s.origin.Serve(l) }()
	}
	s.launch(t, addresses[0], addresses[1])
	return s
}

// launch starts the program, and ends it with the test.
func (s *stage) launch(t *testing.T, origin, spare string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gateway") //nolint:usetesting // not below a directory that is closed to others, see Chmod
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777)) // some give up their rights before they write there
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	file := filepath.Join(dir, "conf")
	text := strings.NewReplacer("ORIGIN", origin, "SPARE", spare, "PORT", port, "DIR", dir).Replace(s.config)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	args := map[string][]string{
		"nginx": {"-p", dir, "-c", file, "-e", filepath.Join(dir, "error.log")}, "haproxy": {"-db", "-f", file},
		"apache2": {"-D", "FOREGROUND", "-d", dir, "-f", file}, "caddy": {"run", "--adapter", "caddyfile", "--config", file},
	}[s.program]
	cmd := exec.Command(s.program, args...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		ended := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		ended.Stop()
	})
	s.url = "http://" + address + "/api/v1"
	require.Eventually(t, func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 20*time.Second, 20*time.Millisecond, "%s does not listen", s.program)
}

func (s *stage) client(t *testing.T) *prospectkit.Client {
	t.Helper()
	client, err := prospectkit.New(s.url, s.sb.Token(), prospectkit.WithAttemptTimeout(5*time.Second),
		prospectkit.WithRetry(prospectkit.RetryPolicy{BaseDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond}))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// call is one call of each kind of operation: of a shape that is shown or not, that reads, costs, writes, sends.
type call struct {
	op  string
	raw bool // a read of something whose shape nobody knows
	do  func(ctx context.Context, s *stage, c *prospectkit.Client, n int) error
}

func second[T any](_ T, err error) error { return err }

var calls = []call{
	{"lists.create", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		return second(c.Lists.Create(ctx, prospectkit.NewList{Name: fmt.Sprint("List ", n)}))
	}},
	{"lists.add-contacts", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		return second(c.Lists.AddContacts(ctx, listID, prospectkit.Fields{"contacts": []prospectkit.Fields{{"firstName": fmt.Sprint("Eve ", n)}}}))
	}},
	{"lists.move", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		return second(c.Lists.Move(ctx, listID, folders[n%2]))
	}},
	{"lists.crm-push", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Lists.PushToCRM(ctx, listID, prospectkit.CRMPush{CRM: "crm-1", All: true}))
	}},
	{"agents.activate", false, func(ctx context.Context, s *stage, c *prospectkit.Client, n int) error {
		var id string
		s.sb.Do(func(tx *sandbox.Tx) {
			id = tx.CreateAgent(sandbox.Agent{
				Name: fmt.Sprint("Agent ", n), Type: sandbox.WebMonitor, Config: []byte(`{"listName":"x","entityType":"person","prompt":"raised a round"}`),
			})
		})
		return second(c.Agents.Activate(ctx, id))
	}},
	{"campaigns.approve", false, func(ctx context.Context, s *stage, c *prospectkit.Client, n int) error {
		var id string
		s.sb.Do(func(tx *sandbox.Tx) {
			id = tx.CreateCampaign(sandbox.ReadyCampaign(fmt.Sprint("Campaign ", n), listID))
		})
		return second(c.Campaigns.ApproveUnreviewed(ctx, id))
	}},
	{"facts.edit", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		return second(c.Facts.Edit(ctx, factID, prospectkit.FactEdit{Claim: fmt.Sprint("Customers stay for reason ", n)}))
	}},
	{"imports.create", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, n int) error {
		file := fmt.Sprintf("firstName\nEve %d\n", n)
		return second(c.Imports.Upload(ctx, prospectkit.UploadFrom("people.csv", int64(len(file)), strings.NewReader(file))))
	}},
	{"search.prospects", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Size: 1}))
	}},
	{"search.companies", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Search.Companies(ctx, prospectkit.CompanySearch{}))
	}},
	{"account.me", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Account.Me(ctx))
	}},
	{"lists.list", false, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Lists.Page(ctx, prospectkit.ListsParams{Search: "nobody"}))
	}},
	{"account.credits", true, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Account.Credits(ctx))
	}},
	{"campaigns.list", true, func(ctx context.Context, _ *stage, c *prospectkit.Client, _ int) error {
		return second(c.Campaigns.Page(ctx))
	}},
}

// served counts the requests of an operation that the service has applied: with a success as the response, sent or not.
func (s *stage) served(op string) (n int) {
	for _, e := range s.sb.Journal() {
		if e.Op == op && (len(e.Effects) > 0 || e.Status >= 200 && e.Status < 300) {
			n++
		}
	}
	return n
}

// round makes each call once and holds every claim against what the service did. It returns how the calls ended.
func (s *stage) round(t *testing.T, c *prospectkit.Client, veteran bool) (ended map[prospectkit.Outcome]int) {
	t.Helper()
	ended = map[prospectkit.Outcome]int{}
	for _, call := range calls {
		s.calls++
		before := s.served(call.op)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		err := call.do(ctx, s, c, s.calls)
		cancel()
		done := s.served(call.op) - before
		outcome := prospectkit.OutcomeOf(err)
		ended[outcome]++
		paid := errors.Is(err, prospectkit.ErrResponseLost)
		read := strings.HasPrefix(call.op, "account.") || strings.HasSuffix(call.op, ".list")
		switch {
		case err == nil && call.raw && s.lies && !veteran: // nothing is known that could tell
		case outcome == prospectkit.OutcomeApplied:
			require.Positive(t, done, "%s: said to be applied: %v (lost %t)", call.op, err, paid)
		case outcome == prospectkit.OutcomeNotApplied && !read && (!s.repeats || !errors.Is(err, prospectkit.ErrConflict)):
			require.Zero(t, done, "%s: said to be not applied: %v", call.op, err)
		}
		if !s.repeats && !read && call.op != "search.prospects" && call.op != "search.companies" {
			require.LessOrEqual(t, done, 1, "%s was done %d times", call.op, done)
		}
	}
	return ended
}

// trouble is what the service, or the way to it, does to every second or third request.
var trouble = map[string][]sandbox.FaultOption{
	"responses lost":                   {sandbox.Every(2), sandbox.DropAfter()},
	"requests lost":                    {sandbox.Every(2), sandbox.DropBefore()},
	"errors of the service":            {sandbox.Every(2), sandbox.Status(500, "UNEXPECTED_ERROR")},
	"errors after the work":            {sandbox.Every(2), sandbox.HTML(502), sandbox.Applied()},
	"errors without an envelope":       {sandbox.Every(2), sandbox.RawBody(500, "")},
	"the service is overloaded":        {sandbox.Every(2), sandbox.HTML(503)},
	"responses that end in the middle": {sandbox.Every(2), sandbox.Truncate(10)},
}

// TestClaimsBehindGateways makes every kind of call through every gateway, while the service is well, ill and dead, with clients that
// know nothing and clients that have seen successes: nothing is said to have happened that did not, or the other way round.
func TestClaimsBehindGateways(t *testing.T) {
	t.Parallel()
	for _, g := range gateways {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, g)
			veteran := s.client(t)
			total := map[prospectkit.Outcome]int{}
			add := func(ended map[prospectkit.Outcome]int) {
				for outcome, n := range ended {
					total[outcome] += n
				}
			}
			for range 2 {
				add(s.round(t, veteran, true))
			}
			require.Greater(t, total[prospectkit.OutcomeApplied], len(calls), "%v: in good weather most calls get through", total)
			for _, opts := range trouble {
				fault := s.sb.Fail("*", opts...)
				for range 2 {
					add(s.round(t, veteran, true))
					add(s.round(t, s.client(t), false))
				}
				s.sb.Switch(fault, false)
			}
			require.NoError(t, s.origin.Close())
			add(s.round(t, veteran, true))
			add(s.round(t, s.client(t), false))
			require.Positive(t, total[prospectkit.OutcomeUnknown])
			t.Logf("applied %d, not applied %d, unknown %d", total[prospectkit.OutcomeApplied], total[prospectkit.OutcomeNotApplied], total[prospectkit.OutcomeUnknown])
		})
	}
}

// TestEnsureBehindGateways ensures lists while every second response to a creation is lost. Whatever the gateway does, there is one list
// of each name, and none that the call may have made is called certain.
func TestEnsureBehindGateways(t *testing.T) {
	t.Parallel()
	for _, g := range gateways {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, g)
			s.sb.Fail("lists.create", sandbox.Every(2), sandbox.DropAfter())
			client := s.client(t)
			for n := range 6 {
				name := fmt.Sprint("List ", n)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				got, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: name})
				cancel()
				if err != nil {
					require.NotEqual(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "%v", err)
					continue
				}
				require.Equal(t, name, got.List.Name)
				require.Equal(t, got.Created, got.Certain, "%d: nothing of that name was there before", n)
			}
			names := map[string]int{}
			for _, l := range s.sb.Lists() {
				names[l.Name]++
				require.Equal(t, 1, names[l.Name], l.Name)
			}
		})
	}
}
