// Package upload is the body of a request that imports a file: a form, which is opened for each attempt and read while it is sent. It
// refuses what by its first bytes is no spreadsheet, and an XLSX with a password. It does not parse files, and does not tell the
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
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/exchange"
	"example.com/prospectkit/internal/redact"
)

const (
	longest    = 10 << 20 // documented as 10MB, whichever that is
	sniffBytes = 512
	filePart   = "file"
)

// File is the file to import; see the type Upload of the root, which has the same fields.
type File struct {
	Name     string
	Size     int64
	Open     func() (io.ReadCloser, error)
	Fields   map[string]string
	Progress func(sent, total int64)
}

// Body is a File being sent. The file that Check opens serves the first attempt.
type Body struct {
	ContentType string
	Length      int64

	file       File
	head, tail []byte // the text before and after the file
	opened     io.ReadCloser
}

// New returns the form: the fields, in the order of their names, and the file. The text around the file is built first, for the length.
func New(f File) *Body {
	format, _ := FormatOf(f.Name)
	var text bytes.Buffer
	w := multipart.NewWriter(&text)
	for _, field := range slices.Sorted(maps.Keys(f.Fields)) {
		_ = w.WriteField(field, f.Fields[field]) // a buffer takes everything
	}
	_, _ = w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="` + filePart + `"; filename="` + strings.ReplaceAll(base(f.Name), `"`, "%22") + `"`}, // as browsers write it
		"Content-Type":        {format.MediaType},
	})
	before := text.Len()
	_ = w.Close()
	return &Body{
		ContentType: w.FormDataContentType(), Length: int64(text.Len()) + f.Size,
		file: f, head: text.Bytes()[:before], tail: text.Bytes()[before:],
	}
}

// Open opens the form for an attempt.
func (b *Body) Open(ctx context.Context, limit time.Duration) (*exchange.Upload, error) {
	file, err := b.reopen(ctx, limit)
	if err != nil {
		return nil, err
	}
	return exchange.NewUpload(b.head, b.tail, file, b.file.Size, b.file.Progress), nil
}

// Check opens the file and adds what is wrong with it.
func (b *Body) Check(ctx context.Context, limit time.Duration, bad *check.Violations) {
	format, ok := FormatOf(b.file.Name)
	switch {
	case base(b.file.Name) == "":
		bad.Add("name", "must not be empty")
	case check.HasControl(b.file.Name):
		at := strings.IndexFunc(b.file.Name, check.IsControl)
		bad.Add("name", "has the control character %U at byte %d", b.file.Name[at], at)
	case !ok:
		bad.Add("name", "must end in .csv, .xls or .xlsx")
	}
	switch {
	case b.file.Size < 1:
		bad.Add("size", "is %d, must be positive", b.file.Size)
	case b.file.Size > longest:
		bad.Add("size", "is %d, must be at most %d: see Presign", b.file.Size, longest)
	}
	bad.Text("name", b.file.Name)
	for name, value := range b.file.Fields {
		if name == "" || name == filePart {
			bad.Add("fields", "must not have the name %q", name)
		}
		bad.Text("fields."+name, name, value)
	}
	switch {
	case b.file.Open == nil:
		bad.Add(filePart, "needs Open")
	case ok:
		b.sniff(ctx, limit, format, bad)
	}
}

// sniff opens the file and looks at its first bytes, or at all of a container. If the context has ended, nothing is sent anyway.
func (b *Body) sniff(ctx context.Context, limit time.Duration, format Format, bad *check.Violations) {
	file, head, err := exchange.Open(ctx, limit, b.file.Open, sniffBytes)
	b.opened = file
	problem := format.Problem(head)
	if err == nil && bytes.HasPrefix(head, []byte(signatureOLE)) && problem == "" {
		err = b.readThrough(ctx, limit, func(file io.Reader) error {
			secret, err := encrypted(io.LimitReader(file, b.file.Size))
			if secret {
				problem = "is encrypted: save it without a password"
			}
			return err
		})
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		bad.Add(filePart, "%v", err)
	case problem != "":
		bad.Add(filePart, "%v", problem)
	}
}

// readThrough has the opened file read, and opens it again for the first attempt.
func (b *Body) readThrough(ctx context.Context, limit time.Duration, read func(file io.Reader) error) error {
	first := b.opened
	file, _, err := exchange.Open(ctx, limit, func() (io.ReadCloser, error) {
		err := read(first)
		exchange.Close(first)
		if err != nil {
			return nil, unreadError{err}
		}
		return b.file.Open()
	}, sniffBytes)
	b.opened = file
	if unread, ok := errors.AsType[unreadError](err); ok {
		return fmt.Errorf("cannot be read: %w", redact.WithoutURL(unread.error))
	}
	return err
}

// unreadError tells a file that could not be read from one that could not be opened again.
type unreadError struct{ error }

// Sum writes into h what is sent, without the random boundary of the form: the fields, and the file's name, size and content. It reads the
// file to its end, and opens it again for the first attempt.
func (b *Body) Sum(ctx context.Context, limit time.Duration, h io.Writer) error {
	content := sha256.New()
	err := b.readThrough(ctx, limit, func(file io.Reader) error {
		n, err := io.Copy(content, io.LimitReader(file, b.file.Size+1))
		if err == nil && n != b.file.Size {
			err = redact.OwnError("it does not have the size that was given")
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(b.file.Fields)) {
		fmt.Fprintf(h, " %q=%q", field, b.file.Fields[field])
	}
	fmt.Fprintf(h, " %q %d %x", base(b.file.Name), b.file.Size, content.Sum(nil))
	return nil
}

// reopen returns the file that Check opened, and after that opens the file again.
func (b *Body) reopen(ctx context.Context, limit time.Duration) (io.ReadCloser, error) {
	if file := b.opened; file != nil {
		b.opened = nil
		return file, nil
	}
	file, _, err := exchange.Open(ctx, limit, b.file.Open, sniffBytes)
	if err != nil {
		return nil, fmt.Errorf("%s %w", filePart, err)
	}
	return file, nil
}

// Close closes the file that Check opened, if it was never sent.
func (b *Body) Close() {
	if b.opened != nil {
		exchange.Close(b.opened)
	}
}
