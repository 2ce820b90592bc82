package journal

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/filesystem"
	"example.com/prospectkit/internal/sim"
)

var began = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func ticket(id string, attempt int) Ticket {
	return Ticket{
		Version: Version, ID: id, Op: "lists.create", Lookup: Lookup{Name: "list " + id}, Service: "https://service.test/api/v1",
		FirstSent: began, LastSent: began.Add(time.Duration(attempt) * time.Second),
	}
}

const onDisk = "/d/journal"

var errFull = errors.New("the disk is full")

// A disk is that of the simulation, with the faults that a test wants.
type disk struct {
	*sim.Disk
	filesystem.FS

	fails string // steps that begin so do not happen, or half
	gate  func() // called at the start of each fsync of a file
	syncs int    // of files
}

// newDisk returns a disk with a journal of this text, unless it is nil.
func newDisk(text []byte) *disk {
	d := &disk{Disk: sim.NewDisk()}
	if text != nil {
		d.Put(onDisk, text)
	}
	return d.mount()
}

func (d *disk) mount() *disk {
	d.FS = d.Files(func(class, what string, happens func(sim.Fault)) error {
		step := class + " " + what
		if strings.HasPrefix(step, "fsync /") {
			if d.gate != nil {
				d.gate()
			}
			d.syncs++
		}
		if d.fails != "" && strings.HasPrefix(step, d.fails) {
			happens(sim.DiskFull)
			return errFull
		}
		happens("")
		return nil
	})
	return d
}

func (d *disk) open(t *testing.T) *FileJournal {
	t.Helper()
	j, err := openFile(d, onDisk, "acme")
	require.NoError(t, err)
	return j
}

func (d *disk) text() []byte {
	text, _ := d.Holds(onDisk)
	return []byte(text)
}

// inode is the file that has the name.
func (d *disk) inode(t *testing.T) any {
	t.Helper()
	info, err := d.Stat(onDisk)
	require.NoError(t, err)
	return info.Sys()
}

// afterPowerFailed passes what a crash may leave.
func (d *disk) afterPowerFailed(f func(*disk)) {
	for seed := range uint64(100) {
		f((&disk{Disk: d.PowerFailed(rand.New(rand.NewPCG(seed, 1)))}).mount())
	}
}
