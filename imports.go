package prospectkit

import (
	"context"
	"fmt"
	"io"
	"os"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/upload"
)

// ImportsService imports files of contacts or companies.
type ImportsService struct{ service }

// Upload is a file to import. Make one with [UploadFile] or [UploadFrom].
type Upload struct {
	Name string // of the file, ending in .csv, .xls or .xlsx. A folder in it is not sent
	Size int64  // in bytes, exactly; at most 10 MiB (documented: 10MB, which may mean less)

	// Open opens the file at its beginning, once for each attempt, and for an older workbook, one with a password and [Once] once more. A panic of
	// its Read or Close is an error of the file.
	Open func() (io.ReadCloser, error)

	// Fields are further fields of the form, whose names are undocumented.
	Fields map[string]string

	// Progress, if set, is called in another goroutine with the bytes handed to the network. It
	// restarts with each attempt. A panic in it is swallowed.
	Progress func(sent, total int64)
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

// UploadFrom makes an upload of size bytes of r, such as an open file or a bytes.Reader.
func UploadFrom(name string, size int64, r io.ReaderAt) Upload {
	return Upload{Name: name, Size: size, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(r, 0, size)), nil
	}}
}

// Upload imports a CSV, XLS or XLSX file of up to 10 MiB (documented: 10MB, which may mean less); for a larger file see
// [ImportsService.Presign]. Name and size are checked before anything is sent, and files are refused that no reader of spreadsheets can
// read, such as a PDF, or a workbook with a password. The file is streamed and never held in memory. The response is undocumented. Whether an import costs
// credits is undocumented, so it counts as spending.
//
// A second upload may import everything twice. It is retried, from the start of the file, only if
// nothing was sent or the service rejected it unread. If the file cannot be read to its end, or the
// connection breaks before the end is sent, the outcome is [OutcomeNotApplied]. A success that comes before it, such as that of a mock
// that does not read the body, proves nothing: the outcome is unknown. An [OutcomeUnknownError] of an import cannot be resolved: to
// import a file once, pass a hash of it to [Once].
//
// Errors: documented: [CodeImportFileMissing], [CodeImportFileUnsupported],
// [CodeImportFileTooLarge], [CodeImportFileEmpty]; likely: [CodeImportNotFound], [CodeInsufficientCredits].
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

// FromUpload imports a file that was uploaded as [ImportsService.Presign] describes. It sends the id
// as a field of a multipart form; [WithField] adds further fields (assumed). It is never retried
// after an unknown outcome. [ImportsService.FromUploadJSON] sends JSON instead.
//
// Errors: documented: [CodeImportFileMissing] (while the upload is not complete),
// [CodeImportFileUnsupported], [CodeImportFileTooLarge], [CodeImportFileEmpty]; likely:
// [CodeImportNotFound], [CodeInsufficientCredits].
//
// POST /business/imports, scope lists.
func (s *ImportsService) FromUpload(ctx context.Context, importID string, opts ...CallOption) (*Object, error) {
	return s.fromUpload(ctx, importID, true, opts)
}

// FromUploadJSON is [ImportsService.FromUpload] with the id in a JSON body (assumed: a form is
// documented).
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

// Presign reserves an upload for a file of up to 50 MB and returns an import id. The response holds it as
// importId, at its top or under "import" (assumed); any other is an error that names its keys. Nothing else of body and response is
// documented: you supply the fields. The sandbox takes any body (assumed: rule
// imports.presign). It is never retried after an unknown outcome; a second call only reserves another
// upload.
//
// Errors: likely: [CodeImportFileUnsupported], [CodeImportFileTooLarge].
//
// POST /business/imports/presign, scope lists.
func (s *ImportsService) Presign(ctx context.Context, in Fields, opts ...CallOption) (*PresignedUpload, error) {
	return doRecord[PresignedUpload](ctx, s.conf, op.ImportsPresign, args{body: in}, opts, "import", "importId")
}

// PresignedUpload is an upload that [ImportsService.Presign] has reserved. Where to send the file to is undocumented: see Raw.
type PresignedUpload struct {
	ImportID string `json:"importId"` // inferred: [ImportsService.FromUpload] takes it under this name
	partial
}

// String returns the upload as JSON: the text that the service sent, or the fields that you set. It may hold a URL that anybody can
// send a file to: keep it out of logs.
func (u PresignedUpload) String() string { return textOf(u.raw, u) }
