package services_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

const megabyte = 1 << 20

func TestImports_Exchanges(t *testing.T) {
	upload, id := tests.With((*imports).FromUpload, tests.ImportID), `{"import": {"id": "`+tests.ImportID+`"}}`
	list := prospectkit.WithField("listName", "New")
	play(t, []surfaceCall{
		{"imports.create/import-id", upload, id, ""},
		{"imports.create/file-missing", opted(upload, list), "", prospectkit.CodeImportFileMissing},
		{"imports.create/import-id-json", opted(tests.With((*imports).FromUploadJSON, tests.ImportID), list), id, ""},
		{
			"imports.create/import-id-fields",
			opted(upload, prospectkit.WithField("z", fields{"a": 1}), prospectkit.WithField("listName", "New \"é\"")), id, "",
		},
		{"imports.presign/fields", tests.With((*imports).Presign, fields{"size": 50_000_000}), `{"importId": "` + tests.ImportID + `"}`, ""},
	})
}

// received is an upload as a server reads it.
type received struct {
	length int64
	parts  []string // headers and content of each
}

func receive(t *testing.T, r *http.Request) (got received) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/form-data", kind)
	got.length = r.ContentLength
	require.Empty(t, r.TransferEncoding)
	form := multipart.NewReader(r.Body, params["boundary"])
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			return got
		}
		require.NoError(t, err)
		content, err := io.ReadAll(part)
		require.NoError(t, err)
		got.parts = append(got.parts, fmt.Sprintf("%s|%s|%s", part.Header.Get("Content-Disposition"), part.Header.Get("Content-Type"), content))
	}
}

func TestImports_UploadAsItGoesOut(t *testing.T) {
	const xls, xlsx = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1rest", "PK\x03\x04rest"
	for _, c := range []struct{ name, content, disposition, kind string }{
		{"people.csv", "name\nAda\n", `form-data; name="file"; filename="people.csv"`, "text/csv"},
		{"OLD.XLS", xls, `form-data; name="file"; filename="OLD.XLS"`, "application/vnd.ms-excel"},
		{"new.xlsx", xlsx, `form-data; name="file"; filename="new.xlsx"`, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		{`a/b\c"ü.csv`, "x", `form-data; name="file"; filename="c%22ü.csv"`, "text/csv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var (
				got   received
				route string
			)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				route, got = r.Method+" "+r.URL.RequestURI(), receive(t, r)
				tests.Write(w, 202, `{"import": {"state": "new"}}`)
			}))
			defer server.Close()
			up := prospectkit.UploadFrom(c.name, int64(len(c.content)), strings.NewReader(c.content))
			up.Fields = map[string]string{"z": "last", "mapping": `{"a": 1}`}
			var progress []int64
			up.Progress = func(sent, total int64) {
				require.EqualValues(t, len(c.content), total)
				progress = append(progress, sent)
				panic("swallowed")
			}
			response, err := tests.ClientAt(t, server.URL).Imports.Upload(t.Context(), up, prospectkit.WithQuery("dry", "1"))
			require.NoError(t, err)
			require.Equal(t, "new", response.Text("import.state"))
			require.Equal(t, "POST /api/v1/business/imports?dry=1", route)
			require.Equal(t, []string{
				`form-data; name="mapping"||{"a": 1}`, `form-data; name="z"||last`, c.disposition + "|" + c.kind + "|" + c.content,
			}, got.parts)
			require.Positive(t, got.length)
			require.EqualValues(t, len(c.content), progress[len(progress)-1])
		})
	}
}

func TestImports_UploadBounds(t *testing.T) {
	text := strings.NewReader("name\nAda\n")
	broken := func() (io.ReadCloser, error) { return nil, fs.ErrPermission }
	for want, up := range map[string]prospectkit.Upload{
		"name has the control character U+000A at byte 1":         prospectkit.UploadFrom("a\n.csv", 9, text),
		"name must end in .csv, .xls or .xlsx":                    prospectkit.UploadFrom("people.txt", 9, text),
		"name must end in .csv, .xls or .xlsx ":                   prospectkit.UploadFrom("csv", 9, text),
		"name must end in .csv, .xls or .xlsx  ":                  prospectkit.UploadFrom("dir.csv/", 9, text),
		"size is 0, must be positive":                             prospectkit.UploadFrom("a.csv", 0, text),
		"size is -1, must be positive":                            prospectkit.UploadFrom("a.csv", -1, text),
		"size is 10485761, must be at most 10485760: see Presign": prospectkit.UploadFrom("a.csv", 10*megabyte+1, text),
		"fields must not have the name \"\"":                      {Name: "a.csv", Size: 1, Open: tests.CSVUpload("x").Open, Fields: map[string]string{"": "x"}},
		"fields must not have the name \"file\"":                  {Name: "a.csv", Size: 1, Open: tests.CSVUpload("x").Open, Fields: map[string]string{"file": "x"}},
		"file needs Open":                                         {Name: "a.csv", Size: 1},
		"file cannot be opened: permission denied":                {Name: "a.csv", Size: 1, Open: broken},
		"file cannot be opened: Open returned nothing":            {Name: "a.csv", Size: 1, Open: func() (io.ReadCloser, error) { return nil, nil }},
		"file looks like XLSX: rename it":                         prospectkit.UploadFrom("a.csv", 9, strings.NewReader("PK\x03\x04abcde")),
	} {
		_, err := tests.NewClient(t, tests.Untouched(t)).Imports.Upload(t.Context(), up)
		require.Contains(t, tests.Refusals(t, err), strings.TrimSpace(want))
	}
	_, err := tests.NewClient(t, tests.Untouched(t)).Imports.Upload(t.Context(), prospectkit.Upload{Fields: map[string]string{"file": ""}}, prospectkit.WithField("a", 1))
	require.Equal(t, []string{
		"name must end in .csv, .xls or .xlsx", "size is 0, must be positive", `fields must not have the name "file"`, "file needs Open",
		"WithField cannot be used with an upload: it has form fields of its own",
	}, tests.Refusals(t, err), "all at once")
}

func TestImports_UploadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "people.csv")
	require.NoError(t, os.WriteFile(name, []byte("name\nAda\n"), 0o600))
	up, err := prospectkit.UploadFile(name)
	require.NoError(t, err)
	require.Equal(t, "people.csv", up.Name)
	require.EqualValues(t, 9, up.Size)
	var got received
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		got = receive(t, r)
		return tests.Respond(202, `{}`), nil
	}))
	require.NoError(t, tests.Discard(client.Imports.Upload(t.Context(), up)))
	require.Contains(t, got.parts[0], "|name\nAda\n")
	_, err = prospectkit.UploadFile(name + ".missing")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// fileSource is a file that notes how it is used.
type fileSource struct {
	opened, closed atomic.Int32
	content        string
	fail           error // at the end of the content
}

func (s *fileSource) upload(size int64) prospectkit.Upload {
	return prospectkit.Upload{Name: "people.csv", Size: size, Open: func() (io.ReadCloser, error) {
		s.opened.Add(1)
		var r io.Reader = strings.NewReader(s.content)
		if s.fail != nil {
			r = io.MultiReader(r, brokenReader{s.fail})
		}
		return struct {
			io.Reader
			io.Closer
		}{r, closeFunc(func() { s.closed.Add(1) })}, nil
	}}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

type closeFunc func()

func (f closeFunc) Close() error { f(); return nil }

// A file is opened once for each attempt, and closed as often.
func TestImports_UploadIsOpenedForEachAttempt(t *testing.T) {
	for attempts := 1; attempts <= 3; attempts++ {
		inMemoryUploads(t, func(t *testing.T, m *tests.MemoryServer, got *[]received) {
			t.Helper()
			s := &fileSource{content: strings.Repeat("name,company\n", 1000)}
			_, err := m.Client(t).Imports.Upload(t.Context(), s.upload(int64(len(s.content))))
			require.NoError(t, err)
			require.Len(t, *got, attempts)
			for _, g := range *got {
				require.Contains(t, g.parts[0], "|"+s.content)
			}
			require.EqualValues(t, attempts, s.opened.Load())
			synctest.Wait()
			require.EqualValues(t, attempts, s.closed.Load())
		}, attempts-1)
	}
}

// inMemoryUploads serves uploads, the first few of them with a 429.
func inMemoryUploads(t *testing.T, test func(*testing.T, *tests.MemoryServer, *[]received), refused int) {
	t.Helper()
	var got []received
	tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, receive(t, r))
		if len(got) <= refused {
			tests.Write(w, 429, tests.Envelope("RATE_LIMITED"), "Retry-After", "2")
			return
		}
		tests.Write(w, 202, `{}`)
	}, func(t *testing.T, m *tests.MemoryServer) {
		t.Helper()
		test(t, m, &got)
	})
}

func TestImports_UploadThatIsRefusedLocallyIsClosed(t *testing.T) {
	s := &fileSource{content: "name"}
	in := s.upload(4)
	in.Name = "people.pdf"
	_, err := tests.NewClient(t, tests.Untouched(t)).Imports.Upload(t.Context(), in)
	require.Equal(t, []string{"name must end in .csv, .xls or .xlsx"}, tests.Refusals(t, err))
	_, err = tests.NewClient(t, tests.Untouched(t)).Imports.Upload(t.Context(), s.upload(4), prospectkit.ReadOnly())
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	s.fail = errors.New("disk on fire")
	_, err = tests.NewClient(t, tests.Untouched(t)).Imports.Upload(t.Context(), s.upload(5))
	require.Equal(t, []string{"file cannot be read: disk on fire"}, tests.Refusals(t, err))
	require.EqualValues(t, 3, s.opened.Load())
	require.EqualValues(t, 3, s.closed.Load())
}

// A journal that stores no ticket leaves no file open, at whichever attempt.
func TestImports_UploadThatTheJournalRefusesIsClosed(t *testing.T) {
	for stored := range 2 {
		inMemoryUploads(t, func(t *testing.T, m *tests.MemoryServer, got *[]received) {
			book := new(tests.Notebook)
			book.OnSending = func() {
				if len(book.Sent) == stored {
					book.Broken = errors.New("disk full")
				}
			}
			s := &fileSource{content: "name\nAda\n"}
			_, err := m.Client(t, prospectkit.WithJournal(book)).Imports.Upload(t.Context(), s.upload(9))
			require.ErrorIs(t, err, book.Broken)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Len(t, *got, stored)
			synctest.Wait()
			require.EqualValues(t, 1, s.opened.Load())
			require.EqualValues(t, 1, s.closed.Load())
		}, 1)
	}
}

// Neither does a transport that panics.
func TestImports_UploadOfATransportThatPanicsIsClosed(t *testing.T) {
	s := &fileSource{content: "name\nAda\n"}
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { panic(tests.ErrBroken) }))
	require.PanicsWithValue(t, tests.ErrBroken, func() { _, _ = client.Imports.Upload(t.Context(), s.upload(9)) })
	require.EqualValues(t, 1, s.closed.Load())
}

// A file that cannot be opened for the next attempt ends its ticket: nothing was applied.
func TestImports_UploadThatCannotBeOpenedAgainEndsItsTicket(t *testing.T) {
	inMemoryUploads(t, func(t *testing.T, m *tests.MemoryServer, got *[]received) {
		book, gone := new(tests.Notebook), errors.New("the file is gone")
		s := &fileSource{content: "name\nAda\n"}
		in := s.upload(9)
		open := in.Open
		in.Open = func() (io.ReadCloser, error) {
			if s.opened.Load() > 0 {
				return nil, gone
			}
			return open()
		}
		_, err := m.Client(t, prospectkit.WithJournal(book)).Imports.Upload(t.Context(), in)
		require.ErrorIs(t, err, gone)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Len(t, *got, 1)
		require.Len(t, book.Sent, 2, "the ticket is stored before the file is opened")
		require.Equal(t, map[string]journal.Outcome{"imports.create": journal.NotApplied}, book.Outcomes())
	}, 1)
}

// An upload whose end never left is sent once, and was definitely not applied: with and without a trace.
func TestImports_UploadThatIsCutShort(t *testing.T) {
	content := strings.Repeat("name,company\n", 100_000)
	size := int64(len(content))
	fire := errors.New("disk on fire")
	for name, c := range map[string]struct {
		source *fileSource
		size   int64
		want   string
	}{
		"the file cannot be read on": {&fileSource{content: content[:size/2], fail: fire}, size, "disk on fire"},
		"the file is too short":      {&fileSource{content: content[:size-7]}, size, "the file ended 7 bytes before the size that was given"},
		"the file is too long":       {&fileSource{content: content + "x"}, size, "the file is longer than the size that was given"},
		"the file breaks at its end": {&fileSource{content: content, fail: fire}, size, "disk on fire"},
	} {
		t.Run(name, func(t *testing.T) {
			var whole atomic.Int32 // requests that the server could read to their end
			tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err == nil {
					whole.Add(1)
				}
				tests.Write(w, 202, `{}`)
			}, func(t *testing.T, m *tests.MemoryServer) {
				t.Helper()
				_, err := m.Client(t).Imports.Upload(t.Context(), c.source.upload(c.size))
				time.Sleep(time.Second) // the server lingers
				tests.RequireCutShort(t, err, c.want)
				require.EqualValues(t, 1, m.Requests.Load())
				require.Zero(t, whole.Load())
				if c.source.fail != nil {
					require.ErrorIs(t, err, fire)
				}
				synctest.Wait()
				require.EqualValues(t, 1, c.source.closed.Load())
			})
			_, err := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				_, err := io.Copy(io.Discard, r.Body)
				return nil, err
			})).Imports.Upload(t.Context(), c.source.upload(c.size))
			tests.RequireCutShort(t, err, c.want)
		})
	}
}

// Whatever breaks or is refused before the end has left is not applied, whoever says so; a success is none, because nobody has the file. From then on it
// is unknown, unless the service refuses it.
func TestImports_DeliveryOfABrokenUpload(t *testing.T) {
	content := strings.Repeat("name,company\n", 100_000)
	whole := func(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
	half := func(r *http.Request) { _, _ = io.CopyN(io.Discard, r.Body, int64(len(content)/2)) }
	const made = `{"import":{"id":"` + tests.ImportID + `"}}`
	cut := func(w http.ResponseWriter) { tests.Hijack(w, "") }
	late := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { tests.Write(w, status, body) }
	}
	for name, c := range map[string]struct {
		read    func(*http.Request)
		respond func(http.ResponseWriter)
		want    prospectkit.Outcome
		status  int
		code    prospectkit.Code
	}{
		"cut in the middle":                       {half, cut, prospectkit.OutcomeNotApplied, 0, ""},
		"refused in the middle":                   {half, early(413, tests.Envelope("IMPORT_FILE_TOO_LARGE")), prospectkit.OutcomeNotApplied, 413, prospectkit.CodeImportFileTooLarge},
		"refused by somebody else in the middle":  {half, early(413, "<html>"), prospectkit.OutcomeNotApplied, 413, ""},
		"the service fails in the middle":         {half, early(500, tests.Envelope("UNEXPECTED_ERROR")), prospectkit.OutcomeNotApplied, 500, prospectkit.CodeUnexpectedError},
		"a gateway fails in the middle":           {half, early(502, ""), prospectkit.OutcomeNotApplied, 502, ""},
		"a success in the middle":                 {half, early(202, made), prospectkit.OutcomeUnknown, 202, ""},
		"a success in the middle that breaks off": {half, early(202, made[:8]), prospectkit.OutcomeUnknown, 202, ""},
		"cut after the end":                       {whole, cut, prospectkit.OutcomeUnknown, 0, ""},
		"a gateway fails after the end":           {whole, late(502, "<html>"), prospectkit.OutcomeUnknown, 502, ""},
		"the service fails after the end":         {whole, late(500, tests.Envelope("UNEXPECTED_ERROR")), prospectkit.OutcomeUnknown, 500, prospectkit.CodeUnexpectedError},
		"refused after the end":                   {whole, late(422, tests.Envelope("IMPORT_FILE_EMPTY")), prospectkit.OutcomeNotApplied, 422, "IMPORT_FILE_EMPTY"},
	} {
		t.Run(name, func(t *testing.T) {
			tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
				c.read(r)
				c.respond(w)
			}, func(t *testing.T, m *tests.MemoryServer) {
				t.Helper()
				_, err := m.Client(t).Imports.Upload(t.Context(), tests.CSVUpload(content))
				time.Sleep(2 * time.Second) // the server lingers
				require.Equal(t, c.want, prospectkit.OutcomeOf(err), "%v", err)
				require.EqualValues(t, 1, m.Requests.Load(), "it is never retried")
				require.Equal(t, c.code, prospectkit.CodeOf(err))
				if c.status != 0 {
					require.Equal(t, c.status, tests.AsError(t, err).Status)
				}
			})
		})
	}
}

// early responds and reads no further, but leaves the connection open until the response has arrived. A success has the length of the whole body.
func early(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		length, kind := len(body), map[bool]string{false: "application/json", true: "text/html"}[strings.HasPrefix(body, "<")]
		if status == 202 {
			length = len(`{"import":{"id":"` + tests.ImportID + `"}}`)
		}
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d Early\r\nContent-Type: %s\r\nRateLimit-Remaining: 9\r\nContent-Length: %d\r\n\r\n%s", status, kind, length, body)
		time.Sleep(time.Second)
		_ = conn.Close()
	}
}

// The context ends in the middle of an upload: the end is withheld, even if the transport goes on reading.
func TestImports_EndIsWithheldOnceTheAttemptIsOver(t *testing.T) {
	var body io.ReadCloser
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		body = r.Body
		_, err := io.CopyN(io.Discard, body, 50)
		require.NoError(t, err)
		return nil, errors.New("gave up")
	}))
	_, err := client.Imports.Upload(t.Context(), tests.CSVUpload("name\nAda\n"))
	tests.RequireCutShort(t, err, "gave up")
	rest, err := io.ReadAll(body)
	require.ErrorContains(t, err, "the attempt is over")
	require.Empty(t, rest)
}

// Nothing listens: nothing was sent, so the file is sent again, and whole.
func TestImports_UploadIsRetriedWhenNothingWasSent(t *testing.T) {
	inMemoryUploads(t, func(t *testing.T, m *tests.MemoryServer, got *[]received) {
		t.Helper()
		dial, dials := m.Transport.DialTLSContext, 0
		m.Transport.DialTLSContext = func(ctx context.Context, network, address string) (conn net.Conn, err error) {
			if dials++; dials == 1 {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
			}
			return dial(ctx, network, address)
		}
		s := &fileSource{content: "name\nAda\n"}
		var info prospectkit.Info
		_, err := m.Client(t).Imports.Upload(t.Context(), s.upload(9), prospectkit.WithInfo(&info))
		require.NoError(t, err)
		require.Len(t, *got, 1)
		require.Contains(t, (*got)[0].parts[0], "|name\nAda\n")
		require.Equal(t, "not sent", info.Attempts[0].Delivery)
		require.EqualValues(t, 2, s.opened.Load())
	}, 0)
}

// brokenFile breaks the contract of io.Reader after some bytes, and panics when it is closed.
type brokenFile struct {
	left   int
	breaks func(p []byte) int
}

func (f *brokenFile) Read(p []byte) (int, error) {
	if f.left == 0 {
		return f.breaks(p), nil
	}
	n := min(len(p), f.left)
	copy(p, strings.Repeat("a", n))
	f.left -= n
	return n, nil
}

func (f *brokenFile) Close() error { panic("closed") }

// A file that panics, or claims what cannot be, or never gives anything, ends the attempt. net/http reads it in a goroutine of its own, where a panic would end
// the process.
func TestImports_FileThatBreaksItsContract(t *testing.T) {
	const size = 5000
	for what, c := range map[string]struct {
		breaks func(p []byte) int
		want   string
	}{
		"panics":   {func([]byte) int { panic("a bug") }, "the file panicked: a bug"},
		"more":     {func(p []byte) int { return len(p) + 1 }, "the file claims an impossible number of bytes"},
		"negative": {func([]byte) int { return -1 }, "the file claims an impossible number of bytes"},
		"nothing":  {func([]byte) int { return 0 }, io.ErrNoProgress.Error()},
	} {
		for _, after := range []int{0, 600, size} {
			t.Run(fmt.Sprint(what, " after ", after), func(t *testing.T) {
				tests.InMemory(t, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					tests.Write(w, 202, `{}`)
				}, func(t *testing.T, m *tests.MemoryServer) {
					t.Helper()
					_, err := m.Client(t).Imports.Upload(t.Context(), prospectkit.Upload{
						Name: "people.csv", Size: size, Open: func() (io.ReadCloser, error) { return &brokenFile{after, c.breaks}, nil },
					})
					time.Sleep(time.Second) // the server lingers
					require.ErrorContains(t, err, c.want)
					require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
				})
			})
		}
	}
}

// A file of 10 MiB, the largest allowed, passes with less than 1 MiB of memory, all allocations together.
func TestImports_LargeUploadTakesLittleMemory(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcde\n"), 10*megabyte/16)
	var arrived atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var buf [32 << 10]byte
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r.Body}, buf[:])
		if err == nil && n == r.ContentLength {
			arrived.Store(n)
		}
		tests.Write(w, 202, `{}`)
	}))
	defer server.Close()
	client := tests.ClientAt(t, server.URL)
	var sent int64
	up := prospectkit.UploadFrom("people.csv", int64(len(content)), bytes.NewReader(content))
	up.Progress = func(now, _ int64) { sent = now }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := client.Imports.Upload(t.Context(), up)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.EqualValues(t, len(content), sent)
	require.Greater(t, arrived.Load(), int64(len(content)))
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(megabyte))
}

// The response of a reservation is handed out whole, in whatever shape: it holds where to send the file to.
func TestPresign_TheWholeResponse(t *testing.T) {
	for body, id := range map[string]string{
		`{"importId":"` + tests.ImportID + `","uploadUrl":"https://files.example/1"}`:            tests.ImportID,
		`{"uploadUrl":"https://files.example/1","import":{"importId":"` + tests.ImportID + `"}}`: tests.ImportID,
		`{"import":{"id":"` + tests.ImportID + `","url":"https://files.example/1"}}`:             "",
		`{"presign":{"url":"https://files.example/1"}}`:                                          "",
		`{"importId":17,"uploadUrl":"https://files.example/1"}`:                                  "",
		`["https://files.example/1"]`:                                                            "",
	} {
		reserved, err := tests.NewClient(t, tests.Always(201, body)).Imports.Presign(t.Context(), nil)
		require.NoError(t, err, body)
		require.JSONEq(t, body, reserved.Raw().String())
		require.JSONEq(t, body, reserved.String())
		require.Equal(t, id, reserved.ImportID, body)
	}
	_, err := tests.NewClient(t, tests.Always(200, ``)).Imports.Presign(t.Context(), nil)
	require.ErrorIs(t, err, prospectkit.ErrResponseLost)
}
