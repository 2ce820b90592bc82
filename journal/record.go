package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"time"
)

// A file holds one record per line:
//
//	{"crc":"7be1c7a5","synced":48,"sending":{"version":1,"id":...}}
//
// crc is the CRC-32C of what follows it up to the last brace. synced is how many bytes of the file
// were durable when the record was written: a damaged record before that offset was durable once,
// one after it may be what a crash left of a write. The rest is the body, which is one of:
//
//	"prospectkitJournal":2,"file":"...","workspace":"acme"  the first record: the version of the format, a random name, and whose it is
//	"sending":{...}                                         a ticket
//	"ended":"id","outcome":"applied","at":...               an outcome; before "at" a "resultId", or "by" and "because" if a person settled it
//
// or nothing, in a record that only notes how much is durable. The lock file has one record, with the name of the file
// that it is about: the last record has no other after it to note that it was durable.
const (
	crcOpen    = `{"crc":"`
	crcClose   = `",`
	crcLen     = len(crcOpen) + 8 + 1
	syncedOpen = `"synced":`
	format     = 2
	maxRecord  = 1 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A record is one line.
type record struct {
	offset int64
	body   []byte

	Synced int64 `json:"synced"`
	content
}

// content is what a body says.
type content struct {
	Format    int       `json:"prospectkitJournal,omitempty"`
	Name      string    `json:"file,omitempty"`
	Workspace string    `json:"workspace,omitempty"`
	Sending   *Ticket   `json:"sending,omitempty"`
	Ended     string    `json:"ended,omitempty"`
	Outcome   Outcome   `json:"outcome,omitempty"`
	ResultID  string    `json:"resultId,omitempty"`
	By        string    `json:"by,omitempty"` // of a settlement
	Because   string    `json:"because,omitempty"`
	At        time.Time `json:"at,omitzero"`
}

// body is its text.
func (c content) body(of string) ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	if len(text) > maxRecord-100 {
		return nil, fmt.Errorf("%s has at most %d bytes, this one has %d", of, maxRecord-100, len(text))
	}
	return text[1 : len(text)-1], nil
}

// identity is what the first record of a file says, and without the format the record of its lock file.
type identity struct{ name, workspace string }

func (i identity) body(format int) []byte {
	text, _ := content{Format: format, Name: i.name, Workspace: i.workspace}.body("the first record") // CheckWorkspace keeps it short
	return text
}

// theEnd names what a record of the end of a call holds.
const theEnd = "an outcome with its reason"

func (e End) of(id string) content {
	return content{Ended: id, Outcome: e.Outcome, ResultID: e.ResultID, At: time.Now()}
}

func (s Settlement) of(id string) content {
	return content{Ended: id, Outcome: s.Outcome, By: s.By, Because: s.Because, At: time.Now()}
}

func sendingBody(t Ticket) ([]byte, error) {
	if t.ID == "" {
		return nil, errors.New("a ticket needs an ID")
	}
	return content{Sending: &t}.body("a ticket")
}

func appendRecord(dst []byte, synced int64, body []byte) []byte {
	start := len(dst)
	dst = append(dst, crcOpen+`00000000"`...)
	dst = strconv.AppendInt(append(dst, `,"synced":`...), synced, 10)
	if len(body) > 0 {
		dst = append(append(dst, ','), body...)
	}
	dst = append(dst, '}')
	copy(dst[start+len(crcOpen):], checksum(dst[start+crcLen:]))
	return append(dst, '\n')
}

func checksum(text []byte) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum(text, castagnoli)))
}

// parseRecord reports whether the line, with or without its line feed, is a whole record.
func parseRecord(line []byte, offset int64) (record, bool) {
	r := record{offset: offset}
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) < crcLen+1 || !bytes.HasPrefix(line, []byte(crcOpen)) || string(line[crcLen-1:crcLen+1]) != crcClose ||
		checksum(line[crcLen:]) != string(line[len(crcOpen):crcLen-1]) {
		return r, false
	}
	rest, ok := bytes.CutPrefix(line[crcLen+1:], []byte(syncedOpen))
	if !ok || json.Unmarshal(line, &r) != nil || r.Synced < 0 || r.Synced > offset {
		return r, false
	}
	rest = bytes.TrimLeft(rest, "0123456789")
	if r.body, ok = bytes.CutSuffix(rest, []byte("}")); !ok {
		return r, false
	}
	r.body = bytes.TrimPrefix(r.body, []byte(","))
	switch {
	case (r.Format != 0) != (offset == 0):
		return r, false // the first record is the only one of its kind
	case r.Ended != "":
		return r, r.Outcome.known()
	}
	return r, r.Sending == nil || r.Sending.ID != ""
}

// scanned is what a scan finds, beside the records.
type scanned struct {
	size   int64 // of everything read
	bad    int64 // offset of the first damaged record, -1 if there is none
	synced int64 // this much was durable once
	is     identity
}

// scan passes the whole records to each, in order. A record is valid until each returns.
// It fails if the file is not a journal, if a record is damaged that was durable once, or if the context ends.
func scan(ctx context.Context, from io.Reader, each func(record)) (scanned, error) {
	s := scanned{bad: -1}
	in := bufio.NewReader(io.MultiReader(from)) // which ends once: a writer may go on after the end, in the middle of a record
	for {
		line, n, err := readLine(in)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return s, err
		}
		if n == 0 {
			break
		}
		r, ok := parseRecord(line, s.size)
		if s.size == 0 && (!ok || r.Format != format) {
			return s, notOurs(line, r, ok)
		}
		switch {
		case ok:
			s.synced = max(s.synced, r.Synced)
			if r.Format != 0 {
				s.is = identity{r.Name, r.Workspace}
			}
			each(r)
		case s.bad < 0:
			s.bad = s.size
		}
		s.size += n
	}
	if s.bad >= 0 && s.bad < s.synced {
		return s, fmt.Errorf("%w: the record at byte %d is damaged, and it is not the last one", ErrCorrupt, s.bad)
	}
	return s, nil
}

// readLine returns a line with its line feed, if it has one, and how many bytes it read. A line
// that is too long for a record comes without its end.
func readLine(in *bufio.Reader) (line []byte, n int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		if len(line) <= maxRecord {
			line = append(line, part...)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return line, n, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, n, err
		}
	}
}

// notOurs says what is wrong with the first line of a file.
func notOurs(line []byte, r record, whole bool) error {
	switch {
	case whole && r.Format < format:
		return fmt.Errorf("%w: an earlier version of it has written the file (format %d, this one reads %d): settle what is in doubt with that version, "+
			"then begin a new file, and remove its .lock: it knows nothing of what was made once or approved before", ErrForeign, r.Format, format)
	case whole:
		return fmt.Errorf("%w: its format has version %d, and this package reads version %d", ErrForeign, r.Format, format)
	case bytes.HasPrefix(line, []byte(crcOpen)), bytes.HasPrefix([]byte(crcOpen), line):
		return fmt.Errorf("%w: its first record is damaged or incomplete", ErrCorrupt)
	}
	return ErrForeign
}
