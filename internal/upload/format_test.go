package upload_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/upload"
)

func TestBegins(t *testing.T) {
	heads := map[string]string{
		".csv": "email,name\n", ".xls": "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\x00", ".xlsx": "PK\x03\x04\x14",
	}
	for of, head := range heads {
		for extension := range heads {
			format, ok := upload.FormatOf("people" + extension)
			require.True(t, ok)
			require.Equal(t, of == extension, format.Begins([]byte(head)), "%q as %s", head, extension)
		}
	}
	text, _ := upload.FormatOf(`C:\old.xls\A.CSV`)
	for head, want := range map[string]bool{
		"": true, "%PDF-1.7": false, "a\x00b": false, "\xFF\xFEa\x00": true, "\xFE\xFF\x00a": true, "a\tb\r\n": true,
		" a b": true, "a\x1fb": false, "\x1b": true,
	} {
		require.Equal(t, want, text.Begins([]byte(head)), "%q", head)
	}
	_, ok := upload.FormatOf("dir.csv/a.pdf")
	require.False(t, ok)
}
