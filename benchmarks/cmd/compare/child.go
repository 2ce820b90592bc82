package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A job is what a client process is told to do.
type job struct {
	Server    string
	Work      string
	Contender string
	N         int
	PerPage   int // elements of a page in process; 0: rowsPerPage
}

// A result is what one process has measured of itself.
type result struct {
	Wall    time.Duration
	CPU     time.Duration // of the process, user and system
	Allocs  uint64
	Bytes   uint64 // allocated
	PeakRSS int    // bytes, of the whole life of the process; 0 where the system does not tell
	N       int    // elements decoded
	Sum     uint64
	Code    string
	All     uint64 // of all values of one page of a row type
	Needs   uint64 // allocations that those values cannot do without, for a thousand rows
	Go      string
	Note    string
}

// measure does a job, after one page or call of the work, so that what is made once for each type is there, and one call that opens
// the connection.
func (j job) measure(ctx context.Context) (result, error) {
	w, c, err := j.find()
	if err != nil {
		return result{}, err
	}
	transport := w.transport(cmp.Or(j.PerPage, rowsPerPage))
	first, err := j.warm(ctx, w, c, transport)
	if err != nil {
		return result{}, err
	}
	s, err := c.open(j.Server+basePath(j.N, w.delay, w.packed), transport)
	if err != nil {
		return result{}, err
	}
	if err := s.do(ctx, readUser, 1, new(sum)); err != nil {
		return result{}, err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	total, err := w.run(ctx, s, j.N)
	r := result{Wall: time.Since(start), CPU: cpuTime() - cpu, N: total.n, Sum: total.value, Code: total.code}
	runtime.ReadMemStats(&after)
	r.Allocs, r.Bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	r.PeakRSS = peakRSS()
	r.All, r.Needs = first.value, first.needs*1000/uint64(max(1, first.n))
	r.Go = runtime.Version()
	if c.name == bySonicName {
		r.Note = bySonic.note
	}
	return r, err
}

// warm does a small part of the work, and sums up all values of the rows.
func (j job) warm(ctx context.Context, w *work, c *contender, transport *http.Client) (sum, error) {
	total := sum{all: true}
	s, err := c.open(j.Server+basePath(1, 0, false), transport)
	if err == nil {
		err = s.do(ctx, w.kind, 1, &total)
	}
	return total, err
}

func (j job) find() (*work, *contender, error) {
	ws, cs := works(), contenders()
	w := slices.IndexFunc(ws, func(w work) bool { return w.id == j.Work })
	c := slices.IndexFunc(cs, func(c contender) bool { return c.name == j.Contender })
	if w < 0 || c < 0 {
		return nil, nil, fmt.Errorf("no such job: %+v", j)
	}
	return &ws[w], &cs[c], nil
}

// obey is the main function of a client process.
func obey(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	r, err := j.measure(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakRSS reads the high-water mark of the process. Rusage has one, too, but a new process inherits that of its parent.
func peakRSS() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.Atoi(fields[0])
	return kib << 10
}
