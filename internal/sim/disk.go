package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing/fstest"

	"example.com/prospectkit/internal/chance"
	"example.com/prospectkit/internal/filesystem"
)

// The faults of a disk.
const (
	DiskFull   Fault = "disk full"   // half of a write happens
	SyncFails  Fault = "fsync fails" // and what was to be written never will be
	PowerFails Fault = "power fails" // the process dies with the machine, which loses, tears, reorders or flips what is not durable
)

var errDisk = errors.New("sim: the disk failed")

// Disk is the disk of one process, in memory.
type Disk struct {
	mu      sync.Mutex
	names   map[string]*inode // as the process sees them
	durable map[string]*inode
	locked  map[string]*handle
	power   bool // it has failed

	Reached map[string]bool // what a restart has met
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	return &Disk{names: map[string]*inode{}, durable: map[string]*inode{}, locked: map[string]*handle{}, Reached: map[string]bool{}}
}

type inode struct {
	data   []byte  // as the process sees it
	disk   []byte  // what is durable
	writes []write // since
}

type write struct {
	at   int // negative: the length was set
	text []byte
}

func (n *inode) apply(data []byte, w write) []byte {
	if w.at < 0 {
		return append(data[:min(len(data), -w.at-1)], make([]byte, max(0, -w.at-1-len(data)))...)
	}
	if end := w.at + len(w.text); end > len(data) {
		data = append(data, make([]byte, end-len(data))...)
	}
	copy(data[w.at:], w.text)
	return data
}

func (n *inode) change(w write) {
	n.data = n.apply(n.data, w)
	n.writes = append(n.writes, w)
}

// Durable is what nothing can take from a file any more.
func (d *Disk) Durable(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.durable[name]; n != nil {
		return n.disk
	}
	return nil
}

// Holds is what the process would read in a file, and whether that is there.
func (d *Disk) Holds(name string) (text string, there bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[name]
	if n == nil {
		return "", false
	}
	return string(n.data), true
}

// Put makes a file that is durable.
func (d *Disk) Put(name string, text []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.names[name] = &inode{data: slices.Clone(text), disk: slices.Clone(text)}
	d.durable[name] = d.names[name]
}

// restart leaves what a dead process leaves, or what a dead machine does.
func (d *Disk) restart(random *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.locked)
	if d.power {
		d.power = false
		left := d.left(random)
		d.names, d.durable = left.names, left.durable
	}
}

// PowerFailed is a disk as it may be after the power has failed now.
func (d *Disk) PowerFailed(random *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.left(random)
}

func (d *Disk) left(random *rand.Rand) *Disk {
	names := d.names
	if random.IntN(2) == 0 { // changes of names are durable together, or not
		d.Reached["names were lost"] = d.Reached["names were lost"] || !maps.Equal(d.names, d.durable)
		names = d.durable
	}
	left := NewDisk()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		left.Put(name, names[name].survivors(random, d.Reached))
	}
	return left
}

// survivors is what is there after the power has failed: each write that is not durable is whole, in part, damaged or lost, whatever came
// before it.
func (n *inode) survivors(random *rand.Rand, reached map[string]bool) []byte {
	data := slices.Clone(n.disk)
	for _, w := range n.writes {
		kind := random.IntN(4)
		reached["a write was "+[]string{"lost", "kept", "torn", "damaged"}[kind]] = true
		switch text := w.text; kind {
		case 1:
			data = n.apply(data, w)
		case 2:
			if w.at >= 0 {
				from := random.IntN(len(text) + 1)
				data = n.apply(data, write{w.at + from, text[from : from+random.IntN(len(text)-from+1)]})
			}
		case 3:
			if w.at >= 0 && len(text) > 0 {
				text = slices.Clone(text)
				text[random.IntN(len(text))] ^= 1 << random.IntN(8)
				data = n.apply(data, write{w.at, text})
			}
		}
	}
	return data
}

// Step takes a step of a disk, and lets it happen with what goes wrong.
type Step func(class, what string, happens func(Fault)) error

// Files is the disk as one start of its process sees it.
func (s *Start) Files(ctx context.Context) filesystem.FS {
	step := func(class, what string, happens func(Fault)) error {
		return s.Do(ctx, class, class+" "+what, func(t *Turn) string { happens(t.Fault); return "" })
	}
	return files{s.Disk, ctx, s.Alive, step}
}

// Files is the disk as a test sees it that takes the steps itself.
func (d *Disk) Files(step Step) filesystem.FS {
	return files{d, context.Background(), func() bool { return true }, step}
}

type files struct {
	disk  *Disk
	ctx   context.Context //nolint:containedctx // that of the strand that has opened the journal
	alive func() bool
	step  Step
}

// do is a step of the disk. A failed one may have happened in part.
func (f files) do(class, what string, whole, part func()) error {
	var err error
	d := f.disk
	dead := f.step(class, what, func(fault Fault) {
		d.mu.Lock()
		defer d.mu.Unlock()
		switch fault {
		case DiskFull, SyncFails:
			err = errDisk
			part()
		case KillWithin, PowerFails:
			part()
			d.power = fault == PowerFails
		default:
			whole()
		}
	})
	return errors.Join(dead, err)
}

func (f files) Text() string { return chance.Text(f.ctx) }

func (f files) Lock(name string) (filesystem.File, error) {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !f.alive():
		return nil, ErrKilled
	case d.locked[name] != nil:
		return nil, filesystem.ErrLocked
	}
	if d.names[name] == nil {
		d.names[name] = &inode{}
		d.durable[name] = d.names[name]
	}
	d.locked[name] = &handle{files: f, inode: d.names[name], name: name, lock: true}
	return d.locked[name], nil
}

func (f files) Stat(name string) (fs.FileInfo, error) {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.names[name]; n != nil {
		return n.info()
	}
	return nil, fs.ErrNotExist
}

func (f files) Same(a, b fs.FileInfo) bool { return a.Sys() == b.Sys() }

func (f files) Open(name string, flag int) (filesystem.File, error) {
	d := f.disk
	d.mu.Lock()
	n := d.names[name]
	d.mu.Unlock()
	if n == nil && flag&os.O_CREATE == 0 {
		return nil, fs.ErrNotExist
	}
	if n == nil {
		n = &inode{}
		if err := f.do("name", "create "+name, func() { d.names[name] = n }, func() {}); err != nil {
			return nil, err
		}
	}
	return &handle{files: f, inode: n, name: name}, nil
}

func (f files) Rename(from, to string) error {
	d := f.disk
	return f.do("name", "rename "+from, func() { d.names[to] = d.names[from]; delete(d.names, from) }, func() {})
}

func (f files) Remove(name string) error {
	d := f.disk
	if _, err := f.Stat(name); err != nil {
		return err
	}
	return f.do("name", "remove "+name, func() { delete(d.names, name) }, func() {})
}

func (f files) SyncDir(string) error {
	d := f.disk
	return f.do("fsync", "of the directory", func() { d.durable = maps.Clone(d.names) }, func() {})
}

type handle struct {
	files

	inode *inode
	name  string
	at    int
	lock  bool
}

func (h *handle) Read(p []byte) (int, error) {
	d := h.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	n := copy(p, h.inode.data[min(h.at, len(h.inode.data)):])
	h.at += n
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(p []byte, at int64) (n int, err error) {
	put := func(p []byte) func() {
		return func() { n = len(p); h.inode.change(write{int(at), slices.Clone(p)}) }
	}
	if h.lock { // nothing depends on it, and nobody waits for it
		h.disk.mu.Lock()
		defer h.disk.mu.Unlock()
		if !h.alive() {
			return 0, ErrKilled
		}
		put(p)()
		return n, nil
	}
	err = h.do("write", fmt.Sprintf("%s at %d, %d bytes", h.name, at, len(p)), put(p), put(p[:len(p)/2]))
	return n, err
}

func (h *handle) Truncate(size int64) error {
	return h.do("write", h.name+" shorter", func() { h.inode.change(write{at: -int(size) - 1}) }, func() {})
}

func (h *handle) Sync() error {
	n := h.inode
	return h.do("fsync", h.name, func() {
		for _, w := range n.writes { // and not what an earlier fsync has lost
			n.disk = n.apply(n.disk, w)
		}
		n.writes = nil
	}, func() { n.writes = nil })
}

func (h *handle) Stat() (fs.FileInfo, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	return h.inode.info()
}

func (h *handle) Close() error {
	d := h.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if h.lock && d.locked[h.name] == h {
		delete(d.locked, h.name)
	}
	return nil
}

// info is what is known about a file. Its Sys is the inode.
func (n *inode) info() (fs.FileInfo, error) {
	return fstest.MapFS{"file": {Data: n.data, Mode: 0o600, Sys: n}}.Stat("file")
}
