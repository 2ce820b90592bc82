//go:build !js && !wasip1

package journal

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"example.com/prospectkit/internal/filesystem"
)

// DiskConfig says what a journal's disk does in a program that is killed.
type DiskConfig struct {
	Seed      uint64
	Forgetful bool    // what was not made durable is gone with the process, as it is with the machine
	FailRate  float64 // of writes, fsyncs and changes of names: a full disk, a broken device
	LateSync  bool    // a mutation: an fsync returns first, and happens later

	KillOperation string // the process kills itself at this operation,
	KillNumber    int    // the first one is 1,
	KillAfter     bool   // after it rather than before it
}

// OrdersVar makes this test binary a program that is killed.
const OrdersVar = "JOURNAL_KILL_ORDERS"

// Program runs that program and returns its exit code.
var Program func(orders string) int

// OpenOn opens a journal on such a disk.
func OpenOn(path string, c DiskConfig) (*FileJournal, error) {
	d := &shakyDisk{DiskConfig: c, random: rand.New(rand.NewPCG(c.Seed, 1)), below: osFiles{}, count: map[string]int{}}
	if c.Forgetful {
		d.below = &forgetful{random: rand.New(rand.NewPCG(c.Seed, 2)), nodes: map[string]*node{}}
	}
	return openFile(d, path)
}

// KillMyself ends this process as SIGKILL does.
func KillMyself() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// A shakyDisk fails at random, and kills the process at one operation.
type shakyDisk struct {
	DiskConfig

	below filesystem.FS

	mu     sync.Mutex
	random *rand.Rand
	count  map[string]int
}

// do runs an operation, or what is left of it if it fails.
func (d *shakyDisk) do(operation string, whole func() error, failed func()) error {
	d.mu.Lock()
	d.count[operation]++
	kill := operation == d.KillOperation && d.count[operation] == d.KillNumber
	fails := d.random.Float64() < d.FailRate
	d.mu.Unlock()
	if kill && !d.KillAfter {
		KillMyself()
	}
	if fails {
		if failed != nil {
			failed()
		}
		return errFull
	}
	err := whole()
	if kill {
		KillMyself()
	}
	return err
}

func (d *shakyDisk) Lock(name string) (file, error)        { return d.below.Lock(name) }
func (d *shakyDisk) Stat(name string) (fs.FileInfo, error) { return d.below.Stat(name) }
func (d *shakyDisk) Text() string                          { return d.below.Text() }
func (d *shakyDisk) Same(a, b fs.FileInfo) bool            { return d.below.Same(a, b) }
func (d *shakyDisk) Remove(name string) error              { return d.below.Remove(name) }
func (d *shakyDisk) Open(name string, flag int) (f file, err error) {
	err = d.do("open", func() error {
		f, err = d.below.Open(name, flag)
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	return shakyFile{f, d}, nil
}

func (d *shakyDisk) Rename(from, to string) error {
	return d.do("rename", func() error { return d.below.Rename(from, to) }, nil)
}

func (d *shakyDisk) SyncDir(name string) error {
	return d.do("sync directory", func() error { return d.below.SyncDir(name) }, nil)
}

type shakyFile struct {
	file

	on *shakyDisk
}

func (f shakyFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.on.do("write", func() error {
		n, err = f.file.WriteAt(p, at)
		return err
	}, func() { n, _ = f.file.WriteAt(p[:len(p)/2], at) })
	return n, err
}

func (f shakyFile) Truncate(size int64) error {
	return f.on.do("truncate", func() error { return f.file.Truncate(size) }, nil)
}

// lateBy is how long a mutation holds back what should have happened before a request.
const lateBy = 20 * time.Millisecond

func (f shakyFile) Sync() error {
	if f.on.LateSync {
		time.AfterFunc(lateBy, func() { _ = f.file.Sync() })
		return nil
	}
	return f.on.do("sync", f.file.Sync, func() {
		if n, ok := f.file.(*nodeFile); ok {
			n.forget()
		}
	})
}

// forgetful keeps in memory what is not durable, so it is gone with the process. At random, as on a real disk, some
// of it is written earlier.
type forgetful struct {
	osFiles

	mu     sync.Mutex
	random *rand.Rand
	nodes  map[string]*node // by the name that the program sees; nil was removed
	undone []func() error   // changes of names that are not durable
	made   int
}

// A node is a file: what the program sees, and where it is stored.
type node struct {
	data    []byte
	dirty   [][2]int // ranges that are not written
	size    int      // of the file on the disk
	backing string
}

func (d *forgetful) early() bool { return d.random.IntN(3) == 0 }

// find returns the node of a name, which may be on the disk from an earlier process.
func (d *forgetful) find(name string) (*node, error) {
	n, known := d.nodes[name]
	switch {
	case known && n == nil:
		return nil, fs.ErrNotExist
	case known:
		return n, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	n = &node{data: data, size: len(data), backing: name}
	d.nodes[name] = n
	return n, nil
}

func (d *forgetful) Stat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err != nil {
		return nil, err
	}
	return nodeInfo{n, int64(len(n.data))}, nil
}

func (d *forgetful) Same(a, b fs.FileInfo) bool { return a.Sys() == b.Sys() }

func (d *forgetful) Open(name string, flag int) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
		d.made++
		n = &node{backing: name + "." + strconv.Itoa(os.Getpid()) + "." + strconv.Itoa(d.made)}
		if err = os.WriteFile(n.backing, nil, 0o600); err == nil {
			d.nodes[name] = n
			err = d.change(func() error { return n.become(name) })
		}
	}
	if err != nil {
		return nil, err
	}
	return &nodeFile{on: d, node: n}, nil
}

// become gives the file its name on the disk, unless it has got another one since.
func (n *node) become(name string) error {
	err := os.Rename(n.backing, name)
	if err == nil {
		n.backing = name
	}
	return err
}

// change makes a change of names later, or at once.
func (d *forgetful) change(do func() error) error {
	d.undone = append(d.undone, do)
	if d.early() {
		return d.settle()
	}
	return nil
}

func (d *forgetful) settle() error {
	for len(d.undone) > 0 {
		if err := d.undone[0](); err != nil {
			return err
		}
		d.undone = d.undone[1:]
	}
	return nil
}

func (d *forgetful) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(from)
	if err != nil {
		return err
	}
	d.nodes[from], d.nodes[to] = nil, n
	return d.change(func() error { return n.become(to) })
}

func (d *forgetful) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err != nil {
		return err
	}
	d.nodes[name] = nil
	return d.change(func() error { return os.Remove(n.backing) })
}

func (d *forgetful) SyncDir(string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.settle()
}

type nodeFile struct {
	on   *forgetful
	node *node
	at   int
}

func (f *nodeFile) Read(p []byte) (int, error) {
	f.on.mu.Lock()
	defer f.on.mu.Unlock()
	n := copy(p, f.node.data[min(f.at, len(f.node.data)):])
	f.at += n
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *nodeFile) WriteAt(p []byte, at int64) (int, error) {
	f.on.mu.Lock()
	defer f.on.mu.Unlock()
	n, end := f.node, int(at)+len(p)
	if end > len(n.data) {
		n.data = append(n.data, make([]byte, end-len(n.data))...)
	}
	copy(n.data[at:], p)
	n.dirty = append(n.dirty, [2]int{int(at), end})
	if f.on.early() { // a part of it
		from := int(at) + f.on.random.IntN(len(p)+1)
		return len(p), n.write([][2]int{{from, from + f.on.random.IntN(end-from+1)}}, false)
	}
	return len(p), nil
}

// write writes ranges to the disk, and makes the file as long as it is for the program.
func (n *node) write(ranges [][2]int, whole bool) error {
	f, err := os.OpenFile(n.backing, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, r := range ranges {
		if r[0] = min(r[0], len(n.data)); r[0] < min(r[1], len(n.data)) {
			if _, err := f.WriteAt(n.data[r[0]:min(r[1], len(n.data))], int64(r[0])); err != nil {
				return err
			}
		}
	}
	if whole {
		return f.Truncate(int64(len(n.data)))
	}
	return nil
}

func (f *nodeFile) Truncate(size int64) error {
	f.on.mu.Lock()
	defer f.on.mu.Unlock()
	n := f.node
	n.data = append(slices.Clip(n.data[:min(int(size), len(n.data))]), make([]byte, max(0, int(size)-len(n.data)))...)
	return nil
}

func (f *nodeFile) Sync() error {
	f.on.mu.Lock()
	defer f.on.mu.Unlock()
	err := f.node.write(f.node.dirty, true)
	f.node.dirty = nil
	return err
}

// forget is a failed fsync: what was to be written never will be.
func (f *nodeFile) forget() {
	f.on.mu.Lock()
	defer f.on.mu.Unlock()
	f.node.dirty = nil
}

func (f *nodeFile) Stat() (fs.FileInfo, error) {
	f.on.mu.Lock()
	defer f.on.mu.Unlock()
	return nodeInfo{f.node, int64(len(f.node.data))}, nil
}

func (*nodeFile) Close() error { return nil }

type nodeInfo struct {
	*node

	length int64
}

func (i nodeInfo) Name() string            { return i.backing }
func (i nodeInfo) Size() int64             { return i.length }
func (nodeInfo) Mode() fs.FileMode         { return 0o600 }
func (nodeInfo) ModTime() (zero time.Time) { return zero }
func (nodeInfo) IsDir() bool               { return false }
func (i nodeInfo) Sys() any                { return i.node }
