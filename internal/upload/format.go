package upload

import (
	"bytes"
	"path"
	"strings"
)

// Format is a format of spreadsheets, which the first bytes of a file tell.
type Format struct {
	Name      string
	MediaType string
	Begins    func(head []byte) bool // whether a file of this format can begin so
}

const (
	signatureXLS  = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"
	signatureXLSX = "PK\x03\x04"
	signaturePDF  = "%PDF-"
)

var formats = map[string]Format{
	".csv":  {"CSV", "text/csv", beginsAsText},
	".xls":  {"XLS", "application/vnd.ms-excel", beginsWith(signatureXLS)},
	".xlsx": {"XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", beginsWith(signatureXLSX)},
}

// FormatOf returns the format that the extension of a file's name stands for.
func FormatOf(name string) (Format, bool) {
	f, ok := formats[strings.ToLower(path.Ext(base(name)))]
	return f, ok
}

// base returns a file's name without folders, of either kind of slash.
func base(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

func beginsWith(signature string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(signature)) }
}

// beginsAsText reports whether a file can be text: it has no signature of another format, and no
// control characters, unless a byte order mark announces wide characters.
func beginsAsText(head []byte) bool {
	for _, signature := range []string{signatureXLS, signatureXLSX, signaturePDF} {
		if bytes.HasPrefix(head, []byte(signature)) {
			return false
		}
	}
	if bytes.HasPrefix(head, []byte("\xFF\xFE")) || bytes.HasPrefix(head, []byte("\xFE\xFF")) {
		return true
	}
	control := func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) }
	return !bytes.ContainsFunc(head, control)
}
