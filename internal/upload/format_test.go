package upload_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/upload"
)

const ole = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"

// Only what no reader of spreadsheets takes for one is refused, under whichever extension.
func TestForeign(t *testing.T) {
	refused := func(name, content string) string {
		body := upload.New(upload.File{Name: name, Size: int64(len(content)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }})
		defer body.Close()
		var bad check.Violations
		if body.Check(t.Context(), time.Minute, &bad); len(bad) == 0 {
			return ""
		}
		require.Len(t, bad, 1)
		return bad[0].Problem
	}
	for _, name := range []string{"a.csv", "a.xls", `C:\old.xls\A.XLSX`} {
		for _, head := range []string{
			"email,name\n", "Inter\x02national", "a\x1a", "n\x00a\x00", "\xFF\xFEa\x00", "\xFE\xFF\x00a", "\x1b", "RIFF,name",
			"<html><table>", `<?xml version="1.0"?>`, "a\tb", "\x09\x08\x10\x00", "\x09\x00\x04\x00", "BMI,OTTO", "II*", "GIF8,name",
		} {
			require.Empty(t, refused(name, head), "%q as %s", head, name)
		}
		for head, want := range map[string]string{
			"%PDF-1.7": "looks like PDF", "\x1F\x8B\x08": "looks like gzip: unpack it", "\x89PNG\r\n\x1A\n": "looks like a PNG image",
			"\xFF\xD8\xFF\xE0": "looks like a JPEG image", "GIF89a": "looks like a GIF image", "PK\x05\x06\x00": "looks like an empty archive",
			"RIFF\x10\x00\x00\x00WEBPVP8": "looks like a WebP image",
		} {
			require.Equal(t, want, refused(name, head), "%q as %s", head, name)
		}
	}
	require.Empty(t, refused("a.xls", "PK\x03\x04"), "readers look at the bytes")
	require.Empty(t, refused("a.xlsx", ole))
	require.Equal(t, "looks like XLSX: rename it", refused("a.csv", "PK\x03\x04"))
	require.Equal(t, "looks like XLS: rename it", refused("a.csv", ole))
	require.Equal(t, "must end in .csv, .xls or .xlsx", refused("dir.csv/a.pdf", "%PDF-1.7"))
}

// A workbook that has a password is refused, wherever in its container that stands. Any other is sent whole.
func TestEncrypted(t *testing.T) {
	name := "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"
	pad := func(n int) string { return strings.Repeat("\xff", n) }
	for what, c := range map[string]struct {
		rest   string
		secret bool
	}{
		"nothing":              {"", false},
		"a directory":          {pad(504) + pad(128*4) + name, true},
		"a directory far away": {pad(504) + pad(512*5000+128) + name + pad(80), true},
		"the name in a text":   {pad(504) + pad(13) + name, false},
		"BIFF8":                {pad(504) + "\x09\x08\x10\x00\x00\x06\x05\x00AAAABBBBCCCC" + pad(400), false},
	} {
		opened := 0
		content := ole + c.rest
		body := upload.New(upload.File{Name: "a.xlsx", Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
			opened++
			return io.NopCloser(strings.NewReader(content)), nil
		}})
		var bad check.Violations
		body.Check(t.Context(), time.Minute, &bad)
		if c.secret {
			require.Equal(t, check.One("file", "is encrypted: save it without a password"), bad, what)
			continue
		}
		require.Empty(t, bad, what)
		form, err := body.Open(t.Context(), time.Minute)
		require.NoError(t, err)
		text, err := io.ReadAll(form)
		require.NoError(t, err)
		require.Len(t, text, int(body.Length), what)
		require.True(t, bytes.Contains(text, []byte(content)), what)
		require.Equal(t, 2, opened, what)
	}
}

// A container that cannot be read is told.
func TestEncrypted_Broken(t *testing.T) {
	content := ole + strings.Repeat("x", 2000)
	body := upload.New(upload.File{Name: "a.xls", Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(content[:1000]), iotest.ErrReader(errors.New("the disk failed")))), nil
	}})
	var bad check.Violations
	body.Check(t.Context(), time.Minute, &bad)
	require.Equal(t, check.One("file", "cannot be read: the disk failed"), bad, "what a log leaves out follows a colon")
}
