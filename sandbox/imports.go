package sandbox

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.ImportsCreate:  {handle: (*call).createImport},
	op.ImportsPresign: {handle: (*call).presignImport, json: true},
})

var errNoImportFile = refuse("IMPORT_FILE_MISSING", "An import needs a multipart file, or the importId of a complete upload.")

// Import seeds a file that was imported, or an upload that was reserved.
type Import struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"` // of the file
	Format   string `json:"format,omitempty"`
	Size     int64  `json:"size,omitempty"`
	Rows     int    `json:"rows,omitempty"`     // of data
	Reserved bool   `json:"reserved,omitempty"` // an upload, not an import
	Uploaded bool   `json:"uploaded,omitempty"` // and its file is there
}

var imports = keeps(kind[Import]{
	name: "imports", missing: refusal{"IMPORT_NOT_FOUND", "No upload is reserved under this id.", ""},
	seeds:  func(ws *Workspace) *[]Import { return &ws.Imports },
	hidden: func(i *Import) bool { return !i.Reserved },
})

// Imports copies the imports and the reserved uploads, oldest first.
func (w *Tenant) Imports() []Import { return imports.copies(w) }

const (
	largestImport = 10 << 20
	largestUpload = 50 << 20
)

// createImport reads a form: its file, or else its importId. If the body was too long to be read completely, the file is too large.
func (c *call) createImport() response {
	_, params, _ := mime.ParseMediaType(c.req.Header.Get("Content-Type"))
	form, err := multipart.NewReader(bytes.NewReader(c.sent), params["boundary"]).ReadForm(longestBody)
	switch {
	case len(c.sent) > longestBody:
		stop(tooLarge(largestImport))
	case params["boundary"] == "", errors.Is(err, io.EOF):
		stop(errNoImportFile)
	case err != nil:
		deny("INVALID_REQUEST", "The form cannot be read.")
	case len(form.File["file"]) > 0:
		part := form.File["file"][0]
		file := must(io.ReadAll(must(part.Open())))
		if len(file) > largestImport {
			stop(tooLarge(largestImport))
		}
		return c.importFile(examine(path.Base(part.Filename), file))
	case len(form.Value["importId"]) == 0:
		stop(errNoImportFile)
	}
	return c.importUpload(form.Value["importId"][0])
}

func tooLarge(most int) error {
	return refuse("IMPORT_FILE_TOO_LARGE", fmt.Sprintf("The file is larger than %d MB.", most>>20))
}

func (c *call) importUpload(id string) response {
	upload := must(imports.byID(c, id))
	switch {
	case !upload.Uploaded:
		stop(errNoImportFile)
	case upload.Size > largestUpload:
		stop(tooLarge(largestUpload))
	}
	return c.importFile(*upload)
}

// importFile records an import of a file with a valid size.
func (c *call) importFile(file Import) response {
	switch {
	case file.Size == 0 || file.Format != "" && file.Rows == 0:
		deny("IMPORT_FILE_EMPTY", "The file has no rows of data.")
	case file.Format == "":
		deny("IMPORT_FILE_UNSUPPORTED", "The file is neither CSV nor XLS nor XLSX.")
	}
	c.buy(file.Rows, "rows imported", func() {
		_ = imports.remove(c.ws, file.ID) // a file of the form has none
		file.Reserved, file.Uploaded = false, false
		file = *imports.add(c.ws, file)
	}, "file imported: %s, %d rows", file.Format, file.Rows)
	return reply(http.StatusCreated, object{"import": object{"importId": file.ID, "rowsCount": file.Rows}})
}

func (c *call) presignImport() response {
	id := ""
	c.effect(func() { id = imports.add(c.ws, Import{Reserved: true}).ID }, "upload reserved")
	scheme := "https://"
	if host := c.req.Host; c.req.TLS == nil && host != invalidHost && host != hostPort {
		scheme = "http://"
	}
	return reply(http.StatusCreated, object{"importId": id, "uploadUrl": scheme + c.req.Host + uploadPath + id})
}

const uploadPath = basePath + "/uploads/"

// isUpload reports whether a request goes to the store of uploads, which is no operation of the API.
func isUpload(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, uploadPath) }

// store takes the file of a reserved upload, by PUT. Like most stores, it wants its length, and no key.
func (sb *Sandbox) store(r *http.Request, file []byte) *delivery {
	sb.enter()
	defer sb.mu.Unlock()
	status := http.StatusBadRequest
	if r.Method == http.MethodPut && r.Header.Get("Authorization") == "" && len(r.TransferEncoding) == 0 {
		status = http.StatusNotFound
	}
	for _, ws := range sb.workspaces {
		upload := imports.find(ws, strings.TrimPrefix(r.URL.Path, uploadPath))
		if status == http.StatusNotFound && upload != nil && upload.complete("", file) {
			status = http.StatusOK
			ws.version++
		}
	}
	return &delivery{fault: noFault, response: response{status: status, header: http.Header{}}}
}

// Upload completes a reserved upload, as a client does by a PUT to its uploadUrl.
func (tx *Tx) Upload(importID, name string, file []byte) {
	imports.change(tx, "Upload", importID, func(upload *Import, _ time.Time) error {
		if !upload.complete(name, file) {
			return errors.New("this is an import, and no reserved upload")
		}
		return nil
	})
}

func (i *Import) complete(name string, file []byte) bool {
	if !i.Reserved {
		return false
	}
	read := examine(name, file)
	read.ID, read.Reserved, read.Uploaded = i.ID, true, true
	*i = read
	return true
}

// examine reads the content of a file. Without a format, the file is not accepted.
func examine(name string, file []byte) Import {
	i := Import{Name: name, Size: int64(len(file))}
	switch {
	case len(file) > largestUpload: // it is refused, whatever is in it
	case bytes.HasPrefix(file, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")):
		i.Format, i.Rows = "xls", 1
	case bytes.HasPrefix(file, []byte("PK\x03\x04")):
		i.Format, i.Rows = "xlsx", 1
	case !bytes.Contains(file, []byte{0}) && !bytes.HasPrefix(file, []byte("%PDF-")) && !bytes.HasPrefix(file, []byte("\x1F\x8B")):
		i.Format, i.Rows = "csv", csvRows(bytes.TrimPrefix(file, []byte("\uFEFF")))
	}
	return i
}

// csvRows counts the records after the header. Any text is a record.
func csvRows(text []byte) int {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
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
