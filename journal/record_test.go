package journal

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lines returns a file with a header and these bodies; each record says that what precedes it is durable.
func lines(bodies ...string) []byte {
	text := appendRecord(nil, 0, identity{"name", "acme"}.body(format))
	for _, b := range bodies {
		text = appendRecord(text, int64(len(text)), []byte(b))
	}
	return text
}

func scanAll(text []byte) (records []record, s scanned, err error) {
	s, err = scan(context.Background(), bytes.NewReader(text), func(r record) { records = append(records, r) })
	return records, s, err
}

const (
	sentA  = `"sending":{"version":1,"id":"a","op":"lists.create","service":"s","firstSent":"2026-11-22T09:00:00Z","lastSent":"2026-11-22T09:00:00Z"}`
	endedA = `"ended":"a","outcome":"applied","at":"2026-11-22T09:00:01Z"`
)

func TestRecord_IsALineToRead(t *testing.T) {
	want := `{"crc":"8792d86f","synced":48,` + endedA + "}\n"
	require.Equal(t, []byte(want), appendRecord(nil, 48, []byte(endedA)))
	body, err := content{Ended: "a", Outcome: Applied, At: time.Date(2026, 11, 22, 9, 0, 1, 0, time.UTC)}.body(theEnd)
	require.NoError(t, err)
	require.Equal(t, endedA, string(body))
	body, err = sendingBody(Ticket{Version: 1, ID: "a", Op: "lists.create", Service: "s", FirstSent: began, LastSent: began})
	require.NoError(t, err)
	require.Equal(t, sentA, string(body))
}

func TestRecord_EachByteCounts(t *testing.T) {
	line := appendRecord(nil, 48, []byte(sentA))
	r, ok := parseRecord(line, 100)
	require.True(t, ok)
	require.Equal(t, sentA, string(r.body))
	require.Equal(t, "a", r.Sending.ID)
	for i := range len(line) - 1 {
		for bit := range 8 {
			damaged := bytes.Clone(line)
			damaged[i] ^= 1 << bit
			_, ok := parseRecord(damaged, 100)
			require.False(t, ok, "%q", damaged)
		}
	}
	_, ok = parseRecord(line, 47)
	require.False(t, ok, "more is durable than there is")
}

func TestScan_DropsTheEnd(t *testing.T) {
	text := lines(sentA, endedA, sentA)
	whole, _, err := scanAll(text)
	require.NoError(t, err)
	require.Len(t, whole, 4)
	header := bytes.IndexByte(text, '\n')
	for end := header + 1; end < len(text); end++ {
		records, s, err := scanAll(text[:end])
		require.NoError(t, err)
		complete := bytes.Count(text[:end+1], []byte("\n")) // the line feed itself may be missing
		require.Len(t, records, complete, "%d", end)
		require.Equal(t, int64(end), s.size)
	}
}

func TestScan_FailsInTheMiddle(t *testing.T) {
	text := lines(sentA, endedA, sentA, endedA)
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for i := range last - 1 {
		damaged := bytes.Clone(text)
		damaged[i] ^= 0x55
		_, _, err := scanAll(damaged)
		if i < len(crcOpen) {
			require.ErrorIs(t, err, ErrForeign)
			continue
		}
		require.ErrorIs(t, err, ErrCorrupt, "%d", i)
	}
}

// Records that no fsync followed may reach the disk in any order.
func TestScan_KeepsWhatFollowsAHole(t *testing.T) {
	text := lines(endedA)
	durable := int64(len(text))
	hole := len(text)
	text = appendRecord(text, durable, []byte(sentA))
	end := len(text)
	text = appendRecord(text, durable, []byte(endedA))
	clear(text[hole:end])
	records, s, err := scanAll(text)
	require.NoError(t, err)
	require.Equal(t, int64(hole), s.bad)
	require.Len(t, records, 2, "the zeros have no line feed: the record after them is one line with them")

	text[end-1] = '\n'
	records, _, err = scanAll(text)
	require.NoError(t, err)
	require.Len(t, records, 3)
}

func TestScan_NotOurs(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
		says string
	}{
		"text":              {"hello\n", ErrForeign, "not a journal"},
		"binary":            {strings.Repeat("\x00\xff", 3<<20), ErrForeign, "not a journal"},
		"other JSON":        {`{"a":1}` + "\n", ErrForeign, "not a journal"},
		"version":           {string(appendRecord(nil, 0, []byte(`"prospectkitJournal":3`))), ErrForeign, "version 3"},
		"earlier version":   {string(appendRecord(nil, 0, []byte(`"prospectkitJournal":1`))), ErrForeign, "settle what is in doubt with that version"},
		"no header":         {string(appendRecord(nil, 0, []byte(sentA))), ErrCorrupt, "first record"},
		"part of a header":  {`{"crc":"12`, ErrCorrupt, "first record"},
		"less of a header":  {`{"c`, ErrCorrupt, "first record"},
		"damaged header":    {strings.Replace(string(lines()), "Journal", "journal", 1), ErrCorrupt, "first record"},
		"damaged and alone": {string(lines())[:20] + "\n", ErrCorrupt, "first record"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := scanAll([]byte(c.text))
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestScan_LongLine(t *testing.T) {
	text := append(lines(sentA), bytes.Repeat([]byte("x"), 3*maxRecord)...)
	records, s, err := scanAll(append(text, '\n'))
	require.NoError(t, err)
	require.Len(t, records, 2)
	require.Equal(t, int64(len(text)+1), s.size)
}

func FuzzScan(f *testing.F) {
	f.Add(lines(sentA, endedA, ""))
	f.Add(lines(sentA)[:100])
	f.Add(append(lines(sentA), "\x00\x00\n"...))
	f.Add(appendRecord(lines(), 1<<40, []byte(`"ended":"a","outcome":"lost"`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, s, err := scanAll(text)
		if err == nil {
			require.Equal(t, int64(len(text)), s.size)
		}
		for _, r := range records {
			line := appendRecord(nil, r.Synced, r.body)
			found := text[r.offset:]
			require.True(t, bytes.HasPrefix(found, line) || bytes.Equal(found, line[:len(line)-1]), "%q", line)
			if r.Sending != nil {
				body, err := sendingBody(*r.Sending)
				require.NoError(t, err)
				again, ok := parseRecord(appendRecord(nil, 0, body), 1)
				require.True(t, ok)
				require.Equal(t, r.Sending.ID, again.Sending.ID)
			}
		}
	})
}

// An outcome that this package does not know is no record of it.
func TestRecord_UnknownOutcome(t *testing.T) {
	_, ok := parseRecord(appendRecord(nil, 0, []byte(`"ended":"a","outcome":"perhaps","at":"2026-11-22T09:00:01Z"`)), 100)
	require.False(t, ok)
	_, ok = parseRecord(appendRecord(nil, 0, []byte(endedA)), 100)
	require.True(t, ok)
}

// growing ends in the middle of a record, and then goes on, as a file does to which a program is just writing.
type growing struct{ parts [][]byte }

func (g *growing) Read(p []byte) (n int, err error) {
	if len(g.parts) == 0 {
		return 0, io.EOF
	}
	if n = copy(p, g.parts[0]); n == 0 {
		err = io.EOF
	}
	if g.parts[0] = g.parts[0][n:]; err != nil {
		g.parts = g.parts[1:]
	}
	return n, err
}

// What is written while a file is read ends it: a record that has come in two pieces is not damaged.
func TestScan_GrowsMeanwhile(t *testing.T) {
	text := lines(sentA)
	durable := len(text)
	text = appendRecord(text, int64(durable), []byte(endedA))
	text = appendRecord(text, int64(len(text)), []byte(sentA))
	count := 0
	s, err := scan(context.Background(), &growing{[][]byte{text[:durable+20], text[durable+20:]}}, func(record) { count++ })
	require.NoError(t, err)
	require.Equal(t, scanned{size: int64(durable + 20), bad: int64(durable), synced: s.synced, is: s.is}, s)
	require.Equal(t, 2, count)
}
