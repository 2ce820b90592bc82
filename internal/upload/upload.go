// Package upload is the body of a request that imports a file: a form, which is opened for each attempt and read while it is sent. It
// refuses what by its first bytes is no spreadsheet, and a workbook with a password. It does not parse files, and does not tell the
// extensions of workbooks apart: the service judges.
package upload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/textproto"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/redact"
)

const (
	longest  = 10 << 20 // documented as 10MB, whichever that is
	filePart = "file"
)

// mediaTypes are those of spreadsheets, by the extension of a file's name.
var mediaTypes = map[string]string{
	".csv": "text/csv", ".xls": "application/vnd.ms-excel", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

// File is the file to import; see the type Upload of the root, which has the same fields.
type File struct {
	Name     string
	Size     int64
	Open     func() (io.ReadCloser, error)
	Fields   map[string]string
	Progress func(sent, total int64)
}

// base returns the file's name without folders, of either kind of slash.
func (f File) base() string { return f.Name[strings.LastIndexAny(f.Name, `/\`)+1:] }

func (f File) mediaType() string { return mediaTypes[strings.ToLower(path.Ext(f.base()))] }

// Body is a File being sent. The file that Check opens serves the first attempt.
type Body struct {
	ContentType string
	Length      int64

	file       File
	head, tail []byte // the text before and after the file
	opened     *exchange.Source
}

// New returns the form: the fields, in the order of their names, and the file. The text around the file is built first, for the length.
func New(f File) *Body {
	var text bytes.Buffer
	w := multipart.NewWriter(&text)
	for _, field := range slices.Sorted(maps.Keys(f.Fields)) {
		_ = w.WriteField(field, f.Fields[field]) // a buffer takes everything
	}
	_, _ = w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="` + filePart + `"; filename="` + strings.ReplaceAll(f.base(), `"`, "%22") + `"`}, // as browsers write it
		"Content-Type":        {f.mediaType()},
	})
	before := text.Len()
	_ = w.Close()
	return &Body{
		ContentType: w.FormDataContentType(), Length: int64(text.Len()) + f.Size,
		file: f, head: text.Bytes()[:before], tail: text.Bytes()[before:],
	}
}

// Check opens the file and adds what is wrong with it.
func (b *Body) Check(ctx context.Context, limit time.Duration, bad *check.Violations) {
	f := b.file
	if at := strings.IndexFunc(f.Name, unicode.IsControl); at >= 0 {
		bad.Add("name", "has the control character %U at byte %d", []rune(f.Name[at:])[0], at)
	}
	bad.Must(f.mediaType() != "", "name", "must end in .csv, .xls or .xlsx")
	switch {
	case f.Size < 1:
		bad.Add("size", "is %d, must be positive", f.Size)
	case f.Size > longest:
		bad.Add("size", "is %d, must be at most %d: see Presign", f.Size, longest)
	}
	bad.Text("name", f.Name)
	for name, value := range f.Fields {
		bad.Must(name != "" && name != filePart, "fields", "must not have the name %q", name)
		bad.Text("fields."+name, name, value)
	}
	if f.Open == nil {
		bad.Add(filePart, "needs Open")
		return
	}
	if err := b.look(ctx, limit); err != nil && ctx.Err() == nil { // otherwise nothing is sent anyway
		bad.Add(filePart, "%v", err)
	}
}

// look opens the file, and says what nobody reads as a spreadsheet.
func (b *Body) look(ctx context.Context, limit time.Duration) (err error) {
	if b.opened, err = exchange.Open(ctx, limit, b.file.Open); err != nil || b.file.mediaType() == "" {
		return err
	}
	isCSV := b.file.mediaType() == mediaTypes[".csv"]
	if found := foreign(b.opened.Head, isCSV); found != "" {
		return redact.OwnError("looks like " + found)
	}
	if !bytes.HasPrefix(b.opened.Head, []byte(signatureOLE)) {
		return nil
	}
	return b.again(ctx, limit, func(container io.Reader) error {
		secret, err := encrypted(container)
		if secret {
			err = redact.OwnError("is encrypted: save it without a password")
		}
		return err
	})
}

// again has the open file read to its end, and opens it again for the first attempt.
func (b *Body) again(ctx context.Context, limit time.Duration, read func(file io.Reader) error) error {
	first, err := b.take(ctx, limit)
	if err != nil {
		return err
	}
	b.opened, err = exchange.Open(ctx, limit, func() (io.ReadCloser, error) {
		err := read(first)
		exchange.Close(first)
		if err != nil {
			return nil, unreadError{err}
		}
		return b.file.Open()
	})
	if unread, ok := errors.AsType[unreadError](err); ok {
		return unread.error
	}
	return err
}

// unreadError tells what the file is from one that could not be opened again.
type unreadError struct{ error }

// Sum writes into h what is sent, without the random boundary of the form: the fields, and the file's name, size and content. It reads the
// file to its end, and opens it again for the first attempt.
func (b *Body) Sum(ctx context.Context, limit time.Duration, h io.Writer) error {
	content := sha256.New()
	err := b.again(ctx, limit, func(file io.Reader) error {
		n, err := io.Copy(content, io.LimitReader(file, b.file.Size+1))
		switch {
		case err != nil:
			return fmt.Errorf("cannot be read: %w", redact.WithoutURL(err))
		case n != b.file.Size:
			return redact.OwnError("does not have the size that was given")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(b.file.Fields)) {
		fmt.Fprintf(h, " %q=%q", field, b.file.Fields[field])
	}
	fmt.Fprintf(h, " %q %d %x", b.file.base(), b.file.Size, content.Sum(nil))
	return nil
}

// take returns the file that was opened, or opens it if there is none.
func (b *Body) take(ctx context.Context, limit time.Duration) (file *exchange.Source, err error) {
	if file = b.opened; file == nil {
		return exchange.Open(ctx, limit, b.file.Open)
	}
	b.opened = nil
	return file, nil
}

// Open opens the form for an attempt, the first time with the file that was opened already.
func (b *Body) Open(ctx context.Context, limit time.Duration) (*exchange.Upload, error) {
	file, err := b.take(ctx, limit)
	if err != nil {
		return nil, fmt.Errorf("%s %w", filePart, err)
	}
	return exchange.NewUpload(b.head, b.tail, file, b.file.Size, b.file.Progress), nil
}

// Close closes a file that was opened and never sent.
func (b *Body) Close() {
	if b.opened != nil {
		exchange.Close(b.opened)
	}
}
