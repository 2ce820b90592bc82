package upload

import (
	"bytes"
	"errors"
	"io"
	"path"
	"strings"
)

// Format is a format of spreadsheets, by the extension of a file's name.
type Format struct {
	Name      string
	MediaType string
}

const (
	signatureOLE = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" // the container of XLS, and of an XLSX with a password
	signatureZIP = "PK\x03\x04"
)

var formats = map[string]Format{
	".csv":  {"CSV", "text/csv"},
	".xls":  {"XLS", "application/vnd.ms-excel"},
	".xlsx": {"XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
}

// FormatOf returns the format that the extension of a file's name stands for.
func FormatOf(name string) (Format, bool) {
	f, ok := formats[strings.ToLower(path.Ext(base(name)))]
	return f, ok
}

// base returns a file's name without folders, of either kind of slash.
func base(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

// foreign are formats that no spreadsheet has, by their first bytes.
var foreign = []struct{ signature, name string }{
	{"%PDF-", "PDF"},
	{"\x1F\x8B", "gzip: unpack it"},
	{"\x89PNG\r\n\x1A\n", "a PNG image"},
	{"\xFF\xD8\xFF", "a JPEG image"},
	{"GIF87a", "a GIF image"},
	{"GIF89a", "a GIF image"},
	{"II*\x00", "a TIFF image"},
	{"MM\x00*", "a TIFF image"},
	{"PK\x05\x06", "an empty archive"},
	{"7z\xBC\xAF\x27\x1C", "a 7z archive: unpack it"},
	{"Rar!\x1A\x07", "a RAR archive: unpack it"},
}

// Problem says what speaks against a file that begins so, or nothing: only what no reader of spreadsheets takes for one. Many read
// a workbook under the other extension of workbooks, and text, HTML or XML under both.
func (f Format) Problem(head []byte) string {
	for _, other := range foreign {
		if bytes.HasPrefix(head, []byte(other.signature)) {
			return "looks like " + other.name
		}
	}
	isWebP := len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP"
	switch {
	case isWebP:
		return "looks like a WebP image"
	case f.Name != "CSV":
	case bytes.HasPrefix(head, []byte(signatureZIP)):
		return "looks like XLSX: rename it"
	case bytes.HasPrefix(head, []byte(signatureOLE)):
		return "looks like XLS: rename it"
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
			return false, err
		}
	}
}
