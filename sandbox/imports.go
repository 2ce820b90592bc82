package sandbox

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

var importRoom = map[*op.Op]handler{
	op.ImportsCreate:  (*call).createImport,
	op.ImportsPresign: (*call).presignImport,
}

var (
	ruleMegabytes   = assumed("imports.megabytes", "a MB is 1,048,576 bytes, and the file is what counts, not the form around it")
	ruleContent     = assumed("imports.content", "the content tells the format, not the name: text without control characters is CSV, and its first line a header; of an XLS file only the signature is looked at")
	ruleImport      = assumed("imports.create", "an import answers 201 with import: id and rowsCount; it is recorded, and fills no list")
	ruleImportJSON  = assumed("imports.json", "importId may come in a JSON body, too")
	ruleImportForm  = assumed("imports.form", "parts of the form beside file and importId are ignored, and so is what follows the first of these two")
	rulePresign     = assumed("imports.presign", "a reservation takes any body and answers 201 with importId and uploadUrl, where nobody listens: Tx.Upload stands for the upload")
	errNoImportFile = refuse("IMPORT_FILE_MISSING", "An import needs a multipart file, or the importId of a complete upload.")
)

const (
	largestImport = 10 << 20
	largestUpload = 50 << 20
)

func (c *call) createImport() (answer, error) {
	if kind, params, _ := mime.ParseMediaType(c.req.Header.Get("Content-Type")); kind == "multipart/form-data" {
		return c.importForm(params["boundary"])
	}
	body, err := c.form()
	if err != nil {
		return answer{}, err
	}
	if !body.has("importId") {
		return answer{}, errNoImportFile
	}
	c.uses(ruleImportJSON)
	body.ignores("importId")
	id, _ := body.text("importId")
	if err := body.err(); err != nil {
		return answer{}, err
	}
	return c.importUpload(id)
}

// importForm reads a form up to its file. A body that was too long to be read whole has one that is too large.
func (c *call) importForm(boundary string) (answer, error) {
	form := multipart.NewReader(bytes.NewReader(c.body), boundary)
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF) && len(c.body) <= longestBody:
			return answer{}, errNoImportFile
		case err != nil && len(c.body) > longestBody:
			return answer{}, tooLarge(largestImport)
		case err != nil:
			c.uses(ruleMalformed)
			return answer{}, refuse("INVALID_REQUEST", "The form cannot be read.")
		case part.FormName() == "importId":
			id, _ := io.ReadAll(io.LimitReader(part, 64))
			c.endsHere(form)
			return c.importUpload(string(id))
		case part.FormName() != "file":
			c.uses(ruleImportForm)
			continue
		}
		file, err := io.ReadAll(part)
		switch {
		case len(c.body) > longestBody || len(file) > largestImport:
			return answer{}, tooLarge(largestImport)
		case err != nil:
			c.uses(ruleMalformed)
			return answer{}, refuse("INVALID_REQUEST", "The form cannot be read.")
		}
		c.endsHere(form)
		return c.importFile(examine(path.Base(part.FileName()), file))
	}
}

// endsHere notes a part of a form that nobody looks at.
func (c *call) endsHere(form *multipart.Reader) {
	if _, err := form.NextPart(); !errors.Is(err, io.EOF) {
		c.uses(ruleImportForm)
	}
}

func tooLarge(most int) error {
	return refuse("IMPORT_FILE_TOO_LARGE", "The file is larger than "+map[int]string{largestImport: "10 MB", largestUpload: "50 MB"}[most]+".")
}

// importUpload imports what was uploaded.
func (c *call) importUpload(id string) (answer, error) {
	upload := c.ws.upload(id)
	if upload != nil {
		c.found(upload.ID, id)
	}
	switch {
	case upload == nil:
		return answer{}, refuse("IMPORT_NOT_FOUND", "No upload is reserved under this id.")
	case !upload.Uploaded:
		return answer{}, errNoImportFile
	case upload.Size > largestUpload:
		return answer{}, tooLarge(largestUpload)
	}
	return c.importFile(*upload)
}

// importFile records an import of a file whose size is right.
func (c *call) importFile(file Import) (answer, error) {
	const million = 1_000_000
	if file.Size > 10*million && !file.Reserved || file.Size > 50*million {
		c.uses(ruleMegabytes)
	}
	if strings.ToLower(strings.TrimPrefix(path.Ext(file.Name), ".")) != file.Format {
		c.uses(ruleContent)
	}
	switch {
	case file.Size == 0 || file.Format != "" && file.Rows == 0:
		return answer{}, refuse("IMPORT_FILE_EMPTY", "The file has no rows of data.")
	case file.Format == "":
		return answer{}, refuse("IMPORT_FILE_UNSUPPORTED", "The file is neither CSV nor XLS nor XLSX.")
	}
	c.uses(ruleImport)
	amount, err := c.price(file.Rows)
	if err != nil {
		return answer{}, err
	}
	c.effect(func() {
		if file.Reserved {
			c.ws.dropImport(file.ID)
		} else {
			file.ID = c.ws.newID()
		}
		file.Reserved, file.Uploaded = false, false
		c.ws.imports = append(c.ws.imports, file)
		c.spend(amount, "rows imported")
	}, "file imported: %s, %d rows", file.Format, file.Rows)
	return reply(http.StatusCreated, object{"import": object{"id": file.ID, "rowsCount": file.Rows}})
}

func (c *call) presignImport() (answer, error) {
	c.uses(rulePresign)
	if _, err := c.form(); err != nil {
		return answer{}, err
	}
	id := ""
	c.effect(func() {
		id = c.ws.newID()
		c.ws.imports = append(c.ws.imports, Import{ID: id, Reserved: true})
	}, "upload reserved")
	return reply(http.StatusCreated, object{"importId": id, "uploadUrl": "https://" + invalidHost + "/uploads/" + id})
}

// upload finds a reserved upload.
func (ws *workspace) upload(id string) *Import {
	for i := range ws.imports {
		if ws.imports[i].Reserved && sameID(ws.imports[i].ID, id) {
			return &ws.imports[i]
		}
	}
	return nil
}

func (ws *workspace) dropImport(id string) {
	kept := ws.imports[:0:0]
	for _, i := range ws.imports {
		if !sameID(i.ID, id) {
			kept = append(kept, i)
		}
	}
	ws.imports = kept
}

// Upload brings a file to where an upload was reserved, as a client does outside of the API.
func (tx *Tx) Upload(importID, name string, file []byte) {
	tx.change("Upload", func(time.Time) bool {
		upload := tx.ws.upload(importID)
		if upload == nil {
			return false
		}
		id := upload.ID
		*upload = examine(name, file)
		upload.ID, upload.Reserved, upload.Uploaded = id, true, true
		return true
	})
}
