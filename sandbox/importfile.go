package sandbox

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// The formats of files.
const (
	formatCSV  = "csv"
	formatXLS  = "xls"
	formatXLSX = "xlsx"
)

// examine reads the content of a file. Without a format, the file is not accepted.
func examine(name string, file []byte) Import {
	i := Import{Name: name, Size: int64(len(file))}
	switch {
	case len(file) > largestUpload: // it is refused, whatever is in it
	case bytes.HasPrefix(file, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")):
		i.Format, i.Rows = formatXLS, 1
	case bytes.HasPrefix(file, []byte("PK\x03\x04")):
		if rows, ok := sheetRows(file); ok {
			i.Format, i.Rows = formatXLSX, rows
		}
	case isPlainText(file):
		i.Format, i.Rows = formatCSV, csvRows(file)
	}
	return i
}

func isPlainText(file []byte) bool {
	if bytes.HasPrefix(file, []byte("%PDF-")) || !utf8.Valid(file) {
		return false
	}
	return !bytes.ContainsFunc(file, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r", r) })
}

// csvRows counts the records after the header. Any text is a record.
func csvRows(file []byte) int {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(file, []byte("\uFEFF"))))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	rows := -1 // the header
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return max(0, rows)
		}
		if err != nil || strings.TrimSpace(strings.Join(record, "")) != "" {
			rows++
		}
	}
}

// sheetRows counts the rows of the first sheet after its header. It reports false for an archive that is not a workbook.
func sheetRows(file []byte) (rows int, ok bool) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, false
	}
	var sheet *zip.File
	for _, f := range archive.File {
		switch {
		case f.Name == "xl/workbook.xml":
			ok = true
		case sheet == nil && strings.HasPrefix(f.Name, "xl/worksheets/sheet"):
			sheet = f
		}
	}
	if !ok || sheet == nil {
		return 0, ok
	}
	return max(0, rowElements(sheet)-1), true
}

// rowElements counts the starts of rows in a sheet. It unpacks only as much as the sandbox needs.
func rowElements(f *zip.File) int {
	r, err := f.Open()
	if err != nil {
		return 0
	}
	defer r.Close()
	sheet, _ := io.ReadAll(io.LimitReader(r, largestUpload))
	return bytes.Count(sheet, []byte("<row ")) + bytes.Count(sheet, []byte("<row>"))
}
