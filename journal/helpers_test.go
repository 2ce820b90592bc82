package journal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// A disk is a file system in memory that loses at a crash what a real one may lose.
type disk struct {
	mu      sync.Mutex
	names   map[string]*inode // as programs see them
	durable map[string]*inode // as a crash leaves them at least
	changes []change          // of names, not durable, in order
	locks   map[string]bool

	calls []string // the operations so far
	fault func(call int, operation string) fault
	gate  func() // called at the start of each fsync of a file
}

type change map[string]*inode // nil: the name is gone

type inode struct {
	data  []byte // as programs see it
	disk  []byte // as a crash leaves it at least
	dirty []bool // these bytes of data reach the disk some time; others only if they are written again
	mode  fs.FileMode
}

// A fault is what happens at an operation.
type fault int

const (
	works fault = iota
	fails       // nothing happens, except that a failed fsync leaves nothing to write
	half        // half of a write happens, then it fails
)

var errFull = errors.New("the disk is full")

var began = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func ticket(id string, attempt int) Ticket {
	return Ticket{
		Version: Version, ID: id, Op: "lists.create", Lookup: Lookup{Name: "list " + id}, Service: "https://service.test/api/v1",
		FirstSent: began, LastSent: began.Add(time.Duration(attempt) * time.Second),
	}
}

func newDisk() *disk {
	return &disk{names: map[string]*inode{}, durable: map[string]*inode{}, locks: map[string]bool{}}
}

// do runs an operation, with its fault. A partial effect is possible if half is not nil.
func (d *disk) do(operation string, whole, part, failed func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, operation)
	f := works
	if d.fault != nil {
		f = d.fault(len(d.calls)-1, operation)
	}
	run := func(effect func()) {
		if effect != nil {
			effect()
		}
	}
	switch f {
	case fails:
		run(failed)
		return errFull
	case half:
		run(part)
		return errFull
	case works:
	}
	run(whole)
	return nil
}

func (d *disk) Lock(name string) (f file, err error) {
	err = d.do("lock", func() {
		if d.locks[name] {
			return
		}
		d.locks[name] = true
		if d.names[name] == nil {
			d.change(change{name: {mode: 0o600}})
		}
		f = lockHandle{&handle{on: d, inode: d.names[name]}, func() { delete(d.locks, name) }}
	}, nil, nil)
	if err == nil && f == nil {
		return nil, ErrLocked
	}
	return f, err
}

type lockHandle struct {
	*handle

	free func()
}

func (l lockHandle) Close() error { l.free(); return nil }

func (d *disk) Stat(name string) (info fs.FileInfo, err error) {
	found := false
	err = d.do("stat", func() {
		if n := d.names[name]; n != nil {
			info, found = n.info(), true
		}
	}, nil, nil)
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	return info, err
}

func (d *disk) Text() string               { return rand.Text() }
func (d *disk) Same(a, b fs.FileInfo) bool { return a.Sys() == b.Sys() }

func (d *disk) Open(name string, flag int) (file, error) {
	var n *inode
	err := d.do("open", func() {
		n = d.names[name]
		if n == nil && flag&os.O_CREATE != 0 {
			n = &inode{mode: 0o600}
			d.change(change{name: n})
		}
	}, nil, nil)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return nil, fs.ErrNotExist
	}
	return &handle{on: d, inode: n}, nil
}

// change notes a change of names.
func (d *disk) change(c change) {
	d.changes = append(d.changes, c)
	c.apply(d.names)
}

func (c change) apply(names map[string]*inode) {
	for name, n := range c {
		if n == nil {
			delete(names, name)
		} else {
			names[name] = n
		}
	}
}

func (d *disk) Rename(from, to string) error {
	return d.do("rename", func() { d.change(change{from: nil, to: d.names[from]}) }, nil, nil)
}

func (d *disk) Remove(name string) error {
	found := true
	err := d.do("remove", func() {
		if found = d.names[name] != nil; found {
			d.change(change{name: nil})
		}
	}, nil, nil)
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	return err
}

func (d *disk) SyncDir(string) error {
	return d.do("sync directory", func() {
		for _, c := range d.changes {
			c.apply(d.durable)
		}
		d.changes = nil
	}, nil, nil)
}

// A handle is an open file.
type handle struct {
	on     *disk
	inode  *inode
	at     int
	closed bool
}

func (h *handle) Read(p []byte) (n int, err error) {
	err = h.on.do("read", func() {
		n = copy(p, h.inode.data[min(h.at, len(h.inode.data)):])
		h.at += n
	}, nil, nil)
	if err == nil && n == 0 {
		err = io.EOF
	}
	return n, err
}

func (h *handle) WriteAt(p []byte, at int64) (n int, err error) {
	write := func(p []byte) func() {
		return func() {
			h.inode.resize(max(len(h.inode.data), int(at)+len(p)))
			n = copy(h.inode.data[at:], p)
			for i := range p {
				h.inode.dirty[int(at)+i] = true
			}
		}
	}
	err = h.on.do("write", write(p), write(p[:len(p)/2]), nil)
	return n, err
}

func (h *handle) Truncate(size int64) error {
	return h.on.do("truncate", func() { h.inode.resize(int(size)) }, nil, nil)
}

func (h *handle) Sync() error {
	if h.on.gate != nil {
		h.on.gate()
	}
	return h.on.do("sync", func() {
		h.inode.disk = h.inode.after(len(h.inode.data), func(int) bool { return true })
		clear(h.inode.dirty)
	}, nil, func() { clear(h.inode.dirty) })
}

func (h *handle) Stat() (info fs.FileInfo, err error) {
	err = h.on.do("stat", func() { info = h.inode.info() }, nil, nil)
	if err == nil && h.closed {
		err = fs.ErrClosed
	}
	return info, err
}

func (h *handle) Close() error {
	return h.on.do("close", func() { h.closed = true }, nil, nil)
}

func (n *inode) resize(size int) {
	for len(n.data) < size {
		n.data, n.dirty = append(n.data, 0), append(n.dirty, true)
	}
	n.data, n.dirty = n.data[:size], n.dirty[:size]
}

// after returns the file as a crash may leave it: with the size, and of the bytes that are not durable
// those that were written.
func (n *inode) after(size int, written func(at int) bool) []byte {
	out := slices.Clone(n.disk)
	for len(out) < size {
		out = append(out, 0)
	}
	out = out[:size]
	for i := range min(size, len(n.data)) {
		if n.dirty[i] && written(i) {
			out[i] = n.data[i]
		}
	}
	return out
}

// crashes returns what a crash may leave of a file.
func (n *inode) crashes() [][]byte {
	first, last := len(n.data), 0
	for i, d := range n.dirty {
		if d {
			first, last = min(first, i), i+1
		}
	}
	middle, line := max((first+last)/2, 0), last
	if first < last {
		line = first + bytes.IndexByte(n.data[first:last], '\n') + 1
	}
	states := [][]byte{n.after(len(n.disk), func(int) bool { return false })}
	if first < last || len(n.data) != len(n.disk) {
		states = append(states,
			n.after(len(n.data), func(int) bool { return true }),
			n.after(len(n.data), func(int) bool { return false }),
			n.after(min(max(middle, len(n.disk)), len(n.data)), func(int) bool { return true }),
			n.after(len(n.data), func(at int) bool { return at >= middle }),
			n.after(len(n.data), func(at int) bool { return at >= line-1 }),
			n.after(len(n.data), func(at int) bool { return at/16%2 == 0 }),
		)
	}
	return states
}

// crashes returns the disks that may be there after a crash: each number of changes of names, each
// state of the files.
func (d *disk) crashes() []*disk {
	var disks []*disk
	for changes := range len(d.changes) + 1 {
		names := map[string]*inode{}
		change(d.durable).apply(names)
		for _, c := range d.changes[:changes] {
			c.apply(names)
		}
		for state := range 7 {
			after := newDisk()
			most := 0
			for name, n := range names {
				states := n.crashes()
				most = max(most, len(states))
				data := states[min(state, len(states)-1)]
				after.put(name, data)
			}
			if state == 0 || state < most {
				disks = append(disks, after)
			}
		}
	}
	return disks
}

// put makes a durable file.
func (d *disk) put(name string, data []byte) {
	n := &inode{data: slices.Clone(data), disk: slices.Clone(data), dirty: make([]bool, len(data)), mode: 0o600}
	d.names[name], d.durable[name] = n, n
}

func (d *disk) count(operation string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.calls {
		if c == operation {
			n++
		}
	}
	return n
}

type info struct {
	*inode

	size int64
}

func (n *inode) info() fs.FileInfo       { return info{n, int64(len(n.data))} }
func (i info) Name() string              { return "journal" }
func (i info) Size() int64               { return i.size }
func (i info) Mode() fs.FileMode         { return i.mode }
func (i info) ModTime() (zero time.Time) { return zero }
func (i info) IsDir() bool               { return false }
func (i info) Sys() any                  { return i.inode }
