package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// usual are seven kinds of rows that users have.
func usual() []work {
	return []work{
		rows[contact]("text", listID), rows[pointersRow]("pointers-times", richListID), rows[numbersRow]("numbers", richListID),
		rows[nestedRow]("nested-slices", richListID), rows[notesRow]("long-text", notesListID), rows[wideRow]("5-of-30", richListID), keptRows(),
	}
}

// others have nothing but what is left to encoding/json, but for an id.
func others() []work {
	return []work{
		rows[map[string]any]("map", richListID), rows[mapsOnlyRow]("maps", richListID), rows[ownRow]("methods", richListID), rows[quotedRow]("string-option", notesListID),
		rows[embeddingRow]("embedded", richListID), rows[interfacesRow]("interfaces", richListID), rows[smallMapRow]("small-map", richListID),
		rows[anyColumnsRow]("columns-any", richListID), rows[rawColumnsRow]("columns-raw", richListID), rows[eventsRow]("events-any", richListID), rows[namedRow]("named", richListID),
		rows[ownWholeRow]("whole-method", richListID), rows[alikeRow]("alike-names", richListID),
	}
}

// BenchmarkUsual says how many times as fast pages of usual rows are read as by hand: each iteration is a turn of either. x-hand is the median of the
// ratios, x-cpu that of CPU times, which say more on a busy machine. Use -benchtime 60x.
func BenchmarkUsual(b *testing.B) { ratios(b, usual()) }

// BenchmarkOthers does the same for rows that are left to encoding/json, which may take 15 % longer: 0.87.
func BenchmarkOthers(b *testing.B) { ratios(b, others()) }

func ratios(b *testing.B, works []work) {
	b.Helper()
	const pages = 3
	var all [2][]float64
	for _, w := range works {
		b.Run("type="+w.name, func(b *testing.B) {
			h := &http.Client{Transport: &rendered{service: newService(), pages: make(map[string]*httptest.ResponseRecorder)}}
			ours, err := openOurs()(serverURL+basePath(pages), h)
			require.NoError(b, err)
			peer, err := hand(decodeWhole)(serverURL+basePath(pages), h)
			require.NoError(b, err)
			turn := func(s session) (wall, cpu float64) {
				start, used := time.Now(), cpuTime()
				require.NoError(b, w.run(b.Context(), s, pages, new(sum)))
				return float64(time.Since(start)), float64(cpuTime() - used)
			}
			turn(ours)
			var times [2][]float64
			for b.Loop() {
				handWall, handCPU := turn(peer)
				wall, cpu := turn(ours)
				times[0], times[1] = append(times[0], handWall/wall), append(times[1], handCPU/cpu)
			}
			b.ReportMetric(0, "ns/op")
			for i, name := range []string{"x-hand", "x-cpu"} {
				slices.Sort(times[i])
				b.ReportMetric(times[i][len(times[i])/2], name)
				all[i] = append(all[i], times[i][len(times[i])/2])
			}
		})
	}
	for i, name := range []string{"x-hand", "x-cpu"} {
		slices.Sort(all[i])
		b.Logf("%s: median %.2f, worst %.2f", name, all[i][len(all[i])/2], all[i][0])
	}
}

// rendered responds with pages that it has rendered before, so that their rendering does not count.
type rendered struct {
	*service

	pages map[string]*httptest.ResponseRecorder
}

func (t *rendered) RoundTrip(req *http.Request) (*http.Response, error) {
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

func decodeWhole(res *http.Response, out any) error {
	page, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(page, out)
}

// Both have to read the same.
func TestRatiosCompareTheSame(t *testing.T) {
	h := &http.Client{Transport: &inProcess{service: newService()}}
	for _, w := range append(usual(), others()...) {
		ours, err := openOurs()(serverURL+basePath(1), h)
		require.NoError(t, err)
		peer, err := hand(decodeWhole)(serverURL+basePath(1), h)
		require.NoError(t, err)
		got, want := newSum(), newSum()
		require.NoError(t, w.run(t.Context(), ours, 1, got))
		require.NoError(t, w.run(t.Context(), peer, 1, want))
		require.Equal(t, rowsPerPage, got.n, w.name)
		require.Equal(t, want.digest.Sum64(), got.digest.Sum64(), w.name)
	}
}

type numbersRow struct {
	ID       string    `json:"id"`
	Visits   int64     `json:"visits"`
	Priority int       `json:"priority"`
	Rating   float64   `json:"rating"`
	Quarters []int     `json:"quarters"`
	Account  uint64    `json:"accountNumber"`
	ICPMatch bool      `json:"icpMatch"`
	Created  time.Time `json:"createdAt"`
	Scores   struct {
		Fit    float64 `json:"fit"`
		Intent float64 `json:"intent"`
		Recent float64 `json:"recent"`
	} `json:"scores"`
	Company struct {
		Headcount int     `json:"headcount"`
		Revenue   float64 `json:"revenue"`
	} `json:"company"`
}

type notesRow struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Notes string    `json:"notes"`
	Reply string    `json:"reply"`
	At    time.Time `json:"at"`
}

type wideRow struct {
	ID    string  `json:"id"`
	Email string  `json:"email"`
	Phone *string `json:"phone"`
	Owner string  `json:"owner"`
	Until string  `json:"updatedAt"`
}

// keptRows reads rows whose other fields stay at hand.
func keptRows() work {
	type kept struct{ Email, Title, Owner, Country string }
	w := work{name: "kept", rows: true}
	w.peer = func(ctx context.Context, call get, n int, s *sum) error {
		for number := range n {
			var p struct {
				Data []map[string]any `json:"data"`
			}
			if err := call(ctx, pagePath(richListID, number+1), &p); err != nil {
				return err
			}
			for _, row := range p.Data {
				text := func(in map[string]any, key string) string { text, _ := in[key].(string); return text }
				address, _ := row["address"].(map[string]any)
				s.add(kept{text(row, "email"), text(row, "jobTitle"), text(row, "owner"), text(address, "country")})
			}
		}
		return nil
	}
	w.ours = func(ctx context.Context, client *prospectkit.Client, _ int, s *sum) error {
		for row, err := range client.Lists.Rows(ctx, richListID, prospectkit.RowsParams{}) {
			if err != nil {
				return err
			}
			s.add(kept{row.Text("email"), row.Text("jobTitle"), row.Text("owner"), row.Text("address.country")})
		}
		return nil
	}
	return w
}

// upper reads itself.
type upper string

func (u *upper) UnmarshalJSON(text []byte) error {
	*u = upper(strings.ToUpper(strings.Trim(string(text), `"`)))
	return nil
}

// lower reads itself from a text.
type lower string

func (l *lower) UnmarshalText(text []byte) error {
	*l = lower(strings.ToLower(string(text)))
	return nil
}

// ownWholeRow reads itself as a whole.
type ownWholeRow struct{ size int }

func (r *ownWholeRow) UnmarshalJSON(text []byte) error {
	r.size = len(text)
	return nil
}

// Place is embedded.
type Place struct {
	Timezone string `json:"timezone"`
	Language string `json:"language"`
}

type (
	mapsOnlyRow struct {
		ID      string                    `json:"id"`
		Labels  map[string]string         `json:"labels"`
		Scores  map[string]float64        `json:"scores"`
		Columns map[string]any            `json:"customColumns"`
		Address map[string]any            `json:"address"`
		Company map[string]any            `json:"company"`
		Events  []map[string]any          `json:"events"`
		Numbers map[level]json.RawMessage `json:"scoresByLevel"`
	}
	ownRow struct {
		ID     upper `json:"id"`
		First  upper `json:"firstName"`
		Last   lower `json:"lastName"`
		Title  upper `json:"jobTitle"`
		Email  lower `json:"email"`
		Level  upper `json:"level"`
		Owner  upper `json:"owner"`
		Source lower `json:"source"`
	}
	quotedRow struct {
		ID      string  `json:"id"`
		Number  int     `json:"number,string"`
		Share   float64 `json:"share,string"`
		Certain bool    `json:"certain,string"`
	}
	embeddingRow struct {
		person
		*Place

		Columns any `json:"customColumns"`
	}
	interfacesRow struct {
		ID      any `json:"id"`
		Email   any `json:"email"`
		Title   any `json:"jobTitle"`
		Address any `json:"address"`
		Company any `json:"company"`
		Tags    any `json:"tags"`
		Events  any `json:"events"`
		Visits  any `json:"visits"`
		Match   any `json:"icpMatch"`
		Phone   any `json:"phone"`
	}
	alikeRow struct { // which field is EMAIL?
		ID    string `json:"id"`
		Lower string `json:"email"`
		Upper string `json:"Email"`
		Owner string `json:"owner"`
	}
	smallMapRow struct {
		ID     any            `json:"id"`
		Labels map[string]any `json:"labels"`
	}
)
