package upload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"example.com/prospectkit/internal/redact"
)

const (
	signatureOLE = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" // the container of XLS, and of an XLSX with a password
	signatureZIP = "PK\x03\x04"
)

// foreigners are formats that no spreadsheet has, by their first bytes.
var foreigners = []struct{ signature, name string }{
	{"%PDF-", "PDF"},
	{"\x1F\x8B", "gzip: unpack it"},
	{"7z\xBC\xAF\x27\x1C", "a 7z archive: unpack it"},
	{"Rar!\x1A\x07", "a RAR archive: unpack it"},
	{"PK\x05\x06", "an empty archive"},
	{"\x89PNG\r\n\x1A\n", "a PNG image"},
	{"\xFF\xD8\xFF", "a JPEG image"},
	{"GIF87a", "a GIF image"},
	{"GIF89a", "a GIF image"},
	{"II*\x00", "a TIFF image"},
	{"MM\x00*", "a TIFF image"},
}

// workbooks are not CSV, but all else that the name of a workbook may stand for.
var workbooks = []struct{ signature, name string }{{signatureZIP, "XLSX: rename it"}, {signatureOLE, "XLS: rename it"}}

// foreign says what a file that begins so is, or nothing, if a reader of spreadsheets may take it for one. Many read a workbook under the other
// extension of workbooks, and text, HTML or XML under both.
func foreign(head []byte, isCSV bool) string {
	known := foreigners
	if isCSV {
		known = slices.Concat(known, workbooks)
	}
	for _, f := range known {
		if bytes.HasPrefix(head, []byte(f.signature)) {
			return f.name
		}
	}
	if len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return "a WebP image"
	}
	return ""
}

// encryptedStream is the name of the stream with an encrypted XLSX, as the directory of its container has it.
const encryptedStream = "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"

// encrypted reports whether a container holds an XLSX that nobody can read without its password.
func encrypted(container io.Reader) (bool, error) {
	var sector [512]byte
	for {
		n, err := io.ReadFull(container, sector[:])
		for at := 0; at < n; at += 64 { // entries of the directory begin at some of these places
			if bytes.HasPrefix(sector[at:n], []byte(encryptedStream)) {
				return true, nil
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("cannot be read: %w", redact.WithoutURL(err))
		}
	}
}
