package prospectkit

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/upload"
)

// ImportsService imports files of contacts or companies.
type ImportsService struct{ service }

// Upload is a file to import, by [UploadFile] or [UploadFrom].
type Upload struct {
	Name     string                        // of the file, ending in .csv, .xls or .xlsx
	Size     int64                         // in bytes, exactly; at most 10 MiB
	Open     func() (io.ReadCloser, error) // opens the file at its beginning, more than once
	Fields   map[string]string             // undocumented fields of the form
	Progress func(sent, total int64)       // if set, called in another goroutine with the bytes handed to the network
}

// UploadFile makes an upload of a file on disk. It reads the size now and opens the file later.
func UploadFile(name string) (Upload, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Upload{}, fmt.Errorf("prospectkit: %w", err)
	}
	open := func() (io.ReadCloser, error) { return os.Open(name) } //nolint:gosec // the path is the caller's
	return Upload{Name: info.Name(), Size: info.Size(), Open: open}, nil
}

// UploadFrom makes an upload of size bytes of r, such as a bytes.Reader.
func UploadFrom(name string, size int64, r io.ReaderAt) Upload {
	return Upload{Name: name, Size: size, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(r, 0, size)), nil
	}}
}

// Upload streams a CSV, XLS or XLSX file of up to 10 MiB (documented: 10MB, which may mean less); for larger ones see
// [ImportsService.Presign]. The response is undocumented. It counts as spending credits (undocumented).
//
// A second upload may import everything twice: pass a hash of the file to [Once]. No read resolves an unknown outcome.
//
// Errors: documented: [CodeImportFileMissing], [CodeImportFileUnsupported], [CodeImportFileTooLarge], [CodeImportFileEmpty]; likely:
// [CodeImportNotFound], [CodeInsufficientCredits].
//
// POST /business/imports, scope lists.
func (s *ImportsService) Upload(ctx context.Context, in Upload, opts ...CallOption) (*Object, error) {
	body := upload.New(upload.File(in))
	defer body.Close()
	return s.create(ctx, args{upload: body}, opts)
}

// create makes an import. Its id is kept for the journal, if the response holds an importId, at its top or under "import" (assumed: a request
// has one of this name).
func (s *ImportsService) create(ctx context.Context, in args, opts []CallOption) (*Object, error) {
	response := new(Object)
	want := expected{resultID: idIn(response, "import", "importId")}
	return doExpecting(ctx, s.conf, op.ImportsCreate, in, opts, response, want)
}

// FromUpload imports a file that was uploaded as [ImportsService.Presign] describes. It sends the id as a field of a multipart form
// (assumed).
//
// Errors: documented: [CodeImportFileMissing] (while the upload is not complete), [CodeImportFileUnsupported], [CodeImportFileTooLarge],
// [CodeImportFileEmpty]; likely: [CodeImportNotFound], [CodeInsufficientCredits].
//
// POST /business/imports, scope lists.
func (s *ImportsService) FromUpload(ctx context.Context, importID string, opts ...CallOption) (*Object, error) {
	return s.fromUpload(ctx, importID, true, opts)
}

// FromUploadJSON is [ImportsService.FromUpload] with a JSON body (assumed: a form is documented).
//
// Errors: those of [ImportsService.FromUpload].
//
// POST /business/imports, scope lists.
func (s *ImportsService) FromUploadJSON(ctx context.Context, importID string, opts ...CallOption) (*Object, error) {
	return s.fromUpload(ctx, importID, false, opts)
}

func (s *ImportsService) fromUpload(ctx context.Context, importID string, form bool, opts []CallOption) (*Object, error) {
	return s.create(ctx, args{
		body: Fields{"importId": importID}, form: form, check: func(bad *check.Violations) { bad.ID("importId", importID) },
	}, opts)
}

// Presign reserves an upload for a file of up to 50 MB. Raw holds where to send it. Beyond importId, body and response are undocumented. The
// sandbox takes any body (assumed: rule imports.presign).
//
// Errors: likely: [CodeImportFileUnsupported], [CodeImportFileTooLarge].
//
// POST /business/imports/presign, scope lists.
func (s *ImportsService) Presign(ctx context.Context, in Fields, opts ...CallOption) (*PresignedUpload, error) {
	reserved, response := new(PresignedUpload), new(Object)
	want := expected{out: response, resultID: idIn(response, "import", "importId"), accept: func() error {
		return errorIf(slices.Contains([]string{"null", "{}", "[]"}, response.String()), "the response holds nothing")
	}}
	if _, err := doCall(ctx, s.conf, op.ImportsPresign, args{body: in}, opts, want); err != nil {
		return nil, err
	}
	_ = recordOf(*response, "import", "importId", reserved) // without an id, the response is of use
	reserved.raw = *response
	return reserved, nil
}

// PresignedUpload is an upload that [ImportsService.Presign] has reserved. Where to send the file to is undocumented: see Raw.
type PresignedUpload struct {
	ImportID string `json:"importId"` // inferred: [ImportsService.FromUpload] takes it under this name
	partial
}

// String returns its JSON, with which anybody may upload: keep it out of logs.
func (u PresignedUpload) String() string { return textOf(u.raw, u) }
