package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	rowsPerPage = 1000
	listID      = "65f0c1d2e3a4b5c6d7e8f900"
	richListID  = "65f0c1d2e3a4b5c6d7e8f911"
	notesListID = "65f0c1d2e3a4b5c6d7e8f933"
	missingID   = "65f0c1d2e3a4b5c6d7e8f922"
	missingCode = "LIST_NOT_FOUND"
	token       = "benchmark-token"

	userBody    = `{"user":{"id":"65f0c1d2e3a4b5c6d7e8f9aa","email":"robin@workspace.example","name":"Robin Example"}}`
	problemBody = `{"error":{"code":"` + missingCode + `","message":"No list has this id.","param":null,"doc_url":"https://docs.example/errors","request_id":"req_0123456789abcdef"}}`
)

// basePath says in the base URL how many pages a list has.
func basePath(pages int) string { return fmt.Sprintf("/%d/api/v1", pages) }

func pagePath(list string, number int) string {
	return "/business/lists/" + list + "/rows?limit=" + strconv.Itoa(rowsPerPage) + "&pageNum=" + strconv.Itoa(number)
}

// serve runs the server in its own process, tells its address on standard output, and ends with standard input, so that it
// never outlives the benchmarks.
func serve() {
	server := httptest.NewServer(newService())
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// service serves pages that were rendered once: for each request it copies one and patches the ids, so that no two rows of a list
// are the same.
type service struct {
	contacts, rich, notes func() *template // rendered when they are first asked for
	buffers               sync.Pool
}

func newService() *service {
	return &service{
		contacts: render(newContact), rich: render(newRich), notes: render(newNotes), buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}
}

// ServeHTTP goes by the end of the path, because one of the contenders insists on a prefix of its own.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	size, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	pages, _ := strconv.Atoi(size)
	number, _ := strconv.Atoi(r.URL.Query().Get("pageNum"))
	body := s.buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // nothing else is in it
	defer s.buffers.Put(body)
	body.Reset()
	status := http.StatusOK
	switch {
	case strings.HasSuffix(path, "/business/me"):
		body.WriteString(userBody)
	case strings.HasSuffix(path, "/"+listID+"/rows"):
		s.contacts().write(body, number, pages)
	case strings.HasSuffix(path, "/"+richListID+"/rows"):
		s.rich().write(body, number, pages)
	case strings.HasSuffix(path, "/"+notesListID+"/rows"):
		s.notes().write(body, number, pages)
	default:
		status = http.StatusNotFound
		body.WriteString(problemBody)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	h.Set("RateLimit-Limit", "100000000")
	h.Set("RateLimit-Remaining", "99999999")
	h.Set("RateLimit-Reset", "60")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// template is the JSON array of one page, and where the ids in it are.
type template struct {
	text []byte
	ids  []int
}

const noID = "000000000000000000000000"

// render makes a page, the same in every process.
func render(element func(r *rand.Rand, i int) json.RawMessage) func() *template {
	return sync.OnceValue(func() *template {
		r := rand.New(rand.NewPCG(1, 2))
		t := &template{text: []byte("[")}
		for i := range rowsPerPage {
			t.text = append(append(t.text, element(r, i)...), ',')
			t.ids = append(t.ids, bytes.LastIndex(t.text, []byte(noID)))
		}
		t.text[len(t.text)-1] = ']'
		return t
	})
}

// write appends a page with its ids.
func (t *template) write(out *bytes.Buffer, number, pages int) {
	out.WriteString(`{"entityType":"contactList","data":`)
	at := out.Len()
	ids := t.ids
	if number > pages { // a walk asks for it, because the last page is full
		ids = nil
		out.WriteString("[]")
	} else {
		out.Write(t.text)
	}
	text := out.Bytes()[at:]
	for i, id := range ids {
		const digits = "0123456789abcdef"
		for n, k := number*rowsPerPage+i, id+len(noID)-1; n > 0; n, k = n>>4, k-1 {
			text[k] = digits[n&15]
		}
	}
	fmt.Fprintf(out, `,"pagination":{"pageNum":%d,"totalPages":%d,"totalRecords":%d}}`, number, pages, pages*rowsPerPage)
}

// lateTransport sends requests to the server, whose responses take 20 ms more.
type lateTransport struct{ http.RoundTripper }

func late() http.RoundTripper { return lateTransport{standard()} }

func (t lateTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(20 * time.Millisecond)
	return t.RoundTripper.RoundTrip(req)
}

// renderedTransport responds with pages that it has rendered before, so that decoding counts, and neither their rendering nor the kernel.
type renderedTransport struct {
	*service

	mu    sync.Mutex
	pages map[string]*httptest.ResponseRecorder
}

func rendered() http.RoundTripper {
	return &renderedTransport{service: newService(), pages: make(map[string]*httptest.ResponseRecorder)}
}

func (t *renderedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	page, ok := t.pages[req.URL.String()]
	if !ok {
		page = httptest.NewRecorder()
		t.ServeHTTP(page, req)
		t.pages[req.URL.String()] = page
	}
	response := page.Result()
	response.Request, response.Body = req, struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(page.Body.Bytes()), http.NoBody}
	return response, nil
}
