package upload_test

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/upload"
)

// The form has the fields in the order of their names, and ends with the file. It is as long as it says.
func TestForm(t *testing.T) {
	body := upload.New(upload.File{
		Name: `dir/pe"ople.csv`, Size: 4, Fields: map[string]string{"b": "2", "a": "1"},
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x,y\n")), nil },
	})
	form, err := body.Open(t.Context(), time.Minute)
	require.NoError(t, err)
	text, err := io.ReadAll(form)
	require.NoError(t, err)
	require.Len(t, text, int(body.Length))
	_, params, err := mime.ParseMediaType(body.ContentType)
	require.NoError(t, err)
	r := multipart.NewReader(bytes.NewReader(text), params["boundary"])
	for _, want := range []struct{ name, file, content string }{{"a", "", "1"}, {"b", "", "2"}, {"file", "pe%22ople.csv", "x,y\n"}} {
		part, err := r.NextPart()
		require.NoError(t, err)
		content, err := io.ReadAll(part)
		require.NoError(t, err)
		require.Equal(t, want, struct{ name, file, content string }{part.FormName(), part.FileName(), string(content)})
		if want.file != "" { // not \", which some servers end the name at
			require.Equal(t, `form-data; name="file"; filename="pe%22ople.csv"`, part.Header.Get("Content-Disposition"))
			require.Equal(t, "text/csv", part.Header.Get("Content-Type"))
		}
	}
	_, err = r.NextPart()
	require.ErrorIs(t, err, io.EOF)
}
