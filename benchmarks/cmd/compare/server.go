package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The base URL of a run says how large the collections are, whether responses are compressed for clients that accept it, and how long the
// server takes for a page: /PAGES[z]/DELAY/api/v1.
func basePath(pages int, delay time.Duration, packed bool) string {
	z := ""
	if packed {
		z = "z"
	}
	return fmt.Sprintf("/%d%s/%s/api/v1", pages, z, delay)
}

const (
	rowsPerPage     = 1000
	profilesPerPage = 100
	listID          = "65f0c1d2e3a4b5c6d7e8f900"
	token           = "benchmark-token"
)

const (
	meBody      = `{"user":{"id":"65f0c1d2e3a4b5c6d7e8f9aa","email":"robin@workspace.example","name":"Robin Example"}}`
	problemBody = `{"error":{"code":"LIST_NOT_FOUND","message":"No list has this id.","param":null,"doc_url":"https://docs.example/errors#LIST_NOT_FOUND","request_id":"req_0123456789abcdef"}}`
)

// serve runs the server in its own process, tells its address on standard output, and ends with standard input, so that it
// never outlives the command.
func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it takes no time
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newService(rowsPerPage), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	fmt.Println("http://" + listener.Addr().String())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// service serves pages that were rendered once: for each request it copies one and patches the ids, so that no two rows
// of a collection are the same. Compressed responses are kept.
type service struct {
	lists, contacts, profiles, rich func() *template // rendered when they are first asked for
	buffers                         sync.Pool
	packed                          sync.Map // by URL
}

// newService takes how many elements a page of lists or rows has. A page of profiles has a tenth.
func newService(perPage int) *service {
	return &service{
		lists: render(perPage, wireList), contacts: render(perPage, wireContact), profiles: render(perPage/10, wireProfile), rich: render(perPage, newRich),
		buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}
}

// ServeHTTP goes by the end of the path, because one of the contenders insists on a prefix of its own.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.SplitN(r.URL.Path, "/", 4)
	if len(parts) < 4 {
		http.NotFound(w, r)
		return
	}
	size, packed := strings.CutSuffix(parts[1], "z")
	pages, _ := strconv.Atoi(size)
	delay, _ := time.ParseDuration(parts[2])
	time.Sleep(delay)
	number, _ := strconv.Atoi(r.URL.Query().Get("pageNum"))
	body := s.buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // nothing else is in it
	defer s.buffers.Put(body)
	body.Reset()
	status := http.StatusOK
	switch path := parts[3]; {
	case strings.HasSuffix(path, "/business/me"):
		body.WriteString(meBody)
	case strings.HasSuffix(path, "/business/lists"):
		body.WriteString(`{"data":`)
		s.lists().writePage(body, number, pages)
	case strings.HasSuffix(path, "/"+listID+"/rows"):
		body.WriteString(`{"entityType":"contactList","data":`)
		s.contacts().writePage(body, number, pages)
	case strings.HasSuffix(path, "/"+richListID+"/rows"):
		body.WriteString(`{"entityType":"contactList","data":`)
		s.rich().writePage(body, number, pages)
	case strings.HasSuffix(path, "/business/prospects/search"):
		s.search(body, r.Body, pages)
	default:
		status = http.StatusNotFound
		body.WriteString(problemBody)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if packed && r.Header.Get("Accept-Encoding") == "gzip" {
		h.Set("Content-Encoding", "gzip")
		body = s.pack(r.URL.String(), body.Bytes())
	}
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	h.Set("RateLimit-Limit", "100000000")
	h.Set("RateLimit-Remaining", "99999999")
	h.Set("RateLimit-Reset", "60")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) //nolint:gosec // G705: nothing of the request is in it
}

// pack compresses a response, or reuses an earlier one.
func (s *service) pack(key string, plain []byte) *bytes.Buffer {
	text, ok := s.packed.Load(key)
	if !ok {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(plain)
		_ = z.Close()
		text, _ = s.packed.LoadOrStore(key, b.Bytes())
	}
	return bytes.NewBuffer(text.([]byte)) //nolint:forcetypeassert // nothing else is in it
}

func (s *service) search(out *bytes.Buffer, in io.Reader, pages int) {
	var query scrollQuery
	_ = json.NewDecoder(in).Decode(&query)
	number, _ := strconv.Atoi(strings.TrimPrefix(query.ScrollToken, "after-"))
	number++
	out.WriteString(`{"profiles":`)
	s.profiles().write(out, number)
	if number < pages {
		fmt.Fprintf(out, `,"scrollToken":"after-%06d"`, number)
	}
	out.WriteString("}")
}

// template is the JSON array of one page, and where the ids in it are.
type template struct {
	n    int
	text []byte
	ids  []int
}

const noID = "000000000000000000000000"

// render makes a page, the same in every process.
func render(n int, element func(r *rand.Rand, i int) any) func() *template {
	return sync.OnceValue(func() *template {
		r := rand.New(rand.NewPCG(1, 2))
		elements := make([]any, n)
		for i := range elements {
			elements[i] = element(r, i)
		}
		return newTemplate(elements)
	})
}

func newTemplate(elements []any) *template {
	text, err := json.Marshal(elements)
	if err != nil {
		panic(err) // of constants
	}
	t := &template{n: len(elements), text: text}
	for at := 0; ; {
		next := bytes.Index(text[at:], []byte(noID))
		if next < 0 {
			return t
		}
		at += next
		t.ids = append(t.ids, at)
		at += len(noID)
	}
}

// write appends the array with the ids of a page.
func (t *template) write(out *bytes.Buffer, number int) {
	at := out.Len()
	out.Write(t.text)
	text := out.Bytes()[at:]
	for i, id := range t.ids {
		const digits = "0123456789abcdef"
		for n, k := number*t.n+i, id+len(noID)-1; n > 0; n, k = n>>4, k-1 {
			text[k] = digits[n&15]
		}
	}
}

func (t *template) writePage(out *bytes.Buffer, number, pages int) {
	t.write(out, number)
	fmt.Fprintf(out, `,"pagination":{"pageNum":%d,"totalPages":%d,"totalRecords":%d}}`, number, pages, pages*t.n)
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

// seldom is the value in one of so many cases, and null in the others.
func seldom(r *rand.Rand, every int, value string) any {
	if r.IntN(every) > 0 {
		return nil
	}
	return value
}

func firstName(r *rand.Rand) string {
	return pick(r, "Ada", "Bruno", "Chidi", "Dagmar", "Elif", "Farid", "Grace", "Hiro", "Inês", "Jürgen", "Katarzyna", "Luca", "Zoë")
}

func lastName(r *rand.Rand) string {
	return pick(r, "Albrecht", "Brown", "Castillo", "Dubois", "Eriksson", "Fernández", "Grünwald", "Haddad", "Ito", "Jankowski", "O'Neill")
}

func jobTitle(r *rand.Rand) string {
	return pick(r, "Head of Procurement", "VP R&D", "Chief Technology Officer", "Sales Manager", `Director "New Markets"`, "Account Executive", "Data Engineer")
}

func companyName(r *rand.Rand) string {
	return pick(r, "Northwind Logistics", "Acme Tooling GmbH", "Blue Heron Foods", "Müller & Söhne", "Contoso Energy", "Fabrikam Robotics")
}

func moment(r *rand.Rand) string {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(int64(300 * 24 * time.Hour)))).Format("2006-01-02T15:04:05.000Z")
}

func wireList(r *rand.Rand, i int) any {
	return struct {
		ID             string `json:"id"`
		Name           string `json:"name"`
		EntityType     string `json:"entityType"`
		ContactsCount  int    `json:"contactsCount"`
		CompaniesCount int    `json:"companiesCount"`
		CreatedAt      string `json:"createdAt"`
		FolderID       any    `json:"folderId"`
	}{
		noID, fmt.Sprintf("%s, %s, wave %d", companyName(r), jobTitle(r), i), pick(r, "contactList", "companyList"), r.IntN(5000), r.IntN(500),
		moment(r), seldom(r, 2, "65f0c1d2e3a4b5c6d7e8f9bb"),
	}
}

// wireProfile has the id in its address, because a search that shows the same profiles again is given up.
func wireProfile(r *rand.Rand, _ int) any {
	first, last := firstName(r), lastName(r)
	return struct {
		profile

		Location  string `json:"location"`
		Headcount int    `json:"headcount"`
	}{
		profile{first, last, jobTitle(r), companyName(r), "https://social.example/in/" + strings.ToLower(first) + "-" + noID},
		pick(r, "Berlin, Germany", "Austin, Texas", "São Paulo, Brazil"), r.IntN(9000),
	}
}

// wireContact has about 750 bytes: the 20 fields of contact, and others.
func wireContact(r *rand.Rand, i int) any {
	type address struct {
		City    string `json:"city"`
		Country string `json:"country"`
	}
	first, last := firstName(r), lastName(r)
	handle := fmt.Sprintf("%s.%d", strings.ToLower(first), 10_000+i)
	return struct {
		contact

		Phone         any            `json:"phone"`
		Address       address        `json:"address"`
		Timezone      string         `json:"timezone"`
		Language      string         `json:"language"`
		CustomColumns map[string]any `json:"customColumns"`
	}{
		contact: contact{
			ID: noID, FirstName: first, LastName: last, JobTitle: jobTitle(r), Department: pick(r, "sales", "engineering", "purchasing"),
			Level: pick(r, "c_level", "director", "manager"), Email: handle + "@company.example", EnrichedEmail: pick(r, "found", "not_found"),
			EmailValidity: pick(r, "valid", "catch_all", "risky"), EnrichedPhone: pick(r, "found", "not_enriched"),
			SocialURL: "https://social.example/in/" + handle, CompanyName: companyName(r), IndustryName: pick(r, "Logistics", "Food & Beverages", "Robotics"),
			Headcount: r.IntN(9000), Revenue: float64(r.IntN(1e9)) / 100, CampaignEngagement: pick(r, "none", "opened", "replied"),
			ICPMatch: r.IntN(2) == 0, CreatedAt: moment(r), UpdatedAt: moment(r),
		},
		Phone: seldom(r, 3, fmt.Sprintf("+49 30 %07d", r.IntN(1e7))), Timezone: pick(r, "Europe/Berlin", "America/Chicago"), Language: pick(r, "de", "en", "pt"),
		Address: address{pick(r, "Berlin", "Austin", "São Paulo"), pick(r, "Germany", "United States", "Brazil")},
		CustomColumns: map[string]any{
			"65f0c1d2e3a4b5c6d7e8f901": pick(r, "Gold", "Silver", "Bronze"), "65f0c1d2e3a4b5c6d7e8f902": r.IntN(2) == 0,
		},
	}
}
