//go:build !js && !wasip1

package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

var killsFlag = flag.Int("kills", 20, "how often TestFile_Killed kills its program")

// A program that writes is killed at random instants, and started again. After each kill, the journal of the sandbox,
// which is another process, says whether the program knows of everything that it did.
func TestFile_Killed(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	k := newKiller(t, seed)
	total := figures{}
	for round := 0; total.Kills < *killsFlag; round++ {
		wrong := k.course(&total, min(10, *killsFlag-total.Kills), "", round%2 == 1)
		require.Empty(t, wrong, "seed %d, round %d", seed, round)
	}
	t.Logf("%+v", total)
	require.GreaterOrEqual(t, total.Kills, *killsFlag)
	require.Positive(t, total.Requests)
	require.Positive(t, total.Doubts)
}

// The judge notices each mistake that a journal or a client could make.
func TestFile_KilledWithAMistake(t *testing.T) {
	k := newKiller(t, 1)
	for mistake, complaint := range map[string]string{
		lateFsync:   "no ticket",
		sendsFirst:  "no ticket",
		lies:        "noted as not applied, but it was",
		forgetsCall: "noted as not applied, but it was",
		repeats:     "sent twice",
	} {
		t.Run(mistake, func(t *testing.T) {
			k.t = t
			found := ""
			for round := 0; round < 100 && found == ""; round++ {
				found = strings.Join(k.course(&figures{}, 2, mistake, mistake == lateFsync), "\n")
			}
			require.Contains(t, found, complaint)
		})
	}
}

const lateFsync = "the fsync happens after the request is sent"

// figures are what a test reports.
type figures struct {
	Kills, Starts, Requests, Tickets, Doubts, Happened, NotSeen, Unknowable, Failing, Forgetful int
	At                                                                                          map[string]int // kills by kind
}

// A killer runs the sandbox command, and the program with a connection that goes through this process.
type killer struct {
	t       *testing.T
	random  *rand.Rand
	sandbox struct{ BaseURL, Token, ControlURL string }
	server  string // address of the sandbox
	proxy   net.Listener

	mu    sync.Mutex // guards conns
	conns int        // directions of connections: none are left when the sandbox has done everything
	idle  *sync.Cond

	when   atomic.Pointer[instant]
	events evidence
}

// An instant is when the process is to be killed: at so many pieces of data in a direction, before or after they pass.
type instant struct {
	up, after bool
	count     atomic.Int64
	process   *os.Process
}

func newKiller(t *testing.T, seed uint64) *killer {
	t.Helper()
	k := &killer{t: t, random: rand.New(rand.NewPCG(seed, 7))}
	k.idle = sync.NewCond(&k.mu)
	dir := t.TempDir()
	command := filepath.Join(dir, "prospectkit-sandbox.exe")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", command, "../cmd/prospectkit-sandbox").CombinedOutput()
	require.NoError(t, err, "%s", out)
	state, err := os.Create(filepath.Join(dir, "state.json"))
	require.NoError(t, err)
	_, err = killState(time.Now()).WriteTo(state)
	require.NoError(t, errors.Join(err, state.Close()))

	args := []string{
		"-json", "-seed", state.Name(), "-clock", "manual", "-limits", "off", "-credits", "1000000000",
		"-route", "agents.pause=POST /business/agents/{agentId}/pause",
		"-route", "campaigns.preview-step=POST /business/campaigns/{campaignId}/steps/{stepId}/preview",
	}
	for _, o := range op.All() {
		if o.Class == op.Read {
			continue
		}
		for _, f := range []string{"every=5:status=429:retry-after=0", "every=7:drop-after", "every=11:drop-before"} {
			args = append(args, "-fault", o.Name+":"+f)
		}
		if o.Class != op.PaidRead { // which is retried after a 500
			args = append(args, "-fault", o.Name+":every=4:status=502:applied", "-fault", o.Name+":every=13:status=500")
		}
	}
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Stderr = io.Discard
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	require.NoError(t, json.NewDecoder(stdout).Decode(&k.sandbox))
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	k.server = strings.TrimSuffix(strings.TrimPrefix(k.sandbox.BaseURL, "http://"), "/api/v1")
	var lc net.ListenConfig
	k.proxy, err = lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go k.serve()
	t.Cleanup(func() { _ = k.proxy.Close() })
	return k
}

// killState is a workspace with everything the calls need.
func killState(now time.Time) sandbox.State {
	state := tests.EveryState(now, now.AddDate(20, 0, 0))
	ws := &state.Workspaces[0]
	config := []byte(`{"listName":"any","entityType":"person","prompt":"raised a round"}`)
	for n := range targets {
		results := target('e', n)
		ws.Lists = append(ws.Lists,
			sandbox.List{ID: target('a', n), Name: fmt.Sprint("to move ", n), CreatedAt: now},
			sandbox.List{ID: results, Name: fmt.Sprint("results ", n), CreatedAt: now})
		ws.Agents = append(ws.Agents,
			sandbox.Agent{ID: target('b', n), Name: fmt.Sprint("draft ", n), Type: sandbox.WebMonitor, Config: config},
			sandbox.Agent{ID: target('c', n), Name: fmt.Sprint("results ", n), Type: sandbox.WebMonitor, Status: "active", ListID: results})
		campaign := sandbox.ReadyCampaign(fmt.Sprint("ready ", n), tests.ListID)
		campaign.ID, campaign.CreatedAt = target('d', n), now
		ws.Campaigns = append(ws.Campaigns, campaign)
	}
	return state
}

// serve passes on what the program sends, and what the sandbox responds.
func (k *killer) serve() {
	for {
		client, err := k.proxy.Accept()
		if err != nil {
			return
		}
		var d net.Dialer
		server, err := d.DialContext(context.Background(), "tcp", k.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		k.opened(2)
		go k.pass(client, server, true)
		go k.pass(server, client, false)
	}
}

func (k *killer) pass(from, to net.Conn, up bool) {
	defer k.opened(-1)
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			w := k.when.Load()
			now := w != nil && w.up == up && w.count.Add(-1) == 0
			if now && !w.after {
				_ = w.process.Kill()
			}
			_, _ = to.Write(buf[:n]) // to nobody, after a kill
			if now && w.after {
				_ = w.process.Kill()
			}
		}
		if err != nil {
			break
		}
	}
	if up {
		_ = to.(*net.TCPConn).CloseWrite()
	} else {
		_ = to.Close()
		_ = from.Close()
	}
}

func (k *killer) opened(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.conns += n
	k.idle.Broadcast()
}

// settle waits until the sandbox has done what a dead process had sent.
func (k *killer) settle() {
	k.t.Helper()
	var d net.Dialer
	last, err := d.DialContext(k.t.Context(), "tcp", k.proxy.Addr().String())
	require.NoError(k.t, err)
	require.NoError(k.t, last.(*net.TCPConn).CloseWrite())
	_, err = io.Copy(io.Discard, last) // connections are accepted in order: all of the process are known when this one ends
	require.NoError(k.t, errors.Join(err, last.Close()))
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.conns > 0 {
		k.idle.Wait()
	}
}

// course starts the program until it was killed so often, and once more. It returns what the judge found.
func (k *killer) course(total *figures, kills int, mistake string, forgetful bool) (wrong []string) {
	t := k.t
	t.Helper()
	k.control("reset", `{}`)
	dir := t.TempDir()
	k.events = evidence{}
	o := orders{
		Path: filepath.Join(dir, "journal"), Archive: filepath.Join(dir, "archive"), Token: k.sandbox.Token,
		BaseURL: "http://" + k.proxy.Addr().String() + "/api/v1", Mutation: mistake,
	}
	if total.At == nil {
		total.At = map[string]int{}
	}
	k.events.load(t, k.sandbox.ControlURL, o.Path, o.Archive)
	for killed := 0; killed <= kills && (mistake == "" || killed < kills); {
		o.Generation++
		last := killed == kills
		how := k.plan(&o, last, mistake, forgetful)
		before := k.events.unknown()
		died, exit, said := k.run(&o, how)
		total.Starts++
		k.events.said = append(k.events.said, said...)
		k.events.load(t, k.sandbox.ControlURL, o.Path, o.Archive)
		wrong = append(k.events.wrong(), wrongDoubts(before, said, total)...)
		switch {
		case died:
			killed++
			total.Kills++
			total.At[how]++
		case exit != exitDone && exit != exitDisk:
			wrong = append(wrong, fmt.Sprint("the program failed with status ", exit))
		case last:
			killed++
		}
		if o.Disk.FailRate > 0 {
			total.Failing++
		}
		if o.Disk.Forgetful {
			total.Forgetful++
		}
		if len(wrong) > 0 {
			return wrong
		}
		k.control("clock", `{"advance": "3m"}`) // so that what does not show by then did not happen
	}
	total.Requests += len(k.events.requests)
	total.Tickets += len(k.events.tickets)
	return nil
}

// wrongDoubts compares what a process found in doubt with what the one before it left.
func wrongDoubts(before []string, said []message, total *figures) []string {
	var doubts []string
	ready := false
	for _, m := range said {
		switch m.Kind {
		case "doubt":
			doubts = append(doubts, m.ID)
		case "ready":
			ready = true
		}
		switch m.Verdict {
		case "happened":
			total.Happened++
		case "not seen":
			total.NotSeen++
		case "unknowable":
			total.Unknowable++
		}
	}
	total.Doubts += len(doubts)
	slices.Sort(doubts)
	if ready && !slices.Equal(doubts, before) {
		return []string{fmt.Sprintf("in doubt after the restart: %q, before: %q", doubts, before)}
	}
	return nil
}

// plan chooses how the program is killed, and what its disk does.
func (k *killer) plan(o *orders, last bool, mistake string, forgetful bool) (how string) {
	o.Seed, o.Calls, o.Goals = k.random.Uint64(), 400, true
	o.Disk = journal.DiskConfig{Seed: k.random.Uint64(), Forgetful: forgetful}
	if last {
		o.Calls, o.Goals = 4*k.random.IntN(2), false // goals wait for longer than this test may take
		return "end"
	}
	switch mistake {
	case "":
	case repeats:
		return "late"
	default:
		o.Disk.LateSync = mistake == lateFsync
		return "request passed"
	}
	if k.random.IntN(4) == 0 {
		o.Disk.FailRate = []float64{0.02, 0.3}[k.random.IntN(2)]
	}
	hows := []string{"time", "time", "request", "request passed", "response", "response passed", "disk", "disk"}
	how = hows[k.random.IntN(len(hows))]
	if how == "disk" {
		operations := []string{"write", "sync", "sync", "rename", "rename", "sync directory", "open"}
		o.Disk.KillOperation = operations[k.random.IntN(len(operations))]
		o.Disk.KillNumber, o.Disk.KillAfter = 1+k.random.IntN(4), k.random.IntN(2) == 0
		how = "disk: " + o.Disk.KillOperation
	}
	return how
}

// run starts the program once and returns when it is dead, and the sandbox has done what it had sent.
func (k *killer) run(o *orders, how string) (died bool, exit int, said []message) {
	t := k.t
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), journal.OrdersVar+"="+string(text))
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	w := &instant{up: strings.HasPrefix(how, "request"), after: strings.HasSuffix(how, "passed")}
	if strings.HasPrefix(how, "re") {
		w.count.Store(int64(2 + k.random.IntN(40)))
	}
	delay := time.Duration(k.random.Int64N(int64(120 * time.Millisecond)))
	switch {
	case how == "time":
	case how == "late":
		delay = 2 * time.Second // a retry after an unknown outcome takes its time
	case k.random.IntN(25) == 0:
		delay = time.Second // long enough for a call that is retried
	default:
		delay = 120 * time.Millisecond // it may wait for its retries, and pass no more data
	}
	require.NoError(t, cmd.Start())
	w.process = cmd.Process
	k.when.Store(w)
	if how != "end" {
		defer time.AfterFunc(delay, func() { _ = cmd.Process.Kill() }).Stop()
	}
	err = cmd.Wait()
	k.when.Store(nil)
	k.settle()
	if err != nil {
		exited := new(exec.ExitError)
		require.ErrorAs(t, err, &exited)
		exit = exited.ExitCode()
		died = !exited.Exited() || runtime.GOOS == "windows" && exit == exitKilled
		if !died && exit != exitDisk {
			t.Logf("%s", &stderr)
		}
	}
	for line := range bytes.Lines(out.Bytes()) {
		var m message
		if json.Unmarshal(line, &m) == nil { // the last line may be cut
			said = append(said, m)
		}
	}
	return died, exit, said
}

func (k *killer) control(path, body string) {
	k.t.Helper()
	req, err := http.NewRequestWithContext(k.t.Context(), http.MethodPost, k.sandbox.ControlURL+path, strings.NewReader(body))
	require.NoError(k.t, err)
	resp, err := (&http.Client{}).Do(req)
	require.NoError(k.t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(k.t, errors.Join(err, resp.Body.Close()))
	require.Equal(k.t, http.StatusOK, resp.StatusCode, "%s", text)
}
