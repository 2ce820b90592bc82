package sandbox_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

const imports = "/business/imports"

// upload sends a form with the given part.
func upload(c caller, part, name string, file []byte) result {
	c.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	require.NoError(c.t, w.WriteField("note", "other parts are ignored"))
	out, err := w.CreateFormFile(part, name)
	require.NoError(c.t, err)
	_, err = out.Write(file)
	require.NoError(c.t, err)
	require.NoError(c.t, w.Close())
	req := c.request("POST", imports, form.String())
	req.Header.Set("Content-Type", w.FormDataContentType())
	r, err := c.send(req)
	require.NoError(c.t, err)
	return r
}

// csvOf is a file of exactly so many bytes, with one row.
func csvOf(size int) []byte {
	return append([]byte("name\n"), bytes.Repeat([]byte("x"), size-len("name\n"))...)
}

func TestImportedFiles(t *testing.T) {
	signature := []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	for name, tc := range map[string]struct {
		file   []byte
		format string
		rows   int
		code   string
	}{
		"CSV":             {[]byte("name,city\nAda,London\n\nBob,\"Berlin\nMitte\"\n"), "csv", 2, ""},
		"CSV with a mark": {[]byte("\uFEFFname\r\nZoë\r\n"), "csv", 1, ""},
		"header only":     {[]byte("name,city\n"), "", 0, "IMPORT_FILE_EMPTY"},
		"blank lines":     {[]byte("name\n\n , \n"), "", 0, "IMPORT_FILE_EMPTY"},
		"nothing":         {nil, "", 0, "IMPORT_FILE_EMPTY"},
		"XLSX":            {[]byte("PK\x03\x04 and so on"), "xlsx", 1, ""},
		"XLS":             {append(signature, make([]byte, 600)...), "xls", 1, ""},
		"PDF":             {[]byte("%PDF-1.7\nx\n"), "", 0, "IMPORT_FILE_UNSUPPORTED"},
		"binary":          {[]byte{'a', '\n', 0, 1}, "", 0, "IMPORT_FILE_UNSUPPORTED"},
		"gzip":            {[]byte("\x1F\x8B\x08 x\ny\n"), "", 0, "IMPORT_FILE_UNSUPPORTED"},
		"Windows-1252":    {[]byte("name\nZo\xeb\n\xff\xff\n"), "csv", 2, ""},
		"DOS":             {[]byte("name\r\nInter\x02national\r\n\x1a"), "csv", 2, ""},
		"10 MB":           {csvOf(10 << 20), "csv", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
				t.Helper()
				r := upload(c, "file", "people.pdf", tc.file)
				if tc.code != "" {
					r.fails(422, tc.code)
					require.Empty(t, sb.Imports())
					return
				}
				made := r.ok(201)["import"].(object)
				require.EqualValues(t, tc.rows, made["rowsCount"])
				require.Equal(t, []sandbox.Import{{ID: made["importId"].(string), Name: "people.pdf", Format: tc.format, Size: int64(len(tc.file)), Rows: tc.rows}}, sb.Imports())
			})
		})
	}
}

func TestImportsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10<<20 + 1, 12 << 20, 13 << 20} {
		sb := sandbox.New(t)
		upload(inPlace(t, sb), "file", "x.csv", csvOf(size)).fails(422, "IMPORT_FILE_TOO_LARGE")
		require.Empty(t, sb.Imports())
	}
	sb := sandbox.New(t)
	upload(bySocket(t, sb), "file", "x.csv", csvOf(10<<20+1)).fails(422, "IMPORT_FILE_TOO_LARGE")
}

func TestImportsWithoutAFile(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		upload(c, "attachment", "x.csv", []byte("a\nb\n")).fails(400, "IMPORT_FILE_MISSING")
		c.do("POST", imports, nil).fails(400, "IMPORT_FILE_MISSING")
		c.do("POST", imports, object{}).fails(400, "IMPORT_FILE_MISSING")
		c.do("POST", imports, object{"importId": id(1)}).fails(400, "IMPORT_FILE_MISSING")
		upload(c, "importId", "", []byte(id(1))).fails(404, "IMPORT_NOT_FOUND")
		for _, broken := range []string{"", "--b\r\n", "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nabc"} {
			req := c.request("POST", imports, broken)
			req.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			r, err := c.send(req)
			require.NoError(t, err)
			require.Equal(t, 400, r.status, "%s", r.raw)
		}
		require.Empty(t, sb.Imports())
	})
}

func TestImportsOfUploads(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		reserve := func() string {
			made := c.do("POST", imports+"/presign", object{"anything": 1}).ok(201)
			require.NotEmpty(t, made["uploadUrl"])
			return made["importId"].(string)
		}
		for name, tc := range map[string]struct {
			file []byte
			code string
		}{
			"fine":  {[]byte("a\nb\nc\n"), ""},
			"empty": {[]byte("a\n"), "IMPORT_FILE_EMPTY"},
			"PDF":   {[]byte("%PDF-"), "IMPORT_FILE_UNSUPPORTED"},
		} {
			importID := reserve()
			c.asForm("importId", importID).fails(400, "IMPORT_FILE_MISSING")
			sb.Do(func(tx *sandbox.Tx) { tx.Upload(importID, name, tc.file) })
			r := c.asForm("importId", strings.ToUpper(importID))
			if tc.code != "" {
				r.fails(422, tc.code)
				continue
			}
			require.Equal(t, importID, at(r.ok(201), "import", "importId"))
			c.asForm("importId", importID).fails(404, "IMPORT_NOT_FOUND")
		}
		require.Len(t, sb.Imports(), 3)
	})
	sb := sandbox.New(t)
	c := inPlace(t, sb)
	for size, status := range map[int]int{50 << 20: 201, 50<<20 + 1: 422} {
		importID := c.do("POST", imports+"/presign", nil).ok(201)["importId"].(string)
		sb.Do(func(tx *sandbox.Tx) { tx.Upload(importID, "large.csv", csvOf(size)) })
		r := c.asForm("importId", importID)
		if status == 201 {
			r.ok(201)
		} else {
			r.fails(422, "IMPORT_FILE_TOO_LARGE")
		}
	}
	rec := &recorder{}
	sandbox.New(rec).Do(func(tx *sandbox.Tx) { tx.Upload(id(1), "x", nil) })
	require.Len(t, rec.errors, 1)
}

// The place of a reserved upload takes a file as stores do: with its length, and without the key.
func TestImportsPut(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		reserved, err := c.api().Imports.Presign(t.Context(), nil)
		require.NoError(t, err)
		target := reserved.Raw().Text("uploadUrl")
		put := func(change func(*http.Request)) int {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, target, strings.NewReader("a\nb\nc\n"))
			require.NoError(t, err)
			change(req)
			resp, err := c.client.Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			return resp.StatusCode
		}
		require.Equal(t, 400, put(func(r *http.Request) { r.ContentLength = -1 }))
		require.Equal(t, 400, put(func(r *http.Request) { r.SetBasicAuth(sb.Token(), "") }))
		require.Equal(t, 400, put(func(r *http.Request) { r.Method = http.MethodPost }))
		require.Equal(t, 404, put(func(r *http.Request) { r.URL.Path = strings.TrimSuffix(r.URL.Path, reserved.ImportID) + id(999) }))
		_, err = c.api().Imports.FromUpload(t.Context(), reserved.ImportID)
		require.ErrorIs(t, err, prospectkit.CodeImportFileMissing)
		require.Equal(t, 200, put(func(*http.Request) {}))
		made, err := c.api().Imports.FromUpload(t.Context(), reserved.ImportID)
		require.NoError(t, err)
		require.Equal(t, 2, made.Int("import.rowsCount"))
		require.Equal(t, 404, put(func(*http.Request) {}), "it is used up")
		require.Equal(t, 1, sb.Calls("imports.presign"))
	})
	c := inPlace(t, sandbox.New(t))
	reserved := c.do("POST", imports+"/presign", nil).ok(201)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, reserved["uploadUrl"].(string), bytes.NewReader(csvOf(11<<20)))
	require.NoError(t, err)
	resp, err := c.client.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode, "larger than a body of the API may be")
	c.asForm("importId", reserved["importId"].(string)).ok(201)
}

func TestImportsCost(t *testing.T) {
	sb := sandbox.New(t, sandbox.Credits(5), sandbox.WithPrices(sandbox.Prices{"imports.create": 2}))
	c := inPlace(t, sb)
	upload(c, "file", "x.csv", []byte("a\n1\n2\n")).ok(201)
	upload(c, "file", "x.csv", []byte("a\n1\n")).fails(402, "INSUFFICIENT_CREDITS")
	require.Equal(t, "[-4]", fmt.Sprint(amounts(sb)))
}
